/** What each process runs: tools that note down that they run, and the services to ask, resume and look with. */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs"
import { type Place, storeAt } from "./places.ts"

export interface Settings {
  readonly place: Place
  /** The file in which the executions are noted down. */
  readonly log: string
  /** How long a claim outlives its owner, in milliseconds. */
  readonly lease: number
}

export const layer = ({ lease, place }: Settings) =>
  Layer.mergeAll(
    ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] }),
    // All processes have the same clock.
    DurableLedger.layer({ lease, clockTolerance: 0 }).pipe(Layer.provide(storeAt(place)))
  ).pipe(Layer.provideMerge(Layer.merge(NodeCrypto.layer, CfworkerJsonSchema.layer)))

/** Before a tool does anything else, a line says that it runs: whole, and on the disk. */
const note = (log: string, line: string): void => {
  const file = openSync(log, "a")
  writeSync(file, `${line}\n`)
  fsyncSync(file)
  closeSync(file)
}

const inputSchema = {
  type: "object",
  properties: { millis: { type: "number" } },
  required: ["millis"]
} as const

export const makeTools = ({ log }: Settings, onStart: () => void = () => {}) => {
  const make = (name: string, idempotent: boolean) =>
    Tool.make(name, {
      inputSchema,
      needsApproval: true,
      idempotent,
      execute: (input, { toolCallId }) =>
        Effect.gen(function*() {
          const run = crypto.randomUUID()
          note(log, `${toolCallId} ${run}`)
          onStart()
          yield* Effect.sleep(Number((input as { millis: unknown }).millis))
          return run
        })
    })
  return ToolSet.make(make("once", false), make("repeatable", true))
}

export interface Asked {
  readonly toolCallId: string
  readonly approval: Approval.PendingApproval
  readonly messages: ReadonlyArray<unknown>
}

/** A call that a person has approved. */
export const ask = Effect.fnUntraced(function*(
  tools: ReturnType<typeof makeTools>,
  toolName: "once" | "repeatable",
  millis: number
) {
  const toolCallId = crypto.randomUUID()
  const raw = { toolCallId, toolName, input: JSON.stringify({ millis }) }
  const asked = yield* Approval.request(yield* ToolCall.parse(raw, { tools }), { tools })
  if (asked._tag !== "Pending") return yield* Effect.die(new Error(`nobody is asked: ${asked._tag}`))
  const { approvalRequest, toolCall } = asked
  const { approvalId } = approvalRequest
  const messages = [
    { role: "assistant", content: [toolCall, approvalRequest] },
    { role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] }
  ]
  return { toolCallId, approval: { approvalRequest, toolCall }, messages } satisfies Asked
})

/** `run` names the execution whose outcome was given. */
export type Answer =
  | { readonly _tag: "Outcome"; readonly run: unknown; readonly isReplayed: boolean }
  | { readonly _tag: "Running" | "Indeterminate" }
  | { readonly _tag: "Failed"; readonly error: string }

export const resume = (tools: ReturnType<typeof makeTools>, messages: ReadonlyArray<unknown>) =>
  Effect.match(Approval.resume({ messages, tools }), {
    onFailure: (error): Answer =>
      error._tag === "ApprovalAlreadyUsed" && error.reason === "running"
        ? { _tag: "Running" }
        : { _tag: "Failed", error: `${error._tag}: ${error.message}` },
    onSuccess: ({ invalid: [invalid], results: [result] }): Answer => {
      if (invalid?.error._tag === "ApprovalAlreadyUsed" && invalid.error.reason === "indeterminate") {
        return { _tag: "Indeterminate" }
      }
      return result === undefined || result.output.type !== "text"
        ? { _tag: "Failed", error: JSON.stringify(invalid?.error ?? result?.output ?? "no result") }
        : { _tag: "Outcome", run: result.output.value, isReplayed: result.isReplayed }
    }
  })
