import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** Everything, as long as it is at most `maxBytes` bytes; one byte more than that otherwise. */
export const bytesUpTo = Effect.fnUntraced(function*<E, R>(bytes: Stream.Stream<Uint8Array, E, R>, maxBytes: number) {
  let length = 0
  const chunks = yield* bytes.pipe(
    Stream.takeUntil((chunk) => (length += chunk.length) > maxBytes),
    Stream.runCollect
  )
  return Buffer.concat(chunks, Math.min(length, maxBytes + 1))
})
