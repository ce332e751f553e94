/**
 * One value among several at the top of a text: empty ones and repetitions say nothing, but of two different calls nobody can tell
 * which was meant.
 */
import { skipSpaces } from "./characters.ts"
import { type Place, takes, Type } from "./place.ts"
import { Refused } from "./refused.ts"
import type { Root } from "./roots.ts"

/** How many values are compared by what they are; more are compared by how they are written. */
const maxCompared = 8

const separator = /^\s*[,\n]\s*$/

/** @internal */
export const choose = (roots: ReadonlyArray<Root>, text: string, place: Place): Root => {
  const filled = roots.length === 1 ? roots : roots.filter((root) => !isEmpty(root.value))
  if (filled.length <= 1) return filled[0] ?? roots[0]!
  const isFew = filled.length <= maxCompared
  const different = new Map(
    filled.map((root) => [isFew ? JSON.stringify(root.value) : text.slice(root.start, root.end), root] as const)
  )
  const [first, ...others] = different.values()
  if (others.length === 0) return first!
  // Lists in prose, such as the numbers of footnotes, are no arguments.
  const objects = filled.filter(({ value }) => !Array.isArray(value))
  if (objects.length === 1 && skipSpaces(text, 0) < roots[0]!.start) return objects[0]!
  // One value to a line is a list of values, and objects with commas between them are.
  const isList = takes(place, Type.array) && roots.every(({ start }, at) => {
    const between = at === 0 ? "\n" : text.slice(roots[at - 1]!.end, start)
    return separator.test(between) && (objects.length === filled.length || !between.includes(","))
  })
  if (!isList) throw new Refused("two-values", others[0]!.start)
  return { ...first!, value: roots.map(({ value }) => value) }
}

/** @internal */
export const isEmpty = (value: unknown): boolean =>
  value === "" || typeof value === "object" && value !== null && Object.keys(value).length === 0
