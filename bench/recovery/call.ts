/**
 * What a malformed call costs with the standard repair, beside `jsonrepair` and `JSON.parse` by hand, as a multiple of `JSON.parse`
 * of the well-formed text.
 */
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import { jsonrepair } from "jsonrepair"
import { edit } from "../inputs.ts"
import { interleave, print } from "../interleave.ts"
import { progress, progressDone } from "../progress.ts"

const tools = ToolSet.make(
  Tool.make("edit", {
    inputSchema: Schema.Struct({
      path: Schema.String,
      content: Schema.String,
      line: Schema.Int,
      dryRun: Schema.Boolean
    })
  })
)

const damages: Record<string, (text: string) => string> = {
  "trailing comma": (text) => text.replace(/\}$/, ",}"),
  "bare keys": (text) => text.replace(/"(path|content|line|dryRun)":/g, "$1:"),
  "missing brace": (text) => text.slice(0, -1)
}

export const call = async (): Promise<void> => {
  const runtime = ManagedRuntime.make(JsonSchemaValidator.layerRefuse)
  await runtime.context()
  for (const length of [60, 900, 15_000]) {
    const rows: Record<string, Record<string, number>> = {}
    const text = JSON.stringify(edit(length))
    for (const [damage, apply] of Object.entries(damages)) {
      progress(`call: ${text.length} characters, ${damage}`)
      const input = apply(text)
      rows[damage] = await interleave({
        "JSON.parse of the intact text": () => JSON.parse(text),
        "jsonrepair, then JSON.parse": () => JSON.parse(jsonrepair(input)),
        "countersign: repaired and validated": () =>
          runtime.runPromise(
            ToolCall.parseOrInvalid({ toolCallId: "1", toolName: "edit", input }, { tools, repair: Repair.standard })
          )
      }, { rounds: 9 })
    }
    progressDone()
    print(`Malformed call of ${text.length} characters`, rows)
  }
  await runtime.dispose()
}
