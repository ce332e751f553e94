import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type {
  AnsweredApproval,
  ResumeError,
  ResumeEvent,
  ResumeOptions,
  ResumeResult,
  ResumeServices,
  UnansweredCall,
  ValidApproval
} from "../../Approval.ts"
import { ApprovalAlreadyUsed } from "../../ApprovalError.ts"
import type { LedgerUnavailable, Outcome } from "../../ApprovalLedger.ts"
import type { CryptoUnavailable } from "../../Crypto.ts"
import type { Refinements } from "../../Refinement.ts"
import * as ToolExecution from "../../ToolExecution.ts"
import * as ToolSet from "../../ToolSet.ts"
import { getOwn } from "../ownProperty.ts"
import { deniedOutput } from "../toolOutput.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { answerHistory } from "./answers.ts"
import { collectApprovals } from "./collect.ts"
import { isSameJson } from "./history.ts"
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
  given: Options,
  tell: (event: ResumeEvent) => Effect.Effect<unknown>
): Effect.fn.Return<ResumeResult, ResumeError, any> {
  // What runs is the tool that was validated, though the set may be changed meanwhile.
  const options = { ...given, tools: { ...given.tools } }
  const { messages } = options
  const collected = yield* collectApprovals(messages, options)
  const validated = yield* validateApprovals(collected, { ...options, messages })
  const told = (answered: Effect.Effect<Use, UseError, any>) =>
    Effect.result(
      Effect.flatMap(answered, (use) => Effect.as(use._tag === "ForClient" ? Effect.void : tell(use), use))
    )
  // A no is heard whatever the person has said since.
  const denials = yield* Effect.match(collectApprovals(messages, { ...options, superseded: "run" }), {
    onFailure: () => collected.denied,
    onSuccess: ({ denied }) => denied
  })
  const deniedByPolicy = validated.denied.slice(collected.denied.length)
  const refusals = [
    ...denials.map((denied) => useDenial(denied, options)),
    ...deniedByPolicy.map((denied) => useRefusal({ _tag: "Denied", denied }, denied, options)),
    ...validated.invalid.map((invalid) => useRefusal({ _tag: "Invalid", invalid }, invalid, options))
  ]
  const refused = yield* Effect.forEach(refusals, told)
  // An approval that cannot be used now must not keep the others from running.
  const ran = yield* Effect.forEach(
    validated.approved,
    (approval) => told(useApproval(approval, options, tell)),
    { concurrency: options.concurrency ?? 8 }
  )
  const used: Array<Use> = []
  for (const use of [...refused, ...ran]) used.push(yield* Effect.fromResult(use))

  const results = used.flatMap((use) => use._tag === "Finished" ? [use.result] : [])
  const invalid = used.flatMap((use) => use._tag === "Invalid" ? [use.invalid] : [])
  const denied = used.flatMap((use) => use._tag === "Denied" ? [use.denied] : [])
  const awaiting = [...collected.awaiting, ...used.flatMap((use) => use._tag === "ForClient" ? [use.call] : [])]
  const { forwarded } = validated
  const { stale } = collected
  const heard = new Set(denials.map(({ toolCall }) => toolCall))
  const superseded = collected.superseded.filter(({ toolCall }) => !heard.has(toolCall))
  const usage = ToolExecution.sumUsage(results.map((result) => result.isReplayed ? undefined : result.usage))
  const answered = answerHistory(messages, { results, invalid, denied, superseded })
  return { results, invalid, denied, forwarded, awaiting, superseded, stale, ...answered, usage }
})

type UseError = ApprovalAlreadyUsed | LedgerUnavailable | CryptoUnavailable

/** What came of an answer: what is told of it, or that its call is for the client to run. */
type Use =
  | ResumeEvent & { readonly _tag: "Finished" | "Invalid" | "Denied" }
  | { readonly _tag: "ForClient"; readonly call: UnansweredCall }

const useApproval = Effect.fnUntraced(function*(
  approval: ValidApproval,
  options: Options,
  tell: (event: ResumeEvent) => Effect.Effect<unknown>
): Effect.fn.Return<Use, UseError, any> {
  const { approvalRequest, approvedInput, call, toolCall } = approval
  const { toolCallId, toolName } = toolCall
  const tool = ToolSet.get(options.tools, toolName)
  if (tool?.execute === undefined) return { _tag: "ForClient", call: { toolCall, approvalRequest } }
  const start = tell({ _tag: "Started", toolCallId, toolName })
  const execution = Effect.flatMap(start, () => ToolExecution.execute(call, options))
  const used = yield* use(
    approval,
    { approvedInput, effectiveInput: call.input, dynamic: call.dynamic },
    tool,
    execution
  )
  return used!
})

/** A no is settled like a yes, so that of the two only one counts. */
const useDenial = Effect.fnUntraced(function*(
  denied: AnsweredApproval,
  options: Options
): Effect.fn.Return<Use, UseError, any> {
  const denial: Use = { _tag: "Denied", denied }
  const outcome = Effect.succeed({ output: deniedOutput(denied.approvalResponse.reason) })
  const used = yield* useRefusal(denial, denied, options, outcome)
  return used._tag === "Finished" && used.result.output.type === "execution-denied" ? denial : used
})

/**
 * What is refused now may have run before, and the client has lost the result: nobody is to be told that it did not run. Only an
 * answer that is surely to this server's question is looked up or settled: a client must not use up approvals with questions of its
 * own.
 */
const useRefusal = Effect.fnUntraced(function*(
  refusal: Use,
  answered: AnsweredApproval,
  options: Options,
  outcome?: Effect.Effect<Outcome>
): Effect.fn.Return<Use, UseError, any> {
  // What ran may have been the person's own input; what is denied is the call as it was proposed.
  const edited = outcome === undefined ? getOwn(answered.approvalResponse, "input") : undefined
  const input = (edited === undefined ? answered.toolCall.input : edited) ?? null
  // What is no JSON has never run.
  if (!isSameJson(input, input) || !(yield* isGenuine(answered, options))) return refusal
  const used = yield* use(answered, { approvedInput: input, effectiveInput: input }, { idempotent: false }, outcome)
  return used ?? refusal
})

/** Gives nothing where there was nothing to run, and nothing is known of an earlier run. */
const use = Effect.fnUntraced(function*(
  { approvalRequest, approvalResponse, toolCall }: AnsweredApproval,
  input: { readonly approvedInput: unknown; readonly effectiveInput: unknown; readonly dynamic?: true | undefined },
  { idempotent }: { readonly idempotent: boolean },
  run: Effect.Effect<Outcome, never, any> | undefined
): Effect.fn.Return<Use | undefined, UseError, any> {
  const { approvalId } = approvalRequest
  const { toolCallId, toolName } = toolCall
  const alreadyUsed = (reason: ApprovalAlreadyUsed["reason"]) =>
    new ApprovalAlreadyUsed({ approvalId, toolCallId, reason })
  const used = yield* useOnce({ approvalId, toolCallId, toolName, input: input.approvedInput, idempotent }, run)
  if (used._tag === "Running") return yield* alreadyUsed("running")
  if (used._tag === "Ran") {
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
    return { _tag: "Finished", result }
  }
  if (used._tag === "Unknown") return undefined
  const error = used._tag === "ApprovalExpired"
    ? used
    : alreadyUsed(used._tag === "Indeterminate" ? "indeterminate" : "other-call")
  return { _tag: "Invalid", invalid: { approvalRequest, approvalResponse, toolCall, error } }
})
