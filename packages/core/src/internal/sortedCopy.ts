import { isRecord } from "./plainJson.ts"
import { sortKeys } from "./writeJson.ts"

const notCopied = Symbol("not copied")

/** A copy may recurse this deep on any runtime's stack. */
const maxDepth = 256

/**
 * A copy of a value that is plain JSON already, as nearly every one is, the keys of its objects sorted, so that the runtime's
 * own `JSON.stringify`, the fastest writer there is, writes them in that order. `undefined` for any other value, for deep
 * nesting, and where an object would not keep the order.
 *
 * @internal
 */
export const sortedCopy = (value: unknown): { readonly value: unknown } | undefined => {
  try {
    const copied = copy(value, maxDepth)
    return copied === notCopied ? undefined : { value: copied }
  } catch {
    return undefined
  }
}

const copy = (value: unknown, depth: number): unknown => {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : notCopied
  if (typeof value !== "object" || depth === 0) return notCopied
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return notCopied
  if (Array.isArray(value)) return copyArray(value, depth)
  return isRecord(value) ? copyRecord(value as Record<string, unknown>, depth) : notCopied
}

const copyArray = (value: ReadonlyArray<unknown>, depth: number): unknown => {
  const items: Array<unknown> = []
  for (let index = 0; index < value.length; index++) {
    const item = copy(value[index], depth - 1)
    if (item === notCopied) return notCopied
    items.push(item)
  }
  return items
}

const copyRecord = (value: Record<string, unknown>, depth: number): unknown => {
  const record: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(value))) {
    if (isSpecial(key)) return notCopied
    const member = copy(value[key], depth - 1)
    if (member === notCopied) return notCopied
    record[key] = member
  }
  return record
}

/** Objects give their indices first, in the order of numbers; an assignment to `__proto__` makes no member. */
const isSpecial = (key: string): boolean => {
  const first = key.charCodeAt(0)
  return first >= 0x30 && first <= 0x39 && /^\d+$/.test(key) || key === "__proto__"
}
