import * as Effect from "effect/Effect"
import type { ListedRecord, StoreUnavailable } from "../../RecordStore.ts"

/** Characters of JSON. */
const maxAtATime = 4 * 1024 * 1024

/**
 * Reads a list in pieces: of records that are long few at a time, for they are in memory together.
 *
 * @internal
 */
export const inPieces = (
  list: (after: string | undefined, limit: number) => Effect.Effect<ReadonlyArray<ListedRecord>, StoreUnavailable>
): (after: string | undefined, max: number) => Effect.Effect<
  { readonly rows: ReadonlyArray<ListedRecord>; readonly isLast: boolean },
  StoreUnavailable
> => {
  let limit = 10
  return Effect.fnUntraced(function*(after, max) {
    const asked = Math.min(limit, max)
    const rows = yield* list(after, asked)
    const longest = rows.reduce((length, { value }) => Math.max(length, value.length), 1)
    limit = Math.min(Math.max(Math.floor(maxAtATime / longest), 1), 100)
    return { rows, isLast: rows.length < asked }
  })
}
