/**
 * The human in the loop: ask before a call runs, and resume exactly what was approved, once.
 *
 * ```text
 * ToolCall ── request ──▶ NotApplicable                         run it
 *                         Approved, Denied                      decided by the policy
 *                         Pending: approvalRequest ──▶ a person
 *                                                        │ answers, hours later, to another process
 * messages ── collect ──▶ approved, denied, awaiting, …  ◀┘
 *          ── validate ─▶ signature, expiry, audience, input, tool, policy
 *          ── resume ───▶ claim, execute, settle: one tool message, every call answered
 * ```
 *
 * What comes back from a client is trusted in nothing but the person's answer: the rest is verified against the signature, or is
 * taken from the requests that the server kept.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type {
  AmbiguousApproval,
  ApprovalAlreadyUsed,
  ApprovalExpired,
  EditsNotAllowed,
  InvalidApprovalClaims,
  InvalidToolApproval,
  ToolCallNotFoundForApproval,
  ToolDrifted
} from "./ApprovalError.ts"
import type { ApprovalLedger, Claim, LedgerUnavailable } from "./ApprovalLedger.ts"
import type { ApprovalPolicy } from "./ApprovalPolicy.ts"
import type { ApprovalSigner, InvalidSignature } from "./ApprovalSigner.ts"
import type { NotJson } from "./CanonicalJson.ts"
import type { Crypto, CryptoUnavailable } from "./Crypto.ts"
import { claimOfCall } from "./internal/approval/claimOf.ts"
import { collectApprovals } from "./internal/approval/collect.ts"
import { requestApproval } from "./internal/approval/request.ts"
import { resumeApprovals, resumeEvents } from "./internal/approval/resume.ts"
import { validateApprovals } from "./internal/approval/validate.ts"
import { getOwn } from "./internal/ownProperty.ts"
import { printable } from "./internal/printable.ts"
import type { JsonSchemaValidator } from "./JsonSchemaValidator.ts"
import type * as Message from "./Message.ts"
import type { Refinements, Services as RefineServices } from "./Refinement.ts"
import type * as Tool from "./Tool.ts"
import type { Options as ParseOptions, ToolCall } from "./ToolCall.ts"
import type { ToolCallError } from "./ToolCallError.ts"
import type * as ToolExecution from "./ToolExecution.ts"
import type { ToolSet } from "./ToolSet.ts"

/**
 * A question that waits for a person, and the call that it is about. It is JSON: store it, or send it.
 *
 * @category models
 * @since 0.1.0
 */
export interface PendingApproval {
  readonly approvalRequest: Message.ToolApprovalRequest
  readonly toolCall: Message.ToolCallPart
}

/**
 * What {@link request} came to.
 *
 * - `NotApplicable`: the call may run, and nothing is recorded.
 * - `Approved`: the policy lets it run; request and response record that.
 * - `Denied`: the policy forbids it. The request is not signed, so that nobody can turn it into an approval; `toolResult` answers the
 *   call.
 * - `Pending`: a person has to be asked.
 *
 * @category models
 * @since 0.1.0
 */
export type Requested =
  | { readonly _tag: "NotApplicable" }
  | {
    readonly _tag: "Approved"
    readonly approvalRequest: Message.ToolApprovalRequest
    readonly approvalResponse: Message.ToolApprovalResponse
  }
  | {
    readonly _tag: "Denied"
    readonly approvalRequest: Message.ToolApprovalRequest
    readonly approvalResponse: Message.ToolApprovalResponse
    readonly toolResult: Message.ToolResultPart
  }
  | { readonly _tag: "Pending" } & PendingApproval

