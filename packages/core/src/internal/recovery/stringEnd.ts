/**
 * Where a string ends whose quotes may not have been escaped. One pass, no step back: a quote ends the string where what follows it can
 * follow a string there, and no quote inside is still open.
 */
import { closersOf, isCloser, isSpace, isWordCode, skipSpaces, trimEnd } from "./characters.ts"
import { isUnescaped } from "./escapes.ts"
import { closingQuote, Fit, follow, keyAhead } from "./follow.ts"
import type { Frame } from "./frame.ts"

/** @internal */
export interface StringEnd {
  /** The offset after the content. */
  readonly contentEnd: number
  /** The offset at which reading goes on. */
  readonly next: number
  /**
   * - `closed`: by a quote.
   * - `unquoted`: the closing quote is missing, but what follows the string is there.
   * - `backslash`: by a quote that looks escaped, after a path of Windows.
   * - `open`: the text ends inside.
   * - `lost`: nobody can tell, since the string may have ended at another place as well.
   */
  readonly how: "closed" | "unquoted" | "backslash" | "open" | "lost"
  readonly hasInnerQuotes: boolean
}

/** By code, the characters that say nothing about the end of a string. */
const isOrdinary = /* @__PURE__ */ new Uint8Array(0x80).map((_, code) =>
  "\"'`\\{}[]()\n".includes(String.fromCharCode(code)) ? 0 : 1
)

/**
 * The offset of the next quote that is not escaped, the length of the text where there is none.
 *
 * @internal
 */
export const endOfQuotes = (text: string, from: number, quote: string): number => {
  for (let end = text.indexOf(quote, from); end !== -1; end = text.indexOf(quote, end + 1)) {
    let run = end
    while (run > from && text.charCodeAt(run - 1) === 0x5c) run--
    if ((end - run) % 2 === 0) return end
  }
  return text.length
}

/** How long a path of Windows is looked for. */
const maxPath = 512

/**
 * The end of the string whose opening quote is at `start`.
 *
 * @internal
 */
export const findStringEnd = (text: string, start: number, frame: Frame | undefined): StringEnd => {
  const opener = text.charCodeAt(start)
  const closers = closersOf(opener)!
  const from = start + 1
  const isCloserHere = (code: number): boolean =>
    opener < 0x80 ? code === opener : closers.includes(String.fromCharCode(code))
  let innerQuotes = 0
  let isInnerOpen = false
  let hasInnerQuotes = false
  let isAmbiguous = false
  let isTypographic = false
  let plainQuotes = 0
  let mayHaveEnded = false
  /** Of the brackets in the string: how many are open, whether there are any, and whether one is closed that was not opened there. */
  let depth = 0
  let hasOpener = false
  let hasSurplus = false
  const ended = (contentEnd: number, next: number, how: StringEnd["how"]): StringEnd => {
    // What begins as the rest of a text does is none of its own.
    if (isAmbiguous || how === "unquoted" && /^\s*[,}\]]/.test(text.slice(from, from + 16))) {
      return { contentEnd, next, how: "lost", hasInnerQuotes }
    }
    return { contentEnd, next, how, hasInnerQuotes }
  }

  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80 ? isOrdinary[code] === 1 : closersOf(code) === undefined && code !== 0xbb) continue
    if (code === 0x5c) {
      at++
      if (innerQuotes === 0 && isCloserHere(text.charCodeAt(at)) && mayEndAt(text.charCodeAt(at + 1))) {
        const isStrong = follow(text, at + 1, frame, true) === Fit.strong
        if (isStrong && isUnescaped(text.slice(Math.max(from, at - maxPath), at))) return ended(at, at + 1, "backslash")
      }
      continue
    }
    if (!isCloserHere(code)) {
      if (code === 0x7b || code === 0x5b || code === 0x28) {
        depth++
        hasOpener = true
      } else if (isCloser(code)) {
        hasSurplus ||= depth === 0
        depth--
      } else if (innerQuotes > 0) {
        continue
      } else if (code === 0x0a && !hasOpener && at > from) {
        // The end of the line may be the end of the string.
        if (follow(text, at, frame, true) === Fit.strong) return ended(trimComma(text, from, at), at, "unquoted")
        at = skipSpaces(text, at) - 1
      } else if (code === 0x201c || code === 0x201e) {
        isTypographic = true
      } else if (code === 0x201d && !isTypographic && skipSpaces(text, at + 1) < text.length) {
        // A typographic quote may close what a plain one opened.
        if (follow(text, at + 1, frame, true) === Fit.strong) return ended(at, at + 1, "closed")
      }
      continue
    }
    const char = text[at]!
    const before = at > from ? text[at - 1]! : " "
    const after = text[at + 1] ?? " "
    if (char === "'" || char === "’") {
      if (isWord(before) && isWord(after)) {
        hasInnerQuotes = true
        continue
      }
    }
    // A typographic quote is closed by a plain one only where nothing else can be meant.
    const isPlain = opener > 0x7f && char.charCodeAt(0) < 0x7f
    if (isPlain && (depth > 0 || plainQuotes++ > 0)) continue
    const fit = follow(text, at + 1, frame, innerQuotes > 0 || isPlain)
    if (fit !== Fit.none && !isInnerOpen) return ended(at, at + 1, "closed")
    if (isPlain) continue
    if (fit !== Fit.none) {
      // In brackets that were opened in the string the quotes belong to what is written there.
      isAmbiguous ||= depth <= 0
    } else if (!isInnerOpen && !isAmbiguous && depth <= 0 && !(hasOpener && hasSurplus)) {
      const contentEnd = endBeforeKey(text, from, at, frame, innerQuotes > 0, hasOpener)
      if (contentEnd !== undefined) return ended(contentEnd, contentEnd, "unquoted")
    }
    isAmbiguous ||= innerQuotes === 0 && mayEndValue(text, at + 1, frame, after === char)
    hasInnerQuotes = true
    innerQuotes++
    mayHaveEnded ||= mayEndAt(text.charCodeAt(at + 1)) && /[,:}\]]/.test(text[skipSpaces(text, at + 1)] ?? ",")
    if (isInnerOpen) isInnerOpen = !closers.includes(after) && (!isAfterWord(before) || isWord(after))
    else isInnerOpen = !isAfterWord(before) && !isSpace(after.charCodeAt(0))
  }
  isAmbiguous ||= mayHaveEnded
  return ended(text.length, text.length, "open")
}

