/**
 * A reading of malformed JSON of our own, against which the reading of a repair engine is held: what both read alike was meant,
 * anything else is a guess. It sees keys and scalars in their order, and whether the text was cut off; it builds no value.
 *
 * It is lenient about quotes: a quote ends a string where something that can follow a string comes after it.
 */

/** A key or a scalar: a string without its quotes and escapes, or a bare text as it stands. */
type Token = { readonly quoted: boolean; readonly text: string }

/** @internal */
export interface LooseReading {
  readonly tokens: ReadonlyArray<Token>
  /** The text ends inside something, so its end is not known. */
  readonly truncated: boolean
  /**
   * The text has a place whose meaning would be guessed, or whose content would be lost: several values, prose around a value or
   * in place of one, a key without a value or without a colon, a value with a key inside a list, `...` in place of values, a word
   * such as `undefined` that JSON has no value for, an escape that JSON does not have, quotes that are not paired.
   */
  readonly guessed: boolean
}

const closers: ReadonlyMap<string, string> = new Map([
  ["\"", "\""],
  ["'", "'"],
  ["`", "`"],
  ["´", "´"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"]
])

type Place = "start" | "open" | "close" | "comma" | "colon" | "key" | "string" | "literal" | "number" | "word"

const literals: ReadonlyMap<string, string> = new Map([
  ["true", "true"],
  ["false", "false"],
  ["null", "null"],
  ["True", "true"],
  ["False", "false"],
  ["None", "null"]
])
const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
// What other languages have and JSON has not: it would become a text, or null.
const notJson = /^[+-]?(?:nan|inf|infinity|undefined|null|nil|none|void|nullptr)$/i
const comment = /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*/y
// What may stand around a value without changing it: a code fence, a comment, a comma or a bracket too many.
const around = /```\w*|\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|[,}\]]/y
const bare = /[^,:{}[\]"\n]+/y

/** @internal */
export const readLoosely = (text: string): LooseReading => {
  const tokens: Array<Token> = []
  const open: Array<string> = []
  let place = "start" as Place
  let guessed = false
  let isOpenString = false
  let roots = 0

  for (let offset = 0; offset < text.length; offset++) {
    const char = text[offset]!
    if (/\s/.test(char)) continue
    if (open.length === 0 && char !== "{" && char !== "[") {
      around.lastIndex = offset
      const skipped = around.exec(text)?.[0]
      // Prose, or a value that is neither object nor list.
      if (skipped === undefined) guessed = true
      else offset += skipped.length - 1
      continue
    }
    const isKeyPlace = (place === "comma" || place === "open") && open[open.length - 1] === "{"
    if (place === "key" && char !== ":") guessed = true
    const closer = closers.get(char)
    if (closer !== undefined) {
      const read = readString(text, offset, closer)
      guessed ||= read.guessed
      tokens.push({ quoted: true, text: read.content })
      place = isKeyPlace ? "key" : "string"
      isOpenString = read.end === undefined
      if (read.end === undefined) break
      offset = read.end
      continue
    }
    switch (char) {
      case "{":
      case "[":
        // Which of several values was meant, nobody can tell.
        if (open.length === 0 && ++roots > 1) guessed = true
        open.push(char)
        place = "open"
        break
      case "}":
      case "]":
        guessed ||= place === "colon"
        open.pop()
        place = "close"
        break
      case ",":
        guessed ||= place === "colon"
        place = "comma"
        break
      case ":":
        guessed ||= open[open.length - 1] === "["
        place = "colon"
        break
      default: {
        comment.lastIndex = offset
        const skipped = comment.exec(text)?.[0]
        if (skipped !== undefined) {
          // A comment that holds what ends a value may be no comment.
          guessed ||= /["'}\]]/.test(skipped)
          offset += skipped.length - 1
          break
        }
        bare.lastIndex = offset
        const found = bare.exec(text)![0]
        const word = found.trim()
        offset += found.length - 1
        tokens.push({ quoted: false, text: word })
        guessed ||= word.startsWith("...") || word.includes("…") || notJson.test(word) && !literals.has(word)
        place = isKeyPlace ? "key" : literals.has(word) ? "literal" : number.test(word) ? "number" : "word"
      }
    }
  }
  if (open.length === 0) return { tokens, truncated: false, guessed }
  const isWhole = place === "close" || place === "literal" || place === "string"
  // What stands at the cut and cannot be completed: a key, a colon, half a word, half of a surrogate pair.
  guessed ||= place === "key" || place === "colon" || place === "word" || /\\u[dD][89abAB]..$/.test(text)
  return { tokens, truncated: isOpenString || !isWhole, guessed }
}

interface ReadString {
  readonly content: string
  readonly end: number | undefined
  readonly guessed: boolean
}

const escapes: ReadonlyMap<string, string> = new Map([["b", "\b"], ["f", "\f"], ["n", "\n"], ["r", "\r"], ["t", "\t"]])

/** The string that begins at `start`. */
const readString = (text: string, start: number, closer: string): ReadString => {
  // Three quotes are a string of another language; a path of Windows has backslashes that are meant.
  let guessed = text.startsWith(closer.repeat(3), start) || /^[A-Za-z]:\\[^\\]/.test(text.slice(start + 1, start + 5))
  let content = ""
  let innerQuotes = 0
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text[offset]!
    if (char === "\\") {
      const next = text[++offset] ?? ""
      const code = next === "u" ? /^[0-9a-fA-F]{4}/.exec(text.slice(offset + 1, offset + 5))?.[0] : undefined
      if (code !== undefined) {
        content += String.fromCharCode(Number.parseInt(code, 16))
        offset += 4
      } else {
        guessed ||= next !== "" && !"\"'`\\/bfnrtu".includes(next)
        content += escapes.get(next) ?? next
      }
    } else if (char === closer) {
      // Inner quotes come in pairs, unless the string ended at another place than it seems to.
      if (canFollowString(text, offset + 1)) {
        return { content, end: offset, guessed: guessed || innerQuotes % 2 === 1 }
      }
      innerQuotes++
      // The first of a pair stands before a word, the second after one: otherwise they end two strings.
      guessed ||= innerQuotes % 2 === 1 ? !/[\s([{=:>,]/.test(text[offset - 1]!) : /\s/.test(text[offset - 1]!)
      content += char
    } else {
      content += char
    }
  }
  return { content, end: undefined, guessed }
}

const canFollowString = (text: string, from: number): boolean => {
  for (let offset = from; offset < text.length; offset++) {
    const char = text[offset]!
    if (char === "\n") return true
    if (!/\s/.test(char)) return ",:}]/".includes(char) || "\"'".includes(char) && offset > from
  }
  return true
}

const jsonToken = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g

/**
 * Whether a JSON text says what was read: the same keys and scalars in the same order.
 *
 * @internal
 */
export const saysTheSame = (tokens: ReadonlyArray<Token>, json: string): boolean => {
  const said = json.match(jsonToken) ?? []
  return said.length === tokens.length && said.every((token, index) => isSame(tokens[index]!, token))
}

const isSame = ({ quoted, text }: Token, json: string): boolean => {
  if (json.startsWith("\"")) return JSON.parse(json) === text
  if (quoted) return false
  return literals.get(text) === json || number.test(text) && Number(text) === Number(json)
}
