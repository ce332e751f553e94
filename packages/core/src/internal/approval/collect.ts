import * as Effect from "effect/Effect"
import type { AnsweredApproval, Collected, CollectOptions, UnansweredCall } from "../../Approval.ts"
import { AmbiguousApproval, InvalidToolApproval, ToolCallNotFoundForApproval } from "../../ApprovalError.ts"
import type * as Message from "../../Message.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { type Call, isProviderExecuted, isResponse, partsOf, readHistory, roleOf } from "./history.ts"

/** @internal */
export const collectApprovals: (
  messages: ReadonlyArray<unknown>,
  options?: CollectOptions
) => Effect.Effect<Collected, InvalidToolApproval | ToolCallNotFoundForApproval> = Effect.fnUntraced(
  function*(messages, options = {}) {
    const isKept = options.requests !== undefined
    const history = readHistory(isKept ? [keptQuestions(options.requests)] : messages)
    const end = endOf(messages)
    const isSuperseded = options.responses === undefined && end.isOvertaken && options.superseded !== "run"
    const answers = new Map<Call, AnsweredApproval>()
    const denied: Array<AnsweredApproval> = []
    const ambiguous = new Map<Call, AmbiguousApproval>()
    const stale: Array<AnsweredApproval> = []

    for (const approvalResponse of isSuperseded ? [] : options.responses?.filter(isResponse) ?? end.responses) {
      const { approvalId, approved } = approvalResponse
      const request = history.requests.get(approvalId)
      if (request === undefined) return yield* new InvalidToolApproval({ approvalId, reason: "unknown" })
      if (typeof approved !== "boolean") return yield* new InvalidToolApproval({ approvalId, reason: "malformed" })
      const { approvalRequest, call } = request
      const { toolCallId } = approvalRequest
      const result = call === undefined ? history.strayResults.get(toolCallId) : call.result
      const isRecordedDenial = !approved && result?.output.type === "execution-denied"
      if (call === undefined) {
        if (result !== undefined && !isRecordedDenial) continue
        return yield* new ToolCallNotFoundForApproval({ approvalId, toolCallId })
      }
      const answered: AnsweredApproval = { approvalRequest, approvalResponse, toolCall: call.toolCall }
      if (result !== undefined && !isRecordedDenial) {
        stale.push({ ...answered, existingToolResult: result })
        continue
      }
      const first = answers.get(call)
      // Under the ID of the answer that counts: a call may have been asked about twice.
      const counted = (first ?? answered).approvalRequest.approvalId
      const refuse = (reason: AmbiguousApproval["reason"]) =>
        ambiguous.set(call, new AmbiguousApproval({ approvalId: counted, toolCallId, reason }))
      if (first !== undefined) {
        if (first.approvalResponse.approved && !approved) refuse("responses")
        continue
      }
      answers.set(call, answered)
      if (!approved) denied.push(result === undefined ? answered : { ...answered, existingToolResult: result })
      else if (call.isReused) refuse("tool-call-id")
      else if (request.isReused) refuse("approval-id")
    }

    const answeredIds = new Set(
      [...answers.keys()].flatMap(({ toolCall }) => isProviderExecuted(toolCall) ? [] : [toolCall.toolCallId])
    )
    const unanswered = history.calls.filter((call) =>
      call.result === undefined && !isProviderExecuted(call.toolCall) &&
      !(answers.has(call) || call.isReused && answeredIds.has(call.toolCall.toolCallId))
    )
    const isAwaited = (call: Call): boolean => isKept || !end.isOvertaken && call.message >= end.step
    return {
      approved: history.calls.flatMap((call) => {
        const answered = answers.get(call)
        return answered?.approvalResponse.approved === true ? [answered] : []
      }),
      denied,
      ambiguous: [...ambiguous.values()],
      awaiting: unanswered.filter(isAwaited).map(toUnanswered),
      superseded: unanswered.filter((call) => !isAwaited(call)).map(toUnanswered),
      stale
    }
  }
)

/** The questions that the server kept, as a message that asks them. */
const keptQuestions = (requests: CollectOptions["requests"]): unknown => ({
  role: "assistant",
  content: requests?.flatMap(({ approvalRequest, toolCall }) => [toolCall, approvalRequest])
})

const toUnanswered = ({ request, toolCall }: Call): UnansweredCall =>
  withoutUndefined<UnansweredCall>({ toolCall, approvalRequest: request })

/**
 * The end of a history: the answers in its last tool message, where the step begins that they belong to, and whether the person has
 * said something since. What the system says does not overtake anything.
 */
const endOf = (messages: ReadonlyArray<unknown>) => {
  let end = messages.length
  let isOvertaken = false
  for (; end > 0; end--) {
    const role = roleOf(messages[end - 1])
    if (role !== "user" && role !== "system") break
    isOvertaken ||= role === "user"
  }
  const responses: ReadonlyArray<Message.ToolApprovalResponse> = roleOf(messages[end - 1]) === "tool"
    ? partsOf(messages[end - 1]).filter(isResponse)
    : []
  let step = end
  while (step > 0 && roleOf(messages[step - 1]) === "tool") step--
  while (step > 0 && roleOf(messages[step - 1]) === "assistant") step--
  return { isOvertaken, responses, step }
}
