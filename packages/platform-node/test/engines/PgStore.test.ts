import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
import * as DurableLedger from "@countersign/core/DurableLedger"
import { RecordStore, type StoreUnavailable } from "@countersign/core/RecordStore"
import { ledgerContract, storeContract } from "@countersign/core/testing"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { SqlClient } from "effect/sql/SqlClient"
import { randomUUID } from "node:crypto"
import * as Postgres from "../../../../runtime-tests/engines/Postgres.ts"
import { suite } from "../../../../runtime-tests/engines/suite.ts"
import { approvalsContract } from "../../../core/test/approvalsContract.ts"
import * as NodeCrypto from "../../src/NodeCrypto.ts"
import * as PgStore from "../../src/PgStore.ts"
import { newKey, newWrite, reasonOf } from "./records.ts"
import { shown } from "./shown.ts"
import { silentServer } from "./silentServer.ts"

suite("PgStore", Postgres, (server) => {
  const clientOf = (config: Partial<PgClient.PgPoolConfig> = {}) =>
    PgClient.layer({
      host: "127.0.0.1",
      port: server().port,
      database: Postgres.database,
      username: Postgres.username,
      password: Redacted.make(Postgres.password),
      ...config
    })

  const storeOf = (options?: PgStore.Options, config?: Partial<PgClient.PgPoolConfig>) =>
    Layer.provideMerge(PgStore.layer(options), clientOf(config))

  const ledgerOf = (options?: { readonly retention?: Duration.Input }) =>
    // The tests' clock leaps over days, while Postgres takes its own time: no lease runs out meanwhile.
    DurableLedger.layer({ lease: "30 days", ...options }).pipe(
      Layer.provideMerge(storeOf({ table: "ledgers", sweepInterval: "30 days" })),
      Layer.provide(NodeCrypto.layer)
    )

  describe("storeContract", () => storeContract(() => storeOf()))
  describe("the inbox", () => approvalsContract(() => storeOf({ table: "approvals" })))
  describe("storeContract, all statements on one shared connection", () =>
    storeContract(() => storeOf({ table: "multiplexed" }, { multiplex: true, maxConnections: 1 })))
  describe("storeContract, serializable, unprepared, under other names", () =>
    storeContract(() =>
      storeOf({ table: "public.Records" }, {
        prepare: false,
        startupParameters: { default_transaction_isolation: "serializable" },
        transformQueryNames: (name) => `x_${name}`,
        transformResultNames: (name) => name.toUpperCase()
      })
    ))
  describe("ledgerContract", () => ledgerContract(ledgerOf))

  it.effect("ten processes may make the table at the same time", () =>
    Effect.gen(function*() {
      const key = newKey()
      const write = newWrite()
      const set = Effect.flatMap(RecordStore, (store) => store.set(key, { ...write, version: randomUUID() }))
      const written = yield* Effect.forEach(
        Array.from({ length: 10 }),
        () => Effect.provide(set, storeOf({ table: "made_by_ten" })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(written.filter(Boolean).length, 1)
    }))

  describe("a transaction of the caller", () => {
    it.effect("that is rolled back does not undo a claim", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient
        const claim = { approvalId: randomUUID(), callDigest: "the call", expiresAt: undefined, idempotent: false }
        const claimed = Effect.flatMap(ApprovalLedger, (ledger) => ledger.claim(claim))
        yield* Effect.scoped(Effect.gen(function*() {
          const exit = yield* sql.withTransaction(Effect.andThen(claimed, Effect.fail("no money"))).pipe(Effect.exit)
          assert.strictEqual(exit._tag, "Failure")
          assert.deepStrictEqual(yield* claimed, { _tag: "Running" })
        }))
      }).pipe(Effect.provide(ledgerOf())))

    it.live("that holds the only connection is told so", () =>
      Effect.gen(function*() {
        const [sql, store] = [yield* SqlClient, yield* RecordStore]
        const key = newKey()
        const reason = yield* reasonOf(sql.withTransaction(store.set(key, newWrite())))
        assert.include(reason, "no answer within 5 seconds")
        assert.isTrue(yield* store.set(key, newWrite()))
      }).pipe(Effect.provide(storeOf({}, { maxConnections: 1 }))))
  })

  it.live("deletes what has expired, and nothing else", () =>
    Effect.gen(function*() {
      const [sql, store] = [yield* SqlClient, yield* RecordStore]
      const left = Effect.map(
        sql.unsafe<{ readonly id: string }>("SELECT id FROM swept ORDER BY id"),
        (rows) => rows.map(({ id }) => id)
      )
      // More than are deleted at once.
      yield* sql.unsafe(`INSERT INTO swept SELECT 'tests', 'old ' || n, 'v', 'kept', '{}', now() - interval '1 second'
FROM generate_series(1, 2500) AS n`)
      yield* store.set({ collection: "tests", id: "kept" }, newWrite())
      yield* store.set({ collection: "tests", id: "removed" }, { ...newWrite(), ttlMillis: 0 })
      while ((yield* left).length > 1) yield* Effect.sleep("20 millis")
      assert.deepStrictEqual(yield* left, ["kept"])
    }).pipe(Effect.provide(storeOf({ table: "swept", sweepInterval: "100 millis" }))))

  describe("is refused, and says why", () => {
    const refused = (name: string, layer: () => Layer.Layer<RecordStore, unknown>, expected: string) =>
      it.live(name, () =>
        Effect.gen(function*() {
          const reason = yield* reasonOf(Effect.provide(RecordStore, layer()))
          assert.include(reason, expected)
        }))

    for (const table of ["", "a b", "a\"b", "a'b", "a.b.c", "1a", "á", "x".repeat(51)]) {
      refused(`a table named ${JSON.stringify(table)}`, () => storeOf({ table }), "letters, digits and _")
    }
    refused(
      "a server that may forget",
      () => storeOf({}, { startupParameters: { synchronous_commit: "off" } }),
      "set synchronous_commit to on"
    )
    refused("a table of somebody else", () => storeOf({ table: "pg_catalog.pg_class" }), "choose another name")
    refused("a schema that is not there", () => storeOf({ table: "nowhere.records" }), "create it (3F000)")
    refused(
      "a read-only server",
      () => storeOf({ table: "unwritten" }, { startupParameters: { default_transaction_read_only: "on" } }),
      "connect to the primary"
    )
    refused("a wrong password", () => storeOf({}, { password: Redacted.make("wrong") }), "see user and password")
    refused("a port where nobody listens", () => storeOf({}, { port: 1 }), "cannot be reached")
    it.live("a server that never answers", () =>
      Effect.gen(function*() {
        const port = yield* silentServer
        assert.include(yield* reasonOf(Effect.provide(RecordStore, storeOf({}, { port }))), "Postgres")
      }))
  })

  describe("while it is used", () => {
    it.live("the table is the same, whatever the search path of a connection becomes", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient
        yield* sql.unsafe("CREATE SCHEMA \"tenant \"\"1\"\"\"")
        const key = newKey()
        const store = yield* RecordStore
        assert.isTrue(yield* store.set(key, newWrite()))
        yield* sql.unsafe("CREATE TABLE \"tenant \"\"1\"\"\".searched AS TABLE searched WITH NO DATA")
        yield* sql.unsafe("SET search_path = \"tenant \"\"1\"\"\"")
        assert.isFalse(yield* store.set(key, newWrite()))
        assert.isDefined(yield* store.get(key))
      }).pipe(Effect.provide(storeOf({ table: "searched" }, { maxConnections: 1 }))))

    it.live("a lock that somebody holds ends the call, not the store", () =>
      Effect.gen(function*() {
        const [sql, store] = [yield* SqlClient, yield* RecordStore]
        const key = newKey()
        yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql.unsafe("LOCK TABLE locked")
          assert.include(yield* reasonOf(store.set(key, newWrite())), "nothing holds a lock")
        }))
        assert.isUndefined(yield* store.get(key))
        assert.isTrue(yield* store.set(key, newWrite()))
      }).pipe(Effect.provide(storeOf({ table: "locked" }))))

    it.live("a table that is dropped is said to be missing", () =>
      Effect.gen(function*() {
        const [sql, store] = [yield* SqlClient, yield* RecordStore]
        yield* store.get(newKey())
        yield* sql.unsafe("DROP TABLE dropped")
        for (const program of [store.get(newKey()), store.set(newKey(), newWrite())]) {
          assert.include(yield* reasonOf(program as Effect.Effect<unknown, StoreUnavailable>), "the table is missing")
        }
      }).pipe(Effect.provide(storeOf({ table: "dropped" }))))

    it.live("a text that it cannot hold is refused", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        const reason = yield* reasonOf(store.set(newKey(), { ...newWrite(), value: "a\u0000b" }))
        assert.include(reason, "NUL character")
      }).pipe(Effect.provide(storeOf())))

    it.live("a connection that freezes ends the call, and another serves", () =>
      Effect.gen(function*() {
        const [sql, store] = [yield* SqlClient, yield* RecordStore]
        const key = newKey()
        const [backend] = yield* sql.unsafe<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid")
        process.kill(backend!.pid, "SIGSTOP")
        const reason = yield* reasonOf(store.set(key, newWrite())).pipe(
          Effect.ensuring(Effect.sync(() => process.kill(backend!.pid, "SIGCONT")))
        )
        assert.include(reason, "no answer within 5 seconds")
        assert.isTrue(yield* store.set(newKey(), newWrite()))
      }).pipe(Effect.provide(storeOf({}, { maxConnections: 1 }))))

    it.live("a server that is killed loses nothing that it confirmed, and serves when it is back", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        const confirmed: Array<string> = []
        const failures: Array<string> = []
        for (let round = 0; round < 5; round++) {
          const writers = yield* Effect.forkChild(
            Effect.forEach(Array.from({ length: 8 }), () =>
              Effect.gen(function*() {
                for (;;) {
                  const id = randomUUID()
                  if (yield* store.set({ collection: "killed", id }, newWrite())) confirmed.push(id)
                }
              }).pipe(Effect.catchTag("StoreUnavailable", ({ reason }) => Effect.sync(() => failures.push(reason)))), {
              concurrency: "unbounded"
            })
          )
          const before = confirmed.length
          while (confirmed.length < before + 50) yield* Effect.sleep("1 millis")
          yield* Effect.promise(server().kill)
          yield* Fiber.join(writers)
          assert.match(yield* reasonOf(store.get(newKey())), /connection was lost|cannot be reached|starting/)
          yield* Effect.promise(server().start)
          yield* Effect.retry(store.get(newKey()), { times: 20 })
        }
        assert.strictEqual(failures.length, 40)
        const found = yield* Effect.forEach(confirmed, (id) => store.get({ collection: "killed", id }), {
          concurrency: 8
        })
        assert.strictEqual(found.filter((record) => record === undefined).length, 0)
      }).pipe(Effect.provide(storeOf())))
  })

  it.live("shows neither its password nor what it keeps", () =>
    Effect.gen(function*() {
      const secret = "what the tool gave back"
      const url = (password: string, port = server().port) =>
        Redacted.make(`postgres://${Postgres.username}:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`)
      const wrong = "a password that is not right"
      const use = Effect.gen(function*() {
        const store = yield* RecordStore
        const write = { ...newWrite(), value: secret }
        yield* store.set({ collection: "tests", id: "shown" }, write)
        yield* store.get({ collection: "tests", id: "shown" })
        yield* store.list({ collection: "tests", tag: "kept", limit: 10 })
        yield* Effect.ignore(store.set(newKey(), { ...write, value: `${secret}\u0000` }))
        yield* Effect.promise(server().stop)
        yield* store.get(newKey()).pipe(Effect.ensuring(Effect.promise(server().start)))
      })
      for (
        const layer of [
          storeOf({ table: "shown" }),
          Layer.provide(PgStore.layer({ table: "shown" }), PgClient.layer({ url: url(Postgres.password) })),
          Layer.provide(PgStore.layer(), PgClient.layer({ url: url(wrong) })),
          Layer.provide(PgStore.layer(), PgClient.layer({ url: url(Postgres.password, 1) }))
        ]
      ) {
        const text = yield* shown(Effect.provide(use, layer))
        assert.include(text, "StoreUnavailable")
        for (const hidden of [Postgres.password, encodeURIComponent(Postgres.password), wrong, secret]) {
          assert.notInclude(text, hidden)
        }
      }
    }))
})
