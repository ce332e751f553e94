/**
 * Whether what stands at a place of the text can follow a complete value. It looks no further than the second quote from there.
 */
import { closersOf, isCloser, isComment, isQuote, isSpace, punctuation, skipBetween, skipSpaces } from "./characters.ts"
import { decode } from "./escapes.ts"
import { type Frame, isLikelyKey } from "./frame.ts"

/**
 * How well it follows: not at all, so that it may be if nothing else speaks against it, or so that hardly anything else can be meant.
 *
 * @internal
 */
export const Fit = { none: 0, weak: 1, strong: 2 } as const

/**
 * How well the text at `offset` follows a value of `frame`. `isStrict`: the value holds quotes that were not escaped, so what looks like
 * the next key may be a part of it.
 *
 * @internal
 */
export const follow = (text: string, offset: number, frame: Frame | undefined, isStrict: boolean): number => {
  const skip = isStrict ? skipSpaces : skipBetween
  let at = skip(text, offset)
  let code = punctuation(text.charCodeAt(at))
  let open = frame
  let isClosed = false
  for (let closed = 0; isCloser(code); code = punctuation(text.charCodeAt(at))) {
    const isOther = open !== undefined && open.closer !== code
    if (isOther || ++closed > maxClosers) return isStrict ? Fit.none : Fit.weak
    open = open?.parent
    isClosed = true
    at = skip(text, at + 1)
  }
  // A quote at the very end may as well be one of those that were not escaped.
  if (at >= text.length) return isStrict && open !== undefined ? Fit.none : Fit.strong
  if (open === undefined) {
    if (!isClosed) return Fit.none
    // The empty string that some providers add.
    if (text.startsWith("\"\"", at) && skipSpaces(text, at + 2) >= text.length) return Fit.strong
    if (code === 0x3c || text.startsWith("```", at)) return Fit.strong
    return isStrict || code === 0x22 && skipSpaces(text, at + 1) < text.length ? Fit.none : Fit.weak
  }
  if (code === 0x2c || code === 0x3b) return followComma(text, skip(text, at + 1), open, isStrict)
  const hasSpace = at > offset || isClosed || text.startsWith("/*", at)
  if (isElided(text, at)) return isStrict ? Fit.none : Fit.weak
  if (isComment(text, at)) return hasSpace && !isStrict ? Fit.weak : Fit.none
  if (!isStrict && code === 0x2b && isQuote(text.charCodeAt(skipSpaces(text, at + 1)))) return Fit.weak
  if (!open.isList) {
    if (!hasSpace && code !== 0x22) return Fit.none
    const fit = keyAhead(text, at, open, isStrict)
    // A word and a colon in the same line may be prose.
    return isQuote(code) || text.slice(offset, at).includes("\n") ? Math.min(fit, Fit.weak) : Fit.none
  }
  if (isClosed && (code === 0x7b || code === 0x5b)) return Fit.weak
  if (isStrict) return Fit.none
  scalarAhead.lastIndex = at
  return hasSpace && (isQuote(code) || scalarAhead.test(text)) || code === 0x3a ? Fit.weak : Fit.none
}

/** How many closing brackets are looked past. */
const maxClosers = 64

/** How well it follows a comma after a value of `frame`. */
const followComma = (text: string, at: number, frame: Frame, isStrict: boolean): number => {
  if (at >= text.length) return isStrict ? Fit.weak : Fit.strong
  const code = punctuation(text.charCodeAt(at))
  if (isCloser(code)) return Math.min(follow(text, at, frame, isStrict), isStrict ? Fit.strong : Fit.weak)
  if (code === 0x2c || isElided(text, at) || isComment(text, at)) {
    return isStrict
      ? Fit.none
      : Fit.weak
  }
  if (!frame.isList) {
    // The next item of a list whose last one was not closed.
    if (code === 0x7b && frame.parent?.isList === true) return isStrict ? Fit.none : Fit.weak
    return keyAhead(text, at, frame, isStrict)
  }
  if (isQuote(code) || code === 0x7b || code === 0x5b) return Fit.strong
  scalarAhead.lastIndex = at
  if (scalarAhead.test(text)) return Fit.strong
  if (isStrict) return Fit.none
  wordAhead.lastIndex = at
  return wordAhead.test(text) ? Fit.weak : Fit.none
}

