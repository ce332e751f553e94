import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type {
  AnsweredApproval,
  ApprovalRefusal,
  Collected,
  InvalidApproval,
  ValidApproval,
  Validated,
  ValidateOptions
} from "../../Approval.ts"
import { ApprovalExpired, EditsNotAllowed, InvalidApprovalClaims, ToolDrifted } from "../../ApprovalError.ts"
import * as ApprovalId from "../../ApprovalId.ts"
import * as ApprovalPolicy from "../../ApprovalPolicy.ts"
import { ApprovalSigner, type InvalidSignature } from "../../ApprovalSigner.ts"
import type { Crypto, CryptoUnavailable } from "../../Crypto.ts"
import { SchemaMismatch } from "../../InputIssue.ts"
import type { JsonSchemaValidator } from "../../JsonSchemaValidator.ts"
import type * as Message from "../../Message.ts"
import type { Refinements, Services as RefineServices } from "../../Refinement.ts"
import type * as Tool from "../../Tool.ts"
import * as ToolCall from "../../ToolCall.ts"
import { InvalidToolInput } from "../../ToolCallError.ts"
import * as ToolSet from "../../ToolSet.ts"
import { getOwn } from "../ownProperty.ts"
import { toolDigest } from "../toolDigest.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { isProviderExecuted, isSameJson } from "./history.ts"

type Options = ValidateOptions<ToolSet.ToolSet, any, any>

/** @internal */
export const validateApprovals: <
  const Tools extends ToolSet.ToolSet,
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
> = Effect.fnUntraced(function*(
  collected: Pick<Collected, "approved" | "denied"> & Partial<Collected>,
  options: Options
): Effect.fn.Return<Validated<any>, InvalidSignature | CryptoUnavailable, any> {
  const approved: Array<ValidApproval<any>> = []
  const denied = [...collected.denied]
  const invalid: Array<InvalidApproval> = []
  const ambiguous = new Map(collected.ambiguous?.map((error) => [error.approvalId, error]))
  const isLocal = ({ toolCall }: AnsweredApproval): boolean => !isProviderExecuted(toolCall)
  const local = collected.approved.filter(isLocal).map((answered): AnsweredApproval => ({
    ...answered,
    toolCall: rebuilt(answered.toolCall, ToolSet.get(options.tools, answered.toolCall.toolName))
  }))
  const clear = local.filter(({ approvalRequest }) => !ambiguous.has(approvalRequest.approvalId))

  // All of them before anything else: a history that was changed is not to be worked on.
  for (const answered of clear) yield* verifySignature(answered)

  for (const answered of local) {
    const ambiguity = ambiguous.get(answered.approvalRequest.approvalId)
    const checked = ambiguity === undefined
      ? yield* Effect.result(check(answered, options))
      : Result.fail(ambiguity)
    if (Result.isFailure(checked)) {
      invalid.push({ ...answered, error: checked.failure })
      continue
    }
    const status = yield* ApprovalPolicy.resolve(checked.success.call, options)
    if (status._tag === "Denied") {
      denied.push({ ...answered, approvalResponse: deniedResponse(answered.approvalResponse, status.reason) })
    } else approved.push(checked.success)
  }
  return { approved, denied, invalid, forwarded: collected.approved.filter((answered) => !isLocal(answered)) }
}) as any

const deniedResponse = (
  { reason, ...response }: Message.ToolApprovalResponse,
  policyReason: string | undefined
): Message.ToolApprovalResponse => {
  return withoutUndefined<Message.ToolApprovalResponse>({
    ...response,
    approved: false,
    reason: policyReason ?? reason
  })
}

const verifySignature = Effect.fnUntraced(function*({ approvalRequest, toolCall }: AnsweredApproval) {
  const signer = yield* ApprovalSigner
  const { toolCallId, toolName } = toolCall
  const signature = getOwn(approvalRequest, "signature") ?? undefined
  yield* signer.verify(signature as string | undefined, {
    approvalId: approvalRequest.approvalId,
    toolCallId,
    toolName,
    input: getOwn(toolCall, "input")
  })
})

/**
 * Whether this server asked that question, of whoever answers, and it has not expired.
 *
 * @internal
 */
export const isGenuine = Effect.fnUntraced(function*(
  answered: AnsweredApproval,
  options: Options
): Effect.fn.Return<boolean, CryptoUnavailable, any> {
  if (isProviderExecuted(answered.toolCall)) return false
  const checked = yield* Effect.result(
    Effect.flatMap(verifySignature(answered), () => checkClaims(answered, options))
  )
  if (Result.isSuccess(checked)) return true
  // Not to be able to tell is not to know that it is none.
  return checked.failure._tag === "CryptoUnavailable" ? yield* checked.failure : false
})

