/** Commas too many, too few, or other signs. */
import type { Choices } from "../choices.ts"
import { at, type Damages, isFilled, whole } from "./places.ts"
import { hasPlainEnds } from "./texts.ts"

const space = (choices: Choices): string => choices.oneOf([" ", "\n", "  ", "\n\n", "\t", "\r\n"])

export const commas: Damages = {
  "trailing comma": {
    apply: at((token) => token.kind === "close" && isFilled(token), (token, choices) => {
      token.text = `,${choices.oneOf(["", " ", "\n"])}${token.text}`
    })
  },
  "leading comma": {
    apply: at((token) => token.kind === "open" && isFilled(token), (token, choices) => {
      token.text += `${choices.oneOf(["", " ", "\n"])},`
    })
  },
  "a comma after all": { apply: whole((text, choices) => text + choices.oneOf([",", ", ", ",\n"])) },
  "doubled comma": {
    apply: at(({ kind }) => kind === "comma", (token, choices) => {
      token.text = choices.oneOf([",,", ", ,", ",\n,", ",,,"])
    })
  },
  "missing comma": {
    text: hasPlainEnds,
    key: hasPlainEnds,
    apply: at(({ kind }) => kind === "comma", (token, choices, index, tokens) => {
      const isBetweenBrackets = tokens[index - 1]!.kind === "close" && tokens[index + 1]!.kind === "open"
      token.text = isBetweenBrackets && choices.below(2) === 0 ? "" : space(choices)
    })
  },
  "semicolons": {
    apply: at(({ kind }) => kind === "comma", (token) => {
      token.text = ";"
    }, { which: "all" })
  }
}
