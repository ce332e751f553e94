/** Calls that are parsed, repaired, validated and refined, and one that is approved: what has to work wherever core runs. */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as Crypto from "@countersign/core/Crypto"
import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as ToolStep from "@countersign/core/ToolStep"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const tools = ToolSet.make(
  Tool.make("search", {
    description: "Its input is an Effect Schema",
    inputSchema: Schema.Struct({ query: Schema.String, limit: Schema.Int })
  }),
  Tool.make("list", {
    description: "Its input is a JSON Schema that the first engine takes",
    inputSchema: { type: "object", properties: { page: { type: "integer" } }, additionalProperties: false }
  }),
  Tool.make("remove", {
    description: "Its input is a JSON Schema that takes the second engine",
    inputSchema: { type: "object", properties: { id: { not: { type: "string" } } }, required: ["id"] }
  }),
  Tool.make("pay", {
    inputSchema: Schema.Struct({ cents: Schema.Int }),
    needsApproval: true,
    timeout: "1 minute",
    execute: ({ cents }) => Effect.succeed(`paid ${cents}`)
  })
)

const parse = (toolName: string, input: string, repair: Repair.Repair<unknown> = Repair.jsonrepair) =>
  ToolCall.parse({ toolCallId: "call-1", toolName, input }, {
    tools,
    repair,
    refine: { search: ({ limit, query }) => Effect.succeed({ query: query.trim(), limit: Math.min(limit, 10) }) }
  })

const approve = Effect.fnUntraced(function*() {
  const step = yield* ToolStep.run([{ toolCallId: "call-1", toolName: "pay", input: "{\"cents\":5}" }], { tools })
  const { approvalId } = step.pending[0]!.approvalRequest
  const answer = { type: "tool-approval-response", approvalId, approved: true }
  const { results } = yield* Approval.resume({
    messages: [...step.messages, { role: "tool", content: [answer] }],
    tools
  })
  return results[0]?.output
})

const program = Effect.all([
  Effect.map(parse("search", "{query: ' edge ', 'limit': 50,}"), (call) => call.input),
  Effect.map(parse("list", "{\"page\":2}"), (call) => call.input),
  Effect.map(parse("List", "{page: '3'}", Repair.standard), (call) => call.input),
  Effect.map(parse("remove", "```json\n{\"id\": 7}\n```"), (call) => call.input),
  Effect.map(Effect.flip(parse("remove", "{\"id\": \"7\"}")), (error) => error._tag),
  Effect.map(Effect.flip(parse("constructor", "{}")), (error) => error._tag),
  approve()
])

/** It protects nothing: what is shown here is that core takes its cryptography from nowhere else. */
const crypto = Layer.sync(Crypto.Crypto)(() => {
  const sum = (data: Crypto.Data): Uint8Array => {
    const bytes = new Uint8Array(32)
    const length = data.length
    for (let index = 0; index < length; index++) {
      const unit = typeof data === "string" ? data.charCodeAt(index) : data[index]!
      bytes[index % 32] = (bytes[index % 32]! * 31 + unit + index) % 256
    }
    return bytes
  }
  return {
    hmacSha256: () =>
      Effect.succeed({
        sign: (data) => Effect.succeed(sum(data)),
        verify: (code, data) => Effect.succeed(sum(data).every((byte, index) => byte === code[index]))
      }),
    sha256: (data) => Effect.succeed(sum(data)),
    randomBytes: (length) => Effect.succeed(new Uint8Array(length))
  }
})

const layer = Layer.mergeAll(
  JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer),
  ApprovalLedger.layerMemory(),
  crypto,
  Layer.provide(ApprovalSigner.layer({ secrets: [Redacted.make("a secret of at least 16 bytes")] }), crypto)
)

export const run = () => Effect.runPromise(Effect.provide(program, layer))

export const expected = [
  { query: "edge", limit: 10 },
  { page: 2 },
  { page: 3 },
  { id: 7 },
  "InvalidToolInput",
  "NoSuchTool",
  { type: "text", value: "paid 5" }
]