/**
 * What a call is asked about with.
 *
 * - `tools`, `policy`, `context`, `messages`: as for `ApprovalPolicy.resolve`.
 * - `audience`: who is asked, such as the ID of a user or session. Whoever resumes has to give the same.
 * - `timeToLive`: how long the answer counts; one day if not given.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions<Tools extends ToolSet, PolicyR = never> {
  readonly tools: Tools
  readonly policy?: ApprovalPolicy<Tools, PolicyR> | undefined
  readonly context?: ParseOptions<Tools>["context"]
  readonly messages?: ReadonlyArray<unknown> | undefined
  readonly audience?: string | undefined
  readonly timeToLive?: Duration.Input | undefined
}

/**
 * Asks the policy about a call, and where it says so makes the question for a person, signed.
 *
 * The question holds the policy's `reason`, and `inputSchemaInput` where the schema or a refinement changed what the model sent.
 * What a repair changed is in `approvalDescriptor.edits`, which the AI SDK carries to the page. Its ID carries the claims of
 * `ApprovalId`.
 *
 * Fails where the input is not JSON and so cannot be signed, or where signing fails. A provider's own tool, which is not among
 * the tools, is not asked about.
 *
 * Source: the AI SDK's tool approval requests.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as Approval from "@countersign/core/Approval"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const tools = ToolSet.make(Tool.make("restart", { needsApproval: true }))
 * const program = Effect.gen(function*() {
 *   const call = yield* ToolCall.parse({ toolCallId: "c1", toolName: "restart", input: "{}" }, { tools })
 *   return yield* Approval.request(call, { tools, audience: "user 7", timeToLive: "10 minutes" })
 * })
 *
 * const signer = ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] })
 * const layer = Layer.provideMerge(signer, NodeCountersign.layer)
 * Effect.runSync(Effect.provide(program, layer))._tag // => "Pending"
 * ```
 *
 * @category asking
 * @since 0.1.0
 */
export const request: <const Tools extends ToolSet, PolicyR = never>(
  call: ToolCall<Tools>,
  options: RequestOptions<Tools, PolicyR>
) => Effect.Effect<
  Requested,
  NotJson | CryptoUnavailable,
  ApprovalSigner | Crypto | PolicyR | Tool.Services<Tools[keyof Tools]>
> = requestApproval

/**
 * A call as one line in which nothing hides: the tool's name and the input, with every character that cannot be seen, that breaks or
 * reorders a line, or that passes for a space written as its code. Letters that look like others stay. What runs is unchanged.
 *
 * At most `maxLength` characters of the input are shown, 2,000 if not given, and of the name 200; `…` says that there are more.
 *
 * @example
 * ```ts
 * import * as Approval from "@countersign/core/Approval"
 *
 * Approval.display({ toolName: "run", input: { command: "ls \u202etxt.exe" } })
 * // => "run {\"command\":\"ls \\u202etxt.exe\"}"
 * ```
 *
 * @category showing
 * @since 0.1.0
 */
export const display = (
  call: { readonly toolName: string; readonly input?: unknown },
  options: { readonly maxLength?: number | undefined } = {}
): string => `${printable(call.toolName, 200)} ${printable(inputText(call.input), options.maxLength ?? 2000)}`

const inputText = (input: unknown): string => {
  try {
    return JSON.stringify(input) ?? ""
  } catch {
    return "(an input that is no JSON)"
  }
}

/**
 * A question with its answer, and the call that both are about. `existingToolResult` is there where the history has a result for
 * the call already: that of a denial that has been recorded, or, in `stale`, any.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnsweredApproval extends PendingApproval {
  readonly approvalResponse: Message.ToolApprovalResponse
  readonly existingToolResult?: Message.ToolResultPart
}

/**
 * A call that has no result yet. `approvalRequest` is there where a person was asked about it.
 *
 * @category models
 * @since 0.1.0
 */
export interface UnansweredCall {
  readonly toolCall: Message.ToolCallPart
  readonly approvalRequest?: Message.ToolApprovalRequest
}

/**
 * What a history says about its approvals.
 *
 * - `approved`: answered with yes and without a result, in the order in which the model made the calls.
 * - `denied`: answered with no, in the order of the answers.
 * - `ambiguous`: those of `approved` of which it cannot be told what was approved. {@link validate} refuses them.
 * - `awaiting`: calls of the last step that have neither a result nor an answer. Where the server kept its questions: all of those.
 * - `superseded`: calls without a result that the conversation has passed over, answered or not.
 * - `stale`: answered, when the call already had its result. Nothing is left to do; who clicked may be told.
 *
 * Calls that the provider executes are in `approved` and `denied` where they are answered, and never wait.
 *
 * @category models
 * @since 0.1.0
 */
export interface Collected {
  readonly approved: ReadonlyArray<AnsweredApproval>
  readonly denied: ReadonlyArray<AnsweredApproval>
  readonly ambiguous: ReadonlyArray<AmbiguousApproval>
  readonly awaiting: ReadonlyArray<UnansweredCall>
  readonly superseded: ReadonlyArray<UnansweredCall>
  readonly stale: ReadonlyArray<AnsweredApproval>
}

/**
 * Where questions and answers are read.
 *
 * - `requests`: the questions that the server kept. Then no call, question or result of the history counts, only its answers.
 * - `responses`: the answers, where they do not come in a message.
 * - `superseded`: what to do with answers that a later user message follows. `"refuse"`, the default, leaves them out: the person
 *   has said something else since. `"run"` counts them.
 *
 * @category models
 * @since 0.1.0
 */
