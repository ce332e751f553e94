/**
 * The messages that a conversation is kept in: the AI SDK's `ModelMessage`, as it goes over the wire and into a database.
 *
 * The schemas check what Countersign works with, the parts about tool calls, and pass everything else on as it came: parts of other
 * types, and further keys of the parts that are known.
 *
 * Source: the AI SDK's `ModelMessage` (7.0.173). `input` of {@link ToolApprovalResponse} is own.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import {
  openStruct,
  optionalBoolean,
  optionalOptions,
  optionalString,
  optionalUnknown,
  typeOtherThan
} from "./internal/openStruct.ts"
import { getOwn } from "./internal/ownProperty.ts"

/**
 * What one provider or another is told besides, by its name.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProviderOptions {
  readonly [provider: string]: unknown
}

/**
 * A call that the model made. `input` may be absent on the wire, where it was `undefined`.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolCallPart } from "@countersign/core/Message"
 *
 * const decode = Schema.decodeUnknownSync(ToolCallPart)
 * const part = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { cents: 5 }, title: "Pay" } as const
 * decode(part) // => part
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolCallPart: Schema.Codec<ToolCallPart> = openStruct({
  type: Schema.Literal("tool-call"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  input: optionalUnknown,
  providerExecuted: optionalBoolean,
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolCallPart {
  readonly type: "tool-call"
  readonly toolCallId: string
  readonly toolName: string
  readonly input?: unknown
  readonly providerExecuted?: boolean | undefined
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * The question whether a call may run. It stands in an assistant message, after the call.
 *
 * - `isAutomatic`: a policy has answered; nobody is asked.
 * - `signature`: of the server that asked, so that it knows its own question again.
 * - `inputSchemaInput`: the input before schema or refinement changed it, where that made a difference. That the key is there counts,
 *   also with `null`.
 * - `approvalDescriptor`: what a page may show beside the input; `Approval.request` puts `{ edits }` there.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolApprovalRequest } from "@countersign/core/Message"
 *
 * const decode = Schema.decodeUnknownSync(ToolApprovalRequest)
 * const part = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1", inputSchemaInput: null } as const
 * decode(part) // => part
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolApprovalRequest: Schema.Codec<ToolApprovalRequest> = openStruct({
  type: Schema.Literal("tool-approval-request"),
  approvalId: Schema.String,
  toolCallId: Schema.String,
  reason: optionalString,
  isAutomatic: optionalBoolean,
  signature: optionalString,
  inputSchemaInput: optionalUnknown,
  approvalDescriptor: optionalUnknown
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolApprovalRequest {
  readonly type: "tool-approval-request"
  readonly approvalId: string
  readonly toolCallId: string
  readonly reason?: string | undefined
  readonly isAutomatic?: boolean | undefined
  readonly signature?: string | undefined
  readonly inputSchemaInput?: unknown
  readonly approvalDescriptor?: unknown
}

/**
 * The answer to a {@link ToolApprovalRequest}, in a tool message. `approved` is a boolean and nothing else: a `"false"` is refused.
 *
 * `input` is the input as the approver changed it. It is own: the AI SDK knows no such key, and drops it.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolApprovalResponse } from "@countersign/core/Message"
 *
 * const is = Schema.is(ToolApprovalResponse)
 * is({ type: "tool-approval-response", approvalId: "a1", approved: false, reason: "too much" }) // => true
 * is({ type: "tool-approval-response", approvalId: "a1", approved: "false" }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolApprovalResponse: Schema.Codec<ToolApprovalResponse> = openStruct({
  type: Schema.Literal("tool-approval-response"),
  approvalId: Schema.String,
  approved: Schema.Boolean,
  reason: optionalString,
  providerExecuted: optionalBoolean,
  input: optionalUnknown,
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolApprovalResponse {
  readonly type: "tool-approval-response"
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string | undefined
  readonly providerExecuted?: boolean | undefined
  readonly input?: unknown
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * What a call came to, as the model is told it.
 *
 * - `text`, `json`: it worked. `content`: it worked, and the result has several parts.
 * - `error-text`, `error-json`: it failed.
 * - `execution-denied`: it was not run, because somebody said no.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolResultOutput } from "@countersign/core/Message"
 *
 * const is = Schema.is(ToolResultOutput)
 * is({ type: "text", value: "12 °C" }) // => true
 * is({ type: "text", value: 12 }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolResultOutput: Schema.Codec<ToolResultOutput> = Schema.Union([
  openStruct({ type: Schema.Literal("text"), value: Schema.String, providerOptions: optionalOptions }),
  openStruct({ type: Schema.Literal("json"), value: Schema.Unknown, providerOptions: optionalOptions }),
  openStruct({ type: Schema.Literal("error-text"), value: Schema.String, providerOptions: optionalOptions }),
  openStruct({ type: Schema.Literal("error-json"), value: Schema.Unknown, providerOptions: optionalOptions }),
  openStruct({ type: Schema.Literal("execution-denied"), reason: optionalString, providerOptions: optionalOptions }),
  openStruct({ type: Schema.Literal("content"), value: Schema.Array(Schema.Unknown), providerOptions: optionalOptions })
])

/**
 * @category models
 * @since 0.1.0
 */
