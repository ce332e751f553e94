/**
 * What standard error, and standard output, can show.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"

const variable = (name: string): Effect.Effect<string> => Effect.orDie(Config.String(name).pipe(Config.withDefault("")))

const isCapable = Effect.map(variable("TERM"), (term) => term !== "dumb")
const mayColor = Effect.map(variable("NO_COLOR"), (noColor) => noColor === "")

/** Whether somebody watches stderr, where a line may be written over again as long as nothing else is written. */
export const isWatched = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return (yield* stdio.stderrIsTerminal) && (yield* isCapable)
})

/** Whether a line may be written over again while data is written: it does not go to the same terminal. */
export const canOverwrite = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return (yield* isWatched) && !(yield* stdio.stdoutIsTerminal)
})

/** Whether messages may have colours. See no-color.org. */
export const canColor = Effect.gen(function*() {
  return (yield* isWatched) && (yield* mayColor)
})

/** Whether results may have colours. */
export const canColorOutput = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return (yield* stdio.stdoutIsTerminal) && (yield* isCapable) && (yield* mayColor)
})
