/**
 * The bytes of standard input.
 */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { CommandFailed } from "./commandFailed.ts"
import { systemMessage } from "./systemMessage.ts"

export const bytes: Stream.Stream<Uint8Array, CommandFailed, Stdio.Stdio> = Stream.unwrap(
  Effect.map(Stdio.Stdio, ({ stdin }) =>
    Stream.mapError(
      stdin,
      (error) => new CommandFailed({ status: 2, message: `cannot read standard input: ${systemMessage(error)}` })
    ))
)

/** Everything, as long as it is at most `maxBytes` bytes; one byte more than that otherwise. */
export const upTo = Effect.fnUntraced(function*(maxBytes: number) {
  let length = 0
  const chunks = yield* bytes.pipe(
    Stream.takeUntil((chunk) => (length += chunk.length) > maxBytes),
    Stream.runCollect
  )
  return Buffer.concat(chunks, Math.min(length, maxBytes + 1))
})
