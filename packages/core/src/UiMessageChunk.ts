/**
 * What a server sends to a page while an answer is made: the AI SDK's `UIMessageChunk`, and the stream of server-sent events that
 * carries it.
 *
 * Source: the AI SDK's UI message stream, protocol `v1` (7.0.173).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ResumeEvent } from "./Approval.ts"
import { EventReader } from "./internal/eventReader.ts"
import {
  openStruct,
  optionalBoolean,
  optionalOptions,
  optionalString,
  optionalUnknown,
  typeOtherThan
} from "./internal/openStruct.ts"
import { encodeUtf8 } from "./internal/utf8.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import type { ProviderOptions, ToolApprovalRequest, ToolApprovalResponse, ToolResultOutput } from "./Message.ts"
import type { InvalidToolCall, ToolCall } from "./ToolCall.ts"
import * as ToolSet from "./ToolSet.ts"
import type { StepResult } from "./ToolStep.ts"

const toolInput = {
  toolCallId: Schema.String,
  toolName: Schema.String,
  title: optionalString,
  dynamic: optionalBoolean,
  providerExecuted: optionalBoolean,
  providerMetadata: optionalOptions,
  toolMetadata: optionalUnknown
}

const toolOutput = {
  toolCallId: Schema.String,
  dynamic: optionalBoolean,
  providerExecuted: optionalBoolean,
  providerMetadata: optionalOptions,
  toolMetadata: optionalUnknown
}

const textFields = { id: Schema.String, providerMetadata: optionalOptions }

const finishReasons = ["stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"] as const

const checked = {
  "tool-input-start": { ...toolInput, inputEncoding: Schema.optional(Schema.Literals(["json", "text"])) },
  "tool-input-delta": { toolCallId: Schema.String, inputTextDelta: Schema.String },
  "tool-input-available": { ...toolInput, input: optionalUnknown },
  "tool-input-error": { ...toolInput, input: optionalUnknown, errorText: Schema.String },
  "tool-approval-request": {
    approvalId: Schema.String,
    toolCallId: Schema.String,
    approvalDescriptor: optionalUnknown,
    inputSchemaInput: optionalUnknown,
    reason: optionalString,
    isAutomatic: optionalBoolean,
    signature: optionalString
  },
  "tool-approval-response": {
    approvalId: Schema.String,
    approved: Schema.Boolean,
    reason: optionalString,
    providerExecuted: optionalBoolean,
    providerMetadata: optionalOptions
  },
  "tool-output-available": { ...toolOutput, output: optionalUnknown, preliminary: optionalBoolean },
  "tool-output-error": { ...toolOutput, errorText: Schema.String },
  "tool-output-denied": { toolCallId: Schema.String },
  start: { messageId: optionalString, messageMetadata: optionalUnknown },
  "start-step": {},
  "finish-step": {},
  finish: { finishReason: Schema.optional(Schema.Literals(finishReasons)), messageMetadata: optionalUnknown },
  "text-start": textFields,
  "text-delta": { ...textFields, delta: Schema.String },
  "text-end": textFields,
  error: { errorText: Schema.String },
  abort: { reason: optionalString }
} satisfies Record<string, Schema.Struct.Fields>

/**
 * One chunk. The types about tools, text and the course of the answer are checked; a chunk of any other type is passed on as it came,
 * and so are further keys.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { UiMessageChunk } from "@countersign/core/UiMessageChunk"
 *
 * const is = Schema.is(UiMessageChunk)
 * is({ type: "text-delta", id: "t1", delta: "Hel" }) // => true
 * is({ type: "tool-output-denied" }) // => false
 * is({ type: "data-weather", data: { celsius: 12 } }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UiMessageChunk: Schema.Codec<UiMessageChunk> = Schema.Union([
  ...Object.entries(checked).map(([type, fields]) => openStruct({ type: Schema.Literal(type), ...fields })),
  openStruct({ type: typeOtherThan((type) => Object.hasOwn(checked, type)) })
]) as any

/**
 * @category models
 * @since 0.1.0
 */
