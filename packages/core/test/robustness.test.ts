/** Any text at all: no defect, no hang, no prototype change, and no value that the schema refuses. */
import { assert, layer } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as Repair from "../src/Repair.ts"
import * as RepairText from "../src/RepairText.ts"
import * as StrictJson from "../src/StrictJson.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { byteText, fragmentText, mutate, mutations, oneOf } from "./arbitraries.ts"

const Order = Schema.Struct({
  id: Schema.String,
  amount: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })),
  note: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  address: Schema.optionalKey(Schema.Struct({ city: Schema.String, zip: Schema.NullOr(Schema.String) }))
})

const OrderJson = {
  type: "object",
  properties: {
    id: { type: "string" },
    amount: { type: "integer", minimum: 0, maximum: 1_000_000 },
    note: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    address: {
      type: "object",
      properties: { city: { type: "string" }, zip: { anyOf: [{ type: "string" }, { type: "null" }] } },
      required: ["city", "zip"],
      additionalProperties: false
    }
  },
  required: ["id", "amount"],
  additionalProperties: false
}

const tools = ToolSet.make(
  Tool.make("order", { inputSchema: Order }),
  Tool.make("order_json", { inputSchema: OrderJson }),
  Tool.make("anything", { inputSchema: {} })
)

const isOrder = SchemaParser.decodeUnknownResult(Order, { onExcessProperty: "error" })

const closing = Repair.orElse(Repair.standard, Repair.fromText(RepairText.jsonrepair({ truncated: "close" })))

const holds = Effect.fnUntraced(function*(toolName: string, input: string) {
  const exit = yield* Effect.exit(
    ToolCall.parseOrInvalid({ toolCallId: "1", toolName, input }, { tools, repair: closing })
  )
  if (Exit.isFailure(exit)) return assert.fail(`defect on ${JSON.stringify(input)}: ${exit.cause}`)
  const call = exit.value
  assert.isUndefined(({} as any).polluted)
  assert.strictEqual(call.toolCallId, "1")
  if (call.invalid) {
    assert.isString(call.error.message)
    assert.strictEqual(call.rawInput, input)
    return
  }
  if (call.toolName !== "anything") {
    assert.isTrue(Result.isSuccess(isOrder(call.input)), JSON.stringify([input, call.input]))
  }
  // What runs is JSON.
  assert.isUndefined(StrictJson.inspect(call.input))
})

const toolName = oneOf(["order", "order_json", "anything", "Order", "nope", "__proto__"])
const runs = { arbitrary: { runs: 10_000 } }

layer(CfworkerJsonSchema.layer)("ToolCall.parseOrInvalid", (it) => {
  it.effect.prop("10,000 random byte strings", [toolName, byteText], ([name, text]) => holds(name, text), runs)

  it.effect.prop(
    "10,000 random texts of the parts of JSON",
    [toolName, fragmentText],
    ([name, text]) => holds(name, text),
    runs
  )

  it.effect.prop(
    "10,000 mutations of valid calls",
    [toolName, Arbitrary.schema(Order), mutations],
    ([name, order, changes]) => holds(name, mutate(JSON.stringify(order), changes)),
    runs
  )

  it.effect.prop(
    "lets every valid call through unchanged",
    [Arbitrary.schema(Order)],
    ([order]) =>
      Effect.gen(function*() {
        for (const name of ["order", "order_json"] as const) {
          const call = yield* ToolCall.parse(
            { toolCallId: "1", toolName: name, input: JSON.stringify(order) },
            { tools, repair: () => Effect.die("asked") }
          )
          assert.deepStrictEqual(call.input, order)
          assert.deepStrictEqual(call.edits, [])
        }
      })
  )
})
