/**
 * One step of an agent, whole: the calls that a model proposed go in, the messages to append come out.
 *
 * ```text
 * raw calls ── parse ──▶ valid ── request ──▶ nobody to ask, approved ── run ──▶ results
 *                │                        ├─▶ denied ─────────────────────────▶ denials
 *                ▼                        └─▶ pending: a person is asked
 *             invalid ────────────────────────────────────────────────────────▶ errors
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PendingApproval, Requested, RequestOptions, UnansweredCall } from "./Approval.ts"
import type { ApprovalLedger, Outcome } from "./ApprovalLedger.ts"
import type { ApprovalSigner } from "./ApprovalSigner.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import type { Crypto, CryptoUnavailable } from "./Crypto.ts"
import { isSameJson } from "./internal/approval/history.ts"
import { requestApproval, toolCallPart } from "./internal/approval/request.ts"
import { useOnce } from "./internal/approval/useOnce.ts"
import { errorOutput } from "./internal/toolOutput.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import type { JsonSchemaValidator } from "./JsonSchemaValidator.ts"
import type * as Message from "./Message.ts"
import type { RawToolCall } from "./RawToolCall.ts"
import type { Refinements, Services as RefineServices } from "./Refinement.ts"
import type * as Tool from "./Tool.ts"
import * as ToolCall from "./ToolCall.ts"
import { ToolCallRefused } from "./ToolCallError.ts"
import * as ToolExecution from "./ToolExecution.ts"
import * as ToolSet from "./ToolSet.ts"

/**
 * What a step is run with: everything to parse its calls (`ToolCall.Options`), to ask about them (`Approval.RequestOptions`), and
 *
 * - `finishReason`: why the model stopped. With any other than `"stop"` and `"tool-calls"` nothing is asked or run, for the last call
 *   may have been cut off; each call is answered with that.
 * - `content`: what the model said beside its calls, for the assistant message.
 * - `concurrency`: how many calls are worked on at a time, 8 if not given.
 * - the hooks and names of `ToolExecution.Hooks`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<
  Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {},
  PolicyR = never,
  HookR = never
> extends
  Omit<ToolCall.Options<Tools, RepairR, Refine>, "tools">,
  Pick<RequestOptions<Tools, PolicyR>, "tools" | "policy" | "audience" | "timeToLive">,
  ToolExecution.Hooks<HookR>
{
  readonly finishReason?: string | undefined
  readonly content?: ReadonlyArray<Message.OtherPart> | undefined
  readonly concurrency?: number | undefined
}

/**
 * What a step came to.
 *
 * - `calls`: as parsed, in the order in which the model made them; of calls with one ID, the first.
 * - `results`: of what ran, in the order of the calls.
 * - `approvals`: what was asked or decided about calls, in their order.
 * - `pending`: the questions for a person, a part of `approvals`. They are JSON: store them to trust nobody with them.
 * - `invalid`: the calls that cannot run, a part of `calls`.
 * - `awaiting`: the calls without a result: those that are `pending`, and those to tools without `execute`, which the client runs.
 *   Do not call the model before they are answered.
 * - `messages`: what to append to the history: an assistant message with the calls and requests, and a tool message with the answers,
 *   where there are any.
 * - `usage`: of what ran.
 *
 * @category models
 * @since 0.1.0
 */
export interface StepResult<Tools extends ToolSet.ToolSet = ToolSet.ToolSet> {
  readonly calls: ReadonlyArray<ToolCall.ToolCall<Tools> | ToolCall.InvalidToolCall>
  readonly results: ReadonlyArray<ToolExecution.ToolResult>
  readonly approvals: ReadonlyArray<Exclude<Requested, { readonly _tag: "NotApplicable" }>>
  readonly pending: ReadonlyArray<PendingApproval>
  readonly invalid: ReadonlyArray<ToolCall.InvalidToolCall>
  readonly awaiting: ReadonlyArray<UnansweredCall>
  readonly messages: ReadonlyArray<Message.AssistantMessage | Message.ToolMessage>
  readonly usage: Tool.Usage
}

