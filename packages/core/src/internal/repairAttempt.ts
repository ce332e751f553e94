/**
 * One run of a repair, traced: the only thing in Countersign that makes a span of its own.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Option from "effect/Option"
import type { Repair, RepairContext, RepairedToolCall } from "../Repair.ts"
import { runUserCode } from "./userCode.ts"

/**
 * Runs a repair in the span `repair_tool_arguments`. The span says which attempt it was, why it was needed, how it ended, and
 * how many edits of which kinds it made. A failure ends the span without its error, whose text may hold arguments.
 *
 * @internal
 */
export const attemptRepair = <E, R>(
  repair: Repair<E, R>,
  context: RepairContext,
  attempt: number
): Effect.Effect<Option.Option<RepairedToolCall>, E, R> => {
  const { error } = context
  const attributes = {
    "repair.attempt": attempt,
    "repair.error": error._tag === "InvalidToolInput" ? `${error._tag}.${error.cause._tag}` : error._tag
  }
  return Effect.suspend(() => {
    // The span must not see how the repair ended: neither its answer nor its error.
    let ended: Exit.Exit<Option.Option<RepairedToolCall>, E>
    return runUserCode(() => repair(context)).pipe(
      Effect.exit,
      Effect.flatMap((exit) => {
        ended = exit
        return Effect.annotateCurrentSpan(outcome(exit))
      }),
      Effect.withSpan("repair_tool_arguments", { attributes }, { captureStackTrace: false }),
      Effect.flatMap(() => ended)
    )
  })
}

const outcome = (exit: Exit.Exit<Option.Option<RepairedToolCall>, unknown>): Record<string, string | number> => {
  if (Exit.isFailure(exit)) {
    return { "repair.outcome": Cause.hasInterrupts(exit.cause) ? "interrupted" : "failed" }
  }
  if (exit.value?._tag !== "Some") return { "repair.outcome": "unrepairable" }
  const kinds = (exit.value.value.edits ?? []).map((edit) => edit.kind)
  return {
    "repair.outcome": "repaired",
    "repair.edits": kinds.length,
    "repair.kinds": [...new Set(kinds)].sort().join(",")
  }
}
