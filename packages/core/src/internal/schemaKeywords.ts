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
  | "any"
  | "type"
  | "count"
  | "number"
  | "number-or-boolean"
  | "positive-number"

const names: Record<KeywordShape, string> = {
  "schema":
    "additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames not if then else",
  "schema-array": "allOf anyOf oneOf prefixItems",
  "schema-map": "$defs definitions properties patternProperties dependentSchemas",
  "schema-or-array": "items",
  "schema-or-strings-map": "dependencies",
  "strings-map": "dependentRequired",
  "strings": "required",
  "string": "$ref $id $anchor $schema",
  "pattern": "pattern",
  "boolean": "uniqueItems nullable",
  "array": "enum",
  "any": "const",
  "type": "type",
  "count": "minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties",
  "number": "minimum maximum",
  "number-or-boolean": "exclusiveMinimum exclusiveMaximum",
  "positive-number": "multipleOf"
}

/** @internal */
export const keywordShapes: ReadonlyMap<string, KeywordShape> = new Map(
  (Object.entries(names) as Array<[KeywordShape, string]>).flatMap(([shape, keywords]) =>
    keywords.split(" ").map((keyword) => [keyword, shape] as const)
  )
)

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

/**
 * Keywords that draft-07 does not have.
 *
 * @internal
 */
export const newerKeywords: ReadonlySet<string> = new Set([
  "prefixItems",
  "dependentRequired",
  "dependentSchemas",
  "minContains",
  "maxContains",
  "unevaluatedItems",
  "unevaluatedProperties"
])

/**
 * Keywords that only draft-07 has. An array of `items` is a third.
 *
 * @internal
 */
export const olderKeywords: ReadonlySet<string> = new Set(["additionalItems", "dependencies"])

/**
 * Further keywords that OpenAPI 3.0 does not have.
 *
 * @internal
 */
export const notInOpenApi30: ReadonlySet<string> = new Set([
  "const",
  "contains",
  "if",
  "then",
  "else",
  "patternProperties",
  "propertyNames"
])

/**
 * A schema below another: the steps to it from there, and the schema.
 *
 * @internal
 */
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

/**
 * Whether the schema below such a keyword checks the same value as the schema that holds it.
 *
 * @internal
 */
export const appliesInPlace = (keyword: string): boolean => inPlace.has(keyword)

const inPlace = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"])
