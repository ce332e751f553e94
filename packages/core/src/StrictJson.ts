/**
 * Reads the text of a tool call's arguments, and refuses what JSON lets through but a tool must not see.
 *
 * `JSON.parse` decides what is JSON. On top of it: keys that reach an object's prototype are refused at any depth and in
 * any escape, length and nesting are bounded, no integer is rounded and no number becomes infinite. Nothing is repaired here.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Edit from "./Edit.ts"
import { toPointer } from "./InputIssue.ts"
import * as JsonReader from "./internal/jsonReader.ts"
import { setOwn } from "./internal/ownProperty.ts"
import { printable } from "./internal/printable.ts"
import * as Limits from "./Limits.ts"

/**
 * A text is not JSON, or is JSON that is refused.
 *
 * - `syntax`: not JSON; `offset` is the character at which reading stopped, `expected` what should stand there.
 * - `forbidden-key`: a key `__proto__`, or `constructor` with an own `prototype` in it.
 * - `unsafe-integer`: an integer beyond 2^53 - 1, which a double would round.
 * - `number-out-of-range`: a number too large for a double.
 * - `not-json`: an already parsed value that JSON cannot hold (a function, a `Date`, a cycle, `NaN`).
 *
 * Source: the first two as in the AI SDK, the rest own. The message repeats nothing of the text but a key's place.
 *
 * @example
 * ```ts
 * import * as StrictJson from "@countersign/core/StrictJson"
 *
 * const error = new StrictJson.InvalidJson({ reason: "syntax", offset: 8, expected: "a JSON value" })
 * error.message // => "not valid JSON: expected a JSON value at character 8"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidJson extends Schema.TaggedError<InvalidJson>("@countersign/core/StrictJson/InvalidJson")(
  "InvalidJson",
  {
    reason: Schema.Literals(["syntax", "forbidden-key", "unsafe-integer", "number-out-of-range", "not-json"]),
    offset: Schema.optionalKey(Schema.Number),
    pointer: Schema.optionalKey(Schema.String),
    expected: Schema.optionalKey(Schema.String)
  }
) {
  override get message(): string {
    const at = this.pointer === undefined || this.pointer === "" ? "" : ` at ${printable(this.pointer, 200)}`
    switch (this.reason) {
      case "syntax":
        return `not valid JSON: expected ${this.expected} at character ${this.offset}`
      case "forbidden-key":
        return `forbidden key${at}: "__proto__" and "constructor.prototype" are not allowed`
      case "unsafe-integer":
        return `integer beyond 2^53${at} would lose digits: send it as a string, if the schema takes one`
      case "number-out-of-range":
        return `number out of range${at}`
      case "not-json":
        return `not a JSON value${at}`
    }
  }
}

/**
 * What {@link parse} takes beside the text.
 *
 * - `limits`: the bounds; {@link Limits.defaults} when absent.
 * - `keepDigits`: keep every integer beyond 2^53 as the string of its digits, with an edit that says so, instead of refusing
 *   it. For a caller that knows, or finds out, that a string is taken there.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParseOptions {
  readonly limits?: Limits.LimitValues | undefined
  readonly keepDigits?: boolean | undefined
}

/**
 * A value that was read, and the edits that reading made (`raw-digits` only).
 *
 * @category models
 * @since 0.1.0
 */
export interface Parsed {
  readonly value: unknown
  readonly edits: ReadonlyArray<Edit.Edit>
}

const noEdits: ReadonlyArray<Edit.Edit> = []

