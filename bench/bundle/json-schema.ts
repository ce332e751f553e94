/** The same Worker, with a tool whose schema is raw JSON Schema, as MCP servers list them. */
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const tools = ToolSet.make(
  Tool.make("search", {
    description: "Searches the catalogue",
    inputSchema: Schema.Struct({ query: Schema.String, limit: Schema.Number })
  }),
  Tool.make("remove", {
    description: "Removes an entry",
    inputSchema: {
      type: "object",
      properties: { id: { type: "string" }, reason: { type: "string" } },
      required: ["id"],
      additionalProperties: false
    }
  })
)

export default {
  fetch: async (request: Request): Promise<Response> => {
    const raw = await request.json() as {
      readonly toolCallId: string
      readonly toolName: string
      readonly input: string
    }
    const call = ToolCall.parseOrInvalid(raw, {
      tools,
      repair: Repair.standard,
      refine: { search: (input) => Effect.succeed({ ...input, limit: Math.min(input.limit, 10) }) }
    })
    return Response.json(await Effect.runPromise(Effect.provide(call, CfworkerJsonSchema.layer)))
  }
}
