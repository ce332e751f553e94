import { getOwn } from "../ownProperty.ts"
import type { Place } from "./place.ts"

/** Of each hint of the Model Context Protocol the value that claims the tool to be harmless. Where it is absent, it claims nothing. */
const harmless: ReadonlyArray<readonly [hint: string, value: boolean]> = [
  ["readOnlyHint", true],
  ["destructiveHint", false],
  ["idempotentHint", true],
  ["openWorldHint", false]
]

/**
 * What a change at or below `annotations` claims.
 *
 * @internal
 */
export const hintWarnings = (
  place: Place,
  path: ReadonlyArray<string>
): ReadonlyArray<"claims-less-risk" | "claims-more-risk"> => {
  const { after, before } = path.length === 1 ? place : place.above!
  const changed = (from: unknown, to: unknown) =>
    harmless.some(([hint, value]) =>
      (path.length === 1 || path[1] === hint) && getOwn(from, hint) !== value && getOwn(to, hint) === value
    )
  return [
    ...changed(before, after) ? ["claims-less-risk" as const] : [],
    ...changed(after, before) ? ["claims-more-risk" as const] : []
  ]
}
