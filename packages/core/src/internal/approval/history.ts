/**
 * Reads the calls of a message history, with what was asked about each and given as its result.
 *
 * A history comes back from a client and may hold anything: it is read by own properties, and a part that is not of its type's
 * shape is as if it was not there.
 */
import * as Result from "effect/Result"
import * as CanonicalJson from "../../CanonicalJson.ts"
import type * as Message from "../../Message.ts"
import { getOwn } from "../ownProperty.ts"

/**
 * One call. `message` is the index of the message that proposed it.
 *
 * `isReused` says that a different call has its ID while both wait for a result: it cannot be told which of the two a question or a
 * result is about.
 *
 * @internal
 */
export interface Call {
  message: number
  toolCall: Message.ToolCallPart
  request: Message.ToolApprovalRequest | undefined
  result: Message.ToolResultPart | undefined
  isReused: boolean
  /** The calls that wait under the ID together, this one included. */
  readonly twins: Array<Call>
}

/**
 * A question. `isReused` says that its ID was used for another call as well.
 *
 * @internal
 */
export interface Request {
  readonly approvalRequest: Message.ToolApprovalRequest
  readonly isReused: boolean
  call: Call | undefined
}

/**
 * `calls` are in the order in which they were proposed. `copies` are the parts of calls that are there once more later, with the
 * index of their message: a call that was stored twice is one call. `strayResults` are results of calls that are not there.
 *
 * @internal
 */
export interface History {
  readonly calls: ReadonlyArray<Call>
  readonly requests: ReadonlyMap<string, Request>
  readonly copies: ReadonlyMap<unknown, number>
  readonly strayResults: ReadonlyMap<string, Message.ToolResultPart>
}

/** @internal */
export const roleOf = (message: unknown): unknown => getOwn(message, "role")

/** @internal */
export const partsOf = (message: unknown): ReadonlyArray<unknown> => {
  const content = getOwn(message, "content")
  return Array.isArray(content) ? content : []
}

const hasType = (part: unknown, type: string, ...texts: ReadonlyArray<string>): boolean =>
  getOwn(part, "type") === type && texts.every((key) => typeof getOwn(part, key) === "string")

/** @internal */
export const isToolCall = (part: unknown): part is Message.ToolCallPart =>
  hasType(part, "tool-call", "toolCallId", "toolName")

const isRequest = (part: unknown): part is Message.ToolApprovalRequest =>
  hasType(part, "tool-approval-request", "approvalId", "toolCallId")

/**
 * A response is one by its ID: that it says neither yes nor no is for its reader to refuse.
 *
 * @internal
 */
export const isResponse = (part: unknown): part is Message.ToolApprovalResponse =>
  hasType(part, "tool-approval-response", "approvalId")

const isResult = (part: unknown): part is Message.ToolResultPart =>
  hasType(part, "tool-result", "toolCallId") && typeof getOwn(getOwn(part, "output"), "type") === "string"

/** @internal */
export const isProviderExecuted = (toolCall: Message.ToolCallPart): boolean =>
  getOwn(toolCall, "providerExecuted") === true

/**
 * Whether two values are the same JSON; a value that is not JSON is the same as none.
 *
 * @internal
 */
export const isSameJson = (left: unknown, right: unknown): boolean => {
  const text = CanonicalJson.encode(left)
  return Result.isSuccess(text) && text.success === Result.getOrUndefined(CanonicalJson.encode(right))
}

const isSameCall = (left: Message.ToolCallPart, right: Message.ToolCallPart): boolean =>
  left.toolName === right.toolName && isSameJson(getOwn(left, "input") ?? null, getOwn(right, "input") ?? null)

/** @internal */
export const readHistory = (messages: ReadonlyArray<unknown>): History => {
  const calls: Array<Call> = []
  const latest = new Map<string, Call>()
  const requests = new Map<string, Request>()
  const copies = new Map<unknown, number>()
  const strayResults = new Map<string, Message.ToolResultPart>()

  const addCall = (toolCall: Message.ToolCallPart, message: number): void => {
    const earlier = latest.get(toolCall.toolCallId)
    if (earlier !== undefined && earlier.result === undefined && isSameCall(earlier.toolCall, toolCall)) {
      copies.set(earlier.toolCall, earlier.message)
      Object.assign(earlier, { toolCall, message })
      return
    }
    // A provider may use an ID again once its call is answered.
    const isReused = earlier !== undefined && earlier.result === undefined
    if (isReused) earlier.isReused = true
    const twins = isReused ? earlier.twins : []
    const call: Call = { message, toolCall, request: undefined, result: undefined, isReused, twins }
    twins.push(call)
    calls.push(call)
    latest.set(toolCall.toolCallId, call)
  }

  const addRequest = (approvalRequest: Message.ToolApprovalRequest): void => {
    const { approvalId, toolCallId } = approvalRequest
    const call = latest.get(toolCallId)
    const earlier = requests.get(approvalId)
    const isSame = earlier === undefined ||
      !earlier.isReused && earlier.call === call && earlier.approvalRequest.toolCallId === toolCallId
    requests.set(approvalId, { approvalRequest, call, isReused: !isSame })
    if (call !== undefined) call.request = approvalRequest
  }

  const addResult = (part: Message.ToolResultPart, message: number): void => {
    const call = latest.get(part.toolCallId)
    if (call === undefined) strayResults.set(part.toolCallId, part)
    // A provider takes one result for all calls of one ID.
    else if (call.result === undefined) { for (const twin of call.twins) twin.result = part }
    else if (call.result !== part && !isProviderExecuted(call.toolCall)) copies.set(part, message)
  }

  messages.forEach((message, index) => {
    const role = roleOf(message)
    if (role !== "assistant" && role !== "tool") return
    for (const part of partsOf(message)) {
      if (isResult(part)) addResult(part, index)
      else if (role === "assistant" && isToolCall(part)) addCall(part, index)
      else if (role === "assistant" && isRequest(part)) addRequest(part)
    }
  })
  // A question may stand before its call.
  for (const request of requests.values()) {
    if (request.call !== undefined) continue
    request.call = latest.get(request.approvalRequest.toolCallId)
    if (request.call !== undefined) request.call.request = request.approvalRequest
  }
  return { calls, requests, copies, strayResults }
}
