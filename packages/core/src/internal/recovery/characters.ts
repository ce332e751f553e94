/**
 * What the characters of a malformed text may stand for: spaces, punctuation and quotes of every sort.
 */

/** @internal */
export const isSpace = (code: number): boolean =>
  code === 0x20 || code >= 0x09 && code <= 0x0d || code > 0x7f && oddSpace.test(String.fromCharCode(code))

// No-break and other wide spaces, and what has no width at all: byte order marks, joiners, marks of direction.
const oddSpace = /[\s\u0085\u200b-\u200f\u2060\ufeff]/

/**
 * The offset of the first character from `at` on that is no space.
 *
 * @internal
 */
export const skipSpaces = (text: string, at: number): number => {
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/**
 * The offset of the first character from `at` on that is no space of JSON.
 *
 * @internal
 */
export const skipLines = (text: string, at: number): number => {
  for (let code = text.charCodeAt(at); code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;) {
    code = text.charCodeAt(++at)
  }
  return at
}

/**
 * As `startsWith`, which costs more for a few characters.
 *
 * @internal
 */
export const isAt = (text: string, start: number, word: string): boolean => {
  for (let at = 0; at < word.length; at++) {
    if (text.charCodeAt(start + at) !== word.charCodeAt(at)) return false
  }
  return true
}

/** @internal */
export const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/**
 * The end of what stands between `start` and `end`, without the spaces there.
 *
 * @internal
 */
export const trimEnd = (text: string, start: number, end: number): number => {
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return end
}

/**
 * The offset of the first character from `at` on that is no space, nor a space written as an escape where no string is.
 *
 * @internal
 */
export const skipBlanks = (text: string, at: number): number => {
  for (at = skipSpaces(text, at); isEscapedSpace(text, at); at = skipSpaces(text, at + 2));
  return at
}

/**
 * The offset of the first character from `at` on that is neither a blank nor a part of a short comment.
 *
 * @internal
 */
export const skipBetween = (text: string, at: number): number => {
  for (let from = skipBlanks(text, at);; from = skipBlanks(text, at)) {
    // A comment up to the end of the line has a space before it.
    if (!isComment(text, from) || from === at && !text.startsWith("/*", from)) return from
    at = from + endOfComment(text.slice(from, from + maxComment), 0)
    if (at === from + maxComment) return from
  }
}

/** How long a comment may be that is looked past. */
const maxComment = 200

/** @internal */
export const isEscapedSpace = (text: string, at: number): boolean => {
  if (text.charCodeAt(at) !== 0x5c) return false
  const code = text.charCodeAt(at + 1)
  return code === 0x6e || code === 0x72 || code === 0x74
}

const fullWidth = "：，、｛｝［］；＝（）"
const halfWidth = ":,,{}[];=()"

/**
 * The punctuation that a character stands for.
 *
 * @internal
 */
export const punctuation = (code: number): number => {
  if (code < 0x3001) return code
  const at = fullWidth.indexOf(String.fromCharCode(code))
  return at === -1 ? code : halfWidth.charCodeAt(at)
}

const quotes: ReadonlyMap<number, string> = new Map(
  ["\"\"", "''", "``", "´´`", "“”“\"", "””“\"", "„“”\"", "‘’‘'", "’’‘'", "«»", "＂＂"].map((pair) => [
    pair.charCodeAt(0),
    pair.slice(1)
  ])
)

/**
 * The quotes that may close what the given one opens; `undefined` where it is no quote.
 *
 * @internal
 */
export const closersOf = (code: number): string | undefined => quotes.get(code)

/** @internal */
export const isQuote = (code: number): boolean => code === 0x22 || quotes.has(code)

/**
 * Whether a code is an ASCII letter, a digit, `_` or `$`.
 *
 * @internal
 */
export const isWordCode = (code: number): boolean =>
  code >= 0x61 && code <= 0x7a || code >= 0x41 && code <= 0x5a || code >= 0x30 && code <= 0x39 || code === 0x5f ||
  code === 0x24

/** @internal */
export const isCloser = (code: number): boolean => code === 0x7d || code === 0x5d || code === 0x29

const comment = /\/\/[^\n]*|#[^\n]*|\/\*[^]*?(?:\*\/|$)/y

/**
 * The end of the comment at `at`, before its line feed; `at` where there is none.
 *
 * @internal
 */
export const endOfComment = (text: string, at: number): number => {
  comment.lastIndex = at
  return isComment(text, at) && comment.test(text) ? comment.lastIndex : at
}

/** @internal */
export const isComment = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  if (code === 0x23) return true
  const next = text.charCodeAt(at + 1)
  return code === 0x2f && (next === 0x2f || next === 0x2a)
}
