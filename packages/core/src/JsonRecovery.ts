/**
 * Recovers what a malformed JSON text was meant to say: straight to values, in time linear in the text, guided by the JSON Schema
 * of what is expected.
 *
 * What can only be guessed is refused, or comes with the other reading beside it. Nothing is invented, and no key is dropped
 * that the schema does not know.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Edit from "./Edit.ts"
import type { InputSchema } from "./InputSchema.ts"
import { type DocumentOptions, fit, isStrict, type ReadDocument, readDocument } from "./internal/recovery/document.ts"
import { anywhere } from "./internal/recovery/place.ts"
import { reasons, Refused, TooDeep } from "./internal/recovery/refused.ts"
import { placeOf } from "./internal/recovery/schemaPlace.ts"
import type { JsonSchema } from "./JsonSchemaValidator.ts"
import * as Limits from "./Limits.ts"
import * as StrictJson from "./StrictJson.ts"

/**
 * A text cannot be recovered without guessing. `offset` is the character at which that was known.
 *
 * The message says what to do, and repeats nothing of the text.
 *
 * @example
 * ```ts
 * import * as JsonRecovery from "@countersign/core/JsonRecovery"
 *
 * const error = new JsonRecovery.Unrecoverable({ reason: "truncated", offset: 12 })
 * error.message // => "the text ends at character 12 in the middle of a value: send it again, whole"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class Unrecoverable
  extends /* @__PURE__ */ Schema.TaggedError<Unrecoverable>("@countersign/core/JsonRecovery/Unrecoverable")(
    "Unrecoverable",
    {
      reason: Schema.Literals(reasons),
      offset: Schema.Number
    }
  )
{
  override get message(): string {
    return advice[this.reason].replace("#", `character ${this.offset}`)
  }
}

const advice: Record<typeof reasons[number], string> = {
  "no-json": "no JSON value begins at #: send the arguments as one JSON object",
  "truncated": "the text ends at # in the middle of a value: send it again, whole",
  "garbage": "not JSON at #, and nothing that is meant by it for certain: send valid JSON",
  "no-value": "the key before # has no value: give it one, or leave the key out",
  "elided": "content was left out at #: send all of it",
  "string-end": "the end of the string at # cannot be told: escape the quotes inside of it",
  "two-values": "another value begins at #: send one JSON object",
  "duplicate-key": "the key at # stands twice in one object: send it once",
  "forbidden-key": "forbidden key at #: \"__proto__\" and \"constructor.prototype\" are not allowed",
  "unsafe-integer": "integer beyond 2^53 at # would lose digits: send it as a string, if the schema takes one",
  "number-out-of-range": "number out of range at #: JSON has no such number"
}

/**
 * What {@link recover} takes beside the text.
 *
 * - `schema`: the schema of what is expected. A guide only: what is recovered still has to be validated.
 * - `toolName`: the tool's own name, which some models put around the arguments.
 * - `limits`: the bounds; `Limits.defaults` when absent.
 * - `truncated`: what to do with a text that ends inside something: `refuse` it, the default, or `close` what is open.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecoverOptions {
  readonly schema?: InputSchema | JsonSchema | undefined
  readonly toolName?: string | undefined
  readonly limits?: Limits.LimitValues | undefined
  readonly truncated?: "refuse" | "close" | undefined
}

/**
 * What a text was meant to say. `edits`: what was changed to read it, at most a hundred of them one by one, none for a text
 * that was JSON and fits. `truncated`: the text was cut off, at `truncatedAt`, and was closed. `alternative`: another reading
 * that is as good.
 *
 * @category models
 * @since 0.1.0
 */
export interface Recovered {
  readonly value: unknown
  readonly edits: ReadonlyArray<Edit.Edit>
  readonly truncated: boolean
  readonly truncatedAt?: number
  readonly alternative?: unknown
}

/** How often a value may be a text that holds the value. */
const maxEncodings = 3

/**
 * Recovers the value of a text.
 *
 * @example
 * ```ts
 * import * as JsonRecovery from "@countersign/core/JsonRecovery"
 * import * as Result from "effect/Result"
 *
 * const schema = { type: "object", properties: { zip: { type: "string" }, city: { type: "string" } } }
 * const recovered = Result.getOrThrow(JsonRecovery.recover("{zip: 02134, 'city': \"the \"Hub\"\"}", { schema }))
 * recovered.value // => { zip: "02134", city: "the \"Hub\"" }
 * recovered.edits.map((edit) => edit.kind) // => ["bare-key", "raw-text", "quotes", "inner-quotes"]
 * ```
 *
 * @category recovering
 * @since 0.1.0
 */
