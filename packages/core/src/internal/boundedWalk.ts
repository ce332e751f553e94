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

interface Container {
  readonly value: object
  readonly path: () => Path
}

/**
 * Where a decoded value holds a number that is not finite: plain objects and arrays are looked into, other objects are somebody
 * else's.
 *
 * @internal
 */
export const findNonFinite = (root: unknown): Path | undefined => {
  const pending: Array<Container> = []
  const visit = (value: unknown, path: () => Path): Path | undefined => {
    if (typeof value === "number") return Number.isFinite(value) ? undefined : path()
    if (typeof value === "object" && value !== null) {
      if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) pending.push({ value, path })
    }
  }
  let found = visit(root, () => [])
  for (let at = pending.pop(); found === undefined && at !== undefined; at = pending.pop()) {
    const { path, value } = at
    for (const key of Object.keys(value)) {
      found ??= visit((value as Record<string, unknown>)[key], () => [...path(), key])
    }
  }
  return found
}
