/**
 * A Worker that parses, repairs and refines calls to tools with Effect Schemas, signs the questions about them, verifies the
 * answers and resumes.
 */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import type { RawToolCall } from "@countersign/core/RawToolCall"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const tools = ToolSet.make(
  Tool.make("pay", {
    inputSchema: Schema.Struct({ cents: Schema.Number, to: Schema.String }),
    needsApproval: true,
    execute: ({ cents, to }) => Effect.succeed(`paid ${cents} to ${to}`)
  })
)
const refine = { pay: (input: { readonly cents: number; readonly to: string }) => Effect.succeed(input) }

const secrets = [Redacted.make("a secret of at least 16 bytes")]
const layer = Layer.provideMerge(
  ApprovalSigner.layer({ secrets }),
  Layer.mergeAll(JsonSchemaValidator.layerRefuse, ApprovalLedger.layerMemory(), WebCrypto.layer)
)

const request = (raw: RawToolCall) =>
  ToolCall.parse(raw, { tools, repair: Repair.standard, refine }).pipe(
    Effect.flatMap((call) => Approval.request(call, { tools }))
  )

export default {
  async fetch(incoming: Request): Promise<Response> {
    const { messages, raw } = await incoming.json() as {
      readonly raw: RawToolCall
      readonly messages?: ReadonlyArray<unknown>
    }
    const answer = messages === undefined ? request(raw) : Approval.resume({ messages, tools, refine })
    return Response.json(await Effect.runPromise(Effect.provide(answer as ReturnType<typeof request>, layer)))
  }
}
