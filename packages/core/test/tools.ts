/** The tools that the suites share. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import type { JsonSchemaValidator } from "../src/JsonSchemaValidator.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"

export const tools = ToolSet.make(
  Tool.make("weather", {
    title: "Weather",
    description: "The weather in a city",
    metadata: { source: "demo" },
    inputSchema: Schema.Struct({ city: Schema.String, days: Schema.optionalKey(Schema.Int) })
  }),
  Tool.make("search", {
    kind: "dynamic",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "integer", minimum: 1 } },
      required: ["query"],
      additionalProperties: false
    }
  }),
  Tool.make("refresh")
)

export const raw = (toolName: string, input: unknown, more?: Partial<RawToolCall>): RawToolCall => ({
  toolCallId: "call-1",
  toolName,
  input,
  ...more
})

export const run = <A, E>(program: Effect.Effect<A, E, JsonSchemaValidator>): Effect.Effect<A, E> =>
  Effect.provide(program, CfworkerJsonSchema.layer)
