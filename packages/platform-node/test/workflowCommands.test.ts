import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { logLine } from "../src/internal/cli/logLine.ts"
import { errorCommand } from "../src/internal/cli/workflowCommands.ts"

const unescape = (text: string, ...escapes: ReadonlyArray<readonly [escaped: string, character: string]>) =>
  [["%0D", "\r"], ["%0A", "\n"], ...escapes, ["%25", "%"]]
    .reduce((result, [escaped, character]) => result.replaceAll(escaped!, character!), text)

/** As the runner of GitHub Actions reads a line: the command, its properties, and the message. */
const read = (line: string) => {
  const [, command, message] = /^\s*::(.*?)::(.*)$/s.exec(line)!
  const [name, ...rest] = command!.split(" ")
  const properties = rest.join(" ").split(",").filter((pair) => pair !== "").map((pair) => {
    const at = pair.indexOf("=")
    return [pair.slice(0, at), unescape(pair.slice(at + 1), ["%3A", ":"], ["%2C", ","])]
  })
  return { name, ...Object.fromEntries(properties), message: unescape(message!) }
}

/** What may be taken for the end of something. */
const hostile = Schema.Array(
  Schema.Literals(["::", ":", ",", "=", "%", "%0A", "%3A", "%25", "\r", "\n", " ", "error", "a", "é"])
)

describe("annotations of GitHub Actions", () => {
  it.prop("say what they were told to, whatever is in it", [hostile, hostile, hostile], ([file, title, message]) => {
    const told = { file: `f${file.join("")}`, title: `t${title.join("")}` }
    const line = errorCommand({ ...told, lines: message.join("").split("\n") })
    assert.notMatch(line, /[\r\n]/)
    assert.deepStrictEqual(read(line), { name: "error", ...told, message: message.join("") })
  })
})

describe("a line of a log", () => {
  it("is no command", () => {
    const cases: ReadonlyArray<readonly [line: string, expected: string]> = [
      ["::stop-commands::x", "\\u003a:stop-commands::x"],
      ["  ::add-mask::x", "  \\u003a:add-mask::x"],
      ["a ##[add-path]/tmp", "a #\\u0023[add-path]/tmp"],
      ["##vso[task.setvariable variable=a]b", "#\\u0023vso[task.setvariable variable=a]b"],
      ["###[x] ##teamcity[y]", "##\\u0023[x] #\\u0023teamcity[y]"],
      ["a: b:: ## Heading [1] #[", "a: b:: ## Heading [1] #["]
    ]
    for (const [line, expected] of cases) assert.strictEqual(logLine(line), expected)
  })

  it.prop(
    "is the same to whoever reads it as JSON",
    [Schema.Array(Schema.Literals(["#", "[", ":", "a", " ", "\""]))],
    ([parts]) => {
      const text = parts.join("")
      assert.strictEqual(JSON.parse(logLine(JSON.stringify(text))), text)
    }
  )
})
