import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { Event, StoredApproval } from "../../Approvals.ts"
import type { StoreUnavailable } from "../../RecordStore.ts"
import type { Snapshot } from "./snapshot.ts"

/**
 * Whether a question is shown.
 *
 * @internal
 */
export type Filter<E> = (approval: StoredApproval) => Effect.Effect<boolean, E>

/**
 * What waits, and then what happens, by looking again and again.
 *
 * @internal
 */
export const watchInbox = <E>({ find, interval, isShown, snapshot }: {
  readonly snapshot: (maxAgeMillis: number) => Effect.Effect<Snapshot, StoreUnavailable>
  readonly find: (approvalId: string) => Effect.Effect<StoredApproval | undefined, StoreUnavailable>
  readonly isShown: Filter<E>
  readonly interval: Duration.Input
}): Stream.Stream<Event, E | StoreUnavailable> =>
  Stream.suspend(() => {
    const maxAgeMillis = Duration.toMillis(interval)
    let known = new Set<string>()
    let seen: Snapshot | undefined

    const look = Effect.fnUntraced(function*() {
      const events: Array<Event> = []
      const last = seen
      const { ended, waiting } = seen = yield* snapshot(maxAgeMillis)
      if (seen === last) return events
      // Who was shown a question is not asked about again: nothing more is told of it but that it has an answer.
      const shown = new Set<string>()
      for (const entry of waiting.values()) {
        const { approvalId } = entry
        if (known.has(approvalId)) {
          shown.add(approvalId)
          continue
        }
        const approval = entry.approval ?? (yield* find(approvalId))
        if (approval === undefined || approval.answer !== undefined || !(yield* isShown(approval))) continue
        shown.add(approvalId)
        events.push({ _tag: "Pending", approval })
      }
      for (const approvalId of known) {
        if (shown.has(approvalId)) continue
        const approval = ended.has(approvalId) ? ended.get(approvalId) : yield* find(approvalId)
        events.push(
          approval?.answer !== undefined && (yield* isShown(approval))
            ? { _tag: "Answered", approval }
            : { _tag: "Gone", approvalId }
        )
      }
      known = shown
      return events
    })

    return Stream.flattenIterable(Stream.fromEffectSchedule(look(), Schedule.spaced(interval)))
  })
