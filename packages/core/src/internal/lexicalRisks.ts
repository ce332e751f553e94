/**
 * Reads a malformed text far enough to see what a lenient parser would decide in silence. It is lenient about quotes itself:
 * a quote ends a string where something that can follow a string comes after it.
 */

/** @internal */
export interface LexicalRisks {
  /** The text ends inside something, so its end is not known. */
  readonly truncated: boolean
  /** A key has no value. */
  readonly missingValue: boolean
  /** The model wrote `...` in place of values. */
  readonly elided: boolean
}

const closers: ReadonlyMap<string, string> = new Map([
  ["\"", "\""],
  ["'", "'"],
  ["`", "`"],
  ["“", "”"],
  ["‘", "’"],
  ["«", "»"]
])

type Token = "start" | "open" | "close" | "comma" | "colon" | "string" | "literal" | "word"

/** @internal */
export const assess = (text: string): LexicalRisks => {
  const open: Array<string> = []
  let token: Token = "start"
  let isKey = false
  let missingValue = false
  let elided = false
  let isOpenString = false

  for (let offset = 0; offset < text.length; offset++) {
    const char = text[offset]!
    if (/\s/.test(char)) continue
    const closer = closers.get(char)
    if (closer !== undefined && open.length > 0) {
      const end = stringEnd(text, offset, closer)
      isKey = token === "comma" || token === "open" ? open[open.length - 1] === "{" : false
      token = "string"
      if (end === undefined) {
        isOpenString = true
        break
      }
      offset = end
      continue
    }
    switch (char) {
      case "{":
      case "[":
        open.push(char)
        token = "open"
        break
      case "}":
      case "]":
        if (token === "colon") missingValue = true
        open.pop()
        token = "close"
        break
      case ",":
        if (token === "colon") missingValue = true
        token = "comma"
        break
      case ":":
        token = "colon"
        break
      default: {
        if (open.length === 0) continue
        if (text.startsWith("...", offset) || char === "…") elided = true
        const comment = /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|#[^\n]*/y
        comment.lastIndex = offset
        const skipped = comment.exec(text)?.[0]
        if (skipped !== undefined) {
          offset += skipped.length - 1
          continue
        }
        const word = /[^\s,:{}[\]"]+/y
        word.lastIndex = offset
        const found = word.exec(text)![0]
        offset += found.length - 1
        token = /^(?:true|false|null|True|False|None)$/.test(found) ? "literal" : "word"
      }
    }
  }
  const isWhole = open.length === 0 || token === "close" || token === "literal" || token === "string" && !isKey
  return { truncated: isOpenString || !isWhole, missingValue, elided }
}

/** Where the string that begins at `start` ends, or undefined when it does not. */
const stringEnd = (text: string, start: number, closer: string): number | undefined => {
  for (let offset = start + 1; offset < text.length; offset++) {
    const char = text[offset]
    if (char === "\\") offset++
    else if (char === closer && canFollowString(text, offset + 1)) return offset
  }
  return undefined
}

const canFollowString = (text: string, from: number): boolean => {
  for (let offset = from; offset < text.length; offset++) {
    const char = text[offset]!
    if (char === "\n") return true
    if (!/\s/.test(char)) return ",:}]+/#".includes(char) || "\"'".includes(char) && offset > from
  }
  return true
}
