/**
 * The messages that a page shows and sends back: the AI SDK's `UIMessage`, and the way from them to the messages of the history.
 *
 * One UI message of the assistant holds all steps of an answer, and each part about a tool its whole life: the call, the question,
 * the answer and the result. {@link toMessages} takes that apart again.
 *
 * Source: the AI SDK's `UIMessage` (7.0.173).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "./CanonicalJson.ts"
import { isSameJson } from "./internal/approval/history.ts"
import {
  openStruct,
  optionalBoolean,
  optionalOptions,
  optionalString,
  optionalUnknown,
  typeOtherThan
} from "./internal/openStruct.ts"
import { getOwn, setOwn } from "./internal/ownProperty.ts"
import { shownOutput } from "./internal/shownOutput.ts"
import { deniedOutput, errorOutput, valueOutput, withEditNote } from "./internal/toolOutput.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import type { Message, OtherPart, ProviderOptions, ToolResultOutput } from "./Message.ts"
import * as ToolSet from "./ToolSet.ts"

/**
 * The question about a call, and the answer to it.
 *
 * - `id`: of the approval. `requestReason`, `isAutomatic`, `signature`, `descriptor` and `inputSchemaInput` are the question's.
 * - `approved` and `reason`: the answer; absent as long as there is none.
 * - `input`: the input as the approver changed it. It is own: the AI SDK knows no such key.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { UiApproval } from "@countersign/core/UiMessage"
 *
 * const is = Schema.is(UiApproval)
 * is({ id: "a1" }) // => true
 * is({ id: "a1", approved: "yes" }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UiApproval: Schema.Codec<UiApproval> = openStruct({
  id: Schema.String,
  approved: optionalBoolean,
  reason: optionalString,
  requestReason: optionalString,
  isAutomatic: optionalBoolean,
  signature: optionalString,
  descriptor: optionalUnknown,
  inputSchemaInput: optionalUnknown,
  input: optionalUnknown
})

/**
 * @category models
 * @since 0.1.0
 */
export interface UiApproval {
  readonly id: string
  readonly approved?: boolean | undefined
  readonly reason?: string | undefined
  readonly requestReason?: string | undefined
  readonly isAutomatic?: boolean | undefined
  readonly signature?: string | undefined
  readonly descriptor?: unknown
  readonly inputSchemaInput?: unknown
  readonly input?: unknown
}

const states = [
  "input-streaming",
  "input-available",
  "approval-requested",
  "approval-responded",
  "output-available",
  "output-error",
  "output-denied"
] as const

const toolFields = {
  toolCallId: Schema.String,
  state: Schema.Literals(states),
  input: optionalUnknown,
  rawInput: optionalUnknown,
  output: optionalUnknown,
  errorText: optionalString,
  approval: Schema.optional(UiApproval),
  preliminary: optionalBoolean,
  providerExecuted: optionalBoolean,
  callProviderMetadata: optionalOptions,
  resultProviderMetadata: optionalOptions
}

/**
 * A call in the state that it has come to. A tool that is known when the page is written has the type `tool-NAME`; any other has
 * the type `dynamic-tool`, and `toolName`.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { UiToolPart } from "@countersign/core/UiMessage"
 *
 * const is = Schema.is(UiToolPart)
 * is({ type: "tool-pay", toolCallId: "c1", state: "approval-requested", input: {}, approval: { id: "a1" } }) // => true
 * is({ type: "dynamic-tool", toolCallId: "c1", state: "input-available", input: {} }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UiToolPart: Schema.Codec<UiToolPart> = Schema.Union([
  openStruct({ type: Schema.TemplateLiteral(["tool-", Schema.String]), ...toolFields }),
  openStruct({ type: Schema.Literal("dynamic-tool"), toolName: Schema.String, dynamic: optionalBoolean, ...toolFields })
])

/**
 * @category models
 * @since 0.1.0
 */
export type UiToolPart = UiStaticToolPart | UiDynamicToolPart

/**
 * What both kinds of tool parts have.
 *
 * @category models
 * @since 0.1.0
 */
export interface UiToolFields {
  readonly toolCallId: string
  readonly state: (typeof states)[number]
  readonly input?: unknown
  readonly rawInput?: unknown
  readonly output?: unknown
  readonly errorText?: string | undefined
  readonly approval?: UiApproval | undefined
  readonly preliminary?: boolean | undefined
  readonly providerExecuted?: boolean | undefined
  readonly callProviderMetadata?: ProviderOptions | undefined
  readonly resultProviderMetadata?: ProviderOptions | undefined
}

/**
 * A part about a tool that the page knows.
 *
 * @category models
 * @since 0.1.0
 */
export interface UiStaticToolPart extends UiToolFields {
  readonly type: `tool-${string}`
}