/**
 * Parses the calls of a step, asks about them, runs those that may run, and gives the messages to append.
 *
 * A bad call does not keep the others from running: it is answered with its error, as is a tool that fails. Everything is asked
 * before anything runs. A call that the provider executes is not run, nor answered. Of two different calls with one ID neither runs, and
 * the ID is answered with that. What a policy has approved is claimed in the `ApprovalLedger`; where that is unavailable, the call is not
 * run, and answered with that.
 *
 * Fails only where a question cannot be signed for want of cryptography; then nothing was run.
 *
 * Source: own; the messages are those of the AI SDK's `generateText`.
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
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const tools = ToolSet.make(
 *   Tool.make("now", { execute: () => Effect.succeed("12:00") }),
 *   Tool.make("restart", { needsApproval: true, execute: () => Effect.succeed("restarted") })
 * )
 * const calls = ["now", "restart", "reboot"].map((toolName) => ({ toolCallId: toolName, toolName, input: "{}" }))
 *
 * const signer = ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] })
 * const layer = Layer.provideMerge(signer, NodeCountersign.layer)
 * const step = Effect.runSync(Effect.provide(ToolStep.run(calls, { tools }), layer))
 * step.results.map(({ output }) => output) // => [{ type: "text", value: "12:00" }]
 * step.pending.map(({ toolCall }) => toolCall.toolName) // => ["restart"]
 * step.invalid.map(({ error }) => error._tag) // => ["NoSuchTool"]
 * step.messages.map(({ role }) => role) // => ["assistant", "tool"]
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run: <
  const Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {},
  PolicyR = never,
  HookR = never
>(
  calls: ReadonlyArray<RawToolCall>,
  options: Options<Tools, RepairR, Refine, PolicyR, HookR>
) => Effect.Effect<
  StepResult<Tools>,
  CryptoUnavailable,
  | ApprovalSigner
  | ApprovalLedger
  | Crypto
  | JsonSchemaValidator
  | RepairR
  | PolicyR
  | HookR
  | RefineServices<Refine>
  | Tool.Services<Tools[keyof Tools]>
> = Effect.fnUntraced(function*(
  raws: ReadonlyArray<RawToolCall>,
  given: AnyOptions
): Effect.fn.Return<StepResult, CryptoUnavailable, any> {
  // What runs is the tool that was asked about, though the set may be changed meanwhile.
  const options = { ...given, tools: { ...given.tools } }
  const concurrency = options.concurrency ?? 8
  const parsed = yield* ToolCall.parseAll(raws, { ...options, concurrency })
  const asked = yield* Effect.forEach(withoutDuplicates(parsed), (call) => ask(call, options), { concurrency })
  const answered = yield* Effect.forEach(asked, (one) => answer(one, options), { concurrency })

  const calls = answered.map(({ call }) => call)
  const results = answered.flatMap(({ result }) => result === undefined ? [] : [result])
  const approvals = answered.flatMap(({ requested }) => requested._tag === "NotApplicable" ? [] : [requested])
  return {
    calls,
    results,
    approvals,
    pending: approvals.flatMap((approval) => {
      if (approval._tag !== "Pending") return []
      const { approvalRequest, toolCall } = approval
      return [{ approvalRequest, toolCall }]
    }),
    invalid: calls.filter(isInvalid),
    awaiting: answered.flatMap(toUnanswered),
    messages: toMessages(answered, options.content ?? []),
    usage: ToolExecution.sumUsage(results.map(({ usage }) => usage))
  }
}) as any

type AnyOptions = Options<ToolSet.ToolSet, any, any, any, any>

type AnyCall = ToolCall.ToolCall | ToolCall.InvalidToolCall

const isInvalid = (call: AnyCall): call is ToolCall.InvalidToolCall => call.invalid === true

interface Asked {
  readonly call: AnyCall
  readonly requested: Requested
}

/** `part` answers the call; `result` is there where its tool ran. */
interface Answered extends Asked {
  readonly part: Message.ToolResultPart | undefined
  readonly result: ToolExecution.ToolResult | undefined
}

const refuse = (call: AnyCall, reason: ToolCallRefused["reason"]): ToolCall.InvalidToolCall => {
  const { toolCallId, toolName } = call
  const { edits: _edits, inputSchemaInput, ...fields } = call as ToolCall.DynamicToolCall
  // The JSON, not what the schema made of it: it goes into the history.
  const input = isInvalid(call) ? call.input : inputSchemaInput
  const error = new ToolCallRefused({ toolCallId, toolName, reason })
  return { ...fields, input, dynamic: true, invalid: true, error }
}

/** A call that was sent twice is one call; two calls of one ID are none. */
const withoutDuplicates = (calls: ReadonlyArray<AnyCall>): ReadonlyArray<AnyCall> => {
  const byId = new Map<string, AnyCall>()
  for (const call of calls) {
    const first = byId.get(call.toolCallId)
    if (first === undefined) byId.set(call.toolCallId, call)
    else if (first.toolName !== call.toolName || !isSameJson(first.rawInput, call.rawInput)) {
      byId.set(call.toolCallId, refuse(first, "duplicate-id"))
    }
  }
  return [...byId.values()]
}

const notApplicable: Requested = { _tag: "NotApplicable" }

