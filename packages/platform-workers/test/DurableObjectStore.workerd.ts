/** Inside workerd alone, against the Durable Objects of `runtime-tests/workerd/objects.ts`. */
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as RecordStore from "@countersign/core/RecordStore"
import { ledgerContract, storeContract } from "@countersign/core/testing"
import * as DurableObjectStore from "@countersign/platform-workers/DurableObjectStore"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { assert, describe, it } from "@effect/vitest"
import { env } from "cloudflare:workers"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { approvalsContract } from "../../core/test/approvalsContract.ts"

const namespace = env["COUNTERSIGN"] as DurableObjectStore.NamespaceLike
const frail = env["FRAIL"] as DurableObjectStore.NamespaceLike

/** The methods of `FrailObject` that the store does not call. */
interface Frail {
  readonly end: () => Promise<void>
  readonly fail: (times: number) => Promise<void>
  readonly rows: () => Promise<{ readonly records: number; readonly parts: number }>
  readonly damage: () => Promise<void>
}

const frailObject = (name: string) => frail.get(frail.idFromName(name)) as Frail

const store = DurableObjectStore.layer({ namespace })

describe("DurableObjectStore", () => {
  storeContract(() => store)
})

describe("a ledger in a Durable Object", () => {
  // The tests' clock leaps over days, while the object takes its own time: no lease runs out meanwhile.
  ledgerContract((options) =>
    DurableLedger.layer({ lease: "30 days", ...options }).pipe(Layer.provide([store, WebCrypto.layer]))
  )
})

describe("the inbox in a Durable Object", () => {
  approvalsContract(() => store)
})

const key = { collection: "doors", id: "front" }

const write: RecordStore.Write = {
  value: "open",
  version: "v1",
  expected: undefined,
  tag: "door",
  ttlMillis: 3_600_000
}

/** What the store answers when a program runs on a Durable Object of its own. */
const onFrail = (
  program: (
    store: RecordStore.RecordStore["Service"],
    object: () => Frail
  ) => Effect.Effect<void, RecordStore.StoreUnavailable>
) =>
  Effect.suspend(() => {
    const name = crypto.randomUUID()
    return Effect.flatMap(RecordStore.RecordStore, (store) => program(store, () => frailObject(name))).pipe(
      Effect.provide(DurableObjectStore.layer({ namespace: frail, name }))
    )
  })

const reasonOf = (effect: Effect.Effect<unknown, RecordStore.StoreUnavailable>): Effect.Effect<string> =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: () => "it did not fail" })

/** Ends the object; the call that does so fails with it. */
const end = (object: Frail) => Effect.ignore(Effect.tryPromise(() => object.end()))

const until = (isSo: () => Promise<boolean>): Effect.Effect<void> =>
  Effect.promise(isSo).pipe(
    Effect.tap((done) => done ? Effect.void : Effect.sleep(100)),
    Effect.repeat({ until: (done) => done }),
    Effect.asVoid
  )

