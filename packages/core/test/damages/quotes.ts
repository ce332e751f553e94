/** Other quotes, and quotes that are missing. */
import { at, content, type Damages, escaped, inQuotes, isQuoted } from "./places.ts"
import { endsWithoutQuote, hasPlainEnds, isName, isPhrase } from "./texts.ts"

export const quotes: Damages = {
  "single quotes": {
    apply: at(isQuoted, (token) => {
      token.text = inQuotes(content(token), "'")
    })
  },
  "apostrophes in single quotes": {
    // Only the apostrophe between letters is told from a quote.
    text: (text) => !/^'|'$|[^\p{L}]'|'[^\p{L}]/u.test(text),
    key: (key) => !key.includes("'"),
    apply: at(isQuoted, (token) => {
      token.text = `'${escaped(content(token)).replaceAll("\\\"", "\"")}'`
    }, { which: "all" })
  },
  "typographic quotes": {
    // They are not escaped inside of such quotes, nor are double quotes, which one of them could also begin or end with.
    text: (text) => !/[“”„‘’＂«»]|["，：][\s\ufeff]*(?:$|[,:，：])|(?:^|[,:，：])[\s\ufeff]*"/u.test(text),
    key: (key) => !key.includes("\""),
    apply: (value, choices) => {
      const [opener, closer] = choices.oneOf(["“”", "‘’", "„“", "””", "＂＂", "«»"])
      const content = choices.oneOf([
        (text: string) => escaped(text),
        (text: string) => escaped(text).replaceAll("\\\"", "\"")
      ])
      return at(isQuoted, (token) => {
        token.text = `${opener}${content(token.value as string)}${closer}`
      })(value, choices)
    }
  },
  "mixed quotes": {
    // As where the closing quote is missing.
    text: endsWithoutQuote,
    key: isName,
    apply: (value, choices) => {
      const [opener, closer] = choices.oneOf(["“\"", "\"”"])
      return at(isQuoted, (token) => {
        token.text = `${opener}${escaped(content(token))}${closer}`
      })(value, choices)
    }
  },
  "backticks": {
    apply: at(isQuoted, (token, choices) => {
      const text = inQuotes(content(token), "`")
      token.text = choices.below(2) === 0 ? text : text.replaceAll(/(?<!\\)((?:\\\\)*)\\n/g, "$1\n")
    })
  },
  "triple quotes": {
    // A quote beside them makes four.
    text: (text) => !/"""|'''|^["']|["']$/.test(text),
    apply: at(({ kind }) => kind === "string", (token, choices) => {
      const quote = choices.oneOf(["\"\"\"", "'''"])
      const text = content(token).replaceAll("\\", "\\\\")
      token.text = `${quote}${text}${quote}`
    })
  },
  "doubled quotes": {
    // A quote inside would be doubled as well. Without a key it could be a text in quotes.
    text: (text) => text !== "" && !text.includes("\"") && hasPlainEnds(text),
    key: (key) => key !== "" && !key.includes("\"") && hasPlainEnds(key),
    apply: (value, choices) =>
      Array.isArray(value) ? undefined : at(isQuoted, (token) => {
        token.text = `"${token.text}"`
      }, { which: "all" })(value, choices)
  },
  "no opening quote of a key": {
    key: isName,
    text: hasPlainEnds,
    apply: at(({ kind }) => kind === "key", (token) => {
      token.text = token.text.slice(1)
    })
  },
  "no closing quote of a key": {
    key: isName,
    text: hasPlainEnds,
    apply: at(({ kind }) => kind === "key", (token) => {
      token.text = token.text.slice(0, -1)
    })
  },
  "no opening quote of a value": {
    text: isPhrase,
    apply: at(({ kind }) => kind === "string", (token) => {
      token.text = token.text.slice(1)
    })
  },
  "no closing quote of a value": {
    text: endsWithoutQuote,
    apply: at(
      ({ inside, kind }, index, tokens) =>
        kind === "string" && inside !== "" &&
        (inside === "{" || tokens[index + 1]!.kind === "close" || tokens[index + 2]!.kind === "string"),
      (token) => {
        token.text = token.text.slice(0, -1)
      },
      { which: "one" }
    )
  }
}
