/**
 * Repairs raw text before it is parsed: for arguments of tool calls, and for any JSON that a model was asked to write.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { jsonrepair as repairJson } from "jsonrepair"
import * as Edit from "./Edit.ts"
import type { SchemaMismatch } from "./InputIssue.ts"
import type { InputSchema } from "./InputSchema.ts"
import { readLoosely, saysTheSame } from "./internal/looseReading.ts"
import { isUnsaid, recoverText } from "./internal/recoverText.ts"
import type { Unrecoverable } from "./JsonRecovery.ts"
import type { JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { InputLimitExceeded, Limits } from "./Limits.ts"
import * as StrictJson from "./StrictJson.ts"

/**
 * A repaired text: a better `text`, or the JSON `value` that was meant. `edits`: what was changed, as far as the repair can say.
 * `truncated`: the text had been cut off and was closed.
 *
 * @category models
 * @since 0.1.0
 */
export type RepairedText =
  & {
    readonly edits?: ReadonlyArray<Edit.Edit> | undefined
    readonly truncated?: boolean | undefined
  }
  & (
    | { readonly text: string; readonly value?: undefined }
    | { readonly text?: undefined; readonly value: unknown }
  )

/**
 * From a text that did not parse, or did not fit, and the reason, to a better text or its value; `None` when it cannot be
 * repaired. `schema` is what the value has to fit, where that is known.
 *
 * Source: `experimental_repairText` of the AI SDK, `RepairTextFunc` of the Go AI SDK.
 *
 * @category models
 * @since 0.1.0
 */
export interface RepairText<out E = never, out R = never> {
  (
    text: string,
    error: StrictJson.InvalidJson | InputLimitExceeded | SchemaMismatch,
    schema?: InputSchema | undefined
  ): Effect.Effect<Option.Option<RepairedText>, E, R>
}

/**
 * What to do with a text that was cut off: `refuse` it (the default), or `close` what is open. Closing invents the end of a
 * string or a number.
 *
 * @category models
 * @since 0.1.0
 */
export type Truncated = "refuse" | "close"