export type UiMessageChunk =
  | ToolInputStart
  | ToolInputDelta
  | ToolInputAvailable
  | ToolInputError
  | ToolApprovalRequestChunk
  | ToolApprovalResponseChunk
  | ToolOutputAvailable
  | ToolOutputError
  | ToolOutputDenied
  | LifecycleChunk
  | TextChunk
  | OtherChunk

/**
 * What the chunks about an input have in common.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInputFields {
  readonly toolCallId: string
  readonly toolName: string
  readonly title?: string | undefined
  readonly dynamic?: boolean | undefined
  readonly providerExecuted?: boolean | undefined
  readonly providerMetadata?: ProviderOptions | undefined
  readonly toolMetadata?: unknown
}

/**
 * What the chunks about a result have in common.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolOutputFields {
  readonly toolCallId: string
  readonly dynamic?: boolean | undefined
  readonly providerExecuted?: boolean | undefined
  readonly providerMetadata?: ProviderOptions | undefined
  readonly toolMetadata?: unknown
}

/**
 * The model begins to write the input of a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInputStart extends ToolInputFields {
  readonly type: "tool-input-start"
  readonly inputEncoding?: "json" | "text" | undefined
}

/**
 * A piece of the input's text, as the model writes it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInputDelta {
  readonly type: "tool-input-delta"
  readonly toolCallId: string
  readonly inputTextDelta: string
}

/**
 * The input is there and valid.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInputAvailable extends ToolInputFields {
  readonly type: "tool-input-available"
  readonly input?: unknown
}

/**
 * The input is there, and the call cannot run.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInputError extends ToolInputFields {
  readonly type: "tool-input-error"
  readonly input?: unknown
  readonly errorText: string
}

/**
 * The question whether a call may run. The keys are those of `Message.ToolApprovalRequest`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolApprovalRequestChunk {
  readonly type: "tool-approval-request"
  readonly approvalId: string
  readonly toolCallId: string
  readonly approvalDescriptor?: unknown
  readonly inputSchemaInput?: unknown
  readonly reason?: string | undefined
  readonly isAutomatic?: boolean | undefined
  readonly signature?: string | undefined
}

/**
 * The answer to the question, where a policy has given it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolApprovalResponseChunk {
  readonly type: "tool-approval-response"
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string | undefined
  readonly providerExecuted?: boolean | undefined
  readonly providerMetadata?: ProviderOptions | undefined
}

/**
 * The tool has run. `preliminary` says that a further result follows.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolOutputAvailable extends ToolOutputFields {
  readonly type: "tool-output-available"
  readonly output?: unknown
  readonly preliminary?: boolean | undefined
}

/**
 * The tool has failed.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolOutputError extends ToolOutputFields {
  readonly type: "tool-output-error"
  readonly errorText: string
}

/**
 * The call was not run, because somebody said no.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolOutputDenied {
  readonly type: "tool-output-denied"
  readonly toolCallId: string
}

/**
 * The course of an answer and of its steps.
 *
 * @category models
 * @since 0.1.0
 */
export type LifecycleChunk =
  | { readonly type: "start"; readonly messageId?: string | undefined; readonly messageMetadata?: unknown }
  | { readonly type: "start-step" }
  | { readonly type: "finish-step" }
  | {
    readonly type: "finish"
    readonly finishReason?: (typeof finishReasons)[number] | undefined
    readonly messageMetadata?: unknown
  }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort"; readonly reason?: string | undefined }

/**
 * A text of the answer, piece by piece.
 *
 * @category models
 * @since 0.1.0
 */
export type TextChunk =
  | {
    readonly type: "text-start" | "text-end"
    readonly id: string
    readonly providerMetadata?: ProviderOptions | undefined
  }
  | {
    readonly type: "text-delta"
    readonly id: string
    readonly delta: string
    readonly providerMetadata?: ProviderOptions | undefined
  }

