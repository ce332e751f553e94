/** Words and numbers that are none in JSON. */
import { at, content, type Damages } from "./places.ts"
import { isPhrase } from "./texts.ts"

export const words: Damages = {
  "bare keys": {
    apply: at(({ kind, value }) => kind === "key" && /^[\p{L}_$][\p{L}\p{N}_$.-]*$/u.test(value as string), (token) => {
      token.text = content(token)
    })
  },
  "numbers as keys": {
    apply: at(({ kind, value }) => kind === "key" && /^\d+$/.test(value as string), (token) => {
      token.text = content(token)
    })
  },
  "bare words": {
    text: isPhrase,
    apply: at(({ kind, value }) => kind === "string" && isPhrase(value as string), (token) => {
      token.text = content(token)
    })
  },
  "Python literals": {
    apply: at(({ kind }) => kind === "literal", (token) => {
      token.text = token.value === null ? "None" : token.value ? "True" : "False"
    })
  },
  "other literals": {
    apply: at(({ kind }) => kind === "literal", (token, choices) => {
      token.text = token.value === null
        ? choices.oneOf(["NULL", "Null", "nil"])
        : choices.oneOf([String(token.value).toUpperCase(), token.value ? "True" : "False"])
    })
  },
  "number forms": {
    apply: at(({ kind, value }) => kind === "number" && !String(value).includes("e"), (token, choices) => {
      const { text } = token
      const isInteger = /^\d+$/.test(text)
      token.text = choices.oneOf([
        text.startsWith("-") ? text : `+${text}`,
        text.replace(/^(-?)0\./, "$1."),
        isInteger ? `${text}.` : text,
        isInteger ? `0x${Number(text).toString(16)}` : text,
        isInteger ? text.replace(/\B(?=(?:\d{3})+$)/g, "_") : text
      ])
    })
  },
  "leading zeros": {
    apply: at(({ kind, text }) => kind === "number" && /^\d+$/.test(text), (token, choices) => {
      token.text = choices.oneOf(["0", "00"]) + token.text
    })
  }
}
