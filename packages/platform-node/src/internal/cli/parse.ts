/**
 * `countersign parse`: reads tool calls, repairs those that are malformed, and says which can run.
 */
import { RawToolCall } from "@countersign/core/RawToolCall"
import * as Repair from "@countersign/core/Repair"
import * as ToolCall from "@countersign/core/ToolCall"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Concurrency from "./concurrency.ts"
import { errorJson } from "./errorJson.ts"
import * as JsonLines from "./jsonLines.ts"
import * as LineFields from "./lineFields.ts"
import * as ToolDefinitions from "./toolDefinitions.ts"

const repairs = [
  ["standard", Repair.standard],
  ["jsonrepair", Repair.jsonrepair],
  ["none", undefined]
] as const

const flags = {
  tools: ToolDefinitions.flag,
  repair: Flag.ChoiceWithValue("repair", repairs).pipe(
    Flag.withDescription(
      "How malformed calls are repaired: standard (the default) corrects the tool's name and recovers the arguments, guided by " +
        "its schema; jsonrepair corrects syntax only"
    ),
    Flag.withDefault(Repair.standard)
  ),
  concurrency: Concurrency.flag
}

const readLine = LineFields.reader({
  schema: Schema.Struct({ ...RawToolCall.fields, id: Schema.optionalKey(Schema.Unknown) }),
  exact: new Set(["id", "input"])
})

export const parse = Command.make(
  "parse",
  flags,
  Effect.fnUntraced(function*({ concurrency, repair, tools: path }) {
    const tools = yield* ToolDefinitions.read(path)
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
      "or invalid), the input that may run, every edit that repair made, and the error of an invalid call. An edit with a " +
      "\"risk\" may not be what was meant. Exits with 1 if a call is invalid."
  ),
  Command.withExamples([{ command: "countersign parse --tools tools.json < calls.jsonl" }])
)