/**
 * A chunk that is passed on unread. The types are not all: one that is not listed comes in as well.
 *
 * @category models
 * @since 0.1.0
 */
export interface OtherChunk {
  readonly type:
    | "reasoning-start"
    | "reasoning-delta"
    | "reasoning-end"
    | "custom"
    | "source-url"
    | "source-document"
    | "file"
    | "reasoning-file"
    | "steering-message"
    | "reset-step"
    | "message-metadata"
    | `data-${string}`
  /** `any`, so that the AI SDK's own chunks can be given as they are. */
  readonly [key: string]: any
}

/**
 * A call with its whole input: `tool-input-available`, or, for one that cannot run, `tool-input-error` with the text that the model
 * is answered with.
 *
 * With `tools`, `dynamic` says what the tool set says of the tool. Without, a call that cannot run is dynamic. A page that has seen
 * `tool-input-start` goes by that.
 *
 * Source: the AI SDK's `toUIMessageChunk`, which has another `errorText` for what a provider runs: `An error occurred.`
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const raw = { toolCallId: "c1", toolName: "weather", input: "{}" }
 * const program = ToolCall.parseOrInvalid(raw, { tools: {} })
 * const call = Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse))
 * UiMessageChunk.fromToolCall(call).type // => "tool-input-error"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromToolCall = (
  call: ToolCall | InvalidToolCall,
  options?: { readonly tools?: ToolSet.ToolSet | undefined }
): ToolInputAvailable | ToolInputError => {
  const tool = options?.tools === undefined ? undefined : ToolSet.get(options.tools, call.toolName)
  const { input, providerExecuted, providerMetadata, title, toolCallId, toolMetadata, toolName } =
    call as InvalidToolCall
  const dynamic = tool === undefined ? call.dynamic : tool.kind === "dynamic" || undefined
  const fields = withoutUndefined({
    toolCallId,
    toolName,
    input,
    providerExecuted,
    providerMetadata: (providerMetadata ?? undefined) as ProviderOptions | undefined,
    toolMetadata: toolMetadata ?? undefined,
    dynamic,
    title
  })
  return call.invalid
    ? { type: "tool-input-error", ...fields, errorText: call.error.message }
    : { type: "tool-input-available", ...fields }
}

/**
 * The question about a call.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const part = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1", reason: undefined } as const
 * UiMessageChunk.fromApprovalRequest(part) // => { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromApprovalRequest = (part: ToolApprovalRequest): ToolApprovalRequestChunk => ({
  ...withoutUndefined({
    type: "tool-approval-request" as const,
    approvalId: part.approvalId,
    toolCallId: part.toolCallId,
    approvalDescriptor: part.approvalDescriptor,
    reason: part.reason,
    isAutomatic: part.isAutomatic,
    signature: part.signature
  }),
  ...Object.hasOwn(part, "inputSchemaInput") ? { inputSchemaInput: part.inputSchemaInput } : {}
})

/**
 * The answer to a question.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const part = { type: "tool-approval-response", approvalId: "a1", approved: true, input: {} } as const
 * UiMessageChunk.fromApprovalResponse(part) // => { type: "tool-approval-response", approvalId: "a1", approved: true }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromApprovalResponse = (part: ToolApprovalResponse): ToolApprovalResponseChunk =>
  withoutUndefined({
    type: "tool-approval-response" as const,
    approvalId: part.approvalId,
    approved: part.approved,
    reason: part.reason,
    providerExecuted: part.providerExecuted
  })

/**
 * The result of a call. `value` is what the tool gave, where the page is to have that and not what the model is told; that the key is
 * there counts.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const result = { toolCallId: "c1", output: { type: "text", value: "mild" } } as const
 * UiMessageChunk.fromToolResult({ ...result, value: { celsius: 12 } })
 * // => { type: "tool-output-available", toolCallId: "c1", output: { celsius: 12 } }
 *
 * UiMessageChunk.fromToolResult({ toolCallId: "c1", output: { type: "execution-denied", reason: "too much" } })
 * // => { type: "tool-output-denied", toolCallId: "c1" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromToolResult = (result: {
  readonly toolCallId: string
  readonly output: ToolResultOutput
  readonly value?: unknown
  readonly dynamic?: boolean | undefined
  readonly providerExecuted?: boolean | undefined
}): ToolOutputAvailable | ToolOutputError | ToolOutputDenied => {
  const { dynamic, output, providerExecuted, toolCallId } = result
  const marks = withoutUndefined({ providerExecuted, dynamic })
  switch (output.type) {
    case "execution-denied":
      return { type: "tool-output-denied", toolCallId }
    case "error-text":
      return { type: "tool-output-error", toolCallId, errorText: output.value, ...marks }
    case "error-json": {
      const errorText = typeof output.value === "string" ? output.value : toJsonText(output.value) ?? "unknown error"
      return { type: "tool-output-error", toolCallId, errorText, ...marks }
    }
    default: {
      const value = Object.hasOwn(result, "value") ? result.value : output.value
      // JSON drops what is undefined, and a page needs to see that there is a result.
      return { type: "tool-output-available", toolCallId, output: value ?? null, ...marks }
    }
  }
}

/**
 * A whole step: each call with its input and what was asked or decided about it, then what came of those that were answered.
 *
 * - `tools`: as for {@link fromToolCall}.
 * - `sdk`: the version of the AI SDK on the page, 7 if not given. Version 6 has no chunk for what a policy has decided and breaks on
 *   it: there an automatic answer is left out, and an automatic denial is an error of the call.
 *
 * Put the chunks between `start-step` and `finish-step`.
 *
 * Source: the AI SDK's `toUIMessageStream`, which gives outputs in the order in which the tools finish.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as ToolStep from "@countersign/core/ToolStep"
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const tools = ToolSet.make(
 *   Tool.make("now", { execute: () => Effect.succeed("12:00") }),
 *   Tool.make("restart", { needsApproval: true, execute: () => Effect.succeed("restarted") })
 * )
 * const calls = ["now", "restart"].map((toolName) => ({ toolCallId: toolName, toolName, input: "{}" }))
 *
 * const signer = ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] })
 * const layer = Layer.provideMerge(signer, NodeCountersign.layer)
 * const step = Effect.runSync(Effect.provide(ToolStep.run(calls, { tools }), layer))
 * UiMessageChunk.fromStep(step, { tools }).map(({ type }) => type)
 * // => ["tool-input-available", "tool-input-available", "tool-approval-request", "tool-output-available"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStep = (
  step: StepResult<any>,
  options: { readonly tools?: ToolSet.ToolSet | undefined; readonly sdk?: 6 | 7 | undefined } = {}
): Array<UiMessageChunk> => {
  const approvals = new Map(step.approvals.map((approval) => [approval.approvalRequest.toolCallId, approval]))
  const results = new Map(step.results.map((result) => [result.toolCallId, result]))
  // What the page is told with the call: that its input cannot run, or that it was denied.
  const told = new Set<string>()
  const calls = step.calls.flatMap((call): Array<UiMessageChunk> => {
    const { toolCallId } = call as InvalidToolCall
    const approval = approvals.get(toolCallId)
    if (call.invalid || approval?._tag === "Denied") told.add(toolCallId)
    return [fromToolCall(call, options), ...approval === undefined ? [] : fromRequested(approval, options.sdk ?? 7)]
  })
  const outputs = step.messages.flatMap(({ content, role }) =>
    role === "tool"
      ? content.flatMap((part) =>
        part.type === "tool-result" && !told.has(part.toolCallId)
          ? [fromToolResult(results.get(part.toolCallId) ?? part)]
          : []
      )
      : []
  )
  return [...calls, ...outputs]
}

const fromRequested = (approval: StepResult["approvals"][number], sdk: 6 | 7): Array<UiMessageChunk> => {
  const request = fromApprovalRequest(approval.approvalRequest)
  if (approval._tag === "Pending") return [request]
  if (sdk === 6) {
    if (approval._tag === "Approved") return []
    const { approvalResponse, toolResult: { toolCallId } } = approval
    const errorText = approvalResponse.reason ?? "Tool call execution denied."
    return [{ type: "tool-output-error", toolCallId, errorText }]
  }
  const response = fromApprovalResponse(approval.approvalResponse)
  return approval._tag === "Denied" ? [request, response, fromToolResult(approval.toolResult)] : [request, response]
}

/**
 * What a page sees of an event of `Approval.resumeStream`: a denial, a refusal or a result. The start of an execution and the end of
 * the resume are nothing to it. The page has the calls already.
 *
 * Send them after `start` and before the first `start-step`: they belong to the step that was answered.
 *
 * Source: what the AI SDK's `streamText` sends before its first step.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Stream from "effect/Stream"
 * import * as Approval from "@countersign/core/Approval"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const messages = [
 *   {
 *     role: "assistant",
 *     content: [
 *       { type: "tool-call", toolCallId: "c1", toolName: "restart", input: {} },
 *       { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
 *     ]
 *   },
 *   { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved: true }] }
 * ]
 * const tools = ToolSet.make(Tool.make("restart", { execute: () => Effect.succeed("restarted") }))
 * const chunks = Approval.resumeStream({ messages, tools }).pipe(
 *   Stream.flatMap((event) => Stream.fromIterable(UiMessageChunk.fromResumeEvent(event)))
 * )
 *
 * const layer = Layer.merge(ApprovalSigner.layerUnsigned, NodeCountersign.layer)
 * await Effect.runPromise(Effect.provide(Stream.runCollect(chunks), layer))
 * // => [{ type: "tool-output-available", toolCallId: "c1", output: "restarted" }]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromResumeEvent = (event: ResumeEvent): Array<UiMessageChunk> => {
  switch (event._tag) {
    case "Denied":
      return [{ type: "tool-output-denied", toolCallId: event.denied.toolCall.toolCallId }]
    case "Invalid": {
      const { error, toolCall } = event.invalid
      return [{ type: "tool-output-error", toolCallId: toolCall.toolCallId, errorText: error.message }]
    }
    case "Finished":
      return [fromToolResult(event.result)]
    case "Started":
    case "Resumed":
      return []
  }
}

const toJsonText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * A chunk as a server-sent event. One that has no JSON, because of a `BigInt` or a cycle in it, becomes a chunk of type `error`.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * UiMessageChunk.toSse({ type: "text-delta", id: "t1", delta: "a\nb" })
 * // => "data: {\"type\":\"text-delta\",\"id\":\"t1\",\"delta\":\"a\\nb\"}\n\n"
 * ```
 *
 * @category server-sent events
 * @since 0.1.0
 */
