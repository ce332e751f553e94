/**
 * A tool call as a model proposes it, before anything is known about it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A proposed call.
 *
 * - `input`: the arguments as JSON text, or, where a provider parses them itself, as a value. Blank text and an absent
 *   `input` mean `{}`.
 * - `providerExecuted` with `dynamic`: a call to a tool that the provider knows and runs; it may be absent from the tools.
 * - `providerMetadata`: passed on unchanged.
 *
 * The schema reads calls from outside, such as lines of JSON. Source: the AI SDK's `LanguageModelV4ToolCall`.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { RawToolCall } from "@countersign/core/RawToolCall"
 *
 * const decode = Schema.decodeUnknownSync(RawToolCall)
 * decode({ toolCallId: "1", toolName: "weather", input: "{}" }) // => { toolCallId: "1", toolName: "weather", input: "{}" }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const RawToolCall = Schema.Struct({
  type: Schema.optionalKey(Schema.Literal("tool-call")),
  toolCallId: Schema.String,
  toolName: Schema.String,
  input: Schema.optionalKey(Schema.Unknown),
  providerExecuted: Schema.optionalKey(Schema.UndefinedOr(Schema.Boolean)),
  dynamic: Schema.optionalKey(Schema.UndefinedOr(Schema.Boolean)),
  providerMetadata: Schema.optionalKey(Schema.Unknown)
})

/**
 * @category models
 * @since 0.1.0
 */
export type RawToolCall = typeof RawToolCall.Type
