/** Escapes that are missing, and escapes too many. */
import type { Choices } from "../choices.ts"
import { textOf, type Token, tokensOf } from "../jsonTokens.ts"
import { at, content, type Damages, escaped, isQuoted, whole } from "./places.ts"

const words = ["he", "said", "it's", "a", "yes", "x", "日本", "f(x)", "5", "e.g.", "<b>", "Oslo"] as const
/** A sentence with words in quotes, none of which stands where a string could end and the next begin. */
const sentence = (choices: Choices): string => {
  const length = 1 + choices.below(5)
  let text: string = choices.oneOf(words)
  for (let count = 0; count < length; count++) {
    const word = choices.oneOf(words)
    text += choices.oneOf([
      ` ${word}`,
      ` "${word}"`,
      ` "${word} ${word}"`,
      `, ${word}`,
      ` ("${word}")`,
      `="${word}"`,
      `; ${word}`
    ])
  }
  // A quote at the end is in front of what ends the string. With one at the beginning too, both could be doubled.
  return text + choices.oneOf(["", ".", " end", "?"])
}
const htmls = [
  "<a href=\"x.html\">y</a>",
  "<div class=\"a b\" id=\"c\">text</div>",
  "a 65\" screen",
  "print(\"hi\")",
  "echo \"$HOME/x\" && ls -la \"my dir\" | wc",
  "SELECT \"a\".\"b\" FROM t WHERE c = 'd'",
  "say \"it's\" twice",
  "grep -E \"a|b\" file"
] as const

// Beside a letter that makes an escape of the backslash there has to be one that does not: of the rest nobody can tell.
const backslashes = [
  "C:\\Users\\dev\\main.md",
  "C:\\Program Files\\App\\new\\test.exe",
  "D:\\src\\utils\\Json.ts",
  "C:\\dev",
  "\\\\server\\share\\data.csv",
  ".\\src\\index.ts",
  "src\\app\\main.ts",
  "\\d+\\.\\w{2}",
  "^\\s*\\[x\\]\\s+",
  "\\bfoo\\b\\s",
  "[^\\s,]+",
  "\\(\\d{3}\\) \\d{4}",
  "\\alpha + \\sum x",
  "\\$HOME is \\*bold\\*",
  "\\U0001f600"
] as const

export const escapes: Damages = {
  "raw control characters": {
    apply: at(isQuoted, (token) => {
      token.text = `"${content(token).replace(/["\\]/g, "\\$&")}"`
    })
  },
  "inner quotes": {
    texts: (choices) => choices.below(3) === 0 ? choices.oneOf(htmls) : sentence(choices),
    key: (key) => /^[\p{L}_]+$/u.test(key),
    apply: at(({ kind }) => kind === "string", (token) => {
      token.text = `"${content(token)}"`
    })
  },
  "backslashes": {
    texts: (choices) => choices.oneOf(backslashes),
    apply: at(({ kind }) => kind === "string", (token) => {
      token.text = `"${content(token)}"`
    })
  },
  "a backslash at the end": {
    texts: (choices) => choices.oneOf(["C:\\Users\\", "D:\\data\\", ".\\src\\", "\\d\\", "C:\\"]),
    apply: at(({ kind }) => kind === "string", (token) => {
      token.text = `"${content(token)}"`
    })
  },
  "needless escapes": {
    // Behind a letter and a colon the backslash would begin a path of Windows.
    text: (text) => !/\\|[A-Za-z]:['`]/.test(text),
    key: (key) => !key.includes("\\"),
    apply: at((token) => isQuoted(token) && /['`]/.test(content(token)), (token) => {
      token.text = token.text.replace(/['`]/g, "\\$&")
    })
  },
  "escaped as a whole": { apply: whole(escaped) },
  "escaped as a whole, one quote": {
    apply: whole((text, choices) => choices.below(2) === 0 ? `"${escaped(text)}` : `${escaped(text)}"`)
  },
  "escaped delimiters": {
    // Inside they would have been escaped as well.
    text: (text) => !/["\\]/.test(text),
    key: (key) => !/["\\]/.test(key),
    apply: (value, choices) => {
      const kinds = choices.oneOf<ReadonlyArray<Token["kind"]>>([["key"], ["string"], ["key", "string"]])
      return at(({ kind }) => kinds.includes(kind), (token) => {
        token.text = `\\"${token.text.slice(1, -1)}\\"`
      }, { which: "all" })(value, choices)
    }
  },
  "escaped spaces": {
    apply: (value) => {
      const tokens = tokensOf(value, "lines")
      if (tokens.length < 3) return undefined
      for (const token of tokens) token.space = token.space.replaceAll("\n", "\\n").replaceAll("  ", "\\t")
      return textOf(tokens)
    }
  },
  "in quotes": {
    text: (text) => !/['`\\]/.test(text),
    key: (key) => !/['`\\]/.test(key),
    apply: whole((text, choices) => {
      const quote = choices.oneOf(["'", "\"", "`"])
      return quote + text + quote
    })
  },
  "CSV": { apply: whole((text) => `"${text.replaceAll("\"", "\"\"")}"`) },
  "HTML entities": {
    apply: whole((text) => text.replaceAll("&", "&amp;").replaceAll("\"", "&quot;").replaceAll("<", "&lt;"))
  }
}
