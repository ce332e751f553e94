import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { Event, ListOptions, Page, StoredApproval } from "../../Approvals.ts"
import type { StoreUnavailable } from "../../RecordStore.ts"

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
export const watchInbox = <E>({ find, interval, isShown, list }: {
  readonly list: (options: ListOptions, isShown: Filter<E>) => Effect.Effect<Page, E | StoreUnavailable>
  readonly find: (approvalId: string) => Effect.Effect<StoredApproval | undefined, StoreUnavailable>
  readonly isShown: Filter<E>
  readonly interval: Duration.Input
}): Stream.Stream<Event, E | StoreUnavailable> =>
  Stream.suspend(() => {
    let known = new Set<string>()

    const look = Effect.fnUntraced(function*() {
      const events: Array<Event> = []
      const waiting = new Set<string>()
      // Who was shown a question is not asked about again: nothing more is told of it but that it has an answer.
      const isNew: Filter<E> = (approval) => {
        const { approvalId } = approval.approvalRequest
        if (!known.has(approvalId)) return isShown(approval)
        waiting.add(approvalId)
        return Effect.succeed(false)
      }
      let after: string | undefined
      do {
        const page: Page = yield* list({ after, limit: 1000 }, isNew)
        for (const approval of page.approvals) {
          waiting.add(approval.approvalRequest.approvalId)
          events.push({ _tag: "Pending", approval })
        }
        after = page.next
      } while (after !== undefined)
      for (const approvalId of known) {
        if (waiting.has(approvalId)) continue
        const approval = yield* find(approvalId)
        events.push(
          approval?.answer !== undefined && (yield* isShown(approval))
            ? { _tag: "Answered", approval }
            : { _tag: "Gone", approvalId }
        )
      }
      known = waiting
      return events
    })

    return Stream.flattenIterable(Stream.fromEffectSchedule(look(), Schedule.spaced(interval)))
  })
