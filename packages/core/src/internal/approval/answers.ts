import * as Result from "effect/Result"
import type { AnsweredApproval, InvalidApproval, ResumeResult, UnansweredCall } from "../../Approval.ts"
import * as CanonicalJson from "../../CanonicalJson.ts"
import type * as Message from "../../Message.ts"
import type { ToolResult } from "../../ToolExecution.ts"
import { deniedOutput, errorOutput, withEditNote } from "../toolOutput.ts"
import { type Call, isProviderExecuted, isSameJson, partsOf, readHistory, roleOf } from "./history.ts"

/** @internal */
export interface Answers {
  readonly results: ReadonlyArray<ToolResult>
  readonly invalid: ReadonlyArray<InvalidApproval>
  readonly denied: ReadonlyArray<AnsweredApproval>
  readonly superseded: ReadonlyArray<UnansweredCall>
}

/**
 * The history with an answer to each call, in a tool message after the tool messages of the step that made the call: providers
 * take a result nowhere else.
 *
 * @internal
 */
export const answerHistory = (
  messages: ReadonlyArray<unknown>,
  answers: Answers
): Pick<ResumeResult, "messages" | "responseMessages"> => {
  const { calls, copies } = readHistory(messages)
  const places = placesFrom(messages)
  const latest = new Map(calls.map((call) => [call.toolCall.toolCallId, call]))
  const replaced = new Set<unknown>()
  const placed = new Map<number, Array<Message.ToolResultPart>>()
  const answeredIds = new Set<string>()
  const put = (part: Message.ToolResultPart, call: Call | undefined): void => {
    // A provider takes one result for all calls of one ID.
    if (answeredIds.has(part.toolCallId)) return
    answeredIds.add(part.toolCallId)
    // Where the server kept its questions, a result that a client's history has already does not count.
    if (call?.result !== undefined) replaced.add(call.result)
    const place = call === undefined ? messages.length : places[call.message + 1]!
    const parts = placed.get(place)
    if (parts === undefined) placed.set(place, [part])
    else parts.push(part)
  }
  for (const part of toParts(answers)) put(part, latest.get(part.toolCallId))
  // A later call may have the same ID, and still wait.
  const callOf = new Map(calls.map((call) => [call.toolCall, call]))
  for (const { toolCall } of answers.superseded) put(resultPart(toolCall, errorOutput(overtaken)), callOf.get(toolCall))

  const answered: Array<Message.Message> = []
  const responseMessages: Array<Message.ToolMessage> = []
  for (let index = 0; index <= messages.length; index++) {
    const content = placed.get(index)
    if (content !== undefined) {
      const message: Message.ToolMessage = { role: "tool", content }
      answered.push(message)
      responseMessages.push(message)
    }
    const isLeftOut = (part: unknown): boolean => replaced.has(part) || copies.get(part) === index
    if (index < messages.length) answered.push(...without(messages[index], isLeftOut))
  }
  return { messages: answered, responseMessages }
}

/** Where the tool messages end that begin at an index: looked for once, for a client may send many. */
const placesFrom = (messages: ReadonlyArray<unknown>): ReadonlyArray<number> => {
  const places = Array.from({ length: messages.length + 1 }, (_, index) => index)
  for (let index = messages.length - 1; index >= 0; index--) {
    if (roleOf(messages[index]) === "tool") places[index] = places[index + 1]!
  }
  return places
}

const without = (message: unknown, isLeftOut: (part: unknown) => boolean): ReadonlyArray<Message.Message> => {
  const parts = partsOf(message)
  const content = parts.filter((part) => !isLeftOut(part))
  if (content.length === parts.length) return [message as Message.Message]
  return content.length === 0
    ? []
    : [{ ...message as Message.AssistantMessage, content: content as Message.AssistantMessage["content"] }]
}

const toParts = ({ denied, invalid, results }: Answers): ReadonlyArray<Message.ToolResultPart> => [
  ...results.map(({ approvedInput, effectiveInput, output, proposedInput, toolCallId, toolName }) =>
    resultPart(
      { toolCallId, toolName },
      isSameJson(approvedInput, proposedInput)
        ? output
        : withEditNote(output, Result.getOrElse(CanonicalJson.encode(effectiveInput), () => "another input"))
    )
  ),
  ...invalid.map(({ error, toolCall }) => resultPart(toolCall, errorOutput(error.message))),
  ...denied.flatMap((approval) => approval.existingToolResult === undefined ? [denialPart(approval)] : [])
]

const overtaken = "The conversation went on before the call had a result."

const resultPart = (
  { toolCallId, toolName }: { readonly toolCallId: string; readonly toolName: string },
  output: Message.ToolResultOutput
): Message.ToolResultPart => ({ type: "tool-result", toolCallId, toolName, output })

/** A provider that executes the tool itself wants to know which of its approvals was denied. */
const denialPart = ({ approvalRequest, approvalResponse, toolCall }: AnsweredApproval): Message.ToolResultPart => {
  const output = deniedOutput(approvalResponse.reason)
  return resultPart(
    toolCall,
    isProviderExecuted(toolCall)
      ? { ...output, providerOptions: { openai: { approvalId: approvalRequest.approvalId } } }
      : output
  )
}
