/**
 * Records in a table of Postgres, for processes on any number of machines. The app brings the client: `PgClient.layer` of
 * `@effect/sql-pg`.
 *
 * | | |
 * | --- | --- |
 * | transactions | a record is written by itself: a transaction of the caller that is rolled back does not undo it |
 * | time | the clock of the server |
 * | waiting | a call ends after 5 seconds without an answer, and frees its connection within as many more |
 * | after a failed write | it may have been written nevertheless: send it again, or `get` the record |
 * | what the role needs | SELECT, INSERT, UPDATE and DELETE on the table; to make the table, CREATE on its schema |
 * | durability | `synchronous_commit = off` is refused when the layer is built; `fsync = off`, or a failover to a replica that lags, can lose a claim |
 *
 * A call inside a transaction of the caller takes a second connection of the pool.
 *
 * @since 0.1.0
 */
import { type ListedRecord, RecordStore, type StoredRecord, StoreUnavailable } from "@countersign/core/RecordStore"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { SqlClient } from "effect/sql/SqlClient"
import type { SqlError } from "effect/sql/SqlError"
import { failureOf } from "./internal/pg/failure.ts"
import { columns, statements, sweepSize } from "./internal/pg/statements.ts"

/**
 * - `table`: its name, `countersign_records` if not given, as in `approvals` or `app.approvals`: letters, digits and `_`. It is made if
 *   it is missing. Name the schema where processes have different search paths: without it each has the table of its own path.
 * - `sweepInterval`: how often what has expired is deleted: every minute if not given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly table?: string | undefined
  readonly sweepInterval?: Duration.Input | undefined
}

/** Two identifiers that need no quotes but for their case, the last with room for `_by_expiry`. */
const tableName = /^(?:([A-Za-z_][A-Za-z0-9_]{0,62})\.)?([A-Za-z_][A-Za-z0-9_]{0,49})$/

const timeout = "5 seconds"

/** A hundred years, so that no date is out of the range of the server. */
const maxTtlMillis = 100 * 365 * 86_400_000

/** The same statement may succeed now: two wanted one record, under an isolation level that lets neither wait. */
const isConflict = ({ reason }: SqlError): boolean =>
  reason._tag === "SerializationError" || reason._tag === "DeadlockError"

const make = Effect.fnUntraced(function*({ sweepInterval = "1 minute", table = "countersign_records" }: Options) {
  const client = yield* SqlClient
  const [, schema, name] = tableName.exec(table) ?? []
  if (name === undefined) {
    return yield* new StoreUnavailable({
      reason:
        "the name of the table has to be letters, digits and _, at most 50 of them, or two such names with a dot between"
    })
  }
  const sql = client.withoutTransforms()
  const given = statements(schema, name)
  const failure = failureOf(table)

  const run = <Row extends object>(
    statement: string,
    params: ReadonlyArray<unknown> = []
  ): Effect.Effect<ReadonlyArray<Row>, StoreUnavailable> =>
    sql.unsafe<Row>(statement, params).pipe(
      Effect.retry({ while: isConflict, times: 100 }),
      Effect.mapError(failure),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new StoreUnavailable({
              reason:
                `Postgres, table ${table}: no answer within ${timeout}: see that the server answers, that nothing holds a lock on ` +
                `the table, and that the pool has a free connection`
            })
          )
      }),
      Effect.updateContext(Context.omit(sql.transactionService))
    )

  yield* run(given.create)
  const [check] = yield* run<{ readonly commit: string; readonly columns: number; readonly schema: string | null }>(
    given.check
  )
  if (check?.columns !== columns || check.schema === null) {
    return yield* new StoreUnavailable({
      reason: `Postgres, table ${table}: it is not the one that this store makes: choose another name`
    })
  }
  if (check.commit === "off") {
    return yield* new StoreUnavailable({
      reason: "Postgres may forget what it confirmed: set synchronous_commit to on for this role, database or server"
    })
  }
  // From here on with its schema: on another connection the same name may be that of another table.
  const text = statements(check.schema, name)

  const sweep = Effect.repeat(run<{ readonly count: number }>(text.sweep), {
    while: ([swept]) => swept !== undefined && swept.count === sweepSize
  })
  yield* sweep.pipe(
    Effect.catchCause((cause) => Effect.logWarning("Expired records stay where they are", cause)),
    Effect.repeat(Schedule.spaced(sweepInterval)),
    Effect.forkScoped
  )

  return RecordStore.of({
    get: ({ collection, id }) => Effect.map(run<StoredRecord>(text.get, [collection, id]), ([record]) => record),
    set: ({ collection, id }, { expected, tag, ttlMillis, value, version }) => {
      // Postgres would refuse it in an error that quotes all of it.
      if (value.includes("\0")) {
        return Effect.fail(new StoreUnavailable({ reason: "Postgres keeps no text with a NUL character" }))
      }
      const lasts = ttlMillis > 0
      const params = [collection, id, version, tag, lasts ? value : "", lasts ? Math.min(ttlMillis, maxTtlMillis) : 0]
      const written = expected === undefined ? run(text.make, params) : run(text.replace, [...params, expected])
      return Effect.map(written, (rows) => rows.length > 0)
    },
    list: ({ after = "", collection, limit, tag }) => run<ListedRecord>(text.list, [collection, tag, after, limit])
  })
})

/**
 * The store in a table.
 *
 * @example
 * ```ts
 * import { PgClient } from "@effect/sql-pg"
 * import * as Config from "effect/Config"
 * import * as Layer from "effect/Layer"
 * import * as PgStore from "@countersign/platform-node/PgStore"
 *
 * const store = PgStore.layer().pipe(
 *   Layer.provide(PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<RecordStore, StoreUnavailable, SqlClient> =>
  Layer.effect(RecordStore)(make(options))
