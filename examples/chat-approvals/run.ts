/**
 * Plays a conversation with the chat of chat.ts: a model that is written down here, a page that answers, and the person's yes.
 * `node examples/chat-approvals/run.ts` runs it; with `no` it plays the person's no.
 */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import type { UiMessage } from "@countersign/core/UiMessage"
import type { UiMessageChunk } from "@countersign/core/UiMessageChunk"
import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { chat, type Model } from "./chat.ts"

const tools = ToolSet.make(
  Tool.make("findOrder", {
    inputSchema: Schema.Struct({ order: Schema.Int }),
    execute: ({ order }) => Effect.succeed({ order, cents: 4900, paid: true })
  }),
  Tool.make("refund", {
    inputSchema: Schema.Struct({ order: Schema.Int, cents: Schema.Int }),
    needsApproval: true,
    execute: ({ cents }) => Effect.succeed(`${cents} cents refunded`)
  })
)

/** What it says depends on how much has been answered: look, then refund (with a comma too many), then tell. */
const model: Model = (messages) => {
  const results = messages.flatMap(({ content, role }) => role === "tool" ? content : [])
  const last = results.at(-1)
  return Effect.succeed(
    results.length === 0
      ? {
        text: "Let me look.",
        calls: [{ toolCallId: "call_1", toolName: "findOrder", input: "{\"order\":7}" }],
        finishReason: "tool-calls"
      }
      : results.length === 1
      ? {
        text: "",
        calls: [{ toolCallId: "call_2", toolName: "refund", input: "{\"order\":7,\"cents\":4900,}" }],
        finishReason: "tool-calls"
      }
      : { text: `The tool said: ${JSON.stringify(last)}`, calls: [], finishReason: "stop" }
  )
}

const signer = ApprovalSigner.layer({ secrets: [Redacted.make("use 32 random bytes from your configuration")] })
const runtime = ManagedRuntime.make(Layer.provideMerge(signer, NodeCountersign.layer))

/** Sends the messages as a page would, and prints what comes back. */
const post = async (uiMessages: ReadonlyArray<UiMessage>): Promise<ReadonlyArray<UiMessageChunk>> => {
  const chunks = await runtime.runPromise(Stream.runCollect(chat({ uiMessages, tools, model, audience: "user 7" })))
  for (const chunk of chunks) console.log(" ", JSON.stringify(chunk))
  return chunks
}

/** What `useChat` keeps of the chunks, as far as this example needs it. */
const assistantMessage = (chunks: ReadonlyArray<any>): UiMessage => {
  const parts: Array<any> = []
  const part = (toolCallId: string) => parts.find((one) => one.toolCallId === toolCallId)
  for (const { type, ...chunk } of chunks) {
    if (type === "start-step") parts.push({ type: "step-start" })
    if (type === "text-delta") parts.push({ type: "text", text: chunk.delta })
    if (type === "tool-input-available") {
      parts.push({ ...chunk, type: `tool-${chunk.toolName}`, state: "input-available" })
    }
    if (type === "tool-output-available") {
      Object.assign(part(chunk.toolCallId), { state: "output-available", output: chunk.output })
    }
    if (type === "tool-approval-request") {
      const { approvalDescriptor, approvalId, inputSchemaInput, signature } = chunk
      Object.assign(part(chunk.toolCallId), {
        state: "approval-requested",
        approval: {
          id: approvalId,
          descriptor: approvalDescriptor,
          signature,
          ...inputSchemaInput === undefined ? {} : { inputSchemaInput }
        }
      })
    }
  }
  return { id: "m2", role: "assistant", parts }
}

const question: UiMessage = { id: "m1", role: "user", parts: [{ type: "text", text: "Refund order 7, please." }] }

console.log("the person asks; the run stops at a question:")
const asked = assistantMessage(await post([question]))

const pending = asked.parts.find((part: any) => part.state === "approval-requested") as any
console.log("\nthe person sees:", Approval.display({ toolName: "refund", input: pending.input }))
console.log(
  "and what was changed to read it:",
  pending.approval.descriptor.edits.map((edit: any) => edit.kind).join(", ")
)

const approved = process.argv[2] !== "no"
console.log(`\nthe person says ${approved ? "yes" : "no"}; the run goes on:`)
Object.assign(pending, {
  state: "approval-responded",
  approval: { ...pending.approval, approved, ...approved ? {} : { reason: "not this one" } }
})
await post([question, asked])
await runtime.dispose()
