/**
 * Records in a SQLite file, by `node:sqlite`: for the processes of one machine, without a server.
 *
 * | | |
 * | --- | --- |
 * | several processes | may use one file, and may open it anew at the same time |
 * | durability | what has been written outlives a power cut, by `synchronous = FULL`: a claim that is forgotten would run again |
 * | event loop | is never held up by the lock of another process; what is written at the same time shares one transaction |
 * | time | the clock of the machine |
 * | size | what has expired makes room for what comes next |
 * | its files removed or replaced | is found out, and refused until they are back or the process starts anew |
 *
 * The file has to be on a local disk, since its write-ahead log needs shared memory. Beside it are `-wal` and `-shm`: they belong to
 * it, also in a backup, for which SQLite's `VACUUM INTO` is the right tool. Restore one while no process is running.
 *
 * @since 0.1.0
 */
import { RecordStore, StoreUnavailable } from "@countersign/core/RecordStore"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Request from "effect/Request"
import * as RequestResolver from "effect/RequestResolver"
import * as Schedule from "effect/Schedule"
import { resolve } from "node:path"
import { type Change, type Database, open } from "./internal/sqlite/database.ts"
import { failureOf } from "./internal/sqlite/failure.ts"

/**
 * - `path`: of the file. It is made when it is first used, for its owner alone; its folder has to exist.
 * - `lockTimeout`: how long another process may hold the lock of the file: 5 seconds if not given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly path: string
  readonly lockTimeout?: Duration.Input | undefined
}

interface SetRequest extends Change, Request.Request<boolean, StoreUnavailable> {}

const SetRequest = Request.of<SetRequest>()

/** So that a transaction takes a few milliseconds at most, in which nothing else happens in the process. */
const batchSize = 100

const make = Effect.fnUntraced(function*({ lockTimeout = "5 seconds", path: given }: Options) {
  const path = resolve(given)
  let database: Database | undefined
  let isClosed = false

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      isClosed = true
      database?.close()
    })
  )

  const opened = (): Database => {
    if (isClosed) throw new StoreUnavailable({ reason: "the layer of the store has been closed" })
    return database ??= open(path)
  }

  const untilUnlocked = Schedule.min([Schedule.exponential("1 millis"), Schedule.spaced("8 millis")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: lockTimeout })
  )

  const use = <A>(run: (database: Database, now: number) => A): Effect.Effect<A, StoreUnavailable> =>
    Effect.flatMap(
      Clock.currentTimeMillis,
      (now) => Effect.try({ try: () => run(opened(), now), catch: failureOf(path) })
    ).pipe(
      Effect.retry({ schedule: untilUnlocked, while: ({ _tag }) => _tag === "Locked" }),
      Effect.catchTag("Locked", () =>
        Effect.fail(
          new StoreUnavailable({
            reason: `${path} is locked by another process: see which, and end what it does there`
          })
        ))
    )

  const writes = RequestResolver.make<SetRequest>((entries) =>
    Effect.map(use((database, now) => database.setAll(entries.map(({ request }) => request), now)), (exits) => {
      for (const [index, entry] of entries.entries()) entry.completeUnsafe(exits[index]!)
    })
  ).pipe(RequestResolver.batchN(batchSize))

  return RecordStore.of({
    get: (key) => use((database, now) => database.get(key, now)),
    set: (key, write) => Effect.request(SetRequest({ key, write }), writes),
    list: (options) => use((database, now) => database.list(options, now))
  })
})

/**
 * The store in a file.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { mkdtempSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import { RecordStore } from "@countersign/core/RecordStore"
 * import * as SqliteStore from "@countersign/platform-node/SqliteStore"
 *
 * const path = join(mkdtempSync(join(tmpdir(), "countersign-")), "approvals.db")
 * const key = { collection: "doors", id: "front" }
 * const write = { value: "open", version: "v1", expected: undefined, tag: "door", ttlMillis: 60_000 }
 * const set = Effect.flatMap(RecordStore, (store) => store.set(key, write))
 * const get = Effect.flatMap(RecordStore, (store) => store.get(key))
 * await Effect.runPromise(Effect.provide(set, SqliteStore.layer({ path }))) // => true
 * await Effect.runPromise(Effect.provide(get, SqliteStore.layer({ path }))) // => { value: "open", version: "v1" }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<RecordStore> => Layer.effect(RecordStore)(make(options))
