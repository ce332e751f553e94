/** Servers, and the histories that come back to them, for the suites that retell cases of others. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { PendingApproval } from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import type * as Message from "../src/Message.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import type * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { testCrypto } from "./testCrypto.ts"
import { raw } from "./tools.ts"

export const secret = "test-secret-key-for-hmac-signing"

/** Signs with the first secret, and verifies with each. */
export const signerOf = (...secrets: ReadonlyArray<string>) =>
  Layer.provide(ApprovalSigner.layer({ secrets: secrets.map((text) => Redacted.make(text)) }), testCrypto)

const platform = Layer.merge(testCrypto, CfworkerJsonSchema.layer)

/** A server without a ledger of its own. */
export const server = Layer.merge(signerOf(secret), platform)

export const ledger = ApprovalLedger.layerMemory()

/** A server that signs. */
export const signed = Layer.merge(server, ledger)

/** A server whose questions a server with an older SDK answers. */
export const signedForOlder = Layer.mergeAll(
  Layer.provide(ApprovalSigner.layer({ secrets: [Redacted.make(secret)], legacy: "sign" }), testCrypto),
  platform,
  ledger
)

/** A server that takes every question for its own. */
export const unsigned = Layer.mergeAll(ApprovalSigner.layerUnsigned, platform, ledger)

export const toolCall = (
  toolCallId: string,
  toolName: string,
  input: unknown,
  more: object = {}
): Message.ToolCallPart => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input,
  ...more
})

export const question = (approvalId: string, toolCallId: string, more: object = {}): Message.ToolApprovalRequest => ({
  type: "tool-approval-request",
  approvalId,
  toolCallId,
  ...more
})

/** The answer to a question, as a client sends it. */
export const answer = (
  asked: PendingApproval | string,
  approved = true,
  more: Partial<Message.ToolApprovalResponse> = {}
): Message.ToolApprovalResponse => ({
  type: "tool-approval-response",
  approvalId: typeof asked === "string" ? asked : asked.approvalRequest.approvalId,
  approved,
  ...more
})

export const result = (toolCallId: string, toolName: string, value: string): Message.ToolResultPart => ({
  type: "tool-result",
  toolCallId,
  toolName,
  output: { type: "text", value }
})

export const user = (content = "hi"): Message.UserMessage => ({ role: "user", content })

export const assistant = (
  ...content: Exclude<Message.AssistantMessage["content"], string>
): Message.AssistantMessage => ({
  role: "assistant",
  content
})

export const toolMessage = (...content: Message.ToolMessage["content"]): Message.ToolMessage => ({
  role: "tool",
  content
})

/** A value as it comes back over a wire or from a database. */
export const stored = <A>(value: A): A => JSON.parse(JSON.stringify(value))

type Options = ToolStep.Options<ToolSet.ToolSet>

/** Proposes calls to a step, and gives the step with the history so far, as it comes back from a client. */
export const propose = Effect.fnUntraced(function*(calls: ReadonlyArray<RawToolCall>, options: Options) {
  const step = yield* ToolStep.run(calls, options)
  return { step, history: stored<ReadonlyArray<Message.Message>>([user(), ...step.messages]) }
})

/** Proposes one call, about which a person is asked. */
export const ask = Effect.fnUntraced(
  function*(toolName: string, input: unknown, options: Options, toolCallId = "call-1") {
    const { history, step } = yield* propose([raw(toolName, JSON.stringify(input), { toolCallId })], options)
    const [asked] = step.pending
    if (asked === undefined) return yield* Effect.die(new Error(`nobody was asked about ${toolName}`))
    return { asked: stored(asked), history }
  }
)

/** An `execute` that keeps what it was given. */
export const recorder = (answerWith: (input: any) => unknown = () => "done") => {
  const executed: Array<any> = []
  const execute = (input: unknown): Effect.Effect<unknown> =>
    Effect.sync(() => {
      executed.push(input)
      return answerWith(input)
    })
  return { executed, execute }
}
