import * as Effect from "effect/Effect"
import type * as Stdio from "effect/Stdio"
import { printable } from "./printable.ts"
import * as StatusLine from "./statusLine.ts"
import * as Terminal from "./terminal.ts"

const maxNames = 3

/** Does something for each of several, by name, at most eight at a time. On a terminal it shows which have not answered yet. */
export const forEach = Effect.fnUntraced(function*<A extends { readonly name: string }, B, R>(
  all: ReadonlyArray<A>,
  work: (one: A) => Effect.Effect<B, never, R>
): Effect.fn.Return<ReadonlyArray<B>, never, R | Stdio.Stdio> {
  const statusLine = yield* StatusLine.make
  const pending = new Set(all.map(({ name }) => name))
  const show = (yield* Terminal.isWatched)
    ? Effect.suspend(() => statusLine.show(pending.size === 0 ? "" : `waiting for ${shown([...pending])}`))
    : Effect.void
  yield* show
  return yield* Effect.forEach(
    all,
    (one) =>
      Effect.tap(work(one), () => {
        pending.delete(one.name)
        return show
      }),
    { concurrency: 8 }
  ).pipe(Effect.ensuring(statusLine.show("")))
})

const shown = (names: ReadonlyArray<string>): string =>
  names.slice(0, maxNames).map(printable).join(", ") +
  (names.length > maxNames ? ` and ${names.length - maxNames} more` : "")
