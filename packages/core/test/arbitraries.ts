/** What the properties are quantified over. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { below, oneOf } from "../src/internal/testing/choice.ts"

export { below, oneOf }

// What JSON and its near misses are made of; a random text of these is far nearer to JSON than random characters.
const fragments = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\"",
  "'",
  "\\",
  "\\u005f",
  "\\n",
  " ",
  "\n",
  "\t",
  "\u0000",
  "\ufeff",
  "\u00a0",
  "true",
  "false",
  "null",
  "NaN",
  "None",
  "undefined",
  "-",
  "0",
  "1",
  "12",
  "0.5",
  "1e5",
  "1e400",
  "1E-7",
  "12345678901234567890",
  "-0",
  "01",
  "+1",
  "city",
  "\"city\"",
  "\"__proto__\"",
  "\"constructor\"",
  "\"prototype\"",
  "\"a\":",
  "//",
  "/*",
  "*/",
  "#",
  "```",
  "```json",
  "<|call|>",
  "…",
  "...",
  "“",
  "”",
  "，",
  "：",
  "日本",
  "😀",
  "\ud83d"
] as const

export const fragmentText: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.array(oneOf(fragments), { maxLength: 40 }),
  (parts) => parts.join("")
)

const utf8 = new TextDecoder()

/** A byte string, as a lenient transport would hand it over: broken UTF-8 becomes U+FFFD. */
export const byteText: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.array(below(256), { maxLength: 80 }),
  (bytes) => utf8.decode(new Uint8Array(bytes))
)

export const jsonValue: Arbitrary.Arbitrary<Schema.Json> = Arbitrary.schema(Schema.Json)

export const jsonText: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all([jsonValue, oneOf([undefined, 1, "\t"])]),
  ([value, indent]) => JSON.stringify(value, null, indent)
)

export interface Mutation {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

export const mutation: Arbitrary.Arbitrary<Mutation> = Arbitrary.map(
  Arbitrary.all([below(10_000), below(4), oneOf(["", ...fragments])]),
  ([at, remove, insert]) => ({ at, remove, insert })
)

/** A text with a few places cut or overwritten; `at` is in ten-thousandths of the text. */
export const mutate = (text: string, mutations: ReadonlyArray<Mutation>): string =>
  mutations.reduce((current, { at, insert, remove }) => {
    const offset = Math.floor(current.length * at / 10_000)
    return current.slice(0, offset) + insert + current.slice(offset + remove)
  }, text)

export const mutations: Arbitrary.Arbitrary<Array<Mutation>> = Arbitrary.array(mutation, { minLength: 1, maxLength: 4 })