export const recover = (
  text: string,
  options?: RecoverOptions
): Result.Result<Recovered, Unrecoverable | Limits.InputLimitExceeded> => {
  const limits = options?.limits ?? Limits.defaults
  if (text.length > limits.maxInputLength) {
    return Result.fail(
      new Limits.InputLimitExceeded({ limit: "maxInputLength", max: limits.maxInputLength, size: text.length })
    )
  }
  const read = (isJson: boolean): Result.Result<Recovered, Unrecoverable | Limits.InputLimitExceeded> => {
    const readAs = (prefersOther: boolean): ReadDocument =>
      readDocument(text, { ...documentOptions(options, limits), isJson, prefersOther })
    return refusing(limits, () => {
      const { edits, isForked, truncatedAt, value } = readAs(false)
      return {
        value,
        edits,
        truncated: truncatedAt !== undefined,
        ...truncatedAt === undefined ? undefined : { truncatedAt },
        ...isForked ? { alternative: readAs(true).value } : undefined
      }
    })
  }
  const isJson = options?.schema !== undefined || !/^\s*[{[]/.test(text) ? isStrict(text) : undefined
  if (options?.schema !== undefined) return read(isJson === true)
  // JSON is read like everything else, and then needs no edits; to ask JSON.parse first would cost more than a short text.
  const recovered = isJson === true ? undefined : read(false)
  if (
    recovered !== undefined && Result.isSuccess(recovered) &&
    recovered.success.edits.some(({ kind }) => kind !== "escape")
  ) return recovered
  if (recovered !== undefined && Result.isFailure(recovered) && recovered.failure._tag === "InputLimitExceeded") {
    return recovered
  }
  const parsed = StrictJson.parse(text, { limits })
  if (Result.isSuccess(parsed)) return Result.succeed({ ...parsed.success, truncated: false })
  const error = parsed.failure
  if (error._tag === "InputLimitExceeded") return Result.fail(error)
  return error.reason === "syntax" && recovered !== undefined ? recovered : Result.fail(unrecoverable(error))
}

/**
 * Makes a value that was parsed already fit a schema, where that is certain: a number in a string where a number is wanted, JSON in a
 * string where an object is wanted, one value where a list is wanted, and so on. What is required is never made up, and no key is
 * dropped that the schema does not know. A value that fits comes back as it is, and the value given is not changed.
 *
 * @example
 * ```ts
 * import * as JsonRecovery from "@countersign/core/JsonRecovery"
 *
 * const schema = { type: "object", properties: { limit: { type: "integer" }, tags: { type: "array" } } }
 * const coerced = JsonRecovery.coerce({ limit: "5", tags: "[\"a\"]" }, { schema })
 * coerced.value // => { limit: 5, tags: ["a"] }
 * coerced.edits.map((edit) => edit.kind) // => ["number", "decoded"]
 * ```
 *
 * @category recovering
 * @since 0.1.0
 */
export const coerce = (
  value: unknown,
  options: {
    readonly schema: InputSchema | JsonSchema
    readonly toolName?: string | undefined
    readonly limits?: Limits.LimitValues | undefined
  }
): { readonly value: unknown; readonly edits: ReadonlyArray<Edit.Edit> } => {
  const limits = options.limits ?? Limits.defaults
  return Result.getOrElse(
    refusing(limits, () => fit(value, documentOptions(options, limits))),
    () => ({ value, edits: [] })
  )
}

const documentOptions = (options: RecoverOptions | undefined, limits: Limits.LimitValues): DocumentOptions => ({
  place: options?.schema === undefined ? anywhere : placeOf(options.schema),
  toolName: options?.toolName,
  maxDepth: limits.maxDepth,
  isJson: false,
  closesTruncated: options?.truncated === "close",
  prefersOther: false,
  maxEncodings
})

const unrecoverable = ({ offset = 0, reason }: StrictJson.InvalidJson): Unrecoverable =>
  new Unrecoverable({ reason: reason === "not-json" || reason === "syntax" ? "garbage" : reason, offset })

/** What is thrown inside of the recovery is a failure here. */
const refusing = <A>(
  limits: Limits.LimitValues,
  run: () => A
): Result.Result<A, Unrecoverable | Limits.InputLimitExceeded> => {
  try {
    return Result.succeed(run())
  } catch (refusal) {
    if (refusal instanceof Refused) {
      return Result.fail(new Unrecoverable({ reason: refusal.reason, offset: refusal.offset }))
    }
    if (!(refusal instanceof TooDeep)) throw refusal
    return Result.fail(new Limits.InputLimitExceeded({ limit: "maxDepth", max: limits.maxDepth, size: refusal.depth }))
  }
}
