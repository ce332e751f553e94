import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as JsonRecovery from "../src/JsonRecovery.ts"
import { type JsonSchema, JsonSchemaValidator } from "../src/JsonSchemaValidator.ts"

const { compile } = Effect.runSync(Effect.provide(JsonSchemaValidator, CfworkerJsonSchema.layer))

export const fits = (value: unknown, schema: JsonSchema): boolean =>
  Effect.runSync(compile(schema, undefined))(value).length === 0

/** What a tool would get to see of a text: what was recovered, if the schema takes it. */
export const recoveredValue = (
  text: string,
  options?: {
    readonly schema?: JsonSchema | undefined
    readonly truncated?: "refuse" | "close"
    readonly toolName?: string
  }
): JsonRecovery.Recovered | "refused" => {
  const recovered = JsonRecovery.recover(text, options)
  if (Result.isFailure(recovered)) return "refused"
  const { schema } = options ?? {}
  return schema === undefined || fits(recovered.success.value, schema) ? recovered.success : "refused"
}