export type ToolResultOutput =
  | { readonly type: "text"; readonly value: string; readonly providerOptions?: ProviderOptions | undefined }
  | { readonly type: "json"; readonly value: unknown; readonly providerOptions?: ProviderOptions | undefined }
  | { readonly type: "error-text"; readonly value: string; readonly providerOptions?: ProviderOptions | undefined }
  | { readonly type: "error-json"; readonly value: unknown; readonly providerOptions?: ProviderOptions | undefined }
  | {
    readonly type: "execution-denied"
    readonly reason?: string | undefined
    readonly providerOptions?: ProviderOptions | undefined
  }
  | {
    readonly type: "content"
    readonly value: ReadonlyArray<unknown>
    readonly providerOptions?: ProviderOptions | undefined
  }

/**
 * The result of a call: in a tool message, or, where the provider ran the tool, in the assistant message after the call.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolResultPart } from "@countersign/core/Message"
 *
 * const decode = Schema.decodeUnknownSync(ToolResultPart)
 * const output = { type: "json", value: { celsius: 12 } } as const
 * decode({ type: "tool-result", toolCallId: "c1", toolName: "weather", output }).output // => output
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolResultPart: Schema.Codec<ToolResultPart> = openStruct({
  type: Schema.Literal("tool-result"),
  toolCallId: Schema.String,
  toolName: Schema.String,
  output: ToolResultOutput,
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolResultPart {
  readonly type: "tool-result"
  readonly toolCallId: string
  readonly toolName: string
  readonly output: ToolResultOutput
  readonly providerOptions?: ProviderOptions | undefined
}

const checkedTypes: ReadonlySet<string> = new Set([
  "tool-call",
  "tool-approval-request",
  "tool-approval-response",
  "tool-result"
])

/**
 * A part that is not about tool calls, such as text or a file. Whatever its type is, it is passed on as it came, unread.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { OtherPart } from "@countersign/core/Message"
 *
 * const is = Schema.is(OtherPart)
 * is({ type: "text", text: "hello" }) // => true
 * is({ type: "tool-result" }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const OtherPart: Schema.Codec<OtherPart> = openStruct({
  type: typeOtherThan((type) => checkedTypes.has(type))
}) as any

/**
 * @category models
 * @since 0.1.0
 */
export interface OtherPart {
  /** Not all: a type that is not listed comes in as well. These are named so that `part.type === "tool-call"` tells what a part is. */
  readonly type: "text" | "image" | "file" | "reasoning" | "reasoning-file" | "custom"
  /** `any`, so that the AI SDK's own parts, which are interfaces, can be given as they are. */
  readonly [key: string]: any
}

