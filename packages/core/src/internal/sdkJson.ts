import { sortedCopy } from "./sortedCopy.ts"
import { writeValue } from "./writeJson.ts"

/** Deeper than any definition that means something. A cycle ends here. */
const maxDepth = 10_000

/**
 * The AI SDK's canonical JSON of a value, byte for byte. There, what is no JSON has a text as well: a member that is `undefined`
 * is that word, a number that is none is `null`, a `Date` is `{}`. Throws for a `BigInt`, for a cycle and below `maxDepth`.
 *
 * @internal
 */
export const sdkJson = (value: unknown): string => {
  const copy = sortedCopy(value)
  return copy === undefined ? writeValue(value, writeScalar, maxDepth) : JSON.stringify(copy.value)
}

const writeScalar = (value: unknown, holder: object | undefined, key: string | number): string =>
  JSON.stringify(value) ?? writeNothing(value, holder, key)

/** What `JSON.stringify` has no text for. In an array `undefined` is null; a hole or a function leaves nothing between the commas. */
const writeNothing = (value: unknown, holder: object | undefined, key: string | number): string => {
  if (!Array.isArray(holder)) return "undefined"
  return value === undefined && Object.hasOwn(holder, key) ? "null" : ""
}
