import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as NodeCountersign from "../src/NodeCountersign.ts"

describe("NodeCountersign", () => {
  it.effect("checks raw JSON Schemas", () =>
    Effect.gen(function*() {
      const tools = ToolSet.make(Tool.make("weather", { inputSchema: { type: "object", not: { required: ["town"] } } }))
      const parse = (input: string) => ToolCall.parse({ toolCallId: "1", toolName: "weather", input }, { tools })
      assert.deepStrictEqual((yield* parse("{\"city\":\"Oslo\"}")).input, { city: "Oslo" })
      assert.strictEqual((yield* Effect.flip(parse("{\"town\":\"Oslo\"}")))._tag, "InvalidToolInput")
    }).pipe(Effect.provide(NodeCountersign.layer)))
})
