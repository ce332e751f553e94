/**
 * The keywords of JSON Schema, and what the value of each has to look like. One table for every dialect: a keyword that a
 * dialect does not know is an annotation there, and has the same shape in those that do.
 *
 * @internal
 */
export type KeywordShape =
  | "schema"
  | "schema-array"
  | "schema-map"
  | "schema-or-array"
  | "schema-or-strings-map"
  | "strings-map"
  | "strings"
  | "string"
  | "pattern"
  | "boolean"
  | "array"
  | "type"
  | "count"
  | "number"
  | "number-or-boolean"
  | "positive-number"

/** @internal */
export const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ["$defs", "schema-map"],
  ["definitions", "schema-map"],
  ["properties", "schema-map"],
  ["patternProperties", "schema-map"],
  ["dependentSchemas", "schema-map"],
  ["dependencies", "schema-or-strings-map"],
  ["dependentRequired", "strings-map"],
  ["allOf", "schema-array"],
  ["anyOf", "schema-array"],
  ["oneOf", "schema-array"],
  ["prefixItems", "schema-array"],
  ["items", "schema-or-array"],
  ["additionalItems", "schema"],
  ["unevaluatedItems", "schema"],
  ["contains", "schema"],
  ["additionalProperties", "schema"],
  ["unevaluatedProperties", "schema"],
  ["propertyNames", "schema"],
  ["not", "schema"],
  ["if", "schema"],
  ["then", "schema"],
  ["else", "schema"],
  ["$ref", "string"],
  ["$id", "string"],
  ["$anchor", "string"],
  ["$schema", "string"],
  ["type", "type"],
  ["enum", "array"],
  ["required", "strings"],
  ["pattern", "pattern"],
  ["minLength", "count"],
  ["maxLength", "count"],
  ["minItems", "count"],
  ["maxItems", "count"],
  ["minContains", "count"],
  ["maxContains", "count"],
  ["minProperties", "count"],
  ["maxProperties", "count"],
  ["uniqueItems", "boolean"],
  ["nullable", "boolean"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["exclusiveMinimum", "number-or-boolean"],
  ["exclusiveMaximum", "number-or-boolean"],
  ["multipleOf", "positive-number"]
])

/**
 * Keywords that constrain values in a way no engine here decides. Ignoring one would let through what the author forbade.
 *
 * @internal
 */
export const undecidableKeywords: ReadonlySet<string> = new Set([
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor"
])

/** A schema below another: the steps to it from there, and the schema. */
/** @internal */
export interface Subschema {
  readonly steps: ReadonlyArray<string>
  readonly schema: unknown
}

/**
 * The schemas directly below one, whatever they look like. `keyword` values of the wrong shape yield nothing.
 *
 * @internal
 */
export const subschemas = (schema: object): Array<Subschema> => {
  const out: Array<Subschema> = []
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = keywordShapes.get(keyword)
    if (shape === "schema" || shape === "schema-or-array" && !Array.isArray(value)) {
      out.push({ steps: [keyword], schema: value })
    } else if (shape === "schema-array" || shape === "schema-or-array") {
      if (Array.isArray(value)) {
        value.forEach((item, index) => out.push({ steps: [keyword, String(index)], schema: item }))
      }
    } else if (shape === "schema-map" || shape === "schema-or-strings-map") {
      if (typeof value !== "object" || value === null) continue
      for (const [key, item] of Object.entries(value)) {
        if (!Array.isArray(item)) out.push({ steps: [keyword, key], schema: item })
      }
    }
  }
  return out
}
