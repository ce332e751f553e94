/** Asking and answering, as the suites about approvals do it. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import type { JsonSchemaValidator } from "../src/JsonSchemaValidator.ts"
import type * as Message from "../src/Message.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import type * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import type { ToolCallError } from "../src/ToolCallError.ts"
import { testCrypto } from "./testCrypto.ts"

export const secret = Redacted.make("a secret of at least 16 bytes")

export const signedBy = (...secrets: ReadonlyArray<Redacted.Redacted<string>>) =>
  Layer.provide(ApprovalSigner.layer({ secrets }), testCrypto)

/** What signing and checking need beside a signer and a ledger. */
export const platform = Layer.merge(testCrypto, CfworkerJsonSchema.layer)

/** All that approvals need, with a ledger that is empty. */
export const approvals = Layer.mergeAll(signedBy(secret), platform, ApprovalLedger.layerMemory())

export type Tools = { readonly [name: string]: Tool.Any }

/** Parses a call and asks about it; only for calls that a person has to be asked about. */
export const ask = Effect.fnUntraced(function*(
  tools: Tools,
  raw: RawToolCall,
  options: Partial<Approval.RequestOptions<Tools>> & { readonly refine?: any } = {}
) {
  const parsed = ToolCall.parse(raw, { tools, refine: options.refine, context: options.context })
  const call = yield* parsed as Effect.Effect<ToolCall.ToolCall<Tools>, ToolCallError, JsonSchemaValidator>
  const asked = yield* Approval.request(call, { ...options, tools })
  if (asked._tag !== "Pending") {
    return yield* Effect.die(new Error(`nobody is asked about ${raw.toolName}: ${asked._tag}`))
  }
  const { approvalRequest, toolCall } = asked
  return { approvalRequest, toolCall } as Approval.PendingApproval
})

export const answer = (
  { approvalRequest: { approvalId } }: Approval.PendingApproval,
  approved: unknown = true,
  more: object = {}
): Message.ToolApprovalResponse =>
  ({ type: "tool-approval-response", approvalId, approved, ...more }) as Message.ToolApprovalResponse

/** One step of a conversation: the calls and the questions, then the answers, if there are any. */
export const step = (
  pending: ReadonlyArray<Approval.PendingApproval>,
  answers: ReadonlyArray<Message.ToolApprovalResponse | Message.ToolResultPart> = pending.map((one) => answer(one))
): Array<Message.Message> => [
  {
    role: "assistant",
    content: [...pending.map(({ toolCall }) => toolCall), ...pending.map(({ approvalRequest }) => approvalRequest)]
  },
  ...answers.length === 0 ? [] : [{ role: "tool" as const, content: answers }]
]
