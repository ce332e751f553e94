/**
 * Rewrites a sound schema of any dialect in the keywords of Draft 2020-12.
 *
 * What is left is what decides on values, and nothing else: no annotation, no identifier. Every `$ref` points to an entry
 * of the definitions, under a name that needs no escapes. So engines have nothing to differ in but the values.
 */
import type { Document } from "./schemaDocument.ts"
import { keywordShapes } from "./schemaKeywords.ts"

type Keywords = Record<string, unknown>

/** @internal */
export interface Reading {
  readonly resolve: (reference: string) => unknown
  readonly nameOf: (schema: unknown) => string
  /** Draft-07 and OpenAPI 3.0 take no notice of the keywords beside a `$ref`. */
  readonly ignoresBesideRef: boolean
  readonly isOpenApi30: boolean
}

const dropped = new Set([
  "$defs",
  "definitions",
  "$id",
  "$anchor",
  "$schema",
  "additionalItems",
  "nullable"
])

/** @internal */
export const normalise = (root: Keywords, reading: Reading): Document => {
  const definitions: Record<string, Keywords> = {}
  const names = new Map<unknown, string>()
  const pending: Array<Keywords> = []

  const referTo = (target: Keywords): string => {
    let name = names.get(target)
    if (name === undefined) {
      name = reading.nameOf(target)
      while (Object.hasOwn(definitions, name)) name += "_"
      names.set(target, name)
      definitions[name] = {}
      pending.push(target)
    }
    return `#/$defs/${name}`
  }

  const convert = (schema: unknown): unknown => {
    if (typeof schema === "boolean") return schema
    const out: Keywords = {}
    const more: Array<unknown> = []
    const from = schema as Keywords
    if (typeof from["$ref"] === "string") {
      const target = reading.resolve(from["$ref"])
      if (typeof target === "boolean") more.push(target)
      else out["$ref"] = referTo(target as Keywords)
    }
    if (from["$ref"] === undefined || !reading.ignoresBesideRef) {
      for (const [keyword, value] of Object.entries(from)) {
        if (value === undefined || keyword === "$ref" || dropped.has(keyword) || !keywordShapes.has(keyword)) continue
        switch (keyword) {
          case "items":
            if (!Array.isArray(value)) {
              out["items"] = convert(value)
            } else {
              if (value.length > 0) out["prefixItems"] = value.map(convert)
              if (from["additionalItems"] !== undefined) out["items"] = convert(from["additionalItems"])
            }
            break
          case "dependencies":
            more.push(convertDependencies(value as Keywords))
            break
          case "type":
            out["type"] = reading.isOpenApi30 && from["nullable"] === true ? [value, "null"].flat() : value
            break
          case "exclusiveMinimum":
          case "exclusiveMaximum": {
            if (typeof value === "number") out[keyword] = value
            break
          }
          case "minimum":
          case "maximum":
            out[
              from[keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"] === true
                ? keyword === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"
                : keyword
            ] = value
            break
          default:
            out[keyword] = convertMember(keyword, value)
        }
      }
    }
    const types = [out["type"]].flat()
    if (out["multipleOf"] !== undefined || types.includes("integer") && !types.includes("number")) {
      // Beyond these a double has lost digits, and engines differ in what they take for an integer or a multiple.
      out["minimum"] = Math.max(out["minimum"] as number | undefined ?? -Infinity, Number.MIN_SAFE_INTEGER)
      out["maximum"] = Math.min(out["maximum"] as number | undefined ?? Infinity, Number.MAX_SAFE_INTEGER)
    }
    if (more.length > 0) out["allOf"] = [...(out["allOf"] as Array<unknown> | undefined ?? []), ...more]
    return out
  }

  const convertMember = (keyword: string, value: unknown): unknown => {
    switch (keywordShapes.get(keyword)) {
      case "schema":
        return convert(value)
      case "schema-array":
        return (value as Array<unknown>).map(convert)
      case "schema-map":
        return convertMap(Object.entries(value as Keywords))
      default:
        return value
    }
  }

  const convertMap = (entries: ReadonlyArray<readonly [string, unknown]>): Keywords =>
    Object.fromEntries(entries.map(([key, member]) => [key, convert(member)]))

  const convertDependencies = (value: Keywords): Keywords => {
    const entries = Object.entries(value)
    return {
      dependentRequired: Object.fromEntries(entries.filter(([, member]) => Array.isArray(member))),
      dependentSchemas: convertMap(entries.filter(([, member]) => !Array.isArray(member)))
    }
  }

  const schema = convert(root) as Keywords
  for (let target = pending.pop(); target !== undefined; target = pending.pop()) {
    definitions[names.get(target)!] = convert(target) as Keywords
  }
  return { dialect: "draft-2020-12", schema, definitions }
}