const ask = Effect.fnUntraced(
  function*(call: AnyCall, options: AnyOptions): Effect.fn.Return<Asked, CryptoUnavailable, any> {
    if (isInvalid(call)) return { call, requested: notApplicable }
    const { finishReason } = options
    if (finishReason !== undefined && finishReason !== "stop" && finishReason !== "tool-calls") {
      return { call: refuse(call, "cut-off"), requested: notApplicable }
    }
    const requested = yield* Effect.result(requestApproval(call, options))
    if (Result.isSuccess(requested)) return { call, requested: requested.success }
    if (requested.failure._tag === "CryptoUnavailable") return yield* requested.failure
    return { call: refuse(call, "not-json"), requested: notApplicable }
  }
)

const answer = Effect.fnUntraced(
  function*({ call, requested }: Asked, options: AnyOptions): Effect.fn.Return<Answered, never, any> {
    const { toolCallId, toolName } = call
    const unanswered = { call, requested, part: undefined, result: undefined }
    const answeredWith = (output: Message.ToolResultOutput): Answered => ({
      ...unanswered,
      part: { type: "tool-result", toolCallId, toolName, output }
    })
    if (call.providerExecuted === true) return unanswered
    if (isInvalid(call)) return answeredWith(errorOutput(call.error.message))
    if (requested._tag === "Denied") return { ...unanswered, part: requested.toolResult }
    const tool = ToolSet.get(options.tools, toolName)
    if (requested._tag === "Pending" || tool?.execute === undefined) return unanswered

    const execution = ToolExecution.execute(call, options)
    const ran = requested._tag === "NotApplicable"
      ? { outcome: yield* execution, unsettled: undefined }
      : yield* runOnce(call, requested, tool, execution)
    if (ran === undefined) {
      return answeredWith(errorOutput(`Tool ${toolName} was not run: its approval could not be claimed.`))
    }
    const { outcome, unsettled } = ran
    const result = withoutUndefined<ToolExecution.ToolResult>({
      ...outcome,
      toolCallId,
      toolName,
      proposedInput: call.inputSchemaInput,
      effectiveInput: call.input,
      isReplayed: false,
      unsettled,
      dynamic: call.dynamic
    })
    return { ...answeredWith(outcome.output), result }
  }
)

/** What a policy approved is claimed too: its request and response are in the history, which a client may send again. */
const runOnce = Effect.fnUntraced(function*(
  call: ToolCall.ToolCall,
  { approvalRequest: { approvalId } }: Requested & { readonly _tag: "Approved" },
  { idempotent }: Tool.Any,
  execution: Effect.Effect<Outcome, never, any>
) {
  const { toolCallId, toolName }: ToolCall.CallFields<string, unknown> = call
  const approval = { approvalId, toolCallId, toolName, input: call.input, idempotent }
  const used = yield* Effect.catch(useOnce(approval, execution), () => Effect.succeed(undefined))
  return used?._tag === "Ran" ? used : undefined
})

const toUnanswered = ({ call, part, requested }: Answered): ReadonlyArray<UnansweredCall> => {
  if (part !== undefined || call.providerExecuted === true) return []
  return [
    requested._tag === "Pending"
      ? { toolCall: requested.toolCall, approvalRequest: requested.approvalRequest }
      : { toolCall: toPart(call) }
  ]
}

/** A history holds the JSON of an input, and of one that is not an object nothing. */
const toPart = (call: AnyCall): Message.ToolCallPart => {
  const fields = call as ToolCall.CallFields<string, unknown>
  return isInvalid(call)
    ? toolCallPart(fields, ToolCall.historyInput(call))
    : toolCallPart(fields, Result.getOrElse(CanonicalJson.toJson(call.input), () => call.inputSchemaInput))
}

const toMessages = (answered: ReadonlyArray<Answered>, content: ReadonlyArray<Message.OtherPart>) => {
  const calls = answered.map(({ call }) => toPart(call))
  const requests = answered.flatMap(({ requested }) =>
    requested._tag === "NotApplicable" ? [] : [requested.approvalRequest]
  )
  const isAutomatic = ({ requested: { _tag } }: Answered): boolean => _tag === "Approved" || _tag === "Denied"
  const partsOf = (one: Answered) => one.part === undefined ? [] : [one.part]
  const answers = [
    ...answered.filter((one) => !isAutomatic(one)).flatMap(partsOf),
    ...answered.flatMap((one) =>
      one.requested._tag === "Approved" || one.requested._tag === "Denied"
        ? [one.requested.approvalResponse, ...partsOf(one)]
        : []
    )
  ]
  const messages: Array<Message.AssistantMessage | Message.ToolMessage> = []
  if (content.length + calls.length > 0) {
    messages.push({ role: "assistant", content: [...content, ...calls, ...requests] })
  }
  if (answers.length > 0) messages.push({ role: "tool", content: answers })
  return messages
}