export interface CollectOptions {
  readonly requests?: ReadonlyArray<PendingApproval> | undefined
  readonly responses?: ReadonlyArray<Message.ToolApprovalResponse> | undefined
  readonly superseded?: "refuse" | "run" | undefined
}

/**
 * Finds the answers in the tool message that a history ends with, and what they answer. System and user messages may follow it.
 *
 * Of several answers to one call the first counts; if they contradict each other, the call does not run. An answer to a question
 * that is not there fails, as does one that says neither yes nor no, and one whose call is missing.
 *
 * The history may be anything that a client sent: what is no message part is passed over. A call that was stored twice counts once;
 * an ID may be used again by a later call once the first has its result.
 *
 * Source: the AI SDK's `collectToolApprovals`; `docs/differences.md` says where it differs.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Approval from "@countersign/core/Approval"
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
 * Effect.runSync(Approval.collect(messages)).approved.length // => 1
 * Effect.runSync(Approval.collect(messages.slice(0, 1))).awaiting.length // => 1
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const collect: (
  messages: ReadonlyArray<unknown>,
  options?: CollectOptions
) => Effect.Effect<Collected, InvalidToolApproval | ToolCallNotFoundForApproval> = collectApprovals

/**
 * What answers are validated with: the tools, policy and refinements of now, not those of when the question was asked.
 *
 * - `audience`: who answers. It has to be the one of the question: one that was for somebody else, or for nobody in particular, is
 *   refused, and without an audience every question that was for somebody.
 * - `requireClaims`: refuse approvals whose ID claims nothing, as those of other SDKs. Otherwise they are taken, whoever answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface ValidateOptions<
  Tools extends ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {}
> {
  readonly tools: Tools
  readonly policy?: ApprovalPolicy<Tools, PolicyR> | undefined
  readonly refine?: ParseOptions<Tools, never, Refine>["refine"]
  readonly context?: ParseOptions<Tools>["context"]
  readonly messages?: ReadonlyArray<unknown> | undefined
  readonly audience?: string | undefined
  readonly requireClaims?: boolean | undefined
}

/**
 * An approval that may run. `toolCall` is the proposed call with title, metadata and kind of the server's tool; `call` is what runs.
 * `approvedInput` is the JSON that the person approved: that of the proposed call, unless the answer brought its own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ValidApproval<Tools extends ToolSet = ToolSet> extends AnsweredApproval {
  readonly call: ToolCall<Tools>
  readonly approvedInput: unknown
}

/**
 * Why an approval does not run, other than for its signature.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalRefusal =
  | AmbiguousApproval
  | ApprovalExpired
  | InvalidApprovalClaims
  | ToolDrifted
  | EditsNotAllowed
  | ApprovalAlreadyUsed
  | ToolCallError

/**
 * An approval that does not run, with the answer for the model in `error.message`.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvalidApproval extends AnsweredApproval {
  readonly error: ApprovalRefusal
}

/**
 * - `approved`: may run.
 * - `denied`: denied by the person, or by the policy as it is now.
 * - `invalid`: refused, each for a reason of its own.
 * - `forwarded`: approvals of calls that the provider executes; they are for the provider to read.
 *
 * @category models
 * @since 0.1.0
 */
export interface Validated<Tools extends ToolSet = ToolSet> {
  readonly approved: ReadonlyArray<ValidApproval<Tools>>
  readonly denied: ReadonlyArray<AnsweredApproval>
  readonly invalid: ReadonlyArray<InvalidApproval>
  readonly forwarded: ReadonlyArray<AnsweredApproval>
}

