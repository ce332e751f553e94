/** Records that nobody has made before, and what a store says where it refuses one. */
import type { StoreUnavailable } from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { assert } from "vitest"

export const newKey = () => ({ collection: "tests", id: randomUUID() })

export const newWrite = () => ({
  value: "{}",
  version: randomUUID(),
  expected: undefined,
  tag: "kept",
  ttlMillis: 3_600_000
})

export const reasonOf = <A, R>(program: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.flip(program), (error) => {
    const { _tag, reason } = error as StoreUnavailable
    assert.strictEqual(_tag, "StoreUnavailable")
    return reason
  })