/**
 * Recovers the value with `JsonRecovery`, guided by the schema: that of the options, or else the one that the value has to fit.
 * Fails with `Unrecoverable`, which says why, where it would have to guess.
 *
 * Where two readings of the text remain, the `jsonrepair` package is asked, on text of at most `Limits.maxRepairLength`
 * characters. If it does not read the text as recovery does, the last of the edits is `ambiguous`, with both readings.
 *
 * `None` for a text that is JSON and needs no change, and where garbage would become an empty value.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as InputSchema from "@countersign/core/InputSchema"
 * import * as RepairText from "@countersign/core/RepairText"
 * import { InvalidJson } from "@countersign/core/StrictJson"
 *
 * const schema = InputSchema.make({ type: "object", properties: { zip: { type: "string" } } })
 * const error = new InvalidJson({ reason: "syntax", offset: 1, expected: "a key in double quotes" })
 * const repaired = Effect.runSync(RepairText.recovery({ schema })("{zip: 02134}", error))
 *
 * Option.getOrThrow(repaired).value // => { zip: "02134" }
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const recovery = (options?: {
  readonly truncated?: Truncated | undefined
  readonly schema?: InputSchema | undefined
}): RepairText<Unrecoverable | InputLimitExceeded> =>
(text, _error, schema) => recoverText(text, { schema: options?.schema ?? schema, truncated: options?.truncated })

/**
 * Repairs with the `jsonrepair` package, on text of at most `Limits.maxRepairLength` characters; a longer one fails with
 * `InputLimitExceeded`, since its cost grows faster than the text.
 *
 * `None` for what that package would decide in silence: several values or prose in one text, a key without a value, an elision
 * (`...`), a backslash that JSON does not know (it would be dropped from a Windows path), unpaired quotes, and, unless `truncated`
 * is `"close"`, a text that ends in the middle of something. And for what it reads otherwise than a second, independent reading of
 * the text does. Closing brackets that are only missing at the end of complete values are added. A schema plays no part in it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import * as RepairText from "@countersign/core/RepairText"
 * import { InvalidJson } from "@countersign/core/StrictJson"
 *
 * const error = new InvalidJson({ reason: "syntax", offset: 1, expected: "a key in double quotes" })
 * const repair = (text: string) => Option.getOrUndefined(Effect.runSync(RepairText.jsonrepair()(text, error)))?.text
 *
 * repair("{city: 'Oslo'}") // => "{\"city\": \"Oslo\"}"
 * repair("{\"city\": \"Os") // => undefined
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const jsonrepair = (options?: { readonly truncated?: Truncated | undefined }): RepairText<InputLimitExceeded> =>
  Effect.fnUntraced(function*(text) {
    const { maxRepairLength } = yield* Limits
    if (text.length > maxRepairLength) {
      return yield* new InputLimitExceeded({ limit: "maxRepairLength", max: maxRepairLength, size: text.length })
    }
    const reading = readLoosely(text)
    if (reading.guessed || reading.truncated && options?.truncated !== "close") return Option.none()
    let repaired: string
    try {
      repaired = repairJson(text)
    } catch {
      return Option.none()
    }
    if (!saysTheSame(reading.tokens, repaired)) return Option.none()
    return Option.some({
      text: repaired,
      edits: [Edit.between("jsonrepair", text, repaired)],
      truncated: reading.truncated
    })
  })

/**
 * What {@link parse} gives: the value, and what was changed to get it. `edits` is empty for a text that was JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parsed<A> {
  readonly value: A
  readonly edits: ReadonlyArray<Edit.Edit>
  readonly truncated: boolean
}

/**
 * Parses a text; asks `repair` once when it is not JSON or does not fit `schema`, and checks its answer like any text or value.
 *
 * Without an answer, or with the same text as the answer, the first failure stands; otherwise that of the repaired text. A
 * failure of the repair itself is passed on. An empty answer (`{}`, `[]` or `""` for a text that was none of them) is
 * refused: garbage does not become an empty input.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as RepairText from "@countersign/core/RepairText"
 *
 * const program = RepairText.parse("{city: 'Oslo'}", { repair: RepairText.recovery() })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).value // => { city: "Oslo" }
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = /* @__PURE__ */ Effect.fnUntraced(function*<A = unknown, E = never, R = never>(
  text: string,
  options: {
    readonly schema?: InputSchema<A> | undefined
    readonly repair?: RepairText<E, R> | undefined
  }
): Effect.fn.Return<
  Parsed<A>,
  StrictJson.InvalidJson | InputLimitExceeded | SchemaMismatch | UnsupportedSchema | E,
  JsonSchemaValidator | R
> {
  const { repair, schema } = options
  const limits = yield* Limits
  const fit = (value: unknown) => schema === undefined ? Effect.succeed(value as A) : schema.decode(value)
  const read = (candidate: string) =>
    Effect.flatMap(Effect.fromResult(StrictJson.parse(candidate, { limits })), ({ value }) => fit(value))
  const first = yield* Effect.result(read(text))
  if (Result.isSuccess(first)) return { value: first.success, edits: [], truncated: false }
  const error = first.failure
  if (error._tag === "UnsupportedSchema" || repair === undefined) return yield* Effect.fail(error)
  const answer = Option.getOrUndefined(yield* repair(text, error, schema))
  if (answer === undefined || saysNothing(answer, text)) return yield* Effect.fail(error)
  const { edits = [], truncated = false } = answer
  const refusal = answer.text === undefined ? StrictJson.inspect(answer.value, limits) : undefined
  if (refusal !== undefined) return yield* Effect.fail(refusal)
  const value = yield* answer.text === undefined ? fit(answer.value) : read(answer.text)
  return { value, edits: edits.length > 0 ? edits : [unnamed(answer, text)], truncated }
})

const saysNothing = ({ text, value }: RepairedText, original: string): boolean =>
  text === undefined ? isUnsaid(value, original) : text === original || isEmpty(text)

const unnamed = ({ text }: RepairedText, original: string): Edit.Edit =>
  text === undefined ? { kind: "custom" } : Edit.between("custom", original, text)

/** Whether a repaired text holds nothing. Nothing that a model meant to say becomes an empty input. */
const isEmpty = (text: string): boolean => /^(?:\{\s*\}|\[\s*\]|"\s*")?$/.test(text.trim())