/**
 * A part about any other tool. `dynamic: false` says that the page knew the tool once.
 *
 * @category models
 * @since 0.1.0
 */
export interface UiDynamicToolPart extends UiToolFields {
  readonly type: "dynamic-tool"
  readonly toolName: string
  readonly dynamic?: boolean | undefined
}

/**
 * A part that is not about a tool: it is passed on as it came.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import { UiOtherPart } from "@countersign/core/UiMessage"
 *
 * Schema.is(UiOtherPart)({ type: "text", text: "hello", state: "done" }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UiOtherPart: Schema.Codec<UiOtherPart> = openStruct({
  type: typeOtherThan((type) => isToolType(type))
}) as any

/**
 * @category models
 * @since 0.1.0
 */
export interface UiOtherPart {
  /** Not all: a type that is not listed comes in as well. */
  readonly type:
    | "text"
    | "reasoning"
    | "file"
    | "reasoning-file"
    | "custom"
    | "source-url"
    | "source-document"
    | "step-start"
    | "steering-message"
    | `data-${string}`
  /** `any`, so that the AI SDK's own parts can be given as they are. */
  readonly [key: string]: any
}

/**
 * A message of the page.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import { UiMessage } from "@countersign/core/UiMessage"
 *
 * const decode = Schema.decodeUnknownEffect(Schema.Array(UiMessage))
 * const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] }] as const
 * Effect.runSync(decode(messages)) // => messages
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const UiMessage: Schema.Codec<UiMessage> = openStruct({
  id: optionalString,
  role: Schema.Literals(["system", "user", "assistant"]),
  parts: Schema.Array(Schema.Union([UiToolPart, UiOtherPart]))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface UiMessage {
  readonly id?: string | undefined
  readonly role: "system" | "user" | "assistant"
  readonly parts: ReadonlyArray<UiToolPart | UiOtherPart>
}

/**
 * The messages of the history that the messages of a page stand for.
 *
 * - A message of the assistant becomes one message for each step, and after it a tool message with the answers and results.
 * - A question that is still open where the user has written again is superseded: its call is left out.
 * - A call that was denied has the result `execution-denied`, or, once that was told, an `error-text` with the reason.
 * - A result is `text` if it is a string, else `json`; an error is `error-text`, and `error-json` where the provider ran the tool.
 *   With `tools`, a result is what the tool's `toModelOutput` makes of it, where it has one.
 * - Where the approver changed the input, the result says so, as it does when it is made.
 *
 * It throws nothing: parts that are not of a known type are left out, and so is what has no parts. An answer is passed on as it is,
 * so that whoever reads it can refuse one that is no answer.
 *
 * Source: the AI SDK's `convertToModelMessages`. Its options `convertDataPart` and `ignoreIncompleteToolCalls` are not there.
 * Differences: the URL of a file stays a string, in `data`; `approval.input` becomes `input` of the response; keys that would be
 * `undefined` are left out.
 *
 * @example
 * ```ts
 * import * as UiMessage from "@countersign/core/UiMessage"
 *
 * const part = { type: "tool-pay", toolCallId: "c1", state: "approval-responded", input: {} } as const
 * const messages = UiMessage.toMessages([
 *   { role: "assistant", parts: [{ type: "step-start" }, { ...part, approval: { id: "a1", approved: true } }] }
 * ])
 * messages[0]?.content[0] // => { type: "tool-call", toolCallId: "c1", toolName: "pay", input: {} }
 * messages[0]?.content[1] // => { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
 * messages[1]?.content // => [{ type: "tool-approval-response", approvalId: "a1", approved: true }]
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const toMessages = (
  uiMessages: ReadonlyArray<UiMessage>,
  options?: { readonly tools?: ToolSet.ToolSet | undefined }
): Array<Message> => {
  const lastUser = uiMessages.findLastIndex((message) => getOwn(message, "role") === "user")
  return uiMessages.flatMap((message, index): ReadonlyArray<Message> => {
    const parts = partsOf(message)
    switch (getOwn(message, "role")) {
      case "system":
        return [systemMessage(parts)]
      case "user":
        return [{ role: "user", content: parts.flatMap(userContent) }]
      case "assistant":
        return assistantMessages(parts, index < lastUser, options?.tools)
      default:
        return []
    }
  })
}

/**
 * Whether the page can send its messages: the last one is the assistant's, and in its last step at least one question was answered
 * and no call waits for anything.
 *
 * Source: the AI SDK's `lastAssistantMessageIsCompleteWithApprovalResponses`, there with `{ messages }`.
 *
 * @example
 * ```ts
 * import * as UiMessage from "@countersign/core/UiMessage"
 *
 * const part = { type: "tool-pay", toolCallId: "c1", input: {} } as const
 * const requested = { ...part, state: "approval-requested", approval: { id: "a1" } } as const
 * const responded = { ...part, state: "approval-responded", approval: { id: "a1", approved: true } } as const
 * UiMessage.lastAssistantMessageIsComplete([{ role: "assistant", parts: [requested] }]) // => false
 * UiMessage.lastAssistantMessageIsComplete([{ role: "assistant", parts: [responded] }]) // => true
 * ```
 *
 * @category predicates
 * @since 0.1.0
 */