export const toSse = (chunk: UiMessageChunk): string => `data: ${toJsonText(chunk) ?? unsendable}\n\n`

const unsendable = JSON.stringify({
  type: "error",
  errorText: "A part of the answer could not be sent: it holds a value that JSON does not have."
})

/**
 * The event after the last chunk.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * UiMessageChunk.sseDone // => "data: [DONE]\n\n"
 * ```
 *
 * @category server-sent events
 * @since 0.1.0
 */
export const sseDone = "data: [DONE]\n\n"

/**
 * The headers of a response that carries the stream. The last one keeps nginx from holding it back.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * UiMessageChunk.sseHeaders["x-vercel-ai-ui-message-stream"] // => "v1"
 * ```
 *
 * @category server-sent events
 * @since 0.1.0
 */
export const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  connection: "keep-alive",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no"
} as const

/**
 * The body of a response: each chunk as an event, and the event that says that it is done. A stream that fails ends without it; put
 * an `error` chunk in its place where the page is to know.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const chunks = Stream.make<Array<UiMessageChunk.UiMessageChunk>>({ type: "start" }, { type: "finish" })
 * const body = UiMessageChunk.encodeSse(chunks).pipe(Stream.decodeText, Stream.mkString)
 * Effect.runSync(body) // => "data: {\"type\":\"start\"}\n\ndata: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n"
 * ```
 *
 * @category server-sent events
 * @since 0.1.0
 */
