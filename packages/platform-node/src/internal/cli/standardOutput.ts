/**
 * Writes data to standard output.
 */
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { CommandFailed } from "./commandFailed.ts"
import { systemCode, systemMessage } from "./systemMessage.ts"

/**
 * Writes a stream of texts as fast as they are read at the other end. Ends quietly, the stream's source with it, when the
 * other end is closed: whoever reads has enough, as in `| head -1`.
 */
export const write = Effect.fnUntraced(function*<E, R>(texts: Stream.Stream<string, E, R>) {
  const stdio = yield* Stdio.Stdio
  return yield* Stream.run(Stream.mapError(texts, (error) => ({ error })), stdio.stdout()).pipe(
    Effect.catch((failure: { readonly error: E } | PlatformError): Effect.Effect<void, E | CommandFailed> => {
      if (!("_tag" in failure)) return Effect.fail(failure.error)
      if (systemCode(failure) === "EPIPE") return Effect.void
      return Effect.fail(
        new CommandFailed({ status: 2, message: `cannot write to standard output: ${systemMessage(failure)}` })
      )
    })
  )
})
