/** How a damage is done: to the tokens of a text, at places that are chosen, or to the text as a whole. */
import type * as Schema from "effect/Schema"
import type { Choices } from "../choices.ts"
import type { Restriction } from "../damagedValues.ts"
import { layoutOf, textOf, type Token, tokensOf } from "../jsonTokens.ts"

type Json = Schema.Json

export interface Damage extends Restriction {
  /** The damaged text; `undefined` where the value has no place for it. */
  readonly apply: (value: Json, choices: Choices) => string | undefined
  /** Whether it takes the schema to undo it. */
  readonly needsSchema?: boolean
}

/** Kinds of damage, each under its name. */
export interface Damages {
  readonly [name: string]: Damage
}

type Tokens = ReadonlyArray<Token>

/** Whether a token is a place for the damage. */
type IsPlace = (token: Token, index: number, tokens: Tokens) => boolean

/** What it does to the token. */
type Change = (token: Token, choices: Choices, index: number, tokens: Tokens) => void

interface Places {
  /** Some of the places if there are several, or one or all of them. */
  readonly which: "some" | "one" | "all"
}

/** A damage to the tokens of a text, at places that are chosen. */
export const at =
  (isPlace: IsPlace, change: Change, { which }: Places = { which: "some" }) =>
  (value: Json, choices: Choices): string | undefined => {
    const tokens = tokensOf(value, layoutOf(choices))
    const places = tokens.flatMap((token, index) => isPlace(token, index, tokens) ? [index] : [])
    if (places.length === 0) return undefined
    const chosen = which === "all" ? places : which === "one" ? [choices.oneOf(places)] : choices.some(places)
    for (const index of chosen) change(tokens[index]!, choices, index, tokens)
    return textOf(tokens)
  }

/** A damage to the text as a whole, of a list or an object that holds something. */
export const whole =
  (change: (text: string, choices: Choices, value: Json) => string) =>
  (value: Json, choices: Choices): string | undefined =>
    isContainer(value) && Object.keys(value).length > 0
      ? change(textOf(tokensOf(value, layoutOf(choices))), choices, value)
      : undefined

export const isContainer = (value: Json): value is Array<Json> | { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null
export const isQuoted = ({ kind }: Token): boolean => kind === "key" || kind === "string"
export const isBracket = ({ kind }: Token): boolean => kind === "open" || kind === "close"
export const isFilled = ({ value }: Token): boolean => isContainer(value) && Object.keys(value).length > 0
export const remove = (token: Token): void => {
  token.text = ""
}
/** Whether the schema of the value is sure what stands here: where the items of a list differ it is not. */
export const isKnown = ({ inside, isInList }: Token): boolean => inside === "{" && !isInList
export const content = ({ value }: Token): string => value as string
export const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A string in other quotes: the escapes of JSON, but the quotes themselves instead of the double quote. */
export const inQuotes = (text: string, opener: string, closer = opener): string =>
  `${opener}${
    escaped(text).replaceAll("\\\"", "\"").replace(new RegExp(`[${opener}${closer}]`, "gu"), "\\$&")
  }${closer}`
