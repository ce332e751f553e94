/**
 * The history that `collect` and `resume` read from standard input: a JSON array of messages, or an object that holds one.
 */
import type { CollectOptions } from "@countersign/core/Approval"
import * as InputSchema from "@countersign/core/InputSchema"
import type { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
import { Limits, type LimitValues } from "@countersign/core/Limits"
import * as StrictJson from "@countersign/core/StrictJson"
import type { ToolSet } from "@countersign/core/ToolSet"
import * as UiMessage from "@countersign/core/UiMessage"
import * as Flag from "effect/cli/Flag"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Stdio } from "effect/Stdio"
import type { CommandFailed } from "./commandFailed.ts"
import * as StandardInput from "./standardInput.ts"

/** Standard input holds no history. `message` repeats nothing of it but places in it. */
export class InvalidHistory extends Data.TaggedError("InvalidHistory")<{ readonly message: string }> {}

export interface History extends Pick<CollectOptions, "requests" | "responses"> {
  readonly messages: ReadonlyArray<unknown>
}

/** What to do with answers that the conversation has passed over. */
export const superseded = Flag.Literals("superseded", ["refuse", "run"]).pipe(
  Flag.withDescription(
    "What to do with answers that a later user message follows: refuse them (the default), or run what they approve"
  ),
  Flag.withDefault("refuse" as const)
)

/** Part of the descriptions of `collect` and `resume`. */
export const description =
  "from standard input: a JSON array of messages (the AI SDK's model messages, or UI messages as useChat posts them), or " +
  "an object {\"messages\",\"requests\",\"responses\"}. \"requests\" are the questions that the server kept, as " +
  "{\"approvalRequest\",\"toolCall\"}: with them, no call, question or result of the messages counts, only the answers. " +
  "\"responses\" are answers that do not come in a message."

/** Reads a history. UI messages become the messages that they stand for. */
export const read = Effect.fnUntraced(function*(tools: ToolSet | undefined): Effect.fn.Return<
  History,
  InvalidHistory | CommandFailed,
  Stdio | JsonSchemaValidator
> {
  const limits = yield* Limits
  const value = yield* parse(yield* readText(limits), limits)
  if (Array.isArray(value)) return { messages: yield* readMessages(value, "", tools) }
  if (!isObject(value)) return yield* new InvalidHistory({ message: notHistory })
  const messages = getOwn(value, "messages")
  if (!Array.isArray(messages)) return yield* new InvalidHistory({ message: notHistory })
  const beside = Object.fromEntries(
    Object.keys(Beside.fields).flatMap((name) => Object.hasOwn(value, name) ? [[name, value[name]]] : [])
  )
  const kept = yield* Effect.mapError(
    besideShape.validate(beside),
    ({ message }) => new InvalidHistory({ message })
  )
  // Whether an answer says yes or no is for its reader to check.
  return {
    ...kept as unknown as Omit<History, "messages">,
    messages: yield* readMessages(messages, "/messages", tools)
  }
})

const notHistory = "expected a JSON array of messages, or an object with an array \"messages\""

const openStruct = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Unknown)])

/** `null` is not taken for an absent list: with no questions kept, those of the messages would count. */
const Beside = Schema.Struct({
  requests: Schema.optionalKey(Schema.Array(openStruct({
    approvalRequest: openStruct({
      type: Schema.Literal("tool-approval-request"),
      approvalId: Schema.String,
      toolCallId: Schema.String
    }),
    toolCall: openStruct({ type: Schema.Literal("tool-call"), toolCallId: Schema.String, toolName: Schema.String })
  }))),
  responses: Schema.optionalKey(Schema.Array(openStruct({
    type: Schema.Literal("tool-approval-response"),
    approvalId: Schema.String
  })))
})

const besideShape = InputSchema.fromEffectSchema(Beside)

/** A history holds the inputs of many calls. */
const maxBytes = ({ maxInputLength }: LimitValues): number => 64 * maxInputLength

const readText = Effect.fnUntraced(function*(limits: LimitValues) {
  const max = maxBytes(limits)
  const bytes = yield* StandardInput.upTo(max)
  if (bytes.length > max) return yield* new InvalidHistory({ message: `longer than ${max} bytes` })
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => new InvalidHistory({ message: "not valid UTF-8" })
  })
})

/** How deep an input may lie in a history. */
const levelsAbove = 16

/** Where an input stands, and what is compared with it: a number that lost its digits there would be another one. */
const isExact = (pointer: string): boolean =>
  /^(?:\/messages)?\/\d+\/(?:content|parts)\/\d+\/(?:approval\/)?(?:input|rawInput|inputSchemaInput)(?:\/|$)/.test(
    pointer
  ) || /^\/(?:requests|responses)\//.test(pointer)

const parse = (text: string, limits: LimitValues): Effect.Effect<unknown, InvalidHistory> => {
  const read = StrictJson.parse(text, {
    limits: { ...limits, maxInputLength: Infinity, maxDepth: limits.maxDepth + levelsAbove },
    keepDigits: true
  })
  if (Result.isFailure(read)) return Effect.fail(new InvalidHistory({ message: read.failure.message }))
  const { edits, value } = read.success
  const lost = edits.find(({ pointer }) => isExact(pointer ?? ""))
  if (lost !== undefined) {
    const { message } = new StrictJson.InvalidJson({ reason: "unsafe-integer", pointer: lost.pointer ?? "" })
    return Effect.fail(new InvalidHistory({ message }))
  }
  // Elsewhere, in a result or in what a provider said, numbers are rounded as everywhere else.
  return Effect.succeed(edits.length === 0 ? value : JSON.parse(text))
}

const readMessages = (
  messages: ReadonlyArray<unknown>,
  pointer: string,
  tools: ToolSet | undefined
): Effect.Effect<ReadonlyArray<unknown>, InvalidHistory> => {
  const fail = (index: number, message: string) =>
    Effect.fail(new InvalidHistory({ message: `${pointer}/${index}: ${message}` }))
  const noMessage = messages.findIndex((message) => typeof getOwn(message, "role") !== "string")
  if (noMessage !== -1) return fail(noMessage, "expected a message with a \"role\"")
  if (!messages.some(isUiMessage)) return Effect.succeed(messages)
  const other = messages.findIndex((message) => !isUiMessage(message))
  if (other !== -1) return fail(other, "expected a UI message with \"parts\", as others are")
  return Effect.succeed(UiMessage.toMessages(messages as ReadonlyArray<UiMessage.UiMessage>, { tools }))
}

const isUiMessage = (message: unknown): boolean => Array.isArray(getOwn(message, "parts"))

const isObject = (u: unknown): u is { readonly [key: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u)

const getOwn = (value: unknown, key: string): unknown =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
