import * as InputSchema from "@countersign/core/InputSchema"
import type { JsonSchema } from "@countersign/core/JsonSchemaValidator"

const maxSchemas = 128
const maxSchemaLength = 65_536

/**
 * Gives the same input schema, which is compiled once, for each JSON Schema of the same text. Holds the schemas that were
 * used last; a very long one is not held.
 */
export const make = (): (schema: JsonSchema) => InputSchema.InputSchema => {
  const schemas = new Map<string, InputSchema.InputSchema>()
  return (schema) => {
    const text = JSON.stringify(schema)
    if (text.length > maxSchemaLength) return InputSchema.fromJsonSchema(schema)
    const known = schemas.get(text) ?? InputSchema.fromJsonSchema(schema)
    schemas.delete(text)
    schemas.set(text, known)
    if (schemas.size > maxSchemas) schemas.delete(schemas.keys().next().value!)
    return known
  }
}
