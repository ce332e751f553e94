/** What takes a part of the value away. */
import type * as Schema from "effect/Schema"
import type { Choices } from "../choices.ts"
import { layoutOf, textOf, tokensOf } from "../jsonTokens.ts"
import { at, type Damages, isFilled, remove } from "./places.ts"

type Json = Schema.Json

/**
 * The text up to some place inside a token, or after a comma, a colon, a key or an opening bracket. After the end of a member
 * only brackets could be missing.
 */
const cutOff = (value: Json, choices: Choices): string | undefined => {
  const tokens = tokensOf(value, layoutOf(choices))
  const ends = tokens.map(({ kind, text }) =>
    kind === "open" || kind === "comma" || kind === "colon" || kind === "key" ? text.length : text.length - 1
  )
  const places = tokens.flatMap((_, index) => index < tokens.length - 1 && ends[index]! > 0 ? [index] : [])
  if (places.length === 0) return undefined
  const index = choices.oneOf(places)
  const { space, text } = tokens[index]!
  return textOf(tokens.slice(0, index)) + space + text.slice(0, 1 + choices.below(ends[index]!))
}

export const losses: Damages = {
  "an ellipsis": {
    apply: at((token) => token.kind === "close" && isFilled(token), (token, choices) => {
      token.text = choices.oneOf([", ...", ",...", ", …", "\n..."]) + token.text
    }, { which: "one" })
  },
  "no value": {
    apply: at((token, index, tokens) => tokens[index - 1]?.kind === "colon" && token.kind !== "open", remove, {
      which: "one"
    })
  },
  "cut off": {
    // What ends with a bracket could lack its closing quote instead.
    text: (text) => !/[}\]]/.test(text),
    apply: cutOff
  },
  "cut off, in a fence": {
    apply: (value, choices) => {
      const text = cutOff(value, choices)
      return text === undefined ? undefined : `\`\`\`json\n${text}\n\`\`\``
    }
  }
}
