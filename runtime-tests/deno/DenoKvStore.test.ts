import * as DurableLedger from "@countersign/core/DurableLedger"
import * as RecordStore from "@countersign/core/RecordStore"
import { ledgerContract, storeContract } from "@countersign/core/testing"
import * as DenoKvStore from "@countersign/platform-workers/DenoKvStore"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { approvalsContract } from "../../packages/core/test/approvalsContract.ts"
import { type Kv, openKv } from "./kv.ts"

const kv = await openKv(":memory:")
afterAll(() => kv.close())

const store = DenoKvStore.layer({ kv })

describe("DenoKvStore", () => {
  storeContract(() => store)
})

describe("a ledger in Deno KV", () => {
  // The tests' clock leaps over days, while Deno KV takes its own time: no lease runs out meanwhile.
  ledgerContract((options) =>
    DurableLedger.layer({ lease: "30 days", ...options }).pipe(Layer.provide([store, WebCrypto.layer]))
  )
})

describe("the inbox in Deno KV", () => {
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

/** On an empty database. */
const onEmpty = (
  program: (store: RecordStore.RecordStore["Service"], kv: Kv) => Effect.Effect<void, RecordStore.StoreUnavailable>
) =>
  Effect.acquireUseRelease(
    Effect.promise(() => openKv(":memory:")),
    (kv) =>
      Effect.flatMap(RecordStore.RecordStore, (store) => program(store, kv)).pipe(
        Effect.provide(DenoKvStore.layer({ kv }))
      ),
    (kv) => Effect.ignore(Effect.try(() => kv.close()))
  )

const keysIn = async (kv: Kv): Promise<ReadonlyArray<ReadonlyArray<unknown>>> =>
  (await Array.fromAsync(kv.list({ prefix: [] }, { limit: 1_000, batchSize: 500 }))).map(({ key }) => key)

const reasonOf = (effect: Effect.Effect<unknown, RecordStore.StoreUnavailable>): Effect.Effect<string> =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: () => "it did not fail" })

describe("what Deno KV holds", () => {
  it.effect("is nothing of a value that was replaced, or of a record that was removed", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        yield* store.set(key, { ...write, value: "a".repeat(700_000) })
        assert.lengthOf(yield* Effect.promise(() => keysIn(kv)), 13)
        yield* store.set(key, { ...write, value: "b".repeat(130_000), version: "v2", expected: "v1", tag: "gate" })
        assert.lengthOf(yield* Effect.promise(() => keysIn(kv)), 4)
        yield* store.set(key, { ...write, version: "v3", expected: "v2", ttlMillis: 0 })
        assert.deepStrictEqual(yield* Effect.promise(() => keysIn(kv)), [])
      })
    ))

  it.effect("is no more than it takes: a larger value fails, and changes nothing", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        const value = "é".repeat(350_000)
        const long = { collection: "日".repeat(250), id: "日".repeat(250) }
        const [v1, v2] = ["1".repeat(100), "2".repeat(100)]
        assert.isTrue(yield* store.set(long, { ...write, value, version: v1 }))
        // Its old parts are removed by the same transaction.
        assert.isTrue(yield* store.set(long, { ...write, value, version: v2, expected: v1, tag: "t".repeat(50) }))
        assert.isTrue((yield* store.get(long))?.value === value)
        const before = yield* Effect.promise(() => keysIn(kv))
        const reason = yield* reasonOf(store.set(key, { ...write, value: `${value}a` }))
        assert.strictEqual(reason, "a record has 700001 bytes, of which Deno KV takes 700000: keep less in it")
        assert.deepStrictEqual(yield* Effect.promise(() => keysIn(kv)), before)
      })
    ))

  it.effect("is refused where somebody else has changed it, and hides no others", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        const listed = (version: string) =>
          Effect.map(store.list({ collection: "doors", tag: "door", limit: 3 }), (records) =>
            assert.deepStrictEqual(records, [
              { id: "a", value: "open", version: "v1" },
              { id: "front", value: "", version },
              { id: "z", value: "open", version: "v1" }
            ]))
        for (const id of ["a", "z"]) {
          yield* store.set({ ...key, id }, write)
        }
        yield* store.set(key, { ...write, value: "a".repeat(130_000) })
        const part = ["countersign", "part", "doors", "front", "v1", 1]
        for (const value of [1, undefined, new Uint8Array([0xff])]) {
          yield* Effect.promise(() =>
            kv.set(part, value)
          )
          assert.match(yield* reasonOf(store.get(key)), /is corrupt/)
          yield* listed("v1")
        }
        yield* Effect.promise(() => kv.delete(part))
        assert.match(yield* reasonOf(store.get(key)), /is corrupt/)
        yield* listed("v1")
        const head = { version: "v1", tag: "door", keptUntil: 1e15, parts: 0, body: new Uint8Array() }
        for (
          const value of [
            1,
            "text",
            [],
            {},
            { ...head, body: "text" },
            { ...head, keptUntil: Number.NaN },
            ...[Number.NaN, -1, 0.5, 12, 1_000].map((parts) => ({ ...head, parts }))
          ]
        ) {
          yield* Effect.promise(() => kv.set(["countersign", "record", "doors", "front"], value))
          assert.match(yield* reasonOf(store.get(key)), /is corrupt/)
          assert.match(yield* reasonOf(store.set(key, write)), /is corrupt/)
          yield* listed(Object.hasOwn(Object(value), "version") ? "v1" : "")
        }
      })
    ))

  it.effect("is listed where somebody else has changed its entry under the tag", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        yield* store.set(key, write)
        yield* Effect.promise(() => kv.set(["countersign", "tag", "doors", "door", "front"], "soon"))
        const records = yield* store.list({ collection: "doors", tag: "door", limit: 1 })
        assert.deepStrictEqual(records, [{ id: "front", value: "open", version: "v1" }])
      })
    ))

  it.effect("is not written for a time that is no number", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        const reason = yield* reasonOf(store.set(key, { ...write, ttlMillis: Number.NaN }))
        assert.strictEqual(reason, "ttlMillis has to be a number of milliseconds")
        assert.deepStrictEqual(yield* Effect.promise(() => keysIn(kv)), [])
      })
    ))
})

describe("a Deno KV that fails", () => {
  it.effect("fails typed", () =>
    onEmpty((store, kv) =>
      Effect.gen(function*() {
        kv.close()
        assert.match(yield* reasonOf(store.get(key)), /^Deno KV failed: /)
        assert.match(yield* reasonOf(store.set(key, write)), /^Deno KV failed: /)
        assert.match(yield* reasonOf(store.list({ collection: "doors", tag: "door", limit: 1 })), /^Deno KV failed: /)
      })
    ))

  it.effect("fails the layer where its file cannot be opened", () =>
    Effect.gen(function*() {
      const built = Effect.scoped(Layer.build(DenoKvStore.layer({ path: "/nowhere/approvals.db" })))
      assert.match(yield* reasonOf(built), /^Deno KV failed: /)
    }))
})
