import * as CanonicalJson from "../CanonicalJson.ts"
import { setOwn } from "./ownProperty.ts"

/**
 * What an Effect Schema is made of, as a canonical text: its nodes with their types, keys, literals, checks and annotations. Functions
 * cannot be compared and are left out. It stands in for the JSON Schema of it, whose writer is too large for a Worker.
 *
 * @internal
 */
export const schemaText = (ast: unknown): string => {
  const seen = new Map<object, number>()
  const plain = (value: unknown): unknown => {
    if (typeof value === "function") return undefined
    if (typeof value === "string") return `string ${value}`
    if (value instanceof Date) return `date ${value.getTime()}`
    return typeof value === "object" && value !== null && !(value instanceof RegExp)
      ? plainObject(value)
      : `${typeof value} ${String(value)}`
  }
  const plainObject = (value: object): unknown => {
    const index = seen.get(value)
    if (index !== undefined) return { $ref: index }
    seen.set(value, seen.size)
    if (Array.isArray(value)) return value.map((item) => plain(item) ?? null)
    const copy = {}
    for (const key of Object.keys(value)) setOwn(copy, key, plain((value as Record<string, unknown>)[key]))
    // A schema that refers to itself does so by a thunk, which gives the same node each time.
    const { _tag, thunk } = value as { readonly _tag?: unknown; readonly thunk?: unknown }
    if (_tag === "Suspend" && typeof thunk === "function") setOwn(copy, "thunk", plain(thunk()))
    return copy
  }
  return CanonicalJson.stringify(plain(ast))
}
