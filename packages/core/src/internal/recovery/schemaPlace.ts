/**
 * The place that a schema describes, however the schema was written; worked out once for each.
 */
import type { StandardJSONSchemaV1 } from "effect/StandardSchema"
import { type InputSchema, isInputSchema } from "../../InputSchema.ts"
import type { JsonSchema } from "../../JsonSchemaValidator.ts"
import { placeOfEffectSchema } from "./effectSchemaPlace.ts"
import { placeOfJsonSchema } from "./jsonSchemaPlace.ts"
import { lazily, type Place } from "./place.ts"

const places = new WeakMap<object, Place>()

/** @internal */
export const placeOf = (schema: JsonSchema | InputSchema): Place => {
  if (typeof schema !== "object" || schema === null) return placeOfJsonSchema(schema)
  let place = places.get(schema)
  if (place === undefined) {
    places.set(schema, place = lazily(() => isInputSchema(schema) ? placeOfInput(schema) : placeOfJsonSchema(schema)))
  }
  return place
}

const placeOfInput = (input: InputSchema): Place => {
  const written = input.written()
  switch (written._tag) {
    case "EffectSchema":
      return placeOfEffectSchema(written.schema)
    case "JsonSchema":
      return placeOfJsonSchema(written.schema)
    case "StandardSchema": {
      const standard = written.schema["~standard"] as Partial<StandardJSONSchemaV1["~standard"]>
      return placeOfJsonSchema(written.jsonSchema ?? standard.jsonSchema?.input({ target: "draft-07" }) ?? true)
    }
  }
}