/**
 * Reads a JSON text.
 *
 * Fails with {@link InvalidJson} or {@link Limits.InputLimitExceeded}. Duplicate keys: the last one wins, as in
 * `JSON.parse`. A byte order mark, comments and trailing commas are syntax errors: repairing is another module's work.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as StrictJson from "@countersign/core/StrictJson"
 *
 * Result.getOrThrow(StrictJson.parse("{\"a\":[1]}")).value // => { a: [1] }
 *
 * const refused = StrictJson.parse("{\"id\":12345678901234567890}")
 * Result.isFailure(refused) && refused.failure.message
 * // => "integer beyond 2^53 at /id would lose digits: send it as a string, if the schema takes one"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (
  text: string,
  options?: ParseOptions
): Result.Result<Parsed, InvalidJson | Limits.InputLimitExceeded> => {
  const limits = options?.limits ?? Limits.defaults
  if (text.length > limits.maxInputLength) {
    return Result.fail(
      new Limits.InputLimitExceeded({ limit: "maxInputLength", max: limits.maxInputLength, size: text.length })
    )
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return readCarefully(text, limits, options?.keepDigits)
  }
  return isHarmless(value, Math.min(limits.maxDepth, maxRecursion))
    ? Result.succeed({ value, edits: noEdits })
    : readCarefully(text, limits, options?.keepDigits)
}

/** How deep a walk may recurse on any runtime's stack; what is deeper is walked without recursion. */
const maxRecursion = 512

/**
 * Whether a parsed value can be taken as it is: no key that reaches a prototype, not nested too deeply, and no number so large
 * that digits may have been lost. Says no to some values that `readCarefully` then accepts. Depth is bounded, so it may recurse.
 */
const isHarmless = (value: unknown, depth: number): boolean => {
  if (typeof value === "number") return Number.isSafeInteger(value) || Math.abs(value) < Number.MAX_SAFE_INTEGER
  if (typeof value !== "object" || value === null) return true
  if (depth === 0) return false
  if (Array.isArray(value)) return value.every((item) => isHarmless(item, depth - 1))
  const record = value as Record<string, unknown>
  return Object.keys(record).every((key) =>
    // The V8 of Node 24 may read any key that is one escaped character as this one, after it has met this one.
    key !== "\\" && !isForbidden(key, record[key]) && isHarmless(record[key], depth - 1)
  )
}

const readCarefully = (
  text: string,
  limits: Limits.LimitValues,
  keepDigits: ParseOptions["keepDigits"]
): Result.Result<Parsed, InvalidJson | Limits.InputLimitExceeded> => {
  const read = JsonReader.read(text, { maxDepth: limits.maxDepth, keepDigits: keepDigits ?? false })
  switch (read._tag) {
    case "Read": {
      const refusal = inspect(read.value, limits)
      return refusal === undefined
        ? Result.succeed({ value: read.value, edits: read.kept.map(keptDigits) })
        : Result.fail(refusal)
    }
    case "Syntax":
      return Result.fail(new InvalidJson({ reason: "syntax", offset: read.offset, expected: read.expected }))
    case "Depth":
      return Result.fail(new Limits.InputLimitExceeded({ limit: "maxDepth", max: limits.maxDepth, size: read.depth }))
    case "Number":
      return Result.fail(
        new InvalidJson({
          reason: read.kind === "overflow" ? "number-out-of-range" : "unsafe-integer",
          offset: read.offset,
          pointer: toPointer(read.path)
        })
      )
  }
}

const keptDigits = ({ digits, offset, path }: JsonReader.Kept): Edit.Edit => ({
  kind: "raw-digits",
  offset,
  pointer: toPointer(path),
  before: digits,
  after: JSON.stringify(digits)
})

interface Visit {
  readonly value: object
  readonly depth: number
  readonly parent: Visit | undefined
  readonly key: string
}

const pointerOf = (visit: Visit, key?: string): string => {
  const path = key === undefined ? [] : [key]
  for (let at: Visit | undefined = visit; at?.parent !== undefined; at = at.parent) path.unshift(at.key)
  return toPointer(path)
}

