/** Comments, at every place where they may stand. */
import { at, type Damages } from "./places.ts"

/** Comments of each sort. */
export const commentTexts = {
  line: ["// note", "// it's, \"two\": 3", "//", "// { [", "//\"", "// see http://a.b/c", "// } ],"],
  hash: ["# note", "# it's, \"two\": 3", "#", "# { [", "#\"", "# } ],"],
  block: [
    "/* note */",
    "/* it's, \"two\": 3 */",
    "/**/",
    "/* { [ */",
    "/*\n * lines, \"b\": 1\n */",
    "/*\"*/",
    "/* } */"
  ]
}
const commented = (kind: keyof typeof commentTexts) =>
  at(() => true, (token, choices) => {
    const end = kind === "block" ? choices.oneOf(["", " ", "\n"]) : "\n"
    token.space += `${choices.oneOf([" ", "\n", "  "])}${choices.oneOf(commentTexts[kind])}${end}`
  })

export const comments: Damages = {
  "line comments": { apply: commented("line") },
  "hash comments": { apply: commented("hash") },
  "block comments": { apply: commented("block") }
}
