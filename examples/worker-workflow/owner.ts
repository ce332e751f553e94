/** Who has started a run: nobody else sees what comes of it. */
import { RecordStore } from "@countersign/core/RecordStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const keyOf = (runId: string) => ({ collection: "owners", id: runId })

/** A run waits for a week, and Cloudflare keeps what came of it for a month. */
const ttlMillis = Duration.toMillis("40 days")

/** Before the run is started. */
export const note = Effect.fnUntraced(function*(runId: string, user: string) {
  const store = yield* RecordStore
  yield* store.set(keyOf(runId), { value: user, version: runId, expected: undefined, tag: "owner", ttlMillis })
})

export const isOwner = Effect.fnUntraced(function*(runId: string, user: string) {
  const store = yield* RecordStore
  return (yield* store.get(keyOf(runId)))?.value === user
})