/**
 * Checks what was approved, in this order: the signature, expiry and audience, whether the input fits the tool's schema and comes out
 * of schema and refinement as the person saw it, whether the tool is still the same, what the policy says now.
 *
 * The signatures of all approvals that could run here are verified first; one that does not hold fails the whole, for then the
 * history is not the server's. Each other fault refuses its own approval. Denials need no signature.
 *
 * Source: the AI SDK's `validateApprovedToolApprovals`; expiry, audience, tool and edits are own.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Approval from "@countersign/core/Approval"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const approved = [{
 *   toolCall: { type: "tool-call", toolCallId: "c1", toolName: "restart", input: { now: true } },
 *   approvalRequest: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
 *   approvalResponse: { type: "tool-approval-response", approvalId: "a1", approved: true }
 * }] as const
 * const tools = ToolSet.make(Tool.make("restart"))
 * const program = Approval.validate({ approved, denied: [] }, { tools })
 * const layer = Layer.merge(ApprovalSigner.layerUnsigned, NodeCountersign.layer)
 * const { invalid } = Effect.runSync(Effect.provide(program, layer))
 * invalid[0]?.error.message // => "Invalid input for tool restart: /now: not allowed"
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const validate: <
  const Tools extends ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {}
>(
  collected: Pick<Collected, "approved" | "denied"> & Partial<Collected>,
  options: ValidateOptions<Tools, PolicyR, Refine>
) => Effect.Effect<
  Validated<Tools>,
  InvalidSignature | CryptoUnavailable,
  | ApprovalSigner
  | Crypto
  | JsonSchemaValidator
  | PolicyR
  | RefineServices<Refine>
  | Tool.Services<Tools[keyof Tools]>
> = validateApprovals

/**
 * What approvals are resumed with: everything to collect and to validate them, and
 *
 * - `messages`: the history, the answers in its last tool message.
 * - `concurrency`: how many tools run at a time, 8 if not given.
 * - the hooks and names of `ToolExecution.Hooks`.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumeOptions<
  Tools extends ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {},
  HookR = never
> extends CollectOptions, ValidateOptions<Tools, PolicyR, Refine>, ToolExecution.Hooks<HookR> {
  readonly messages: ReadonlyArray<unknown>
  readonly concurrency?: number | undefined
}

/**
 * What a resume came to.
 *
 * - `results`: of what ran, now or in an earlier resume, in the order of the calls. Before them stand those of calls that ran in an
 *   earlier resume and whose answer is a no or is refused now. Where a no came first, a yes after it has the result of the no.
 * - `invalid`, `denied`, `forwarded`: as in {@link Validated}; `invalid` also holds approvals that were used before.
 * - `awaiting`: calls that still have no result. Do not call the model before it is empty.
 * - `superseded`, `stale`: as in {@link Collected}.
 * - `responseMessages`: what is new: one tool message with the results, the invalid and the denied; where calls of earlier steps had
 *   to be answered, one more for each step.
 * - `messages`: the history with the new messages in their places, and without second copies of a call. Every call has an answer but
 *   those of `awaiting`. `Message.forModel` makes it ready for a provider.
 * - `usage`: of what ran now.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResumeResult {
  readonly results: ReadonlyArray<ToolExecution.ToolResult>
  readonly invalid: ReadonlyArray<InvalidApproval>
  readonly denied: ReadonlyArray<AnsweredApproval>
  readonly forwarded: ReadonlyArray<AnsweredApproval>
  readonly awaiting: ReadonlyArray<UnansweredCall>
  readonly superseded: ReadonlyArray<UnansweredCall>
  readonly stale: ReadonlyArray<AnsweredApproval>
  readonly responseMessages: ReadonlyArray<Message.ToolMessage>
  readonly messages: ReadonlyArray<Message.Message>
  readonly usage: Tool.Usage
}

/**
 * Why a resume fails as a whole.
 *
 * - The first three: history or answers are not this server's. Nothing was run.
 * - `ApprovalAlreadyUsed`, always with the reason `running`: another resume executes one of the calls at this moment. The other
 *   calls were run; resume again to have the outcome of all.
 * - `LedgerUnavailable`: an approval could not be claimed or looked up, and was not run. The other calls were run; resume again.
 * - `CryptoUnavailable`: the platform cannot verify. Nothing was run.
 *
 * @category models
 * @since 0.1.0
 */
export type ResumeError =
  | InvalidToolApproval
  | ToolCallNotFoundForApproval
  | InvalidSignature
  | ApprovalAlreadyUsed
  | LedgerUnavailable
  | CryptoUnavailable

/**
 * The services of {@link resume}.
 *
 * @category models
 * @since 0.1.0
 */
export type ResumeServices<Tools extends ToolSet, PolicyR, Refine, HookR> =
  | ApprovalSigner
  | ApprovalLedger
  | Crypto
  | JsonSchemaValidator
  | PolicyR
  | HookR
  | RefineServices<Refine>
  | Tool.Services<Tools[keyof Tools]>

