import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type {
  InvalidApproval,
  ResumeError,
  ResumeEvent,
  ResumeOptions,
  ResumeResult,
  ResumeServices,
  UnansweredCall,
  ValidApproval
} from "../../Approval.ts"
import { ApprovalAlreadyUsed } from "../../ApprovalError.ts"
import type { LedgerUnavailable } from "../../ApprovalLedger.ts"
import type { Refinements } from "../../Refinement.ts"
import * as ToolExecution from "../../ToolExecution.ts"
import * as ToolSet from "../../ToolSet.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { answerHistory } from "./answers.ts"
import { collectApprovals } from "./collect.ts"
import { useOnce } from "./useOnce.ts"
import { validateApprovals } from "./validate.ts"

type Options = ResumeOptions<ToolSet.ToolSet, any, any, any>

/** @internal */
export const resumeApprovals = <
  const Tools extends ToolSet.ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {},
  HookR = never
>(
  options: ResumeOptions<Tools, PolicyR, Refine, HookR>
): Effect.Effect<ResumeResult, ResumeError, ResumeServices<Tools, PolicyR, Refine, HookR>> =>
  resumeTelling(options as any, () => Effect.void)

/** @internal */
export const resumeEvents = <
  const Tools extends ToolSet.ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {},
  HookR = never
>(
  options: ResumeOptions<Tools, PolicyR, Refine, HookR>
): Stream.Stream<ResumeEvent, ResumeError, ResumeServices<Tools, PolicyR, Refine, HookR>> =>
  Stream.callback<ResumeEvent, ResumeError, ResumeServices<Tools, PolicyR, Refine, HookR>>((queue) =>
    resumeTelling(options as any, (event) => Queue.offer(queue, event)).pipe(
      Effect.flatMap((result) => Queue.offer(queue, { _tag: "Resumed", result })),
      Effect.matchCauseEffect({
        onFailure: (cause) => Queue.failCause(queue, cause),
        onSuccess: () => Queue.fail(queue, Cause.Done())
      })
    )
  )

const resumeTelling = Effect.fnUntraced(function*(
  options: Options,
  tell: (event: ResumeEvent) => Effect.Effect<unknown>
): Effect.fn.Return<ResumeResult, ResumeError, any> {
  const { messages } = options
  const collected = yield* collectApprovals(messages, options)
  const validated = yield* validateApprovals(collected, { ...options, messages })
  for (const denied of validated.denied) yield* tell({ _tag: "Denied", denied })
  for (const invalid of validated.invalid) yield* tell({ _tag: "Invalid", invalid })

  // An approval that cannot be used now must not keep the others from running.
  const uses = yield* Effect.forEach(
    validated.approved,
    (approval) => Effect.result(useApproval(approval, options, tell)),
    { concurrency: options.concurrency ?? 8 }
  )
  const used: Array<Use> = []
  for (const use of uses) used.push(yield* Effect.fromResult(use))

  const results = used.flatMap((use) => use._tag === "Ran" ? [use.result] : [])
  const invalid = [...validated.invalid, ...used.flatMap((use) => use._tag === "Refused" ? [use.invalid] : [])]
  const awaiting = [...collected.awaiting, ...used.flatMap((use) => use._tag === "ForClient" ? [use.call] : [])]
  const { denied, forwarded } = validated
  const { stale, superseded } = collected
  const usage = ToolExecution.sumUsage(results.map((result) => result.isReplayed ? undefined : result.usage))
  const answered = answerHistory(messages, { results, invalid, denied, superseded })
  return { results, invalid, denied, forwarded, awaiting, superseded, stale, ...answered, usage }
})

type Use =
  | { readonly _tag: "Ran"; readonly result: ToolExecution.ToolResult }
  | { readonly _tag: "Refused"; readonly invalid: InvalidApproval }
  | { readonly _tag: "ForClient"; readonly call: UnansweredCall }

const useApproval = Effect.fnUntraced(function*(
  { approvalRequest, approvalResponse, approvedInput, call, toolCall }: ValidApproval,
  options: Options,
  tell: (event: ResumeEvent) => Effect.Effect<unknown>
): Effect.fn.Return<Use, ApprovalAlreadyUsed | LedgerUnavailable, any> {
  const { approvalId } = approvalRequest
  const { toolCallId, toolName } = toolCall
  const tool = ToolSet.get(options.tools, toolName)
  if (tool?.execute === undefined) return { _tag: "ForClient", call: { toolCall, approvalRequest } }

  const used = yield* useOnce(
    { approvalId, toolCallId, toolName, input: approvedInput, idempotent: tool.idempotent },
    Effect.flatMap(tell({ _tag: "Started", toolCallId, toolName }), () => ToolExecution.execute(call, options))
  )
  if (used._tag === "Running") return yield* new ApprovalAlreadyUsed({ approvalId, toolCallId, reason: "running" })
  if (used._tag !== "Ran") {
    const reason = used._tag === "Indeterminate" ? "indeterminate" : "other-call"
    const error = new ApprovalAlreadyUsed({ approvalId, toolCallId, reason })
    const invalid: InvalidApproval = { approvalRequest, approvalResponse, toolCall, error }
    yield* tell({ _tag: "Invalid", invalid })
    return { _tag: "Refused", invalid }
  }
  const result = withoutUndefined<ToolExecution.ToolResult>({
    ...used.outcome,
    toolCallId,
    toolName,
    proposedInput: toolCall.input,
    approvedInput,
    effectiveInput: call.input,
    isReplayed: used.isReplayed,
    unsettled: used.unsettled,
    dynamic: call.dynamic
  })
  yield* tell({ _tag: "Finished", result })
  return { _tag: "Ran", result }
})
