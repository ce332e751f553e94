import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Requested, RequestOptions } from "../../Approval.ts"
import * as ApprovalId from "../../ApprovalId.ts"
import * as ApprovalPolicy from "../../ApprovalPolicy.ts"
import { ApprovalSigner } from "../../ApprovalSigner.ts"
import * as CanonicalJson from "../../CanonicalJson.ts"
import type { Crypto, CryptoUnavailable } from "../../Crypto.ts"
import type * as Message from "../../Message.ts"
import type * as Tool from "../../Tool.ts"
import type { CallFields, ToolCall } from "../../ToolCall.ts"
import * as ToolSet from "../../ToolSet.ts"
import { toolDigest } from "../toolDigest.ts"
import { deniedOutput } from "../toolOutput.ts"
import { withoutUndefined } from "../withoutUndefined.ts"
import { isSameJson } from "./history.ts"

/** @internal */
export const requestApproval: <const Tools extends ToolSet.ToolSet, PolicyR = never>(
  call: ToolCall<Tools>,
  options: RequestOptions<Tools, PolicyR>
) => Effect.Effect<
  Requested,
  CanonicalJson.NotJson | CryptoUnavailable,
  ApprovalSigner | Crypto | PolicyR | Tool.Services<Tools[keyof Tools]>
> = Effect.fnUntraced(function*(
  call: ToolCall,
  options: RequestOptions<ToolSet.ToolSet, any>
): Effect.fn.Return<Requested, CanonicalJson.NotJson | CryptoUnavailable, any> {
  const fields: CallFields<string, unknown> = call
  const { toolCallId, toolName } = fields
  const tool = ToolSet.get(options.tools, toolName)
  if (tool === undefined) return { _tag: "NotApplicable" }
  const status = yield* ApprovalPolicy.resolve(call, options)
  if (status._tag === "NotApplicable") return status

  const input = yield* Effect.fromResult(CanonicalJson.toJson(fields.input))
  const inputSchemaInput = isSameJson(fields.inputSchemaInput, input) ? undefined : fields.inputSchemaInput
  const now = yield* Clock.currentTimeMillis
  const approvalId = yield* ApprovalId.make({
    expiresAt: now + Duration.toMillis(options.timeToLive ?? "1 day"),
    toolDigest: yield* toolDigest(tool),
    audience: options.audience,
    inputSchemaInput
  })
  // Nobody is to turn a denial into an approval, nor a call that the provider executes into one for this server: neither is signed.
  const signature = status._tag === "Denied" || fields.providerExecuted === true
    ? undefined
    : yield* (yield* ApprovalSigner).sign({ approvalId, toolCallId, toolName, input })
  const isPending = status._tag === "UserApproval"
  const approvalRequest = withoutUndefined<Message.ToolApprovalRequest>({
    type: "tool-approval-request",
    approvalId,
    toolCallId,
    reason: isPending ? status.reason : undefined,
    isAutomatic: isPending ? undefined : true,
    signature,
    inputSchemaInput,
    approvalDescriptor: isPending && fields.edits.length > 0 ? { edits: fields.edits } : undefined
  })
  if (isPending) return { _tag: "Pending", approvalRequest, toolCall: toolCallPart(fields, input) }

  const approvalResponse = withoutUndefined<Message.ToolApprovalResponse>({
    type: "tool-approval-response",
    approvalId,
    approved: status._tag === "Approved",
    reason: status.reason,
    providerExecuted: fields.providerExecuted
  })
  return status._tag === "Approved"
    ? { _tag: "Approved", approvalRequest, approvalResponse }
    : {
      _tag: "Denied",
      approvalRequest,
      approvalResponse,
      toolResult: { type: "tool-result", toolCallId, toolName, output: deniedOutput(status.reason) }
    }
}) as any

/**
 * A call as a message holds it. What a provider said about the call goes back to it as options.
 *
 * @internal
 */
export const toolCallPart = (call: CallFields<string, unknown>, input: unknown): Message.ToolCallPart =>
  withoutUndefined<Message.ToolCallPart>({
    type: "tool-call",
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    input,
    providerExecuted: call.providerExecuted,
    providerOptions: call.providerMetadata as Message.ProviderOptions | null ?? undefined
  })