describe("RecordStoreObject", () => {
  it.live("removes what has expired by an alarm, with all the parts of a value", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        const value = "é".repeat(1_200_001)
        for (const id of ["a", "b"]) yield* store.set({ ...key, id }, { ...write, value, ttlMillis: 50 })
        yield* store.set(key, { ...write, value })
        yield* until(async () => (await object().rows()).records === 1)
        assert.deepStrictEqual(yield* Effect.promise(() => object().rows()), { records: 1, parts: 2 })
        assert.deepStrictEqual(yield* store.get(key), { value, version: "v1" })
      })
    ))

  it.live("removes what has expired while it was gone", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        yield* store.set(key, { ...write, ttlMillis: 50 })
        yield* end(object())
        yield* until(async () => (await object().rows()).records === 0)
      })
    ))

  it.live("removes more records than an alarm takes at a time", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        const ids = Array.from({ length: 1_100 }, (_, index) => String(index))
        yield* Effect.forEach(ids, (id) => store.set({ ...key, id }, { ...write, ttlMillis: 1 }), { concurrency: 50 })
        yield* until(async () => (await object().rows()).records === 0)
      })
    ))

  it.effect("keeps a value of several megabytes, whose characters no part divides", () =>
    onFrail((store) =>
      Effect.gen(function*() {
        for (const value of ["😀".repeat(1_500_000), `a${"😀".repeat(1_500_000)}`]) {
          const id = value.slice(0, 1) === "a" ? "odd" : "even"
          assert.isTrue(yield* store.set({ ...key, id }, { ...write, value }))
          assert.isTrue((yield* store.get({ ...key, id }))?.value === value)
        }
      })
    ))

  it.effect("fails where a part of a value is lost, and lists the others", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        yield* store.set({ ...key, id: "a" }, write)
        yield* store.set(key, { ...write, value: "a".repeat(1_200_000) })
        yield* store.set({ ...key, id: "z" }, write)
        yield* Effect.promise(() => object().damage())
        assert.match(yield* reasonOf(store.get(key)), /a record is corrupt/)
        assert.deepStrictEqual(yield* store.list({ collection: "doors", tag: "door", limit: 3 }), [
          { id: "a", value: "open", version: "v1" },
          { id: "front", value: "", version: "v1" },
          { id: "z", value: "open", version: "v1" }
        ])
      })
    ))

  it.effect("lists more than one answer of the object can hold", () =>
    onFrail((store) =>
      Effect.gen(function*() {
        // Each character takes two bytes on its way: 40 MB in all. One record is as large as a page, and one larger.
        const sizes = [10, 2_500_000, 4_000_000, 10, 2_500_000, 6_000_000, 2_500_000, 2_500_000, 10]
        for (const [index, size] of sizes.entries()) {
          yield* store.set({ ...key, id: String(index) }, { ...write, value: "é".repeat(size - 1) + "€" })
        }
        const sizesOf = Effect.fnUntraced(function*(limit: number, after?: string) {
          const records = yield* store.list({ collection: "doors", tag: "door", limit, after })
          return records.map(({ value }) => value.length)
        })
        assert.deepStrictEqual(yield* sizesOf(100), sizes)
        assert.deepStrictEqual(yield* sizesOf(9), sizes)
        assert.deepStrictEqual(yield* sizesOf(4, "0"), sizes.slice(1, 5))
        assert.deepStrictEqual(yield* sizesOf(9, "7"), sizes.slice(8))
      })
    ))
})

describe("a Durable Object that ends", () => {
  it.effect("has what it answered for", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        for (let version = 0; version < 20; version++) {
          const expected = version === 0 ? undefined : String(version - 1)
          assert.isTrue(yield* store.set(key, { ...write, expected, version: String(version) }))
          yield* end(object())
          assert.strictEqual((yield* store.get(key))?.version, String(version))
        }
      })
    ))

  it.effect("is asked again, which has no effect a second time", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        yield* Effect.promise(() => object().fail(1))
        assert.isTrue(yield* store.set(key, write))
        assert.deepStrictEqual(yield* store.get(key), { value: "open", version: "v1" })
      })
    ))

  it.effect("fails as StoreUnavailable when it ends again, with the write done", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        yield* Effect.promise(() => object().fail(2))
        assert.match(yield* reasonOf(store.set(key, write)), /the Durable Object was reset/)
        // Sent again, as by one who does not know.
        assert.isTrue(yield* store.set(key, write))
        assert.isFalse(yield* store.set(key, { ...write, version: "v2" }))
      })
    ))

  it.effect("fails as StoreUnavailable where it has not answered for five seconds", () =>
    onFrail((store) =>
      Effect.gen(function*() {
        const setting = yield* Effect.forkChild(reasonOf(store.set({ ...key, id: "never" }, write)))
        yield* TestClock.adjust("5 seconds")
        assert.match(yield* Fiber.join(setting), /did not answer within 5 seconds/)
      })
    ))

  it.effect("gives each of many writes to one, while it ends again and again", () =>
    onFrail((store, object) =>
      Effect.gen(function*() {
        const writer = Effect.fnUntraced(function*(name: number) {
          let count = 0
          for (let round = 0; round < 20; round++) {
            const version = `${name}.${round}`
            const attempt = store.set({ ...key, id: String(round) }, { ...write, version })
            if (yield* Effect.retry(attempt, { times: 50 })) count++
          }
          return count
        })
        const ending = Effect.forever(Effect.suspend(() => end(object())))
        const counts = yield* Effect.raceFirst(
          Effect.forEach([1, 2, 3, 4, 5], writer, { concurrency: "unbounded" }),
          ending
        )
        assert.strictEqual(counts.reduce((sum, count) => sum + count, 0), 20)
      })
    ))
})

describe("a binding that is none of RecordStoreObject", () => {
  it.effect("fails typed", () =>
    Effect.gen(function*() {
      const store = yield* RecordStore.RecordStore
      assert.match(yield* reasonOf(store.get(key)), /the Durable Object failed/)
    }).pipe(Effect.provide(DurableObjectStore.layer({
      namespace: { idFromName: () => ({}), get: () => ({}) }
    }))))
})
