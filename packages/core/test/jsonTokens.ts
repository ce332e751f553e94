/** A JSON text as its tokens, to be changed one by one before they are put together. */
import type * as Schema from "effect/Schema"
import type { Choices } from "./choices.ts"

type Json = Schema.Json

export interface Token {
  readonly kind: "open" | "close" | "comma" | "colon" | "key" | "string" | "number" | "literal"
  /** The value of a scalar, the text of a key, the whole list or object of a bracket. */
  readonly value: Json
  /** The bracket that is open around it, and how many are. */
  readonly inside: "{" | "[" | ""
  readonly depth: number
  /** Whether one of them is that of a list. */
  readonly isInList: boolean
  /** What stands before the token. */
  space: string
  text: string
}

/** How a text is laid out: without spaces, on one line, or a line for each member. */
export type Layout = "compact" | "line" | "lines"

export const tokensOf = (value: Json, layout: Layout): Array<Token> => {
  const tokens: Array<Token> = []
  const inside: Array<"{" | "["> = []
  const add = (kind: Token["kind"], value: Json, text: string, space = ""): void => {
    tokens.push({
      kind,
      value,
      text,
      space,
      inside: inside.at(-1) ?? "",
      depth: inside.length,
      isInList: inside.includes("[")
    })
  }
  const line = (): string => layout === "lines" ? `\n${"  ".repeat(inside.length)}` : ""
  const visit = (value: Json, space: string): void => {
    if (typeof value !== "object" || value === null) {
      const kind = typeof value === "string" ? "string" : typeof value === "number" ? "number" : "literal"
      return add(kind, value, JSON.stringify(value), space)
    }
    const isList = Array.isArray(value)
    add("open", value, isList ? "[" : "{", space)
    inside.push(isList ? "[" : "{")
    const entries = Object.entries(value as { readonly [key: string]: Json })
    entries.forEach(([key, member], index) => {
      if (index > 0) add("comma", value, ",")
      const before = index > 0 && layout === "line" ? " " : line()
      if (isList) return visit(member, before)
      add("key", key, JSON.stringify(key), before)
      add("colon", value, ":")
      visit(member, layout === "compact" ? "" : " ")
    })
    inside.pop()
    add("close", value, isList ? "]" : "}", entries.length > 0 ? line() : "")
  }
  visit(value, "")
  return tokens
}

export const layoutOf = (choices: Choices): Layout => choices.oneOf(["compact", "line", "lines"])

export const textOf = (tokens: ReadonlyArray<Token>): string => tokens.map(({ space, text }) => space + text).join("")
