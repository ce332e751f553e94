import * as Predicate from "effect/Predicate"

/**
 * One line about whatever was thrown or failed with, without stack and without the fields of the error.
 *
 * @internal
 */
export const describe = (error: unknown): string => {
  if (typeof error === "string") return error
  if (Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== "") {
    return error.message
  }
  if (Predicate.hasProperty(error, "_tag") && typeof error._tag === "string") return error._tag
  return error instanceof Error ? error.name : `a failure of type ${typeof error}`
}
