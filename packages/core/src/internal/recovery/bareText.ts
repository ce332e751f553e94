/**
 * Text without quotes: where it ends, and what it stands for.
 */
import {
  endOfComment,
  isCloser,
  isComment,
  isEscapedSpace,
  isQuote,
  isSpace,
  punctuation,
  skipBlanks,
  trimEnd
} from "./characters.ts"
import { Fit, follow } from "./follow.ts"
import type { Frame } from "./frame.ts"

/** @internal */
export interface BareText {
  /** The offset after the text, without the spaces behind it. */
  readonly end: number
  /** The offset at which reading goes on. */
  readonly next: number
  /** Whether a quote ends it, so that its first quote is missing. */
  readonly isQuoted: boolean
}

/**
 * The end of the text that begins at `start`. `isText`: the schema wants a text here, so that what JSON has signs for may be a part of it.
 *
 * @internal
 */
export const findBareEnd = (text: string, start: number, frame: Frame | undefined, isText: boolean): BareText => {
  const isStrict = isText && frame?.place.members !== undefined
  const ended = (at: number, next = at) => {
    const trimmed = trimEnd(text, start, at)
    // A comma at the end of the line is none of the text.
    const hasComma = text.charCodeAt(at) === 0x0a && text.charCodeAt(trimmed - 1) === 0x2c
    const end = hasComma ? trimEnd(text, start, trimmed - 1) : trimmed
    // A quote at the end whose partner stands in the text belongs to it.
    const isQuoted = end > start + 1 && isQuote(text.charCodeAt(end - 1)) &&
      text.indexOf(text[end - 1]!, start) === end - 1
    return { end: isQuoted ? end - 1 : end, next, isQuoted }
  }
  let hasOpener = false
  for (let at = start; at < text.length; at++) {
    const code = punctuation(text.charCodeAt(at))
    hasOpener ||= code === 0x5b || code === 0x7b || code === 0x28
    if (code === 0x2c || code === 0x3b && frame?.isList !== true) {
      if (frame?.isList === true || at > start && follow(text, at, frame, isStrict) !== Fit.none) return ended(at)
    } else if (isCloser(code)) {
      if (
        frame?.closer === code &&
        (frame.isList && !hasOpener || follow(text, at, frame, isStrict && hasOpener) !== Fit.none)
      ) {
        return ended(at)
      }
    } else if (code === 0x0a || isEscapedSpace(text, at)) {
      if (follow(text, at, frame, isStrict && hasOpener) !== Fit.none) return ended(at)
    } else if (isQuote(code)) {
      if (
        at > start && text.charCodeAt(at - 1) !== 0x5c &&
        follow(text, at + 1, frame, isStrict && hasOpener) !== Fit.none
      ) return ended(at + 1)
    } else if (at > start && isSpace(text.charCodeAt(at - 1))) {
      if (
        text.startsWith("```", at) ||
        !isText && isComment(text, at) && !/["']/.test(text.slice(at, endOfComment(text, at)))
      ) {
        return ended(at)
      }
    }
  }
  return ended(text.length)
}

const literals: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
  ...["null", "Null", "NULL", "None", "nil", "undefined"].map((word) => [word, null] as const)
])

/**
 * By the code of its first letter, the name of a literal of JSON or Python.
 *
 * @internal
 */
export const literalNames: ReadonlyMap<number, string> = new Map(
  ["true", "false", "null", "True", "False", "None"].map((name) => [name.charCodeAt(0), name])
)

/**
 * The value of a literal of JSON, Python or JavaScript.
 *
 * @internal
 */
export const literal = (word: string): boolean | null | undefined => literals.get(word)

/**
 * The literal that a word at the end of the text began to be.
 *
 * @internal
 */
export const literalFrom = (word: string): boolean | null | undefined => {
  const [match, ...others] = [...literals.keys()].filter((name) => name.startsWith(word))
  return match !== undefined && others.every((name) => literal(name) === literal(match)) ? literal(match) : undefined
}

const decimal = /^[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const hexadecimal = /^[+-]?0[xX][0-9a-fA-F]+$/

/**
 * A number in a form that JSON or another language has; `undefined` where it is none.
 *
 * @internal
 */
export const number = (word: string): number | undefined => {
  if (decimal.test(word)) return Number(word.replaceAll("_", ""))
  if (hexadecimal.test(word)) return word.startsWith("-") ? -Number(word.slice(1)) : Number(word.replace("+", ""))
  return undefined
}

/** @internal */
export const hasLeadingZero = (word: string): boolean => /^[+-]?0\d/.test(word)

const thousands = /\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d.])/y

/**
 * The end of a number at `start` whose thousands are set apart with commas; `start` where there is none.
 *
 * @internal
 */
export const endOfThousands = (text: string, start: number): number => {
  thousands.lastIndex = start
  return thousands.test(text) ? thousands.lastIndex : start
}

const scalar = /^(?:[\d{[-]|(?:true|false|null|True|False|None)\b)/

/**
 * Whether a number that ends at `at` ends there, and does not begin a text.
 *
 * @internal
 */
export const endsNumber = (text: string, at: number, frame?: Frame): boolean => {
  const code = punctuation(text.charCodeAt(at))
  if (code === 0x2c || isCloser(code) || code === 0x0a || code === 0x3b || code === 0x2f && isComment(text, at)) {
    return true
  }
  if (!isSpace(code) && !isEscapedSpace(text, at)) return false
  const next = skipBlanks(text, at)
  const after = punctuation(text.charCodeAt(next))
  // In a list commas may be missing.
  if (frame?.isList === true && scalar.test(text.slice(next, next + 6))) return true
  return next >= text.length || after === 0x2c || after === 0x3b || isCloser(after) || isQuote(after) ||
    isComment(text, next) || text.slice(at, next).includes("\n")
}