export const encodeSse = <E, R>(stream: Stream.Stream<UiMessageChunk, E, R>): Stream.Stream<Uint8Array, E, R> =>
  stream.pipe(Stream.map(toSse), Stream.concat(Stream.make(sseDone)), Stream.map(encodeUtf8))

/**
 * An event is no chunk: it is no JSON (`json`), its JSON is not one (`chunk`), or it is longer than is read (`length`). `detail` says
 * what is wrong, and repeats nothing of the event.
 *
 * @example
 * ```ts
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const error = new UiMessageChunk.InvalidUiMessageChunk({ reason: "chunk", detail: "Missing key\n  at [\"type\"]" })
 * error.message // => "The stream holds an event that is not a UI message chunk: Missing key\n  at [\"type\"]"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidUiMessageChunk extends Schema.TaggedError<InvalidUiMessageChunk>(
  "@countersign/core/UiMessageChunk/InvalidUiMessageChunk"
)("InvalidUiMessageChunk", { reason: Schema.Literals(["json", "chunk", "length"]), detail: Schema.String }) {
  override get message(): string {
    return `The stream holds an event that is not a UI message chunk: ${this.detail}`
  }
}

/**
 * The chunks of a stream of server-sent events, as bytes or text, wherever it is cut. It ends at `[DONE]`, or where the text ends; an event that
 * is cut off there is dropped, as the standard says. Comments and all fields but `data` are passed over.
 *
 * An event may have `maxEventLength` characters, 16,777,216 if not given.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 * import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
 *
 * const chunks = UiMessageChunk.decodeSse(Stream.make(": hi\r\nda", "ta: {\"type\":\"start\"}\r", "\n\r\ndata: [DONE]\n\n"))
 * Effect.runSync(Stream.runCollect(chunks)) // => [{ type: "start" }]
 * ```
 *
 * @category server-sent events
 * @since 0.1.0
 */
