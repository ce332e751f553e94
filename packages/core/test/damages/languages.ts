/** The literals of other languages, and several kinds of damage together. */
import type * as Schema from "effect/Schema"
import { fenced } from "./around.ts"
import { commentTexts } from "./comments.ts"
import { at, content, type Damages, inQuotes, isBracket, isContainer, isFilled, isQuoted } from "./places.ts"
import { isName } from "./texts.ts"

type Json = Schema.Json

export const languages: Damages = {
  "Python repr": {
    // Python writes other control characters with \x, which elsewhere keeps its backslash.
    text: (text) => !/[^\P{Cc}\n\r\t]|[\u00a0\u2028\ufeff]/u.test(text),
    apply: at(({ kind }) => kind === "literal" || kind === "key" || kind === "string", (token) => {
      const { value } = token
      if (typeof value !== "string") {
        token.text = value === null ? "None" : value ? "True" : "False"
      } else {
        token.text = value.includes("'") && !value.includes("\"") ? JSON.stringify(value) : inQuotes(value, "'")
      }
    }, { which: "all" })
  },
  "tuples": {
    apply: at((token) => isBracket(token) && isFilled(token) && Array.isArray(token.value), (token) => {
      token.text = token.kind === "open" ? "(" : (token.value as Array<Json>).length === 1 ? ",)" : ")"
    }, { which: "all" })
  },
  "JavaScript literal": {
    apply: at(() => true, (token, choices) => {
      if (token.kind === "key" && isName(content(token)) && choices.below(4) > 0) token.text = content(token)
      else if (isQuoted(token)) token.text = inQuotes(content(token), choices.oneOf(["'", "\"", "`"]))
      else if (token.kind === "close" && isFilled(token) && choices.below(2) === 0) token.text = `,${token.text}`
      else if (token.kind === "comma" && choices.below(8) === 0) token.text += ` ${choices.oneOf(commentTexts.line)}\n`
    }, { which: "all" })
  },
  "concatenated strings": {
    apply: at(({ kind, value }) => kind === "string" && (value as string).length > 1, (token, choices) => {
      // Between the halves of a surrogate pair there is no character.
      const points = [...content(token)]
      const cut = choices.below(points.length + 1)
      token.text = `${JSON.stringify(points.slice(0, cut).join(""))}${choices.oneOf([" + ", "+", " +\n  "])}${
        JSON.stringify(points.slice(cut).join(""))
      }`
    })
  },
  "several at once": {
    text: (text) => !/'/.test(text),
    key: (key) => !/'/.test(key),
    apply: (value, choices) => {
      const text = at(() => true, (token, choices) => {
        if (isQuoted(token)) token.text = choices.below(4) === 0 ? token.text : inQuotes(content(token), "'")
        if (token.kind === "key" && isName(content(token)) && choices.below(4) === 0) token.text = content(token)
        if (token.kind === "literal") token.text = token.value === null ? "None" : token.value ? "True" : "False"
        if (token.kind === "close" && isFilled(token) && choices.below(3) === 0) token.text = `,${token.text}`
        if (token.kind === "comma" && choices.below(6) === 0) token.text = `, ${choices.oneOf(commentTexts.hash)}\n`
        if (choices.below(12) === 0) token.space += choices.oneOf(["\u00a0", "/* note */", "\n"])
      }, { which: "all" })(value, choices)
      if (text === undefined || !isContainer(value) || Object.keys(value).length === 0) return undefined
      return choices.oneOf([(text: string) => text, (text: string) => fenced(text, choices)])(text)
    }
  }
}
