/**
 * `countersign collect`: says what a history holds of approvals.
 */
import * as Approval from "@countersign/core/Approval"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { errorJson } from "./errorJson.ts"
import * as History from "./history.ts"
import * as OneAnswer from "./oneAnswer.ts"
import * as ToolDefinitions from "./toolDefinitions.ts"

const flags = {
  tools: ToolDefinitions.flag.pipe(
    Flag.withDescription("Tool definitions, for UI messages: results of tools that are not among them are left out"),
    Flag.optional
  ),
  superseded: History.superseded
}

const collectApprovals = Effect.fnUntraced(function*(
  path: Option.Option<string>,
  superseded: Approval.CollectOptions["superseded"]
) {
  const tools = Option.isSome(path) ? yield* ToolDefinitions.read(path.value) : undefined
  const { messages, ...kept } = yield* History.read(tools)
  const { ambiguous, approved, awaiting, denied, stale, ...rest } = yield* Approval.collect(messages, {
    ...kept,
    superseded
  })
  return {
    approved,
    denied,
    awaiting,
    superseded: rest.superseded,
    stale,
    ambiguous: ambiguous.map(errorJson)
  }
})

export const collect = Command.make(
  "collect",
  flags,
  ({ superseded, tools }) => OneAnswer.write(collectApprovals(tools, superseded))
).pipe(
  Command.withShortDescription("Say what a message history holds of approvals"),
  Command.withDescription(
    `Reads a message history ${History.description} Writes one JSON object: ` +
      "{\"approved\",\"denied\",\"awaiting\",\"superseded\",\"stale\",\"ambiguous\"}. Nothing is verified and nothing is run: " +
      "that is the work of resume. Where the history cannot be read, or an answer belongs to no question or call, the object " +
      "is {\"error\"}, the message is on stderr too, and the exit status is 1."
  ),
  Command.withExamples([{ command: "countersign collect < messages.json" }])
)
