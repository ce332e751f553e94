/** The JSON values that are damaged, and the JSON Schema of each. */
import type * as Schema from "effect/Schema"
import type { Choices } from "./choices.ts"

type Json = Schema.Json

/** What strings are put together of: everything that means something somewhere in JSON or in what is taken for it. */
const fragments = [
  "a",
  "echo",
  "it's",
  "日本",
  "é",
  "😀",
  "C:",
  "\\Users",
  "\\new",
  "http://a.b/c?d=e&f#g",
  "x = 1",
  "true",
  "null",
  "None",
  "nullable",
  "12",
  "-1.5",
  "1e5",
  "007",
  "{",
  "}",
  "[",
  "]",
  "{}",
  "{\"city\": \"Oslo\"}",
  ":",
  ": ",
  ",",
  ", ",
  ";",
  "\"",
  "\"hi\"",
  "\", \"",
  "\": \"",
  "'",
  "`",
  "“",
  "”",
  "\\",
  "\\\\",
  "\\n",
  "\\d+",
  "\n",
  "\n\n",
  "\t",
  "\r\n",
  "\u0000",
  "\u001b",
  " ",
  "  ",
  "//",
  "/*",
  "*/",
  "#",
  "```",
  "```json\n",
  "<b>",
  "</tool_call>",
  "<|im_end|>",
  "&amp;",
  "&quot;",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "，",
  "：",
  "...",
  "…",
  "$x",
  "(",
  ")",
  "+",
  "|",
  "city",
  "path",
  "name",
  "arguments"
] as const

const keys = [
  "a",
  "b",
  "city",
  "path",
  "file_path",
  "maxResults",
  "x-y",
  "a.b",
  "a b",
  "日本",
  "名前",
  "$ref",
  "_",
  "1",
  "12",
  "true",
  "null",
  "None",
  "constructor",
  "toString",
  "name",
  "arguments",
  "content",
  "n",
  "old",
  "new",
  "https",
  "",
  " ",
  "\"",
  "'",
  "it's",
  "a:b",
  "a, b",
  "{",
  "]",
  "\\",
  "\n",
  "//",
  "#"
] as const

const numbers = [0, 1, 7, 12, -1, -20, 100, 1000, 2026, 65_535, 1_234_567, 0.5, 1.5, -0.25, 3.14159, 0.001, 1e21, 1e-7]

/** Which of the strings a value may hold; the others are replaced by a word. */
export interface Restriction {
  readonly text?: ((text: string, inside: "{" | "[" | "") => boolean) | undefined
  readonly key?: ((key: string) => boolean) | undefined
  /** Where strings come from, if not from every fragment. */
  readonly texts?: ((choices: Choices) => string) | undefined
}

const words = ["word", "two words", "src/a.ts", "Oslo", "x1", "日本語", "a-b", "fast", "é", "read_file"] as const

const textFrom = (choices: Choices, { text = () => true, texts }: Restriction, inside: "{" | "[" | ""): string => {
  if (texts !== undefined) return texts(choices)
  const parts = Array.from({ length: choices.below(6) }, () => choices.oneOf([...words, ...fragments]))
  const made = parts.join(choices.oneOf(["", " "]))
  return text(made, inside) ? made : choices.oneOf(words)
}

const keyFrom = (choices: Choices, { key = () => true }: Restriction): string => {
  const made = choices.oneOf(keys)
  return key(made) ? made : choices.oneOf(["id", "kind", "size"])
}

const maxDepth = 4

const valueAt = (choices: Choices, restriction: Restriction, depth: number, inside: "{" | "[" | ""): Json => {
  const kind = choices.below(depth < maxDepth ? 10 : 7)
  if (kind < 4) return textFrom(choices, restriction, inside)
  if (kind === 4) return choices.oneOf(numbers)
  if (kind === 5) return choices.below(100_000)
  if (kind === 6) return choices.oneOf([true, false, null])
  return kind === 7 ? listFrom(choices, restriction, depth) : objectFrom(choices, restriction, depth)
}

const listFrom = (choices: Choices, restriction: Restriction, depth: number): Json => {
  const length = choices.below(5)
  // Half of the lists hold one sort of thing, as lists do.
  if (choices.below(2) === 0) {
    return Array.from({ length }, () => valueAt(choices, restriction, depth + 1, "["))
  }
  const names = Array.from({ length: 1 + choices.below(3) }, () => keyFrom(choices, restriction))
  return Array.from({ length }, () => memberOf(choices, restriction, depth + 1, names))
}

const objectFrom = (choices: Choices, restriction: Restriction, depth: number): Json =>
  memberOf(choices, restriction, depth, Array.from({ length: choices.below(5) }, () => keyFrom(choices, restriction)))

const memberOf = (choices: Choices, restriction: Restriction, depth: number, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(names.map((name) => [name, valueAt(choices, restriction, depth + 1, "{")]))

/** A value as tools take it: mostly an object, sometimes a list. */
export const valueFrom = (choices: Choices, restriction: Restriction): Json =>
  choices.below(8) === 7 ? listFrom(choices, restriction, 0) : objectFrom(choices, restriction, 0)

type JsonSchema = { readonly [keyword: string]: Json }

/** The JSON Schema of which a value could be the only example. */
export const schemaOf = (value: Json): JsonSchema => {
  if (value === null) return { type: "null" }
  if (Array.isArray(value)) return { type: "array", items: common(value.map(schemaOf)) }
  if (typeof value === "object") {
    const members = Object.entries(value as { readonly [key: string]: Json })
    return {
      type: "object",
      properties: Object.fromEntries(members.map(([key, member]) => [key, schemaOf(member)])),
      required: members.map(([key]) => key),
      additionalProperties: false
    }
  }
  return { type: Number.isSafeInteger(value) ? "integer" : typeof value }
}

const common = (schemas: ReadonlyArray<JsonSchema>): JsonSchema => {
  const different = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()]
  return different.length === 0 ? {} : different.length === 1 ? different[0]! : { anyOf: different }
}
