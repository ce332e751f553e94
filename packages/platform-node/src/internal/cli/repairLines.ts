import type { InputSchema } from "@countersign/core/InputSchema"
import type { JsonSchema } from "@countersign/core/JsonSchemaValidator"
import { Limits } from "@countersign/core/Limits"
import * as RepairText from "@countersign/core/RepairText"
import * as StrictJson from "@countersign/core/StrictJson"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { errorJson, type Reported } from "./errorJson.ts"
import { InvalidLine } from "./invalidLine.ts"
import * as JsonLines from "./jsonLines.ts"
import * as LineFields from "./lineFields.ts"
import * as SchemaCache from "./schemaCache.ts"

const readLine = LineFields.reader({
  schema: Schema.Struct({
    id: Schema.optionalKey(Schema.Unknown),
    text: Schema.String,
    schema: Schema.optionalKey(Schema.Unknown)
  }),
  exact: new Set(["id"])
})

/** Repairs one text a line. */
export const repairLines = Effect.fnUntraced(function*<E extends Reported, R>(options: {
  readonly schema: InputSchema | undefined
  readonly repair: RepairText.RepairText<E, R>
}) {
  const limits = yield* Limits
  const toInputSchema = SchemaCache.make()

  const schemaOf = (line: { readonly id?: unknown; readonly schema?: unknown }) => {
    const { schema } = line
    if (schema === undefined) return Effect.succeed(options.schema)
    const isSchema = typeof schema === "boolean" || typeof schema === "object" && schema !== null &&
        !Array.isArray(schema) && StrictJson.inspect(schema, limits) === undefined
    return isSchema
      ? Effect.succeed(toInputSchema(schema as JsonSchema))
      : Effect.fail(new InvalidLine({ message: "/schema: expected a JSON Schema", ...LineFields.idOf(line) }))
  }

  yield* JsonLines.run({
    bad: "refused",
    concurrency: 8,
    answer: Effect.fnUntraced(function*(text) {
      const line = yield* readLine(text)
      const schema = yield* schemaOf(line)
      return yield* Effect.match(RepairText.parse(line.text, { schema, repair: options.repair }), {
        onFailure: (error) => ({ ...LineFields.idOf(line), status: "refused", error: errorJson(error) }),
        onSuccess: ({ edits, truncated, value }) => ({
          ...LineFields.idOf(line),
          status: "ok",
          value,
          edits,
          truncated
        })
      })
    })
  })
})
