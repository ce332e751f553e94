/** Calls that are parsed, repaired by jsonrepair, validated and refined: what has to work wherever core runs. */
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Effect from "effect/Effect"
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
  })
)

const parse = (toolName: string, input: string) =>
  ToolCall.parse({ toolCallId: "call-1", toolName, input }, {
    tools,
    repair: Repair.jsonrepair,
    refine: { search: ({ limit, query }) => Effect.succeed({ query: query.trim(), limit: Math.min(limit, 10) }) }
  })

const program = Effect.all([
  Effect.map(parse("search", "{query: ' edge ', 'limit': 50,}"), (call) => call.input),
  Effect.map(parse("list", "{\"page\":2}"), (call) => call.input),
  Effect.map(parse("remove", "```json\n{\"id\": 7}\n```"), (call) => call.input),
  Effect.map(Effect.flip(parse("remove", "{\"id\": \"7\"}")), (error) => error._tag),
  Effect.map(Effect.flip(parse("constructor", "{}")), (error) => error._tag)
])

const layer = JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer)

export const run = () => Effect.runPromise(Effect.provide(program, layer))

export const expected = [{ query: "edge", limit: 10 }, { page: 2 }, { id: 7 }, "InvalidToolInput", "NoSuchTool"]
