/** A program of somebody who installed the packages: it is type-checked and run against what is published. */
import { ToolCall as FromIndex } from "@countersign/core"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const tools = ToolSet.make(
  Tool.make("greet", { inputSchema: Schema.Struct({ name: Schema.String }) }),
  Tool.make("count", { inputSchema: { type: "object", properties: { to: { type: "integer" } }, required: ["to"] } })
)

const parse = (toolName: string, input: string) =>
  ToolCall.parse({ toolCallId: "1", toolName, input }, { tools }).pipe(
    Effect.map((call) => JSON.stringify(call.input)),
    Effect.catchTag("InvalidToolInput", (error) => Effect.succeed(error._tag)),
    Effect.provide(CfworkerJsonSchema.layer)
  )

console.log(await Effect.runPromise(parse("greet", `{"name":"Ada"}`)))
console.log(await Effect.runPromise(parse("count", `{"to":3}`)))
console.log(await Effect.runPromise(parse("count", `{"to":"three"}`)))
console.log(FromIndex.parse === ToolCall.parse)
