/**
 * Whether a JSON Schema says that a place takes a string. Only a schema that names the type `string` there counts: where
 * anything goes, a number must not become a string.
 */
import { unescapeToken } from "effect/JsonPointer"
import type { JsonSchema } from "../JsonSchemaValidator.ts"

/** @internal */
export const takesString = (root: JsonSchema, path: ReadonlyArray<string | number>): boolean => {
  let places: Array<unknown> = expand(root, [root])
  for (const step of path) places = expand(root, places.flatMap((schema) => below(schema, step)))
  return places.some((schema) => isObject(schema) && [schema["type"]].flat().includes("string"))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string | number, unknown>)[key]
    : undefined

const below = (schema: unknown, step: string | number): Array<unknown> => {
  if (typeof step === "number") {
    const items = own(schema, "items")
    return Array.isArray(items)
      ? [items[step] ?? own(schema, "additionalItems")]
      : [own(own(schema, "prefixItems"), step) ?? items]
  }
  const named: Array<unknown> = []
  let isAdditional = true
  const property = own(own(schema, "properties"), step)
  if (property !== undefined) named.push(property)
  const patterns = own(schema, "patternProperties")
  for (const [pattern, at] of isObject(patterns) ? Object.entries(patterns) : []) {
    const fits = matches(pattern, step)
    if (fits === true) named.push(at)
    if (fits === undefined) isAdditional = false
  }
  return named.length === 0 && isAdditional ? [own(schema, "additionalProperties")] : named
}

/** Without a group a pattern cannot take exponential time; one with a group is not tried. */
const matches = (pattern: string, key: string): boolean | undefined => {
  if (pattern.includes("(")) return undefined
  try {
    return new RegExp(pattern, "u").test(key)
  } catch {
    return undefined
  }
}

/** The schema that a reference inside the document points to. */
const resolve = (root: JsonSchema, reference: string): unknown => {
  try {
    return decodeURIComponent(reference.slice(1)).split("/").slice(1).map(unescapeToken).reduce<unknown>(own, root)
  } catch {
    return undefined
  }
}

/** The schemas themselves, and those that they apply to the same place. */
const expand = (root: JsonSchema, schemas: ReadonlyArray<unknown>): Array<unknown> => {
  const out = new Set<unknown>()
  const pending = [...schemas]
  while (pending.length > 0) {
    const schema = pending.pop()
    if (!isObject(schema) || out.has(schema)) continue
    out.add(schema)
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const members = own(schema, keyword)
      if (Array.isArray(members)) pending.push(...members)
    }
    const reference = own(schema, "$ref")
    if (typeof reference === "string" && /^#(?:\/|$)/.test(reference)) pending.push(resolve(root, reference))
  }
  return [...out]
}
