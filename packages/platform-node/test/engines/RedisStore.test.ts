import * as DurableLedger from "@countersign/core/DurableLedger"
import { RecordStore, type StoreUnavailable } from "@countersign/core/RecordStore"
import { ledgerContract, storeContract } from "@countersign/core/testing"
import { NodeRedis } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as RedisClient from "effect/persistence/Redis"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import * as Redis from "../../../../runtime-tests/engines/Redis.ts"
import { suite } from "../../../../runtime-tests/engines/suite.ts"
import { approvalsContract } from "../../../core/test/approvalsContract.ts"
import * as NodeCrypto from "../../src/NodeCrypto.ts"
import * as RedisStore from "../../src/RedisStore.ts"
import { newKey, newWrite, reasonOf } from "./records.ts"
import { shown } from "./shown.ts"

suite("RedisStore", Redis, (server) => {
  const clientOf = (options: Parameters<typeof NodeRedis.layer>[0] = {}) =>
    NodeRedis.layer({ url: `redis://:${Redis.password}@127.0.0.1:${server().port}`, ...options })

  const storeOf = (options?: RedisStore.Options, client?: Parameters<typeof NodeRedis.layer>[0]) =>
    Layer.provideMerge(RedisStore.layer(options), clientOf(client))

  const ledgerOf = (options?: { readonly retention?: Duration.Input }) =>
    // The tests' clock leaps over days, while Redis takes its own time: no lease runs out meanwhile.
    DurableLedger.layer({ lease: "30 days", ...options }).pipe(
      Layer.provide(storeOf({ prefix: "ledgers" })),
      Layer.provide(NodeCrypto.layer)
    )

  const send = (command: string, ...args: ReadonlyArray<string>) =>
    Effect.flatMap(RedisClient.Redis, (redis) => redis.send(command, ...args))

  describe("storeContract", () => storeContract(() => storeOf()))
  describe("the inbox", () => approvalsContract(() => storeOf({ prefix: "approvals" })))
  describe("ledgerContract", () => ledgerContract(ledgerOf))

  /** For as long as a test runs. */
  const configured = (name: string, value: string, usual: string) =>
    Effect.acquireRelease(
      send("CONFIG", "SET", name, value),
      () => Effect.orDie(send("CONFIG", "SET", name, usual))
    )

  describe("is refused, and says why", () => {
    for (const prefix of ["", "a b", "{a}", "á", "x".repeat(51)]) {
      it.live(`a prefix ${JSON.stringify(prefix)}`, () =>
        Effect.gen(function*() {
          assert.include(yield* reasonOf(Effect.provide(RecordStore, storeOf({ prefix }))), "the prefix has to be")
        }))
    }

    for (const policy of ["allkeys-lru", "volatile-ttl"]) {
      it.live(`a Redis that evicts, by ${policy}`, () =>
        Effect.gen(function*() {
          // Also where there is no limit: one may be set later.
          yield* configured("maxmemory-policy", policy, "noeviction")
          const reason = yield* reasonOf(Effect.provide(RecordStore, storeOf()))
          assert.strictEqual(reason, `Redis may evict records, by ${policy}: set maxmemory-policy to noeviction`)
        }).pipe(Effect.scoped, Effect.provide(clientOf())))
    }

    it.live("a Redis that forgets, unless it is said that it may", () =>
      Effect.gen(function*() {
        yield* configured("appendonly", "no", "yes")
        assert.include(yield* reasonOf(Effect.provide(RecordStore, storeOf())), "set appendonly to yes")
        yield* Effect.provide(RecordStore, storeOf({ persistence: "any" }))
      }).pipe(Effect.scoped, Effect.provide(clientOf())))

    it.live("a user that may not see whether it does", () =>
      Effect.gen(function*() {
        yield* Effect.acquireRelease(
          send("ACL", "SETUSER", "blind", "on", ">blind", "~*", "+@all", "-info"),
          () => Effect.orDie(send("ACL", "DELUSER", "blind"))
        )
        const url = `redis://blind:blind@127.0.0.1:${server().port}`
        assert.include(yield* reasonOf(Effect.provide(RecordStore, storeOf({}, { url }))), "allow INFO")
      }).pipe(Effect.scoped, Effect.provide(clientOf())))
  })

  describe("its keys", () => {
    it.live("are all in one slot, and apart from those of another prefix", () =>
      Effect.gen(function*() {
        const key = newKey()
        const set = Effect.flatMap(RecordStore, (store) => store.set(key, newWrite()))
        for (const prefix of ["one", "two"]) assert.isTrue(yield* Effect.provide(set, storeOf({ prefix })))
        assert.isFalse(yield* Effect.provide(set, storeOf({ prefix: "two" })))
        const keys = (yield* send("KEYS", "{two}:*")) as ReadonlyArray<string>
        assert.strictEqual(keys.length, 2)
        const slots = yield* Effect.forEach(keys, (name) => send("CLUSTER", "KEYSLOT", name)).pipe(Effect.exit)
        // A Redis that is no cluster may not say.
        if (slots._tag === "Success") assert.strictEqual(new Set(slots.value).size, 1)
      }).pipe(Effect.provide(clientOf())))

    it.live("do not pile up behind what has expired", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        for (let index = 0; index < 1000; index++) {
          yield* store.set({ collection: "short", id: String(index) }, { ...newWrite(), ttlMillis: 1 })
        }
        yield* store.set({ collection: "short", id: "long" }, newWrite())
        yield* Effect.sleep("10 millis")
        const size = send("ZCARD", "{piles}:tag:5:short:kept")
        assert.isBelow(Number(yield* size), 500)
        // Past all that is stale, in one page.
        assert.deepStrictEqual(
          (yield* store.list({ collection: "short", tag: "kept", limit: 1 })).map(({ id }) => id),
          ["long"]
        )
        assert.strictEqual(yield* size, 1)
      }).pipe(Effect.provide(storeOf({ prefix: "piles" }))))

    it.live("that somebody else wrote are refused, and stay as they are", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        const key = (id: string) => ({ collection: "foreign", id })
        const name = (id: string) => `{countersign}:record:7:foreign:${id}`
        yield* send("SET", name("text"), "somebody else's")
        yield* send("HSET", name("nothing"), "field", "somebody else's")
        yield* send("HSET", name("half"), "version", "v1", "tag", "kept")
        yield* send("ZADD", "{countersign}:tag:7:foreign:kept", "0", "half")
        yield* send("SET", "{countersign}:tag:7:foreign:other", "somebody else's")
        const refused: ReadonlyArray<Effect.Effect<unknown, StoreUnavailable>> = [
          store.get(key("text")),
          store.get(key("half")),
          store.set(key("text"), newWrite()),
          store.set(key("nothing"), newWrite()),
          store.set(key("new"), { ...newWrite(), tag: "other" }),
          store.list({ collection: "foreign", tag: "other", limit: 10 })
        ]
        for (const program of refused) assert.include(yield* reasonOf(program), "holds something else under the keys")
        assert.strictEqual(yield* send("GET", name("text")), "somebody else's")
        assert.strictEqual(yield* send("HGET", name("nothing"), "field"), "somebody else's")
        assert.isUndefined(yield* store.get(key("new")))
        // Listed they hide no others, and are found damaged by whoever reads them.
        yield* send("ZADD", "{countersign}:tag:7:foreign:kept", "0", "text")
        const write = newWrite()
        yield* store.set(key("whole"), write)
        assert.deepStrictEqual(yield* store.list({ collection: "foreign", tag: "kept", limit: 10 }), [
          { id: "half", version: "v1", value: "" },
          { id: "text", version: "", value: "" },
          { id: "whole", version: write.version, value: "{}" }
        ])
      }).pipe(Effect.provide(storeOf())))
  })

  describe("while it is used", () => {
    it.live("a Redis without memory is refused, until there is some", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        const [key, write] = [newKey(), newWrite()]
        yield* store.set(key, write)
        yield* Effect.scoped(Effect.gen(function*() {
          yield* configured("maxmemory", "1mb", "0")
          assert.include(yield* reasonOf(store.set(newKey(), newWrite())), "raise maxmemory (OOM)")
          const next = { ...newWrite(), expected: write.version, tag: "other" }
          assert.include(yield* reasonOf(store.set(key, next)), "raise maxmemory (OOM)")
          assert.strictEqual((yield* store.get(key))?.version, write.version)
        }))
        assert.isTrue(yield* store.set(newKey(), newWrite()))
      }).pipe(Effect.provide(storeOf())))

    it.live("a replica is refused", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        yield* Effect.acquireRelease(
          send("REPLICAOF", "127.0.0.1", "1"),
          () => Effect.orDie(send("REPLICAOF", "NO", "ONE"))
        )
        assert.include(yield* reasonOf(store.set(newKey(), newWrite())), "connect to the primary (READONLY)")
      }).pipe(Effect.scoped, Effect.provide(storeOf())))

    it.live("a Redis that forgot the scripts is given them again", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        assert.isTrue(yield* store.set(newKey(), newWrite()))
        yield* send("SCRIPT", "FLUSH")
        assert.isTrue(yield* store.set(newKey(), newWrite()))
      }).pipe(Effect.provide(storeOf())))

    it.live("a Redis that freezes ends the call, and serves when it is back", () =>
      Effect.gen(function*() {
        const store = yield* RecordStore
        const reasons = yield* Effect.acquireUseRelease(
          Effect.promise(server().freeze),
          () =>
            Effect.all([
              reasonOf(store.get(newKey())),
              reasonOf(store.set(newKey(), newWrite())),
              reasonOf(store.list({ collection: "tests", tag: "kept", limit: 1 }))
            ], { concurrency: "unbounded" }),
          () => Effect.promise(server().thaw)
        )
        for (const reason of reasons) assert.include(reason, "no answer within 5 seconds")
        assert.isTrue(yield* store.set(newKey(), newWrite()))
      }).pipe(Effect.provide(storeOf())))

    // What waits in an offline queue waits until its time is up.
    for (const [disableOfflineQueue, rounds] of [[false, 1], [true, 3]] as const) {
      it.live(`a Redis that is killed loses nothing that it confirmed, offline queue ${!disableOfflineQueue}`, () =>
        Effect.gen(function*() {
          const store = yield* RecordStore
          const confirmed: Array<string> = []
          for (let round = 0; round < rounds; round++) {
            const writers = yield* Effect.forkChild(
              Effect.forEach(Array.from({ length: 8 }), () =>
                Effect.gen(function*() {
                  for (;;) {
                    const id = randomUUID()
                    if (yield* store.set({ collection: "killed", id }, newWrite())) confirmed.push(id)
                  }
                }).pipe(Effect.flip), { concurrency: "unbounded" })
            )
            const before = confirmed.length
            while (confirmed.length < before + 50) yield* Effect.sleep("1 millis")
            yield* Effect.promise(server().kill)
            const failures = yield* Fiber.join(writers)
            assert.deepStrictEqual([...new Set(failures.map(({ _tag }) => _tag))], ["StoreUnavailable"])
            yield* reasonOf(store.get(newKey()))
            yield* Effect.promise(server().start)
            yield* Effect.retry(store.get(newKey()), { schedule: Schedule.spaced("50 millis"), times: 200 })
          }
          const found = yield* Effect.forEach(confirmed, (id) => store.get({ collection: "killed", id }), {
            concurrency: 8
          })
          assert.strictEqual(found.filter((record) => record === undefined).length, 0)
        }).pipe(Effect.provide(storeOf({}, { disableOfflineQueue }))))
    }
  })

  it.live("shows neither its password nor what it keeps", () =>
    Effect.gen(function*() {
      const secret = "what the tool gave back"
      const use = Effect.gen(function*() {
        const store = yield* RecordStore
        const [key, write] = [newKey(), { ...newWrite(), value: secret }]
        yield* store.set(key, write)
        yield* store.get(key)
        yield* store.list({ collection: key.collection, tag: "kept", limit: 10 })
        yield* send("SET", "{shown}:record:5:tests:foreign", secret)
        yield* Effect.ignore(store.set({ collection: "tests", id: "foreign" }, write))
        yield* Effect.promise(server().kill)
        yield* store.set(newKey(), write).pipe(Effect.ensuring(Effect.promise(server().start)))
      })
      const text = yield* shown(Effect.provide(use, storeOf({ prefix: "shown" }, { disableOfflineQueue: true })))
      assert.include(text, "StoreUnavailable")
      for (const hidden of [Redis.password, secret]) assert.notInclude(text, hidden)
    }))
})
