/**
 * A JSON reader (RFC 8259) that can say where a text is wrong and what each number was before it became a double.
 *
 * It accepts exactly what `JSON.parse` accepts and gives the same values; it is slower, so `StrictJson` asks it only
 * when `JSON.parse` failed or the text holds a number that a double may not hold. Iterative: depth costs no stack.
 */
import { getAt, setOwn } from "./ownProperty.ts"

/** @internal */
export type Path = ReadonlyArray<string | number>

/** @internal */
export type ReadFailure =
  | { readonly _tag: "Syntax"; readonly offset: number; readonly expected: string }
  | { readonly _tag: "Depth"; readonly depth: number }
  | { readonly _tag: "Number"; readonly kind: NumberLoss; readonly offset: number; readonly path: Path }

/** @internal */
export type NumberLoss = "overflow" | "integer"

/** @internal */
export interface Read {
  readonly _tag: "Read"
  readonly value: unknown
  readonly kept: ReadonlyArray<Kept>
}

/**
 * A place where an integer beyond 2^53 became a string of its digits.
 *
 * @internal
 */
export interface Kept {
  readonly path: Path
  readonly offset: number
  readonly digits: string
}

/** @internal */
export interface ReadOptions {
  readonly maxDepth: number
  /** Whether an integer beyond 2^53 becomes the string of its digits; it is a failure otherwise. */
  readonly keepDigits: boolean
}

interface Container {
  readonly target: Array<unknown> | Record<string, unknown>
  key: string | number
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const unicodeEscape = /u[0-9a-fA-F]{4}/y

/**
 * What a double would lose of a number literal.
 *
 * Digits alone are an integer the sender wrote out, so one beyond 2^53 - 1 counts as lost even where the double happens
 * to be equal. With a fraction or an exponent it is a floating-point number, and fifteen digits of it always survive.
 *
 * @internal
 */
export const numberLoss = (literal: string): NumberLoss | undefined => {
  const value = Number(literal)
  if (!Number.isFinite(value)) return "overflow"
  if (Number.isSafeInteger(value) || !Number.isInteger(value)) return undefined
  if (isDigits(literal)) return "integer"
  const [mantissa = "", exponent = "0"] = literal.toLowerCase().split("e")
  const [whole = "", fraction = ""] = mantissa.replace("-", "").split(".")
  const coefficient = `${whole}${fraction}`.replace(/^0+/, "")
  const digits = coefficient.replace(/0+$/, "")
  if (digits.length <= 15) return undefined
  const scale = Number(exponent) - fraction.length + coefficient.length - digits.length
  // No double has more than 309 digits before the point; what has more digits than that is not exact.
  const isExact = scale >= 0 && digits.length <= 309 &&
    BigInt(digits) * 10n ** BigInt(scale) === BigInt(Math.abs(value))
  return isExact ? undefined : "integer"
}

const isDigits = (literal: string): boolean => /^-?\d+$/.test(literal)

/** @internal */
export const read = (text: string, options: ReadOptions): Read | ReadFailure => {
  const stack: Array<Container> = []
  const kept: Array<Kept> = []
  let offset = 0

  const fail = (expected: string): ReadFailure => ({ _tag: "Syntax", offset, expected })
  const path = (): Path => stack.map((container) => container.key)

  const skipWhitespace = (): void => {
    for (;; offset++) {
      const code = text.charCodeAt(offset)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }

  /** The string at `offset`, or undefined with `offset` where it breaks. */
  const string = (): string | undefined => {
    const start = offset
    let hasEscapes = false
    for (offset++; offset < text.length; offset++) {
      const code = text.charCodeAt(offset)
      if (code === 0x22) {
        offset++
        return hasEscapes ? JSON.parse(text.slice(start, offset)) as string : text.slice(start + 1, offset - 1)
      }
      if (code < 0x20) return undefined
      if (code !== 0x5c) continue
      hasEscapes = true
      unicodeEscape.lastIndex = offset + 1
      if (unicodeEscape.test(text)) {
        offset += 5
      } else if (offset + 1 < text.length && "\"\\/bfnrt".includes(text[offset + 1]!)) {
        offset++
      } else {
        return undefined
      }
    }
    return undefined
  }
  const brokenString = (): ReadFailure => {
    if (offset >= text.length) return fail("the end of a string")
    return fail(text[offset] === "\\" ? "a valid escape sequence" : "an escaped control character")
  }

  const key = (container: Container): ReadFailure | undefined => {
    skipWhitespace()
    if (text[offset] !== "\"") return fail("a key in double quotes")
    const name = string()
    if (name === undefined) return brokenString()
    container.key = name
    skipWhitespace()
    if (text[offset] !== ":") return fail("\":\"")
    offset++
  }

  for (;;) {
    // A value begins here.
    skipWhitespace()
    let value: unknown
    const start = offset
    const char = text[offset]
    if (char === "{" || char === "[") {
      if (stack.length + 1 > options.maxDepth) return { _tag: "Depth", depth: stack.length + 1 }
      offset++
      skipWhitespace()
      const container: Container = char === "{" ? { target: {}, key: "" } : { target: [], key: 0 }
      if (text[offset] === (char === "{" ? "}" : "]")) {
        offset++
        value = container.target
      } else {
        stack.push(container)
        if (char === "{") {
          const failure = key(container)
          if (failure !== undefined) return failure
        }
        continue
      }
    } else if (char === "\"") {
      value = string()
      if (value === undefined) return brokenString()
    } else if (text.startsWith("true", offset)) {
      value = true
      offset += 4
    } else if (text.startsWith("false", offset)) {
      value = false
      offset += 5
    } else if (text.startsWith("null", offset)) {
      value = null
      offset += 4
    } else {
      number.lastIndex = offset
      const literal = number.exec(text)?.[0]
      if (literal === undefined) return fail("a JSON value")
      offset += literal.length
      const kind = numberLoss(literal)
      value = Number(literal)
      if (kind !== undefined) {
        if (kind === "overflow" || !isDigits(literal) || !options.keepDigits) {
          return { _tag: "Number", kind, offset: start, path: path() }
        }
        kept.push({ path: path(), offset: start, digits: literal })
        value = literal
      }
    }

    // A value is complete: put it where it belongs, and close every container that ends after it.
    for (;;) {
      skipWhitespace()
      const container = stack[stack.length - 1]
      if (container === undefined) {
        if (offset < text.length) return fail("the end of the text")
        // Of equal keys the last one wins, so what was kept for an earlier one is gone.
        return { _tag: "Read", value, kept: kept.filter(({ digits, path }) => getAt(value, path) === digits) }
      }
      const isArray = Array.isArray(container.target)
      // As JSON.parse: an own property whatever the key, the last of equal keys wins.
      setOwn(container.target, container.key, value)
      const next = text[offset]
      if (next === ",") {
        offset++
        if (isArray) {
          container.key = (container.key as number) + 1
        } else {
          const failure = key(container)
          if (failure !== undefined) return failure
        }
        break
      }
      if (next !== (isArray ? "]" : "}")) return fail(isArray ? "\",\" or \"]\"" : "\",\" or \"}\"")
      offset++
      value = container.target
      stack.pop()
    }
  }
}
