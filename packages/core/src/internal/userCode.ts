/**
 * Repairs and refinements are written by users, in JavaScript too: they may throw, or return something that is no Effect. And of
 * what they fail with, only what was written to be read may be told.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { describe } from "./describe.ts"

/** @internal */
export const runUserCode = <A, E, R>(call: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const effect = call()
    return Effect.isEffect(effect) ? effect : Effect.die(new TypeError("expected an Effect"))
  })

/**
 * A typed failure was written to be read; of a crash only the kind is told.
 *
 * @internal
 */
export const reasonOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.findErrorOption(cause)
  if (Option.isSome(error)) return describe(error.value).replace(/\.$/, "")
  if (Cause.hasInterruptsOnly(cause)) return "it was interrupted"
  const defect = Cause.squash(cause)
  return `it crashed (${defect instanceof Error ? defect.name : typeof defect})`
}
