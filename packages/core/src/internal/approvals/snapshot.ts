import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { StoredApproval } from "../../Approvals.ts"
import type { ListedRecord, StoreUnavailable } from "../../RecordStore.ts"
import { inPieces } from "./rows.ts"

/**
 * A question that waits. `approval` is not there where all that wait would take too much memory.
 *
 * @internal
 */
export interface Waiting {
  readonly version: string
  readonly approvalId: string
  readonly expiresAt: number
  readonly approval: StoredApproval | undefined
}

/**
 * What waited at a time, by the IDs of the records, and what became of those that had waited the time before.
 *
 * @internal
 */
export interface Snapshot {
  readonly lookedAt: number
  readonly waiting: ReadonlyMap<string, Waiting>
  readonly ended: ReadonlyMap<string, StoredApproval | undefined>
}

/** Characters of JSON. */
const maxKept = 8 * 1024 * 1024

/** Who has not finished its look by then has been interrupted, or has hung. */
const patienceMillis = 10_000

/**
 * One look at what waits for all who watch: whoever finds the last one too old takes the next, and a record whose version is known is
 * not read again.
 *
 * Nobody waits for the look of another, and meanwhile takes the last one: on Workers, what one request waits for ends with it.
 *
 * @internal
 */
export const shareSnapshots = ({ expiry, find, list, read }: {
  readonly list: Parameters<typeof inPieces>[0]
  readonly read: (row: ListedRecord) => Effect.Effect<StoredApproval | undefined>
  readonly find: (approvalId: string) => Effect.Effect<StoredApproval | undefined, StoreUnavailable>
  readonly expiry: (approval: StoredApproval) => number
}): (maxAgeMillis: number) => Effect.Effect<Snapshot, StoreUnavailable> => {
  let last: Snapshot | undefined
  let lookingSince = -Infinity

  const look = Effect.fnUntraced(function*(lookedAt: number) {
    const before: Snapshot["waiting"] = last?.waiting ?? new Map()
    const waiting = new Map<string, Waiting>()
    const next = inPieces(list)
    let kept = 0
    let after: string | undefined
    for (let isLast = false; !isLast;) {
      const piece = yield* next(after, Infinity)
      for (const row of piece.rows) {
        const entry = yield* enter(row, before.get(row.id), kept + row.value.length <= maxKept)
        if (entry?.approval !== undefined) kept += row.value.length
        if (entry !== undefined && entry.expiresAt > lookedAt) waiting.set(row.id, entry)
      }
      after = piece.rows.at(-1)?.id
      isLast = piece.isLast
    }
    const missing = [...before].flatMap(([id, { approvalId }]) => waiting.has(id) ? [] : [approvalId])
    const ended = yield* Effect.forEach(
      missing,
      (approvalId) => Effect.map(find(approvalId), (approval) => [approvalId, approval] as const),
      { concurrency: 8 }
    )
    const taken: Snapshot = { lookedAt, waiting, ended: new Map(ended) }
    // One that lies ahead is from before the clock was set back.
    if (last === undefined || last.lookedAt <= lookedAt || last.lookedAt > (yield* Clock.currentTimeMillis)) {
      last = taken
    }
    return taken
  })

  const enter = (row: ListedRecord, known: Waiting | undefined, isKept: boolean): Effect.Effect<Waiting | undefined> =>
    known?.version === row.version && (known.approval === undefined || isKept)
      ? Effect.succeed(known)
      : Effect.map(read(row), (approval) =>
        approval === undefined ? undefined : {
          version: row.version,
          approvalId: approval.approvalRequest.approvalId,
          expiresAt: expiry(approval),
          approval: isKept ? approval : undefined
        })

  return Effect.fnUntraced(function*(maxAgeMillis) {
    const now = yield* Clock.currentTimeMillis
    const isRecent = (since: number, millis: number) => now >= since && now - since < millis
    const isLooking = isRecent(lookingSince, patienceMillis)
    if (last !== undefined && isRecent(last.lookedAt, isLooking ? 2 * maxAgeMillis : maxAgeMillis)) return last
    lookingSince = now
    return yield* Effect.ensuring(
      look(now),
      Effect.sync(() => {
        lookingSince = -Infinity
      })
    )
  })
}
