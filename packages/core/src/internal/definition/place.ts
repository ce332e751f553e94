/** Two definitions side by side, and the places at which they differ. */
import { getOwn } from "../ownProperty.ts"
import { sortKeys } from "../writeJson.ts"
import { isObject, type Role, roleBelow } from "./role.ts"

/**
 * One place in two normal forms: what stands there before and after, `undefined` where it is not there.
 *
 * @internal
 */
export interface Place {
  readonly above: Place | undefined
  readonly key: string
  readonly role: Role
  readonly before: unknown
  readonly after: unknown
}

/** @internal */
export const pathOf = (place: Place): ReadonlyArray<string> => {
  const path: Array<string> = []
  for (let at = place; at.above !== undefined; at = at.above) path.push(at.key)
  return path.reverse()
}

/**
 * The innermost places that differ, in the order of their keys. A list of scalars is one place: what matters is what it holds. In
 * other lists, what is equal at the beginning and the end is passed over, and the rest is compared item by item.
 *
 * Takes time linear in both forms.
 *
 * @internal
 */
export const differences = (before: unknown, after: unknown): ReadonlyArray<Place> => {
  const found: Array<Place> = []
  const idOf = identifier()

  const below = (above: Place, key: string, before: unknown, after: unknown): void => {
    const role = roleBelow(above.role, key, after ?? before)
    visit({ above, key, role, before, after })
  }
  const visit = (place: Place): void => {
    const { after, before } = place
    if (idOf(before) === idOf(after)) return
    if (isObject(before) && isObject(after)) {
      const keys = new Set([...Object.keys(before), ...Object.keys(after)])
      for (const key of sortKeys([...keys])) below(place, key, getOwn(before, key), getOwn(after, key))
    } else if (isList(before) && isList(after)) {
      visitItems(place, before, after)
    } else {
      found.push(place)
    }
  }
  const visitItems = (place: Place, before: ReadonlyArray<unknown>, after: ReadonlyArray<unknown>): void => {
    let start = 0
    let [beforeEnd, afterEnd] = [before.length, after.length]
    const isEqual = (left: number, right: number) => idOf(before[left]) === idOf(after[right])
    const shorter = Math.min(beforeEnd, afterEnd)
    while (start < shorter && isEqual(start, start)) start++
    while (beforeEnd > start && afterEnd > start && isEqual(beforeEnd - 1, afterEnd - 1)) {
      beforeEnd--
      afterEnd--
    }
    for (let index = start; index < Math.max(beforeEnd, afterEnd); index++) {
      below(
        place,
        String(index),
        index < beforeEnd ? before[index] : undefined,
        index < afterEnd ? after[index] : undefined
      )
    }
  }
  visit({ above: undefined, key: "", role: "definition", before, after })
  return found
}

const isList = (value: unknown): value is ReadonlyArray<unknown> =>
  Array.isArray(value) && value.some((item) => typeof item === "object" && item !== null)

/** Gives equal values the same number, and each value once looked at its own in one step. */
const identifier = (): (value: unknown) => number => {
  const numbers = new Map<string, number>()
  const known = new WeakMap<object, number>()
  const numberOf = (text: string): number => {
    const number = numbers.get(text) ?? numbers.size
    numbers.set(text, number)
    return number
  }
  const idOf = (value: unknown): number => {
    if (typeof value !== "object" || value === null) {
      return numberOf(typeof value === "string" ? `"${value}` : String(value))
    }
    let id = known.get(value)
    if (id === undefined) {
      id = numberOf(
        Array.isArray(value)
          ? `[${value.map(idOf).join()}`
          // In a normal form the keys of equal objects have the same order.
          : `{${Object.entries(value).map(([key, member]) => `${idOf(key)}:${idOf(member)}`).join()}`
      )
      known.set(value, id)
    }
    return id
  }
  return idOf
}