export const decodeSse = <E, R>(
  stream: Stream.Stream<string | Uint8Array, E, R>,
  options?: { readonly maxEventLength?: number | undefined }
): Stream.Stream<UiMessageChunk, E | InvalidUiMessageChunk, R> =>
  stream.pipe(
    Stream.mapAccum(
      () => new EventReader(options?.maxEventLength ?? 16_777_216),
      (reader, piece: string | Uint8Array) => [reader, reader.read(piece)] as const
    ),
    Stream.takeUntil((event) => event === "[DONE]", { excludeLast: true }),
    Stream.mapEffect((event) => Effect.fromResult(decodeEvent(event)))
  )

const decodeChunk = Schema.decodeUnknownResult(UiMessageChunk)

const decodeEvent = (event: string | undefined): Result.Result<UiMessageChunk, InvalidUiMessageChunk> => {
  if (event === undefined) {
    const detail = "it is longer than the limit. Raise maxEventLength if it is meant to be."
    return Result.fail(new InvalidUiMessageChunk({ reason: "length", detail }))
  }
  let json: unknown
  try {
    json = JSON.parse(event)
  } catch {
    return Result.fail(new InvalidUiMessageChunk({ reason: "json", detail: "it is not JSON" }))
  }
  return Result.mapError(
    decodeChunk(json),
    ({ message }) => new InvalidUiMessageChunk({ reason: "chunk", detail: message })
  )
}
