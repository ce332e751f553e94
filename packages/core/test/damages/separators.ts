/** What stands between the tokens. */
import { at, content, type Damages, escaped, isQuoted } from "./places.ts"
import { hasPlainEnds } from "./texts.ts"

export const separators: Damages = {
  "other separators": {
    apply: (value, choices) => {
      const separator = choices.oneOf([" = ", "=", " => ", "=>", " : ", "::", " := ", " -> "])
      return at(({ kind }) => kind === "colon", (token) => {
        token.text = separator
      })(value, choices)
    }
  },
  "no separators": {
    text: hasPlainEnds,
    key: hasPlainEnds,
    apply: at(({ kind }) => kind === "colon", (token) => {
      token.text = " "
    })
  },
  "full-width punctuation": {
    apply: (value, choices) => {
      const isAll = choices.below(2) === 0
      const signs: Readonly<Record<string, string>> = isAll
        ? { ",": "，", ":": "：", "{": "｛", "}": "｝", "[": "［", "]": "］" }
        : { ",": "，", ":": "：" }
      return at(({ text }) => Object.hasOwn(signs, text), (token) => {
        token.text = signs[token.text]!
      })(value, choices)
    }
  },
  "full-width punctuation and quotes": {
    text: (text) => !/[“”]/u.test(text),
    apply: at(({ kind }) => kind !== "number" && kind !== "literal", (token) => {
      if (isQuoted(token)) token.text = `“${escaped(content(token))}”`
      token.text = token.kind === "comma" ? "，" : token.kind === "colon" ? "：" : token.text
    }, { which: "all" })
  },
  "odd spaces": {
    apply: at(() => true, (token, choices) => {
      token.space += choices.oneOf(["\u00a0", "\u3000", "\u200b", "\u2028", "\ufeff", "\u000b", "\f", "\u2003"])
    })
  }
}
