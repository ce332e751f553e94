/**
 * Counts what lines or calls came to, and shows it on a terminal while the work goes on.
 */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as StatusLine from "./statusLine.ts"
import * as Terminal from "./terminal.ts"

export interface Progress {
  /** Counts them by their status, and writes messages about them to stderr. */
  readonly add: (statuses: ReadonlyArray<string>, messages: ReadonlyArray<string>) => Effect.Effect<void>
  /** How many had a status. */
  readonly count: (status: string) => number
  /** Leaves the last count on the terminal. */
  readonly end: Effect.Effect<void>
}

const intervalMillis = 100

/** Counts what a noun names. */
export const makeOf = Effect.fnUntraced(function*(noun: string) {
  const statusLine = yield* StatusLine.make
  const isShown = yield* Terminal.canOverwrite
  const counts = new Map<string, number>()
  let total = 0
  let shownAt = yield* Clock.currentTimeMillis

  const summary = () => {
    const byStatus = [...counts].map(([status, count]) => `${count.toLocaleString("en")} ${status}`).join(", ")
    return `${total.toLocaleString("en")} ${noun}${total === 1 ? "" : "s"}: ${byStatus}`
  }

  const progress: Progress = {
    add: Effect.fnUntraced(function*(statuses, messages) {
      total += statuses.length
      for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
      if (messages.length > 0) {
        yield* statusLine.show("")
        yield* Console.error(messages.join("\n"))
      }
      if (!isShown) return
      const now = yield* Clock.currentTimeMillis
      if (now - shownAt < intervalMillis) return
      shownAt = now
      yield* statusLine.show(summary())
    }),
    count: (status) => counts.get(status) ?? 0,
    end: Effect.suspend(() =>
      isShown && total > 0 ? Effect.andThen(statusLine.show(summary()), statusLine.keep) : Effect.void
    )
  }
  return progress
})

/** Counts lines. */
export const make = makeOf("line")
