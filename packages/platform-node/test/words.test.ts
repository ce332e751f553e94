import { assert, describe, it } from "@effect/vitest"
import { words } from "../src/internal/cli/words.ts"

describe("words", () => {
  it("are what blanks separate and quotes keep together", () => {
    const cases: ReadonlyArray<readonly [text: string, words: ReadonlyArray<string> | undefined]> = [
      ["node server.js", ["node", "server.js"]],
      ["  npx\t-y  a\n", ["npx", "-y", "a"]],
      ["node \"my server.js\" 'it is \"so\"'", ["node", "my server.js", "it is \"so\""]],
      ["node --path=\"a b\"'c d'e", ["node", "--path=a bc de"]],
      ["node \"\" ''", ["node", "", ""]],
      ["C:\\node\\node.exe \"C:\\my files\\a.js\"", ["C:\\node\\node.exe", "C:\\my files\\a.js"]],
      ["node $HOME `id` ; a|b >c", ["node", "$HOME", "`id`", ";", "a|b", ">c"]],
      ["", undefined],
      ["  ", undefined],
      ["\"\" a", undefined],
      ["node \"a", undefined],
      ["node it's", undefined]
    ]
    for (const [text, expected] of cases) assert.deepStrictEqual(words(text), expected, text)
  })
})
