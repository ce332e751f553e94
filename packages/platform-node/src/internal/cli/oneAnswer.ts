import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CommandFailed } from "./commandFailed.ts"
import { errorJson, type Reported } from "./errorJson.ts"
import type { InvalidHistory } from "./history.ts"
import * as StandardOutput from "./standardOutput.ts"

/** Writes what the work came to as one line of JSON. Where it failed, that is the error, and the command ends with 1. */
export const write = Effect.fnUntraced(function*<R>(
  work: Effect.Effect<object, Reported | InvalidHistory | CommandFailed, R>
) {
  const { failed, json } = yield* Effect.matchEffect(work, {
    onFailure: (error) =>
      error._tag === "CommandFailed"
        ? Effect.fail(error)
        : Effect.succeed({
          json: { error: error._tag === "InvalidHistory" ? toJson(error) : errorJson(error) },
          failed: new CommandFailed({ status: 1, message: error.message })
        }),
    onSuccess: (json) => Effect.succeed({ json, failed: undefined })
  })
  yield* StandardOutput.write(Stream.make(`${JSON.stringify(json)}\n`))
  if (failed !== undefined) return yield* failed
})

const toJson = ({ _tag, message }: InvalidHistory) => ({ _tag, message })
