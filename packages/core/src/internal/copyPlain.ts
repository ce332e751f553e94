import { setOwn } from "./ownProperty.ts"

/**
 * Copies arrays and plain objects at all depths. Other objects (a `Date`, an instance of a class) are shared: they cannot be copied
 * without knowing them.
 *
 * @internal
 */
export const copyPlain = (root: unknown): unknown => {
  const pending: Array<{ readonly from: object; readonly into: object }> = []
  const copy = (from: unknown): unknown => {
    if (typeof from !== "object" || from === null) return from
    const isArray = Array.isArray(from)
    if (!isArray && Object.getPrototypeOf(from) !== Object.prototype && Object.getPrototypeOf(from) !== null) {
      return from
    }
    const into = isArray ? [] : {}
    pending.push({ from, into })
    return into
  }
  const copied = copy(root)
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const key of Object.keys(next.from)) {
      setOwn(next.into, key, copy((next.from as Record<string, unknown>)[key]))
    }
  }
  return copied
}
