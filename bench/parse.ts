/**
 * What it costs to get from the text of a well-formed call to a validated input, beside the AI SDK, as a multiple of `JSON.parse`
 * of the same text: `node parse.ts`.
 */
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import { jsonSchema, tool } from "ai"
import { parseToolCall } from "ai/internal"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import { z } from "zod"
import { edit, edits } from "./inputs.ts"
import { interleave, print } from "./interleave.ts"

const Edit = Schema.Struct({ path: Schema.String, content: Schema.String, line: Schema.Int, dryRun: Schema.Boolean })
const zodEdit = z.object({ path: z.string(), content: z.string(), line: z.int(), dryRun: z.boolean() })
const jsonEdit = {
  type: "object",
  properties: {
    path: { type: "string" },
    content: { type: "string" },
    line: { type: "integer" },
    dryRun: { type: "boolean" }
  },
  required: ["path", "content", "line", "dryRun"],
  additionalProperties: false
} as const
const jsonEdits = {
  type: "object",
  properties: { edits: { type: "array", items: jsonEdit } },
  required: ["edits"],
  additionalProperties: false
} as const

const tools = ToolSet.make(
  Tool.make("edit_effect", { inputSchema: Edit }),
  Tool.make("edit_zod", { inputSchema: zodEdit }),
  Tool.make("edit_json", { inputSchema: jsonEdit }),
  Tool.make("edits_effect", { inputSchema: Schema.Struct({ edits: Schema.Array(Edit) }) }),
  Tool.make("edits_zod", { inputSchema: z.object({ edits: z.array(zodEdit) }) }),
  Tool.make("edits_json", { inputSchema: jsonEdits })
)
const sdkTools = {
  edit_zod: tool({ inputSchema: zodEdit }),
  edit_json: tool({ inputSchema: jsonSchema(jsonEdit as any) }),
  edits_zod: tool({ inputSchema: z.object({ edits: z.array(zodEdit) }) }),
  edits_json: tool({ inputSchema: jsonSchema(jsonEdits as any) })
}

const runtime = ManagedRuntime.make(CfworkerJsonSchema.layer)
await runtime.context()

const ours = (toolName: string, input: string) => () =>
  runtime.runPromise(ToolCall.parse({ toolCallId: "1", toolName, input }, { tools }))
const theirs = (toolName: string, input: string) => () =>
  parseToolCall({
    toolCall: { type: "tool-call", toolCallId: "1", toolName, input },
    tools: sdkTools,
    repairToolCall: undefined,
    refineToolInput: undefined,
    instructions: undefined,
    messages: []
  } as any)

const columns: Record<string, readonly [name: string, text: string]> = {
  "60 B": ["edit", JSON.stringify({ ...edit(0), content: "x" })],
  "1 KB": ["edit", JSON.stringify(edit(900))],
  "16 KB string": ["edit", JSON.stringify(edit(15_000))],
  "16 KB structured": ["edits", JSON.stringify(edits(16_000))]
}

const rows: Record<string, Record<string, number>> = {}
for (const [column, [name, text]] of Object.entries(columns)) {
  rows[column] = await interleave({
    "JSON.parse": () => JSON.parse(text),
    "ai, zod": theirs(`${name}_zod`, text),
    "countersign, zod": ours(`${name}_zod`, text),
    "countersign, Effect Schema": ours(`${name}_effect`, text),
    "ai, JSON Schema (checks nothing)": theirs(`${name}_json`, text),
    "countersign, JSON Schema (checked)": ours(`${name}_json`, text)
  })
}
print("Well-formed call to validated input, as a multiple of JSON.parse", rows)
await runtime.dispose()
