import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"

/**
 * The JSON Schema that a schema's own library writes for its input. Throws where the library has none, or cannot write this one.
 *
 * @internal
 */
export const draft07 = (schema: StandardSchemaV1 | StandardJSONSchemaV1): unknown => {
  const { jsonSchema, vendor } = schema["~standard"] as Partial<StandardJSONSchemaV1["~standard"]>
  if (jsonSchema === undefined) {
    throw new Error(`the schema library ${vendor} gives none, pass one with InputSchema.fromStandardSchema`)
  }
  return jsonSchema.input({ target: "draft-07" })
}
