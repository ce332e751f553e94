/**
 * Reads a malformed text far enough to see what a lenient parser would decide in silence. It is lenient about quotes itself:
 * a quote ends a string where something that can follow a string comes after it.
 */

/** @internal */
export interface LexicalRisks {
  /** The text ends inside something, so its end is not known. */
  readonly truncated: boolean
  /**
   * The text has a place whose meaning would be guessed, or whose content would be lost: several values, prose around a value or
   * in place of one, a key without a value or without a colon, a value with a key inside a list, `...` in place of values, `NaN` or `undefined`, an escape that JSON does not have (a Windows path, a
   * regular expression), quotes that are not paired.
   */
  readonly guessed: boolean
}

const closers: ReadonlyMap<string, string> = new Map([
  ["\"", "\""],
  ["'", "'"],
  ["`", "`"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"]
])

type Token = "start" | "open" | "close" | "comma" | "colon" | "key" | "string" | "literal" | "number" | "word"

const literal = /^(?:true|false|null|True|False|None)$/
// What JavaScript has and JSON has not: a lenient parser makes text or null of it.
const notJson = /^[+-]?(?:NaN|Infinity|undefined)$/
const comment = /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|#[^\n]*/y
// What may stand around a value without changing it: a code fence, a comment, a comma or a bracket too many.
const around = /```\w*|\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|#[^\n]*|[,}\]]/y
const word = /[^\s,:{}[\]"]+/y

/** @internal */
export const assess = (text: string): LexicalRisks => {
  const open: Array<string> = []
  let token = "start" as Token
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
    const isKeyPlace = (token === "comma" || token === "open") && open[open.length - 1] === "{"
    if (token === "key" && char !== ":") guessed = true
    const closer = closers.get(char)
    if (closer !== undefined) {
      const { end, guessed: isGuess } = readString(text, offset, closer)
      guessed ||= isGuess
      isOpenString = end === undefined
      if (end === undefined) break
      offset = end
      token = isKeyPlace ? "key" : "string"
      continue
    }
    switch (char) {
      case "{":
      case "[":
        // Which of several values was meant, nobody can tell.
        if (open.length === 0 && ++roots > 1) guessed = true
        open.push(char)
        token = "open"
        break
      case "}":
      case "]":
        guessed ||= token === "colon"
        open.pop()
        token = "close"
        break
      case ",":
        guessed ||= token === "colon"
        token = "comma"
        break
      case ":":
        guessed ||= open[open.length - 1] === "["
        token = "colon"
        break
      default: {
        guessed ||= text.startsWith("...", offset) || char === "…"
        comment.lastIndex = offset
        const skipped = comment.exec(text)?.[0]
        if (skipped !== undefined) {
          offset += skipped.length - 1
          break
        }
        word.lastIndex = offset
        const found = word.exec(text)![0]
        offset += found.length - 1
        guessed ||= notJson.test(found)
        token = isKeyPlace ? "key" : literal.test(found) ? "literal" : Number.isNaN(Number(found)) ? "word" : "number"
      }
    }
  }
  if (open.length === 0) return { truncated: false, guessed }
  const isWhole = token === "close" || token === "literal" || token === "string"
  // What stands at the cut and cannot be completed: a key, a colon, half a word, half of a surrogate pair.
  guessed ||= !isOpenString && (token === "key" || token === "colon" || token === "word") ||
    /\\u[dD][89abAB]..$/.test(text)
  return { truncated: isOpenString || !isWhole, guessed }
}

/** Where the string that begins at `start` ends, if it does, and whether its content would be guessed. */
const readString = (text: string, start: number, closer: string) => {
  // Three quotes are a string of another language; two of them would be an empty string here.
  let guessed = text.startsWith(closer.repeat(3), start)
  let innerQuotes = 0
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text[offset]!
    if (char === "\\") {
      offset++
      guessed ||= offset < text.length && !"\"'`\\/bfnrtu".includes(text[offset]!)
    } else if (char === closer) {
      // Inner quotes come in pairs, unless the string ended at another place than it seems to.
      if (canFollowString(text, offset + 1)) return { end: offset, guessed: guessed || innerQuotes % 2 === 1 }
      innerQuotes++
      // An inner quote is kept where it is a double one, and becomes a double one where it is not.
      guessed ||= closer !== "\""
    }
  }
  return { end: undefined, guessed }
}

const canFollowString = (text: string, from: number): boolean => {
  for (let offset = from; offset < text.length; offset++) {
    const char = text[offset]!
    if (char === "\n") return true
    if (!/\s/.test(char)) return ",:}]+/#".includes(char) || "\"'".includes(char) && offset > from
  }
  return true
}