/**
 * Where a string without its closing quote ended, if it is the last of the text and the text ends with the brackets that are open. Brackets
 * that were opened inside of the string, and the last line of several, may as well be part of it.
 *
 * @internal
 */
export const endBeforeClosers = (text: string, from: number, frame: Frame | undefined): number | undefined => {
  let end = trimEnd(text, from, text.length)
  while (end > from && isCloser(text.charCodeAt(end - 1))) end = trimEnd(text, from, end - 1)
  if (end === from || end >= trimEnd(text, from, text.length) || /[{[(\n]/.test(text.slice(from, end))) return undefined
  return follow(text, end, frame, true) === Fit.strong ? end : undefined
}

/** In a list the next value may follow behind a comma, a space or nothing, in an object a quote behind a comma; in both their end. */
const mayEndValue = (text: string, offset: number, frame: Frame | undefined, isDoubled: boolean): boolean => {
  const at = skipSpaces(text, offset)
  const isList = frame?.isList === true
  if (isList && (isDoubled || at > offset && /[\d{[-]/.test(text[at] ?? ""))) return true
  if (frame !== undefined && text.charCodeAt(at) === frame.closer) return true
  return text[at] === "," && (isList || closersOf(text.charCodeAt(skipSpaces(text, at + 1))) !== undefined)
}

const trimComma = (text: string, from: number, end: number): number => {
  const trimmed = trimEnd(text, from, end)
  return text[trimmed - 1] === "," ? trimEnd(text, from, trimmed - 1) : trimmed
}

/** Where a string ended that has no closing quote, if the quote at `at` opens the next key. */
const endBeforeKey = (
  text: string,
  from: number,
  at: number,
  frame: Frame | undefined,
  hasInnerQuotes: boolean,
  hasOpener: boolean
): number | undefined => {
  let end = trimComma(text, from, at)
  if (end === from || end === trimEnd(text, from, at) && !text.slice(end, at).includes("\n")) return undefined
  let open = frame
  if (!hasOpener && isCloser(text.charCodeAt(end - 1))) {
    // The brackets that end what is around the string.
    const after = end
    while (isCloser(text.charCodeAt(end - 1))) end = trimEnd(text, from, end - 1)
    for (let bracket = end; bracket < after; bracket = skipSpaces(text, bracket + 1)) {
      bracket = skipSpaces(text, bracket)
      if (open === undefined || open.closer !== text.charCodeAt(bracket)) return undefined
      open = open.parent
    }
  }
  if (end <= from || open === undefined) return undefined
  if (open.isList) return open === frame && !hasInnerQuotes && isItem(text, at, frame) ? end : undefined
  const isKnown = open.place.members !== undefined
  if (hasInnerQuotes && !isKnown || keyAhead(text, at, open, isKnown) !== Fit.strong) return undefined
  return end
}

/** Whether the quote at `at` opens the next item of a list. */
const isItem = (text: string, at: number, frame: Frame): boolean =>
  text[at] === "\"" && follow(text, closingQuote(text, at + 1) + 1, frame, true) === Fit.strong

const isAfterWord = (char: string): boolean => !isSpace(char.charCodeAt(0)) && !"([{=:>,<\\".includes(char)
const isWord = (char: string): boolean => char < "\x80" ? isWordCode(char.charCodeAt(0)) : /[\p{L}\p{N}]/u.test(char)

/** Whether a string may have ended before a character of that code. */
const mayEndAt = (code: number): boolean =>
  !(code > 0x20 && code < 0x80 && code !== 0x2c && code !== 0x3a && !isCloser(code))
