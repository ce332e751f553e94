/** Which run waits for the answer to a question, and the event that wakes it. */
import * as ApprovalId from "@countersign/core/ApprovalId"
import { RecordStore } from "@countersign/core/RecordStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

const keyOf = (approvalId: string) => ({ collection: "waiting", id: approvalId })

/** It is known for a day longer than the question can be answered. To note it again changes nothing. */
export const note = Effect.fnUntraced(function*(approvalId: string, runId: string, timeToLive: Duration.Input) {
  const store = yield* RecordStore
  const ttlMillis = Duration.toMillis(timeToLive) + Duration.toMillis("1 day")
  yield* store.set(keyOf(approvalId), { value: runId, version: runId, expected: undefined, tag: "waiting", ttlMillis })
})

export const find = Effect.fnUntraced(function*(approvalId: string) {
  const store = yield* RecordStore
  return (yield* store.get(keyOf(approvalId)))?.value
})

/** Each question has an event type of its own: a run that asked several is not woken by the answer to another. */
export const eventType = (approvalId: string): string => {
  const claims = ApprovalId.parse(approvalId)
  return `answered-${claims._tag === "Claims" ? claims.nonce : ""}`
}
