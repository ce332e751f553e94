import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as WorkersCountersign from "@countersign/platform-workers/WorkersCountersign"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

const tools = ToolSet.make(
  Tool.make("weather", {
    inputSchema: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
      // Effect's importer does not take this keyword, so the other engine is asked.
      not: { required: ["town"] }
    }
  })
)

const parse = (input: string) => ToolCall.parse({ toolCallId: "1", toolName: "weather", input }, { tools })

describe("WorkersCountersign", () => {
  it.effect("checks raw JSON Schemas", () =>
    Effect.gen(function*() {
      const call = yield* parse("{\"city\":\"京都\",\"days\":2}")
      assert.deepStrictEqual(call.input, { city: "京都", days: 2 })
      const error = yield* Effect.flip(parse("{\"city\":1}"))
      assert.strictEqual(error.message, "Invalid input for tool weather: /city: expected string")
      assert.strictEqual((yield* Effect.flip(parse("{\"city\":\"Oslo\",\"town\":\"\"}")))._tag, "InvalidToolInput")
    }).pipe(Effect.provide(WorkersCountersign.layer)))
})
