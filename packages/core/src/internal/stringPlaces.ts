/**
 * Whether a JSON Schema says that a place takes a string. Only a schema that names the type `string` there counts: where
 * anything goes, a number must not become a string.
 */
import { parseUriFragment } from "effect/JsonPointer"
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
  if (typeof step === "string") {
    return [own(own(schema, "properties"), step) ?? own(schema, "additionalProperties")]
  }
  const items = own(schema, "items")
  return Array.isArray(items)
    ? [items[step] ?? own(schema, "additionalItems")]
    : [own(own(schema, "prefixItems"), step) ?? items]
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
    const steps = typeof reference === "string" ? parseUriFragment(reference) : undefined
    if (steps !== undefined) pending.push(steps.reduce<unknown>(own, root))
  }
  return [...out]
}
