/**
 * Texts that make a reader look back or ahead again and again, by size in characters, each one thing over and over. Written for this
 * project.
 */
import type { Schema } from "./engines.ts"

/** The text that fills that many characters. */
const repeat = (part: string, length: number): string => part.repeat(Math.max(1, Math.floor(length / part.length)))

const hostileTexts: Record<string, (length: number) => string> = {
  "unescaped quotes": (n) => `{"a": "${repeat("x\"y ", n)}"}`,
  "quotes and commas": (n) => `{"text": "${repeat("He said \"x\", ", n)}"}`,
  "quotes and colons": (n) => `{"a": "${repeat("b\": \"", n)}`,
  "known keys in a string": (n) => `{"a": "${repeat("x\", \"b\" ", n)}"}`,
  "ends of strings": (n) => `{"a": "${repeat("\"}", n)}`,
  "apostrophes": (n) => `{'a': '${repeat("it's ", n)}'}`,
  "apostrophes, a comma after each": (n) => `{'a': '${repeat("x', y ", n)}`,
  "backticks": (n) => `{"a": ${repeat("`", n)}}`,
  "triple quotes": (n) => `{"a": ${repeat("\"\"\"", n)}}`,
  "curly quotes": (n) => `{“a”: “${repeat("“x” ", n)}”}`,
  "strings without commas": (n) => `[${repeat("\"a\" ", n)}]`,
  "strings without end": (n) => `[${repeat("\"abc, ", n)}]`,
  "lines without end quote": (n) => `{${repeat("\"k\": \"v\n", n)}}`,
  "concatenated strings": (n) => `[${repeat("\"a\" + ", n)}"b"]`,
  "backslashes": (n) => `{"a": "${repeat("\\", n)}`,
  "escaped quotes outside of strings": (n) => `{"a": ${repeat("\\\"", n)}`,
  "broken escapes": (n) => `{"a": "${repeat("\\u12 \\x \\d", n)}"}`,
  "lone surrogates": (n) => `{'a': '${repeat("\\ud83d \ud83d", n)}'}`,
  "line feeds in a string": (n) => `{"a": "b${repeat("\n", n)}, "c": 1}`,
  "spaces in a string": (n) => `{"a": "b${repeat(" ", n)}, "c": 1}`,
  "spaces after a key": (n) => `{"a"${repeat(" ", n)}1}`,
  "odd spaces": (n) => `${repeat("\ufeff\u00a0\u2003", n)}{a: 1}`,
  "escaped line feeds outside of strings": (n) => `{"a": ${repeat("\\n", n)}1}`,
  "commas": (n) => `[${repeat(",", n)}]`,
  "colons": (n) => `{"a"${repeat(":", n)} 1}`,
  "full-width punctuation": (n) => `{${repeat("“a”：1，", n)}}`,
  "keys without values": (n) => `{${repeat("\"a\", ", n)}}`,
  "keys, all different": (n) =>
    `{${Array.from({ length: Math.ceil(n / 12) }, (_, index) => `k${index}: 1,`).join(" ")}}`,
  "one key again": (n) => `{${repeat("a: 1, ", n)}}`,
  "closing brackets": (n) => `{"a": [1${repeat("]", n)}}`,
  "mixed brackets": (n) => repeat("[}", n),
  "empty objects": (n) => repeat("{}", n),
  "documents in a row": (n) => repeat("{\"a\":1}", n),
  "block comments": (n) => `{"a": ${repeat("/*", n)}1}`,
  "comments of HTML": (n) => `{"a": ${repeat("<!-- ", n)}1}`,
  "slashes": (n) => `{"a": ${repeat("/", n)}1}`,
  "line comments": (n) => `{"a": ${repeat("//\n", n)}1,}`,
  "minus signs": (n) => `{"a": ${repeat("-", n)}}`,
  "digits": (n) => `{a: ${repeat("1", n)}}`,
  "underscored digits": (n) => `{a: ${repeat("1_0", n)}}`,
  "words": (n) => `{"a": ${repeat("word ", n)}}`,
  "one long word": (n) => `{"a": ${repeat("a", n)},}`,
  "parts of literals": (n) => `[${repeat("tru ", n)}]`,
  "ellipses": (n) => `[1, ${repeat("..., ", n)}2]`,
  "prose": (n) => repeat("Sure, here it is. ", n),
  "prose before JSON": (n) => `${repeat("Sure, here it is. ", n)}{"a":1}`,
  "prose after JSON": (n) => `{"a":1} ${repeat("There you are. ", n)}`,
  "prose and opening brackets": (n) => repeat("{ see ", n),
  "prose and brackets": (n) => `${repeat("see {1} or [a] ", n)}{"a": 1}`,
  "fences": (n) => repeat("```json\n", n),
  "tags": (n) => `${repeat("<tool_call> ", n)}{"a": 1}`,
  "control tokens": (n) => `${repeat("<|channel|>", n)}{"a": 1}`,
  "JSON in strings in a string": (n) => {
    let text = "1"
    while (text.length < n) text = JSON.stringify({ a: text })
    return `${text.slice(0, n)},}`
  }
}

/** A hostile text, and a schema that knows its keys. */
export interface Hostile {
  readonly schema: Schema
  readonly make: (length: number) => string
}

const flat: Schema = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "string" }, c: { type: "integer" }, text: { type: "string" } }
}

export const hostile: Record<string, Hostile> = Object.fromEntries(
  Object.entries(hostileTexts).map(([name, make]) => [name, { schema: flat, make }])
)

/** The same, by the number of its levels as well. */
export interface Nested extends Hostile {
  readonly makeLevels: (levels: number) => string
}

const recursive: Schema = {
  anyOf: [
    { type: "object", properties: { a: { $ref: "#" } } },
    { type: "array", items: { $ref: "#" } },
    { type: "integer" }
  ]
}

const levelsOf = (open: string, inner = "", close = ""): Nested => {
  const makeLevels = (levels: number) => open.repeat(levels) + inner + close.repeat(levels)
  const make = (length: number) => makeLevels(Math.floor(length / (open.length + close.length)))
  return { schema: recursive, make, makeLevels }
}

/** Level in level. */
export const nested: Record<string, Nested> = {
  "levels of arrays": levelsOf("["),
  "levels of arrays, closed": levelsOf("[", "1,", "]"),
  "levels of arrays that begin with a number": levelsOf("[1 "),
  "levels of objects": levelsOf("{\"a\":"),
  "levels of objects, closed": levelsOf("{\"a\":", "1,", "}"),
  "levels of objects with bare keys": levelsOf("{a:"),
  "levels of objects with single quotes": levelsOf("{'a': "),
  "levels of both": levelsOf("[{a:"),
  "levels of both, closed the other way round": levelsOf("[{a:", "1", "]}")
}
