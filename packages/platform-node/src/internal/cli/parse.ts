/**
 * `countersign parse`: reads tool calls, repairs those that are malformed, and says which can run.
 */
import { RawToolCall } from "@countersign/core/RawToolCall"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CommandFailed } from "./commandFailed.ts"
import { errorJson } from "./errorJson.ts"
import * as JsonFile from "./jsonFile.ts"
import * as JsonLines from "./jsonLines.ts"
import * as LineFields from "./lineFields.ts"

const repairs = [
  ["standard", Repair.standard],
  ["jsonrepair", Repair.jsonrepair],
  ["none", undefined]
] as const

const flags = {
  tools: Flag.Path("tools").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("Tool definitions: a JSON object by name, or what an MCP server lists")
  ),
  repair: Flag.ChoiceWithValue("repair", repairs).pipe(
    Flag.withDescription("How malformed calls are repaired: standard (the default) also corrects tool names"),
    Flag.withDefault(Repair.standard)
  ),
  concurrency: Flag.Int("concurrency").pipe(
    Flag.filter((n) => n >= 1 && n <= 1024, (n) => `a number from 1 to 1024, not ${n}`),
    Flag.withMetavar("<n>"),
    Flag.withDescription("How many calls are worked on at a time"),
    Flag.withDefault(8)
  )
}

const readLine = LineFields.reader({
  schema: Schema.Struct({ ...RawToolCall.fields, id: Schema.optionalKey(Schema.Unknown) }),
  exact: new Set(["id", "input"])
})

const readTools = Effect.fnUntraced(function*(path: string) {
  const tools = ToolSet.fromJson(yield* JsonFile.read("--tools", path))
  if (Result.isFailure(tools)) {
    return yield* new CommandFailed({ status: 2, message: `--tools ${path}: ${tools.failure.message}` })
  }
  for (const name of ToolSet.names(tools.success)) {
    yield* Effect.catch(
      Tool.compile(tools.success[name]!),
      (error) => Console.error(`${error.message}. Calls to it are invalid.`)
    )
  }
  return tools.success
})

export const parse = Command.make(
  "parse",
  flags,
  Effect.fnUntraced(function*({ concurrency, repair, tools: path }) {
    const tools = yield* readTools(path)
    yield* JsonLines.run({
      bad: "invalid",
      concurrency,
      answer: Effect.fnUntraced(function*(text) {
        const line = yield* readLine(text)
        const { id: _, ...raw } = line
        const call = yield* ToolCall.parseOrInvalid(raw, { tools, repair })
        const { input, toolCallId, toolName } = call
        const answer = { ...LineFields.idOf(line), toolCallId, toolName }
        return call.invalid
          ? { ...answer, status: "invalid", input, edits: [], error: errorJson(call.error) }
          : { ...answer, status: call.edits.length > 0 ? "repaired" : "valid", input, edits: call.edits }
      })
    })
  })
).pipe(
  Command.withShortDescription("Parse and repair tool calls, one JSON object a line"),
  Command.withDescription(
    "Reads tool calls from standard input, one JSON object a line: {\"toolCallId\",\"toolName\",\"input\"}, with an " +
      "\"id\" that is given back. Writes one line for each, in the same order: the call with its status (valid, repaired " +
      "or invalid), the input that may run, every edit that repair made, and the error of an invalid call. Exits with 1 " +
      "if a call is invalid."
  ),
  Command.withExamples([{ command: "countersign parse --tools tools.json < calls.jsonl" }])
)
