import * as Result from "effect/Result"
import * as CanonicalJson from "../../CanonicalJson.ts"
import { setOwn } from "../ownProperty.ts"
import { keywordShapes, newerKeywords, olderKeywords, subschemas } from "../schemaKeywords.ts"
import { isObject, isSet, type Role, roleBelow } from "./role.ts"

/**
 * A definition without what makes no difference to anybody: keys in order, lists that are sets in order, no `$schema` that names the
 * dialect in which the schema is read anyway. Throws `NotJson` for what is no JSON.
 *
 * @internal
 */
export const normalForm = (definition: object): object =>
  normal(Result.getOrThrow(CanonicalJson.toJson(definition)), "definition") as object

const normal = (value: unknown, role: Role): unknown => {
  if (isSet(role, value)) return value.toSorted()
  if (Array.isArray(value)) return value.map((item, index) => normal(item, roleBelow(role, String(index), item)))
  if (!isObject(value)) return value
  const copy = {}
  for (const key of Object.keys(value).sort()) {
    const below = roleBelow(role, key, value[key])
    const member = normal(value[key], below)
    setOwn(copy, key, role === "definition" && below === "schema" ? withoutDialect(member) : member)
  }
  return copy
}

const withoutDialect = (schema: unknown): unknown => {
  if (!isObject(schema) || !saysNothing(schema)) return schema
  const { $schema: _, ...rest } = schema
  return rest
}

const draft07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/
const draft202012 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/

/** Whether a schema means the same without its `$schema`, since it has nothing that two dialects read differently. */
const saysNothing = (schema: { readonly $schema?: unknown }): boolean => {
  const dialect = String(schema.$schema)
  const differs = draft07.test(dialect) ? differsInDraft07 : draft202012.test(dialect) ? differsIn202012 : undefined
  if (differs === undefined) return false
  const pending: Array<unknown> = [schema]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!isObject(next)) continue
    if (Object.keys(next).some((keyword) => differs(keyword, next))) return false
    for (const below of subschemas(next)) pending.push(below.schema)
  }
  return true
}

const keepsBesideRef = new Set(["$ref", "$schema", "$defs", "definitions"])

/** Draft-07 takes no notice of the newer keywords, nor of those beside a `$ref`. */
const differsInDraft07 = (keyword: string, schema: Readonly<Record<string, unknown>>): boolean =>
  newerKeywords.has(keyword) ||
  Object.hasOwn(schema, "$ref") && keywordShapes.has(keyword) && !keepsBesideRef.has(keyword)

const differsIn202012 = (keyword: string, schema: Readonly<Record<string, unknown>>): boolean =>
  olderKeywords.has(keyword) || keyword === "items" && Array.isArray(schema["items"])
