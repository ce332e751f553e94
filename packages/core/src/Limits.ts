/**
 * How much a model may send before it is refused unread.
 *
 * Every bound is checked before the work it bounds: length before parsing, nesting before walking, the repair length
 * before a repair engine sees the text. Crossing one is the typed failure {@link InputLimitExceeded}, never a truncated
 * value.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Schema from "effect/Schema"

/**
 * The bounds on a tool call's input.
 *
 * - `maxInputLength`: longest argument text, in characters (UTF-16 code units).
 * - `maxDepth`: deepest nesting of arrays and objects, in levels.
 * - `maxRepairLength`: longest text handed to a repair engine whose cost is not linear, in characters.
 *
 * Source: own; the AI SDKs have no limits.
 *
 * @category models
 * @since 0.1.0
 */
export interface LimitValues {
  readonly maxInputLength: number
  readonly maxDepth: number
  readonly maxRepairLength: number
}

/**
 * The bounds in force for a fiber. A `Context.Reference`: it needs no layer, and `Effect.provideService` replaces it.
 *
 * Defaults: 4,194,304 characters, 256 levels, 16,384 characters for a repair engine.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Limits from "@countersign/core/Limits"
 *
 * const strict = { ...Limits.defaults, maxInputLength: 1024 }
 * const program = Effect.map(Limits.Limits, (limits) => limits.maxInputLength)
 *
 * Effect.runSync(program) // => 4194304
 * Effect.runSync(Effect.provideService(program, Limits.Limits, strict)) // => 1024
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const Limits: Context.Reference<LimitValues> = Context.Reference("@countersign/core/Limits", {
  defaultValue: () => defaults
})

/**
 * The default bounds.
 *
 * @example
 * ```ts
 * import * as Limits from "@countersign/core/Limits"
 *
 * Limits.defaults.maxDepth // => 256
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const defaults: LimitValues = {
  maxInputLength: 4_194_304,
  maxDepth: 256,
  maxRepairLength: 16_384
}

const units = { maxInputLength: "characters", maxDepth: "levels", maxRepairLength: "characters" } as const

/**
 * An input crossed one of the {@link Limits}: `limit` names it, `max` is its value, `size` is what came in (for depth: the
 * level at which reading stopped, so the input has at least that many).
 *
 * @example
 * ```ts
 * import * as Limits from "@countersign/core/Limits"
 *
 * const error = new Limits.InputLimitExceeded({ limit: "maxDepth", max: 256, size: 257 })
 * error.message // => "Input exceeds maxDepth: 257 levels, at most 256 are allowed. Send less, or raise the limit."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InputLimitExceeded extends Schema.TaggedError<InputLimitExceeded>(
  "@countersign/core/Limits/InputLimitExceeded"
)("InputLimitExceeded", {
  limit: Schema.Literals(["maxInputLength", "maxDepth", "maxRepairLength"]),
  max: Schema.Number,
  size: Schema.Number
}) {
  override get message(): string {
    const unit = units[this.limit]
    return `Input exceeds ${this.limit}: ${this.size} ${unit}, at most ${this.max} are allowed. ` +
      "Send less, or raise the limit."
  }
}