/** Everything but signature and policy. */
const check = Effect.fnUntraced(function*(
  answered: AnsweredApproval,
  options: Options
): Effect.fn.Return<ValidApproval, ApprovalRefusal, any> {
  const { approvalId } = answered.approvalRequest
  const { toolCallId, toolName } = answered.toolCall
  const claims = yield* checkClaims(answered, options)
  const tool = ToolSet.get(options.tools, toolName)
  const { approvedInput, call } = yield* checkInput(answered, tool, options)
  if (tool !== undefined && claims !== undefined && claims.toolDigest !== (yield* toolDigest(tool))) {
    return yield* new ToolDrifted({ approvalId, toolCallId, toolName })
  }
  return { ...answered, call, approvedInput }
})

const checkClaims = Effect.fnUntraced(function*(
  { approvalRequest, toolCall: { toolCallId } }: AnsweredApproval,
  { audience, requireClaims }: Options
): Effect.fn.Return<ApprovalId.Claims | undefined, ApprovalExpired | InvalidApprovalClaims, Crypto> {
  const { approvalId } = approvalRequest
  const refuse = (reason: InvalidApprovalClaims["reason"]) =>
    new InvalidApprovalClaims({ approvalId, toolCallId, reason })
  const claims = ApprovalId.parse(approvalId)
  if (claims._tag === "Malformed") return yield* refuse("malformed")
  if (claims._tag === "Foreign") return requireClaims === true ? yield* refuse("missing") : undefined
  if ((yield* Clock.currentTimeMillis) >= claims.expiresAt) {
    return yield* new ApprovalExpired({ approvalId, toolCallId, expiredAt: claims.expiresAt })
  }
  const sent = getOwn(approvalRequest, "inputSchemaInput")
  if (!(yield* ApprovalId.isFor(claims, audience, sent))) return yield* refuse("audience")
  return claims
})

/**
 * The input goes the way of any proposed call, from what the model sent through schema and refinement, and has to come out as it was
 * approved. An input that the person brought has been seen by no schema yet: it takes the place of what the model sent.
 */
const checkInput = Effect.fnUntraced(function*(
  { approvalRequest, approvalResponse, toolCall }: AnsweredApproval,
  tool: Tool.Any | undefined,
  options: Options
): Effect.fn.Return<{ readonly call: ToolCall.ToolCall; readonly approvedInput: unknown }, ApprovalRefusal, any> {
  const { toolCallId, toolName } = toolCall
  const proposed = getOwn(toolCall, "input")
  const edited = getOwn(approvalResponse, "input")
  const isEdited = edited !== undefined && !isSameJson(edited, proposed)
  if (isEdited && tool !== undefined && !tool.allowEdits) {
    return yield* new EditsNotAllowed({ approvalId: approvalRequest.approvalId, toolCallId, toolName })
  }
  const sent = isEdited ? edited : getOwn(approvalRequest, "inputSchemaInput")
  const input = sent === undefined ? proposed : sent
  const { context, refine, tools } = options
  // A string is the value that it is, not the text of one.
  const raw = { toolCallId, toolName, input: typeof input === "string" ? JSON.stringify(input) : input }
  const call = yield* ToolCall.parse(raw, { tools, refine, context })
  if (isEdited) return { call, approvedInput: call.inputSchemaInput }
  if (isSameJson(call.input, proposed)) return { call, approvedInput: proposed }
  const message = "Approved tool input does not match the validated schema output."
  const cause = SchemaMismatch.fromIssues([{ pointer: "", message }])
  return yield* new InvalidToolInput({ toolCallId, toolName, cause })
})

/** What a client can change and no signature covers comes from the server's tool. */
const rebuilt = (toolCall: Message.ToolCallPart, tool: Tool.Any | undefined): Message.ToolCallPart => {
  const { dynamic: _dynamic, title: _title, toolMetadata: _toolMetadata, ...proposed } = toolCall as
    & Message.ToolCallPart
    & { readonly title?: unknown; readonly dynamic?: unknown; readonly toolMetadata?: unknown }
  return withoutUndefined({
    ...proposed,
    toolMetadata: tool?.metadata ?? undefined,
    dynamic: tool?.kind === "dynamic" ? true : undefined,
    title: tool?.title
  })
}