/**
 * A message of whoever runs the application.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { SystemMessage } from "@countersign/core/Message"
 *
 * Schema.is(SystemMessage)({ role: "system", content: "Be brief." }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const SystemMessage: Schema.Codec<SystemMessage> = openStruct({
  role: Schema.Literal("system"),
  content: Schema.String,
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface SystemMessage {
  readonly role: "system"
  readonly content: string
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * A message of the user. Parts about tool calls have no place in it and are refused.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { UserMessage } from "@countersign/core/Message"
 *
 * const is = Schema.is(UserMessage)
 * is({ role: "user", content: "hello" }) // => true
 * is({ role: "user", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UserMessage: Schema.Codec<UserMessage> = openStruct({
  role: Schema.Literal("user"),
  content: Schema.Union([Schema.String, Schema.Array(OtherPart)]),
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface UserMessage {
  readonly role: "user"
  readonly content: string | ReadonlyArray<OtherPart>
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * A message of the model: with its calls, the questions about them, and the results of what the provider ran.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { AssistantMessage } from "@countersign/core/Message"
 *
 * const is = Schema.is(AssistantMessage)
 * const call = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: {} }
 * is({ role: "assistant", content: [call, { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }] }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const AssistantMessage: Schema.Codec<AssistantMessage> = openStruct({
  role: Schema.Literal("assistant"),
  content: Schema.Union([
    Schema.String,
    Schema.Array(Schema.Union([ToolCallPart, ToolApprovalRequest, ToolResultPart, OtherPart]))
  ]),
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface AssistantMessage {
  readonly role: "assistant"
  readonly content: string | ReadonlyArray<ToolCallPart | ToolApprovalRequest | ToolResultPart | OtherPart>
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * What happened to the calls of the assistant message before: results, and answers to questions.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { ToolMessage } from "@countersign/core/Message"
 *
 * const is = Schema.is(ToolMessage)
 * is({ role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolMessage: Schema.Codec<ToolMessage> = openStruct({
  role: Schema.Literal("tool"),
  content: Schema.Array(Schema.Union([ToolResultPart, ToolApprovalResponse, OtherPart])),
  providerOptions: optionalOptions
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ToolMessage {
  readonly role: "tool"
  readonly content: ReadonlyArray<ToolResultPart | ToolApprovalResponse | OtherPart>
  readonly providerOptions?: ProviderOptions | undefined
}

/**
 * A message of any role. What came from a client is decoded with it before anything else is done with it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { Message } from "@countersign/core/Message"
 *
 * const decode = Schema.decodeUnknownEffect(Schema.Array(Message))
 * const messages = [{ role: "user", content: "hello", id: "m1" }] as const
 * Effect.runSync(decode(messages)) // => messages
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Message: Schema.Codec<Message> = Schema.Union([SystemMessage, UserMessage, AssistantMessage, ToolMessage])

/**
 * @category models
 * @since 0.1.0
 */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/**
 * The messages as a provider may have them: without the questions and the answers that are between the server and its user, and
 * without what only Countersign reads.
 *
 * - Requests for approval are left out. So are the responses, but for those about calls that the provider runs itself: these stay,
 *   with `providerExecuted: true`.
 * - Tool messages that follow each other become one, unless one has `providerOptions`, which would be lost.
 * - Messages that become empty are left out, and so are empty tool messages.
 * - Of a tool call, `inputSchemaInput`, `approvalDescriptor`, `rawInput` and `edits` are left out.
 *
 * Nothing is mutated; what does not change is shared. It never throws, also not for messages that were not decoded: what is not an
 * answer, such as one whose `approved` is no boolean, is left out.
 *
 * Source: the AI SDK's `convertToLanguageModelPrompt`, which also asks for a result of every call, moves a tool message's
 * `providerOptions` to its last part, and leaves an assistant message that has become empty.
 *
 * @example
 * ```ts
 * import * as Message from "@countersign/core/Message"
 *
 * const call = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: {} } as const
 * const result = { type: "tool-result", toolCallId: "c1", toolName: "pay", output: { type: "text", value: "paid" } } as const
 * Message.forModel([
 *   { role: "assistant", content: [call, { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }] },
 *   { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] },
 *   { role: "tool", content: [result] }
 * ])
 * // => [{ role: "assistant", content: [call] }, { role: "tool", content: [result] }]
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const forModel = (messages: ReadonlyArray<Message>): Array<Message> => {
  const readProvider = readProviders()
  const kept: Array<Message> = []
  // The parts of the last kept message, if that is a tool message to which more can be added.
  let open: Array<unknown> | undefined
  for (const message of messages) {
    const content = getOwn(message, "content")
    if (!Array.isArray(content)) {
      kept.push(message)
      open = undefined
      continue
    }
    const isTool = getOwn(message, "role") === "tool"
    const parts: Array<unknown> = content.flatMap((part) => partForModel(part, isTool, readProvider))
    if (parts.length === 0 && (isTool || content.length > 0)) continue
    const mayMerge = isTool && (getOwn(message, "providerOptions") ?? undefined) === undefined
    if (mayMerge && open !== undefined) {
      for (const part of parts) open.push(part)
      continue
    }
    const isSame = !mayMerge && parts.length === content.length && parts.every((part, index) => part === content[index])
    kept.push(isSame ? message : { ...message, content: parts } as Message)
    open = mayMerge ? parts : undefined
  }
  return kept
}

/**
 * Told the parts one by one, says of a response whether it is about a call that the provider runs. An ID that is used again stands for
 * what had it last.
 */
const readProviders = (): (part: unknown) => boolean => {
  const calls = new Map<unknown, boolean>()
  const requests = new Map<unknown, boolean>()
  return (part) => {
    const isMarked = getOwn(part, "providerExecuted") === true
    switch (getOwn(part, "type")) {
      case "tool-call":
        calls.set(getOwn(part, "toolCallId"), isMarked)
        return isMarked
      case "tool-approval-request":
        requests.set(getOwn(part, "approvalId"), calls.get(getOwn(part, "toolCallId")) === true)
        return false
      default:
        return isMarked || requests.get(getOwn(part, "approvalId")) === true
    }
  }
}

const ownKeys = ["inputSchemaInput", "approvalDescriptor", "rawInput", "edits"]

const partForModel = (
  part: unknown,
  isTool: boolean,
  readProvider: (part: unknown) => boolean
): ReadonlyArray<unknown> => {
  const isProviders = readProvider(part)
  switch (getOwn(part, "type")) {
    case "tool-approval-request":
      return []
    case "tool-approval-response": {
      const approvalId = getOwn(part, "approvalId")
      const approved = getOwn(part, "approved")
      const reason = getOwn(part, "reason")
      if (!isTool || typeof approvalId !== "string" || typeof approved !== "boolean" || !isProviders) return []
      return [{
        type: "tool-approval-response",
        approvalId,
        approved,
        ...typeof reason === "string" ? { reason } : {},
        // The mark that it is the provider's: the AI SDK drops what does not have it, and so does this function.
        providerExecuted: true
      }]
    }
    case "tool-call":
      return [
        ownKeys.some((key) => Object.hasOwn(part as object, key))
          ? Object.fromEntries(Object.entries(part as object).filter(([key]) => !ownKeys.includes(key)))
          : part
      ]
    default:
      return [part]
  }
}
