/**
 * What standard error can show.
 */
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"

const variable = (name: string): Effect.Effect<string> => Effect.orDie(Config.String(name).pipe(Config.withDefault("")))

/** Whether a line may be written over again: somebody watches stderr, and data does not go to the same terminal. */
export const canOverwrite = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return (yield* stdio.stderrIsTerminal) && !(yield* stdio.stdoutIsTerminal) && (yield* variable("TERM")) !== "dumb"
})

/** Whether colours may be used. See no-color.org. */
export const canColor = Effect.gen(function*() {
  const stdio = yield* Stdio.Stdio
  return (yield* stdio.stderrIsTerminal) && (yield* variable("NO_COLOR")) === "" &&
    (yield* variable("TERM")) !== "dumb"
})
