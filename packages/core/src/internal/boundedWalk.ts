import type { Path } from "./jsonReader.ts"

/**
 * Whether a value has at most so many members at all depths. Costs no more than that many steps.
 *
 * @internal
 */
export const hasAtMost = (value: unknown, members: number): boolean => {
  const pending: Array<unknown> = [value]
  for (let seen = 0; pending.length > 0; seen++) {
    if (seen + pending.length > members) return false
    const at = pending.pop()
    if (typeof at === "object" && at !== null) {
      for (const key of Object.keys(at)) {
        pending.push((at as Record<string, unknown>)[key])
        if (seen + pending.length > members) return false
      }
    }
  }
  return true
}

/**
 * Where a decoded value holds a number that is not finite: plain objects and arrays are looked into, other objects are somebody
 * else's.
 *
 * @internal
 */
export const findNonFinite = (value: unknown): Path | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : []
  if (typeof value !== "object" || value === null) return undefined
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return undefined
  for (const key of Object.keys(value)) {
    const found = findNonFinite((value as Record<string, unknown>)[key])
    if (found !== undefined) return [key, ...found]
  }
  return undefined
}