export const lastAssistantMessageIsComplete = (uiMessages: ReadonlyArray<UiMessage>): boolean => {
  const last = uiMessages.at(-1)
  if (getOwn(last, "role") !== "assistant") return false
  const parts = partsOf(last)
  const step = parts.slice(parts.findLastIndex((part) => typeOf(part) === "step-start") + 1)
    .filter((part) => isToolType(typeOf(part)))
  return step.some((part) => getOwn(part, "state") === "approval-responded") && step.every(isSettled)
}

const isSettled = (part: unknown): boolean => {
  switch (getOwn(part, "state")) {
    case "approval-responded":
    case "output-error":
    case "output-denied":
      return true
    case "output-available":
      return getOwn(part, "preliminary") !== true
    default:
      return false
  }
}

const typeOf = (part: unknown): string => {
  const type = getOwn(part, "type")
  return typeof type === "string" ? type : ""
}

const toolPrefix = "tool-"

const isToolType = (type: string): boolean => type.startsWith(toolPrefix) || type === "dynamic-tool"

const partsOf = (message: unknown): ReadonlyArray<unknown> => {
  const parts = getOwn(message, "parts")
  return Array.isArray(parts) ? parts : []
}

/** `null` is what a client in another language may write for a key that it does not have. */
const read = (part: unknown, key: string): any => getOwn(part, key) ?? undefined

const systemMessage = (parts: ReadonlyArray<unknown>): Message => {
  const texts = parts.filter((part) => typeOf(part) === "text")
  const providerOptions = {}
  for (const part of texts) {
    for (const [provider, value] of Object.entries(read(part, "providerMetadata") ?? {})) {
      setOwn(providerOptions, provider, value)
    }
  }
  return {
    role: "system",
    content: texts.map((part) => read(part, "text")).filter((text) => typeof text === "string").join(""),
    ...Object.keys(providerOptions).length === 0 ? {} : { providerOptions }
  }
}

const fileContent = (part: unknown, type: "file" | "reasoning-file"): OtherPart => {
  const reference = type === "file" ? read(part, "providerReference") : undefined
  return withoutUndefined({
    type,
    mediaType: read(part, "mediaType"),
    filename: type === "file" ? read(part, "filename") : undefined,
    data: reference === undefined ? read(part, "url") : { type: "reference", reference },
    providerOptions: read(part, "providerMetadata")
  })
}

const textContent = (part: unknown, type: "text" | "reasoning"): OtherPart =>
  withoutUndefined({ type, text: read(part, "text"), providerOptions: read(part, "providerMetadata") })

const userContent = (part: unknown): ReadonlyArray<OtherPart> => {
  switch (typeOf(part)) {
    case "text":
      return [textContent(part, "text")]
    case "file":
      return [fileContent(part, "file")]
    default:
      return []
  }
}

type AssistantPart = Exclude<Extract<Message, { readonly role: "assistant" }>["content"], string>[number]
type ToolMessagePart = Extract<Message, { readonly role: "tool" }>["content"][number]

const assistantMessages = (
  parts: ReadonlyArray<unknown>,
  isSuperseded: boolean,
  tools: ToolSet.ToolSet | undefined
): ReadonlyArray<Message> => {
  const messages: Array<Message> = []
  let content: Array<AssistantPart> = []
  let answers: Array<ToolMessagePart> = []
  const endStep = () => {
    if (content.length > 0) messages.push({ role: "assistant", content })
    if (answers.length > 0) messages.push({ role: "tool", content: answers })
    content = []
    answers = []
  }
  for (const part of parts) {
    const type = typeOf(part)
    switch (type) {
      case "step-start":
        endStep()
        break
      case "steering-message":
        endStep()
        messages.push({ role: "user", content: partsOf(part).flatMap(userContent) })
        break
      case "text":
      case "reasoning":
        content.push(textContent(part, type))
        break
      case "file":
      case "reasoning-file":
        content.push(fileContent(part, type))
        break
      case "custom":
        content.push(withoutUndefined({
          type,
          kind: read(part, "kind"),
          providerOptions: read(part, "providerMetadata")
        }))
        break
      default: {
        const state = read(part, "state")
        if (!isToolType(type) || state === "input-streaming") break
        if (state === "approval-requested" && isSuperseded) break
        const tool = readTool(part, type, tools)
        content.push(...callContent(tool))
        answers.push(...answerContent(tool))
      }
    }
  }
  endStep()
  return messages
}