/**
 * Runs what was approved: collect, validate, claim, execute, settle. Nothing is repaired here.
 *
 * An approval runs once. A second resume gets the outcome of the first; one at the same time fails with `ApprovalAlreadyUsed`. A no
 * is kept like an outcome: of yes and no in two resumes the first counts. What is refused is looked up before it is told so. Where an
 * execution was broken off, its call is not run again, unless the tool is `idempotent`. A tool that fails, crashes or takes
 * longer than its `timeout` answers its own call with an error. Interrupting the resume interrupts what runs; what has finished is
 * in the ledger, and the next resume gives it back.
 *
 * A tool without `execute` is for the client to run: its approved call stays in `awaiting`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as Approval from "@countersign/core/Approval"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const restart = Tool.make("restart", { needsApproval: true, execute: () => Effect.succeed("restarted") })
 * const tools = ToolSet.make(restart)
 * const program = Effect.gen(function*() {
 *   const call = yield* ToolCall.parse({ toolCallId: "c1", toolName: "restart", input: "{}" }, { tools })
 *   const asked = yield* Approval.request(call, { tools })
 *   if (asked._tag !== "Pending") return
 *   // A person is shown asked.approvalRequest, and this comes back:
 *   const { approvalId } = asked.approvalRequest
 *   const messages = [
 *     { role: "assistant", content: [asked.toolCall, asked.approvalRequest] },
 *     { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] }
 *   ]
 *   return yield* Approval.resume({ messages, tools })
 * })
 *
 * const signer = ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] })
 * const layer = Layer.provideMerge(signer, NodeCountersign.layer)
 * const resumed = await Effect.runPromise(Effect.provide(program, layer))
 * resumed?.results[0]?.output // => { type: "text", value: "restarted" }
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const resume: <
  const Tools extends ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {},
  HookR = never
>(
  options: ResumeOptions<Tools, PolicyR, Refine, HookR>
) => Effect.Effect<ResumeResult, ResumeError, ResumeServices<Tools, PolicyR, Refine, HookR>> = resumeApprovals

/**
 * What a resume does, as it happens: the denials, the refusals, then start and end of each execution, as they come, and the result.
 * The stored outcome of an earlier run is told as `Finished`, without `Started`.
 *
 * @category models
 * @since 0.1.0
 */
export type ResumeEvent =
  | { readonly _tag: "Denied"; readonly denied: AnsweredApproval }
  | { readonly _tag: "Invalid"; readonly invalid: InvalidApproval }
  | { readonly _tag: "Started"; readonly toolCallId: string; readonly toolName: string }
  | { readonly _tag: "Finished"; readonly result: ToolExecution.ToolResult }
  | { readonly _tag: "Resumed"; readonly result: ResumeResult }

/**
 * As {@link resume}, with each event as it happens. The last is `Resumed`. To stop reading interrupts what runs.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Stream from "effect/Stream"
 * import * as Approval from "@countersign/core/Approval"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const events = Stream.map(Approval.resumeStream({ messages: [], tools: {} }), ({ _tag }) => _tag)
 * const layer = Layer.merge(ApprovalSigner.layerUnsigned, NodeCountersign.layer)
 * await Effect.runPromise(Effect.provide(Stream.runCollect(events), layer)) // => ["Resumed"]
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const resumeStream: <
  const Tools extends ToolSet,
  PolicyR = never,
  Refine extends Refinements<Tools, any> = {},
  HookR = never
>(
  options: ResumeOptions<Tools, PolicyR, Refine, HookR>
) => Stream.Stream<ResumeEvent, ResumeError, ResumeServices<Tools, PolicyR, Refine, HookR>> = resumeEvents

/**
 * The claim that a resume makes of the ledger for a call that was approved, for `ApprovalLedger.find` and `ApprovalLedger.resolve`: how
 * a person who looked says what became of an approval that was begun and broken off. Give it the `invalid` approval of the resume, or the
 * question; with the answer where the person changed the input.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Approval from "@countersign/core/Approval"
 * import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
 *
 * const itWasPaid = (approval: Approval.PendingApproval) =>
 *   Effect.gen(function*() {
 *     const ledger = yield* ApprovalLedger
 *     const claim = yield* Approval.claimOf(approval)
 *     return yield* ledger.resolve(claim, { output: { type: "text", value: "paid, says the bank" } })
 *   })
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const claimOf = (
  approval: PendingApproval & { readonly approvalResponse?: Message.ToolApprovalResponse | undefined }
): Effect.Effect<Claim, never, Crypto> => {
  const { approvalRequest: { approvalId }, approvalResponse, toolCall: { input, toolCallId, toolName } } = approval
  const edited = approvalResponse === undefined ? undefined : getOwn(approvalResponse, "input")
  const approved = (edited === undefined ? input : edited) ?? null
  return claimOfCall({ approvalId, toolCallId, toolName, input: approved, idempotent: false })
}
