/**
 * `countersign repair`: repairs JSON that a model was asked to write, one text or one a line.
 */
import * as InputSchema from "@countersign/core/InputSchema"
import type { JsonSchema } from "@countersign/core/JsonSchemaValidator"
import * as RepairText from "@countersign/core/RepairText"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { CommandFailed } from "./commandFailed.ts"
import * as JsonFile from "./jsonFile.ts"
import { repairLines } from "./repairLines.ts"
import { repairWhole } from "./repairWhole.ts"

const engines = [
  ["recovery", RepairText.recovery],
  ["jsonrepair", RepairText.jsonrepair]
] as const

const flags = {
  schema: Flag.Path("schema").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("A JSON Schema that the repaired value has to fit; it guides recovery"),
    Flag.optional
  ),
  engine: Flag.ChoiceWithValue("engine", engines).pipe(
    Flag.withDescription("What repairs: recovery (the default), or the npm package jsonrepair behind bounds"),
    Flag.withDefault(RepairText.recovery)
  ),
  truncated: Flag.Literals("truncated", ["refuse", "close"]).pipe(
    Flag.withDescription("What to do with a text that was cut off: refuse it (the default), or close what is open"),
    Flag.withDefault("refuse" as const)
  ),
  jsonl: Flag.Boolean("jsonl").pipe(
    Flag.withDescription("Read one {\"id\",\"text\",\"schema\"} a line; a line's own schema wins over --schema"),
    Flag.withDefault(false)
  )
}

const readSchema = Effect.fnUntraced(function*(path: string) {
  const fail = (reason: string) => new CommandFailed({ status: 2, message: `--schema ${path}: ${reason}` })
  const json = yield* JsonFile.read("--schema", path)
  const isSchema = typeof json === "boolean" || typeof json === "object" && json !== null && !Array.isArray(json)
  if (!isSchema) return yield* fail("expected a JSON Schema: an object, true or false")
  const schema = InputSchema.fromJsonSchema(json as JsonSchema)
  yield* schema.decode(null).pipe(
    Effect.catchTag("SchemaMismatch", () => Effect.void),
    Effect.mapError((error) => fail(error.message))
  )
  return schema
})

export const repair = Command.make(
  "repair",
  flags,
  Effect.fnUntraced(function*({ engine, jsonl, schema: path, truncated }) {
    const schema = Option.isSome(path) ? yield* readSchema(path.value) : undefined
    const repair = engine({ truncated })
    yield* jsonl
      ? repairLines({ schema, repair })
      : repairWhole({ schema, repair, closing: engine({ truncated: "close" }) })
  })
).pipe(
  Command.withShortDescription("Repair JSON that is malformed"),
  Command.withDescription(
    "Reads one text from standard input and writes the repaired JSON value on one line. The edits are shown on stderr, each " +
      "with the spot in the text; one that is marked ambiguous or lossy may not be what was meant. " +
      "With --jsonl, reads one JSON object a line: {\"id\",\"text\",\"schema\"}, and writes one for each, in the same " +
      "order: {\"id\",\"status\",\"value\",\"edits\",\"truncated\"}, status ok or refused, with the error of a refused one. " +
      "Exits with 1 if a text is refused."
  ),
  Command.withExamples([
    { command: "countersign repair < answer.txt" },
    { command: "countersign repair --schema schema.json --truncated close < answer.txt" },
    { command: "countersign repair --jsonl < texts.jsonl" }
  ])
)