interface ToolReading {
  readonly part: unknown
  readonly state: unknown
  readonly toolCallId: string
  readonly toolName: string
  readonly approval: unknown
  readonly isProviders: boolean
  readonly callOptions: ProviderOptions | undefined
  readonly tools: ToolSet.ToolSet | undefined
}

const readTool = (part: unknown, type: string, tools: ToolSet.ToolSet | undefined): ToolReading => ({
  part,
  state: read(part, "state"),
  toolCallId: read(part, "toolCallId"),
  toolName: type === "dynamic-tool" ? read(part, "toolName") : type.slice(toolPrefix.length),
  approval: read(part, "approval"),
  isProviders: read(part, "providerExecuted") === true,
  callOptions: read(part, "callProviderMetadata"),
  tools
})

/** The call, the question about it, and the result where the provider ran it: all in the assistant's message. */
const callContent = (tool: ToolReading): Array<AssistantPart> => {
  const { approval, callOptions, part, state, toolCallId, toolName } = tool
  const isError = state === "output-error"
  const resultOptions = read(part, "resultProviderMetadata")
  const content: Array<AssistantPart> = [withoutUndefined({
    type: "tool-call" as const,
    toolCallId,
    toolName,
    input: isError ? getOwn(part, "input") ?? getOwn(part, "rawInput") : getOwn(part, "input"),
    providerExecuted: read(part, "providerExecuted"),
    providerOptions: callOptions ?? (isError ? resultOptions : undefined)
  })]
  if (approval !== undefined) {
    content.push({
      ...withoutUndefined({
        type: "tool-approval-request" as const,
        approvalId: read(approval, "id"),
        toolCallId,
        reason: read(approval, "requestReason"),
        isAutomatic: read(approval, "isAutomatic"),
        signature: read(approval, "signature")
      }),
      ...Object.hasOwn(approval as object, "inputSchemaInput")
        ? { inputSchemaInput: getOwn(approval, "inputSchemaInput") }
        : {}
    })
  }
  if (tool.isProviders && (isError || state === "output-available")) {
    content.push(resultPart(
      tool,
      isError ? { type: "error-json", value: read(part, "errorText") ?? null } : resultOutput(tool),
      resultOptions ?? callOptions
    ))
  }
  return content
}

/** The answer to the question, and the result: both in the tool message. */
const answerContent = (tool: ToolReading): Array<ToolMessagePart> => {
  const { approval, part, state } = tool
  const approved = read(approval, "approved")
  const reason = read(approval, "reason")
  const content: Array<ToolMessagePart> = []
  if (approved !== undefined) {
    content.push({
      ...withoutUndefined({
        type: "tool-approval-response" as const,
        approvalId: read(approval, "id"),
        approved,
        reason,
        providerExecuted: read(part, "providerExecuted")
      }),
      ...Object.hasOwn(approval as object, "input") ? { input: getOwn(approval, "input") } : {}
    })
  }
  const addResult = (output: ToolResultOutput) => content.push(resultPart(tool, output, tool.callOptions))
  if (state === "approval-responded" && approved === false) addResult(deniedOutput(reason))
  if (tool.isProviders) return content
  if (state === "output-denied") addResult(errorOutput(reason ?? "Tool call execution denied."))
  if (state === "output-error") addResult(errorOutput(read(part, "errorText") ?? "unknown error"))
  if (state === "output-available") addResult(resultOutput(tool))
  return content
}

const resultPart = (
  { toolCallId, toolName }: ToolReading,
  output: ToolResultOutput,
  providerOptions: ProviderOptions | undefined
) => withoutUndefined({ type: "tool-result" as const, toolCallId, toolName, output, providerOptions })

const resultOutput = ({ approval, part, toolCallId, toolName, tools }: ToolReading): ToolResultOutput => {
  const tool = tools === undefined ? undefined : ToolSet.get(tools, toolName)
  if (tool === undefined && typeOf(part) === "dynamic-tool" && getOwn(part, "dynamic") === false) {
    // What a tool keeps from the model by its own `toModelOutput`, nobody can keep when the tool is gone.
    return { type: "text", value: "Tool output omitted because the tool is no longer available." }
  }
  const input = getOwn(part, "input")
  const value = getOwn(part, "output")
  const output = tool?.toModelOutput === undefined
    ? Result.getOrElse(valueOutput(value), (error) => errorOutput(error.message))
    : shownOutput(tool, { toolCallId, input, output: value }) ??
      errorOutput(`Tool ${toolName} ran, and its result cannot be shown.`)
  const edited = getOwn(approval, "input")
  return edited === undefined || isSameJson(edited, input)
    ? output
    : withEditNote(output, Result.getOrElse(CanonicalJson.encode(edited), () => "another input"))
}
