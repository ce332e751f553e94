import * as Schema from "effect/Schema"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type { Written } from "../InputSchema.ts"
import { draft07 } from "./draft07.ts"
import { zod3JsonSchema } from "./zod3JsonSchema.ts"

/**
 * The JSON Schema that the AI SDK shows a model for a schema, however it was written. Throws where there is none.
 *
 * @internal
 */
export const sdkJsonSchema = (written: Written): unknown => {
  switch (written._tag) {
    case "JsonSchema":
      return written.schema
    case "EffectSchema":
      return closed(draft07(Schema.toStandardJSONSchemaV1(written.schema)))
    case "StandardSchema": {
      const { jsonSchema, schema } = written
      if (jsonSchema !== undefined) return jsonSchema
      return isZod3(schema) ? zod3JsonSchema(schema) : closed(draft07(schema))
    }
  }
}

const isZod3 = (schema: StandardSchemaV1 & { readonly _zod?: unknown }): boolean =>
  schema["~standard"].vendor === "zod" && schema._zod === undefined

/** Objects take no other members, where nothing but a schema says that they do. Reaches as far as the AI SDK's own walk. */
const closed = (schema: any): unknown => {
  const { type } = schema
  if (typeof schema !== "object") return schema
  const copy = { ...schema }
  if (type === "object" || Array.isArray(type) && type.includes("object")) {
    const { additionalProperties, properties } = schema
    copy.additionalProperties = typeof additionalProperties === "object" && additionalProperties !== null
      ? closed(additionalProperties)
      : false
    if (isPresent(properties)) copy.properties = eachClosed(properties)
  }
  const { definitions, items } = schema
  if (isPresent(items)) copy.items = Array.isArray(items) ? items.map(closed) : closed(items)
  for (const keyword of ["anyOf", "allOf", "oneOf"]) {
    if (isPresent(schema[keyword])) copy[keyword] = schema[keyword].map(closed)
  }
  if (isPresent(definitions)) copy.definitions = eachClosed(definitions)
  return copy
}

const eachClosed = (schemas: object): object =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, closed(schema)]))

const isPresent = (value: unknown): boolean => value !== undefined && value !== null