/**
 * Checks a value that somebody else parsed (a provider's SDK, a client) as {@link parse} checks a text: plain JSON, no
 * forbidden key, not nested too deeply, and not of more members than a text of the longest length could have. `undefined` members
 * of objects are allowed and count as absent.
 *
 * Gives the reason to refuse it, or `undefined`. Cycles are refused through the depth limit.
 *
 * @example
 * ```ts
 * import * as StrictJson from "@countersign/core/StrictJson"
 *
 * StrictJson.inspect({ a: [1, null] }) // => undefined
 * StrictJson.inspect({ at: new Date(0) })?.message // => "not a JSON value at /at"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const inspect = (
  value: unknown,
  limits: Limits.LimitValues = Limits.defaults
): InvalidJson | Limits.InputLimitExceeded | undefined => {
  try {
    return findRefusal(value, limits)
  } catch {
    // A getter or a proxy that throws: whatever it is, it is no JSON value.
    return new InvalidJson({ reason: "not-json", pointer: "" })
  }
}

const findRefusal = (
  value: unknown,
  limits: Limits.LimitValues
): InvalidJson | Limits.InputLimitExceeded | undefined => {
  const refuse = (reason: InvalidJson["reason"], pointer: string) => new InvalidJson({ reason, pointer })
  if (typeof value !== "object" || value === null) {
    return isScalar(value) ? undefined : refuse("not-json", "")
  }
  if (!isPlain(value)) return refuse("not-json", "")
  const stack: Array<Visit> = [{ value, depth: 1, parent: undefined, key: "" }]
  let members = 0
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (visit.depth > limits.maxDepth) {
      return new Limits.InputLimitExceeded({ limit: "maxDepth", max: limits.maxDepth, size: visit.depth })
    }
    const isArray = Array.isArray(visit.value)
    const keys = Object.keys(visit.value)
    members += keys.length
    // As a text it would be longer than that. Few objects that hold each other can have as many members as stars.
    if (members > limits.maxInputLength) {
      return new Limits.InputLimitExceeded({ limit: "maxInputLength", max: limits.maxInputLength, size: members })
    }
    for (const key of keys) {
      const member = (visit.value as Record<string, unknown>)[key]
      if (!isArray && isForbidden(key, member)) return refuse("forbidden-key", pointerOf(visit, key))
      if (typeof member === "object" && member !== null) {
        if (!isPlain(member)) return refuse("not-json", pointerOf(visit, key))
        stack.push({ value: member, depth: visit.depth + 1, parent: visit, key })
      } else if (!isScalar(member) && (isArray || member !== undefined)) {
        return refuse("not-json", pointerOf(visit, key))
      }
    }
  }
  return undefined
}

const isScalar = (value: unknown): boolean =>
  value === null || typeof value === "string" || typeof value === "boolean" ||
  typeof value === "number" && Number.isFinite(value)

const isForbidden = (key: string, member: unknown): boolean =>
  key === "__proto__" ||
  key === "constructor" && typeof member === "object" && member !== null && Object.hasOwn(member, "prototype")

// Values may come from another realm (a `vm`, an iframe), so a plain object is one whose prototype has no prototype.
const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/**
 * Checks a value as {@link inspect} does, and gives a copy of it that nobody else can change.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as StrictJson from "@countersign/core/StrictJson"
 *
 * Result.getOrThrow(StrictJson.take({ a: [1], b: undefined })) // => { a: [1] }
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const take = (
  value: unknown,
  limits: Limits.LimitValues = Limits.defaults
): Result.Result<unknown, InvalidJson | Limits.InputLimitExceeded> => {
  const refusal = inspect(value, limits)
  if (refusal !== undefined) return Result.fail(refusal)
  try {
    // A getter may give another value to the copy than it gave before: it is the copy that counts.
    const copy = clone(value)
    const second = inspect(copy, limits)
    return second === undefined ? Result.succeed(copy) : Result.fail(second)
  } catch {
    return Result.fail(new InvalidJson({ reason: "not-json", pointer: "" }))
  }
}

/**
 * Copies a JSON value. Keys stay own properties whatever they are called; members that are `undefined` are left out, as JSON
 * leaves them out; depth costs no stack.
 *
 * @example
 * ```ts
 * import * as StrictJson from "@countersign/core/StrictJson"
 *
 * const original = { list: [1] }
 * const copy = StrictJson.clone(original) as typeof original
 * copy.list.push(2)
 * original.list // => [1]
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const clone = (value: unknown): unknown => {
  const pending: Array<{ readonly from: Record<string, unknown>; readonly into: object }> = []
  const copy = (from: unknown): unknown => {
    if (typeof from !== "object" || from === null) return from
    const into = Array.isArray(from) ? [] : {}
    pending.push({ from: from as Record<string, unknown>, into })
    return into
  }
  const root = copy(value)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const key of Object.keys(next.from)) {
      if (next.from[key] !== undefined) setOwn(next.into, key, copy(next.from[key]))
    }
  }
  return root
}