/** Whether signs stand here for what was left out. */
const isElided = (text: string, at: number): boolean => text[at] === "…" || text.startsWith("...", at)

const scalarAhead = /(?:[+-]?[\d.][\d.eE+-]*|true|false|null|True|False|None)\s*(?:[,;，\])］｝]|\/[/*]|#|$)/y
const wordAhead = /[^\n,[\]{}()"':]{1,64}["']?\s{0,16}(?:[,\]]|$)/y

/**
 * How well what stands at `at` is a key of `frame` with its separator.
 *
 * @internal
 */
export const keyAhead = (text: string, at: number, frame: Frame, isStrict: boolean): number => {
  if (text.charCodeAt(at) === 0x22) {
    const end = closingQuote(text, at + 1)
    if (isSeparator(text.charCodeAt(skipBetween(text, end + 1)))) {
      return !isStrict || isLikelyKey(frame, decode(text.slice(at + 1, end)).text) ? Fit.strong : Fit.none
    }
  }
  const name = looseKeyAhead(text, at)
  if (name === undefined) return !isStrict && endsInKey(text, at) ? Fit.weak : Fit.none
  if (!isStrict) return Fit.weak
  return isLikelyKey(frame, name) &&
      (closersOf(text.charCodeAt(at)) !== undefined || frame.place.members?.has(name) === true)
    ? Fit.strong
    : Fit.none
}

/**
 * The offset of the next double quote that is not escaped.
 *
 * @internal
 */
export const closingQuote = (text: string, from: number): number => {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) break
    if (code === 0x5c) at++
  }
  return at
}

const isSeparator = (code: number): boolean => code === 0x3a || code === 0x3d || code === 0xff1a

// In other quotes; bare; without the first quote; without the second; without a separator.
const looseKey =
  /(?:(['`´])((?:(?!\1)[^\\\n]|\\[^]){0,128})\1|[“”„‘’«＂"]((?:[^“”„‘’«»＂"\n\\]|\\[^]){0,128})[“”‘’»＂"])\s{0,16}[:=：]|([\p{L}_$@][\p{L}\p{N}_$@.-]{0,127}|\d{1,16}(?=\s{0,16}[:：]\D))\s{0,16}(?:[:：](?!\/\/)|=(?!=))|([\p{L}_$][\p{L}\p{N}_$-]{0,127})["']\s{0,16}[:：]|["']([\p{L}_$][\p{L}\p{N}_$-]{0,127})(?:[:：]\s{0,16}["'\d[{tfn-]|["'][ \t]{1,16}(?=["'\d[{-]|true\b|false\b|null\b))/uy

/**
 * The key that stands at `at`, where it is not in double quotes.
 *
 * @internal
 */
export const looseKeyAhead = (text: string, at: number): string | undefined => {
  looseKey.lastIndex = at
  const found = looseKey.exec(text)
  return found === null ? undefined : found[2] ?? found[3] ?? found[4] ?? found[5] ?? found[6]
}

/** Whether the text ends in what may be a key that begins at `at`. */
const endsInKey = (text: string, at: number): boolean => {
  if (text.length - at > 130) return false
  const end = skipWord(text, isQuote(text.charCodeAt(at)) ? at + 1 : at)
  return end >= text.length || isQuote(text.charCodeAt(end)) && skipSpaces(text, end + 1) >= text.length
}

const skipWord = (text: string, at: number): number => {
  while (at < text.length && !isQuote(text.charCodeAt(at)) && !isSpace(text.charCodeAt(at))) at++
  return at
}
