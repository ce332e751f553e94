import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type {
  AnsweredApproval,
  InvalidApproval,
  ResumeError,
  ResumeEvent,
  ResumeOptions,
  ResumeResult,
  ResumeServices,
  UnansweredCall,
  ValidApproval
} from "../../Approval.ts"
import { ApprovalAlreadyUsed, ApprovalExpired } from "../../ApprovalError.ts"
import type { LedgerUnavailable, Outcome } from "../../ApprovalLedger.ts"
import type { Refinements } from "../../Refinement.ts"
import * as ToolExecution from "../../ToolExecution.ts"
import * as ToolSet from "../../ToolSet.ts"
import { deniedOutput } from "../toolOutput.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { answerHistory } from "./answers.ts"
import { collectApprovals } from "./collect.ts"
import { useOnce } from "./useOnce.ts"
import { isGenuine, validateApprovals } from "./validate.ts"

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
  const deniedByPolicy = validated.denied.slice(collected.denied.length)
  const denials = yield* Effect.forEach(collected.denied, (denied) => Effect.result(useDenial(denied, options, tell)))
  for (const denied of deniedByPolicy) yield* tell({ _tag: "Denied", denied })
  for (const invalid of validated.invalid) yield* tell({ _tag: "Invalid", invalid })

  // An approval that cannot be used now must not keep the others from running.
  const uses = yield* Effect.forEach(
    validated.approved,
    (approval) => Effect.result(useApproval(approval, options, tell)),
    { concurrency: options.concurrency ?? 8 }
  )
  const used: Array<Use> = []
  for (const use of [...denials, ...uses]) used.push(yield* Effect.fromResult(use))

  const results = used.flatMap((use) => use._tag === "Ran" ? [use.result] : [])
  const invalid = [...validated.invalid, ...used.flatMap((use) => use._tag === "Invalid" ? [use.invalid] : [])]
  const denied = [...used.flatMap((use) => use._tag === "Denied" ? [use.denied] : []), ...deniedByPolicy]
  const awaiting = [...collected.awaiting, ...used.flatMap((use) => use._tag === "ForClient" ? [use.call] : [])]
  const { forwarded } = validated
  const { stale, superseded } = collected
  const usage = ToolExecution.sumUsage(results.map((result) => result.isReplayed ? undefined : result.usage))
  const answered = answerHistory(messages, { results, invalid, denied, superseded })
  return { results, invalid, denied, forwarded, awaiting, superseded, stale, ...answered, usage }
})

/** What came of an answer. */
type Use =
  | { readonly _tag: "Ran"; readonly result: ToolExecution.ToolResult }
  | { readonly _tag: "Invalid"; readonly invalid: InvalidApproval }
  | { readonly _tag: "Denied"; readonly denied: AnsweredApproval }
  | { readonly _tag: "ForClient"; readonly call: UnansweredCall }

type Tell = (event: ResumeEvent) => Effect.Effect<unknown>

const useApproval = Effect.fnUntraced(function*(
  approval: ValidApproval,
  options: Options,
  tell: Tell
): Effect.fn.Return<Use, ApprovalAlreadyUsed | LedgerUnavailable, any> {
  const { approvalRequest, toolCall } = approval
  const { toolCallId, toolName } = toolCall
  const tool = ToolSet.get(options.tools, toolName)
  if (tool?.execute === undefined) return { _tag: "ForClient", call: { toolCall, approvalRequest } }
  const { approvedInput, call } = approval
  const execution = Effect.flatMap(
    tell({ _tag: "Started", toolCallId, toolName }),
    () => ToolExecution.execute(call, options)
  )
  return yield* use(
    approval,
    { approvedInput, effectiveInput: call.input, dynamic: call.dynamic },
    tool,
    execution,
    tell
  )
})

/**
 * A no is settled like a yes, so that of the two only one counts. Only one that is surely an answer to this server's question: a
 * client must not use up approvals with questions of its own.
 */
const useDenial = Effect.fnUntraced(function*(
  denied: AnsweredApproval,
  options: Options,
  tell: Tell
): Effect.fn.Return<Use, ApprovalAlreadyUsed | LedgerUnavailable, any> {
  const { approvalResponse, existingToolResult, toolCall } = denied
  if (existingToolResult === undefined && (yield* isGenuine(denied, options))) {
    const outcome = Effect.succeed({ output: deniedOutput(approvalResponse.reason) })
    const input = { approvedInput: toolCall.input, effectiveInput: toolCall.input }
    const used = yield* use(denied, input, { idempotent: false }, outcome, tell)
    if (used._tag !== "Ran" || used.result.output.type !== "execution-denied") return used
  }
  yield* tell({ _tag: "Denied", denied })
  return { _tag: "Denied", denied }
})

const use = Effect.fnUntraced(function*(
  { approvalRequest, approvalResponse, toolCall }: AnsweredApproval,
  input: { readonly approvedInput: unknown; readonly effectiveInput: unknown; readonly dynamic?: true | undefined },
  { idempotent }: { readonly idempotent: boolean },
  run: Effect.Effect<Outcome, never, any>,
  tell: Tell
): Effect.fn.Return<Use, ApprovalAlreadyUsed | LedgerUnavailable, any> {
  const { approvalId } = approvalRequest
  const { toolCallId, toolName } = toolCall
  const alreadyUsed = (reason: ApprovalAlreadyUsed["reason"]) =>
    new ApprovalAlreadyUsed({ approvalId, toolCallId, reason })
  const used = yield* useOnce({ approvalId, toolCallId, toolName, input: input.approvedInput, idempotent }, run)
  if (used._tag === "Running") return yield* alreadyUsed("running")
  if (used._tag !== "Ran") {
    const error = used._tag === "Expired"
      ? new ApprovalExpired({ approvalId, toolCallId, expiredAt: used.expiredAt })
      : alreadyUsed(used._tag === "Indeterminate" ? "indeterminate" : "other-call")
    const invalid: InvalidApproval = { approvalRequest, approvalResponse, toolCall, error }
    yield* tell({ _tag: "Invalid", invalid })
    return { _tag: "Invalid", invalid }
  }
  const { isReplayed, outcome, unsettled } = used
  const result = withoutUndefined<ToolExecution.ToolResult>({
    ...outcome,
    toolCallId,
    toolName,
    proposedInput: toolCall.input,
    ...input,
    isReplayed,
    unsettled
  })
  if (outcome.output.type !== "execution-denied") yield* tell({ _tag: "Finished", result })
  return { _tag: "Ran", result }
})
