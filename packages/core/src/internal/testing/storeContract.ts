import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { type Key, RecordStore, type StoreUnavailable, type Write } from "../../RecordStore.ts"
import { below } from "./choice.ts"
import { newId } from "./newId.ts"

const hour = 3_600_000

/** A store may outlive a test: each has a collection of its own. */
const newCollection = (): string => newId()

const newVersion = (): string => newId()

const newWrite = (more: Partial<Write> = {}): Write => ({
  value: "{}",
  version: newVersion(),
  expected: undefined,
  tag: "kept",
  ttlMillis: hour,
  ...more
})

const get = (key: Key) => Effect.flatMap(RecordStore, (store) => store.get(key))

const set = (key: Key, write: Write) => Effect.flatMap(RecordStore, (store) => store.set(key, write))

const listAll = Effect.fnUntraced(function*(collection: string, tag: string, limit = 1000) {
  const store = yield* RecordStore
  const ids: Array<string> = []
  let after: string | undefined
  for (;;) {
    const page = yield* store.list({ collection, tag, after, limit })
    ids.push(...page.map(({ id }) => id))
    if (page.length < limit) return ids
    after = ids.at(-1)
  }
})

/**
 * IDs that engines mix up, or put in another order than that of their code points: `=` stands in front of those that are kept for
 * others, so that none is empty.
 */
const ids = [
  "a",
  "A",
  "a ",
  "b",
  "ab",
  "á",
  "a\u0301",
  "日本",
  "\uffee",
  "😀",
  "%",
  "_",
  "'",
  "\"",
  "\\",
  "\\u0000",
  "*",
  ":",
  "/",
  "__proto__",
  "constructor",
  "x".repeat(250),
  "x".repeat(249),
  "é".repeat(250),
  "😀".repeat(125)
]

/** @internal */
export const storeContract = (make: () => Layer.Layer<RecordStore, unknown>): void => {
  const test = (name: string, program: () => Effect.Effect<void, StoreUnavailable, RecordStore>) =>
    it.effect(name, () => Effect.provide(program(), make()))

  /** In real time: an engine may have a clock of its own. */
  const timed = (name: string, program: () => Effect.Effect<void, StoreUnavailable, RecordStore>) =>
    it.live(name, () => Effect.provide(program(), make()))

  test("knows nothing of what was never set", () =>
    Effect.gen(function*() {
      const collection = newCollection()
      assert.isUndefined(yield* get({ collection, id: "a" }))
      assert.deepStrictEqual(yield* listAll(collection, "kept"), [])
    }))

  test("gives back what was set", () =>
    Effect.gen(function*() {
      const key = { collection: newCollection(), id: "a" }
      const write = newWrite({ value: "日本 \\u0000 \\n\"'\\ 😀 \u2028 {\"a\": 1}" })
      assert.isTrue(yield* set(key, write))
      assert.deepStrictEqual(yield* get(key), { value: write.value, version: write.version })
    }))

  for (const length of [0, 1, 70_000, 400_000]) {
    test(`keeps a value of ${length} characters`, () =>
      Effect.gen(function*() {
        const key = { collection: newCollection(), id: "a" }
        const value = "0123456789é".repeat(Math.ceil(length / 11)).slice(0, length)
        const first = newWrite({ value })
        assert.isTrue(yield* set(key, first))
        assert.strictEqual((yield* get(key))?.value, value)
        // A shorter one leaves nothing of it behind.
        assert.isTrue(yield* set(key, newWrite({ value: "short", expected: first.version })))
        assert.strictEqual((yield* get(key))?.value, "short")
      }))
  }

  test("makes a record only where there is none", () =>
    Effect.gen(function*() {
      const key = { collection: newCollection(), id: "a" }
      const first = newWrite({ value: "first" })
      assert.isTrue(yield* set(key, first))
      assert.isFalse(yield* set(key, newWrite({ value: "second" })))
      assert.deepStrictEqual(yield* get(key), { value: "first", version: first.version })
    }))

  test("replaces the version that is expected, and no other", () =>
    Effect.gen(function*() {
      const key = { collection: newCollection(), id: "a" }
      const [first, second] = [newWrite({ value: "first" }), newWrite({ value: "second" })]
      assert.isFalse(yield* set(key, { ...first, expected: newVersion() }))
      assert.isUndefined(yield* get(key))
      assert.isTrue(yield* set(key, first))
      assert.isTrue(yield* set(key, { ...second, expected: first.version }))
      assert.isFalse(yield* set(key, newWrite({ value: "late", expected: first.version })))
      assert.isFalse(yield* set(key, newWrite({ value: "other case", expected: second.version.toUpperCase() })))
      assert.deepStrictEqual(yield* get(key), { value: "second", version: second.version })
    }))

  test("takes a write that is sent again for written", () =>
    Effect.gen(function*() {
      const key = { collection: newCollection(), id: "a" }
      const [first, second] = [newWrite({ value: "first" }), newWrite({ value: "second" })]
      assert.isTrue(yield* set(key, first))
      assert.isTrue(yield* set(key, first))
      const next = { ...second, expected: first.version }
      assert.isTrue(yield* set(key, next))
      assert.isTrue(yield* set(key, next))
      // The first, sent again too late, does not come back.
      assert.isFalse(yield* set(key, first))
      assert.deepStrictEqual(yield* get(key), { value: "second", version: second.version })
    }))

  test("removes a record that has no time left, and makes it anew", () =>
    Effect.gen(function*() {
      const collection = newCollection()
      const key = { collection, id: "a" }
      const first = newWrite()
      assert.isTrue(yield* set(key, first))
      assert.isFalse(yield* set(key, newWrite({ expected: newVersion(), ttlMillis: 0 })))
      assert.isTrue(yield* set(key, newWrite({ expected: first.version, ttlMillis: 0 })))
      assert.isUndefined(yield* get(key))
      assert.deepStrictEqual(yield* listAll(collection, "kept"), [])
      // A record that never lived, either.
      assert.isTrue(yield* set(key, newWrite({ ttlMillis: -5 })))
      assert.isUndefined(yield* get(key))
      const second = newWrite({ value: "second" })
      assert.isFalse(yield* set(key, { ...second, expected: first.version }))
      assert.isTrue(yield* set(key, second))
      assert.deepStrictEqual(yield* get(key), { value: "second", version: second.version })
      assert.deepStrictEqual(yield* listAll(collection, "kept"), ["a"])
    }))

  test("tells IDs and collections apart that are nearly the same", () =>
    Effect.gen(function*() {
      const collection = newCollection()
      for (const [index, id] of ids.entries()) {
        assert.isTrue(yield* set({ collection, id }, newWrite({ value: String(index) })), id)
      }
      for (const [index, id] of ids.entries()) {
        assert.strictEqual((yield* get({ collection, id }))?.value, String(index), id)
      }
      assert.isUndefined(yield* get({ collection: collection.toUpperCase(), id: "a" }))
      assert.isUndefined(yield* get({ collection: `${collection}a`, id: "b" }))
      assert.isUndefined(yield* get({ collection: collection.slice(0, -1), id: `${collection.at(-1)}a` }))
    }))

  test("lists in the order of code points, page by page", () =>
    Effect.gen(function*() {
      const collection = newCollection()
      for (const id of ids) yield* set({ collection, id }, newWrite())
      const codePoints = (id: string) =>
        Array.from(id, (char) => char.codePointAt(0)!.toString(16).padStart(6, "0")).join()
      const expected = ids.toSorted((one, other) => codePoints(one) < codePoints(other) ? -1 : 1)
      for (const limit of [1, 2, 7, ids.length, 1000]) {
        assert.deepStrictEqual(yield* listAll(collection, "kept", limit), expected, `pages of ${limit}`)
      }
      // What it comes behind need not be there.
      const store = yield* RecordStore
      const page = yield* store.list({ collection, tag: "kept", after: "aa", limit: 2 })
      assert.deepStrictEqual(
        page.map(({ id }) => id),
        expected.filter((id) => codePoints(id) > codePoints("aa")).slice(0, 2)
      )
    }))

  test("lists by collection and tag, and follows a record from tag to tag", () =>
    Effect.gen(function*() {
      const collection = newCollection()
      const other = newCollection()
      const [a, b] = [newWrite({ tag: "pending", value: "1" }), newWrite({ tag: "pending", value: "2" })]
      yield* set({ collection, id: "a" }, a)
      yield* set({ collection, id: "b" }, b)
      yield* set({ collection: other, id: "c" }, newWrite({ tag: "pending" }))
      const store = yield* RecordStore
      assert.deepStrictEqual(yield* store.list({ collection, tag: "pending", limit: 10 }), [
        { id: "a", value: "1", version: a.version },
        { id: "b", value: "2", version: b.version }
      ])
      assert.deepStrictEqual(yield* listAll(collection, "pend"), [])
      assert.isTrue(yield* set({ collection, id: "a" }, newWrite({ tag: "answered", expected: a.version })))
      // What changes nothing leaves the tag as well.
      assert.isFalse(yield* set({ collection, id: "b" }, newWrite({ tag: "answered", expected: a.version })))
      assert.deepStrictEqual(yield* listAll(collection, "pending"), ["b"])
      assert.deepStrictEqual(yield* listAll(collection, "answered"), ["a"])
    }))

  describe("at the same time", () => {
    test("of a hundred that make a record, one does", () =>
      Effect.gen(function*() {
        const key = { collection: newCollection(), id: "a" }
        const writes = Array.from({ length: 100 }, (_, index) => newWrite({ value: String(index) }))
        const results = yield* Effect.forEach(writes, (write) => set(key, write), { concurrency: "unbounded" })
        const winners = writes.filter((_, index) => results[index])
        assert.strictEqual(winners.length, 1)
        assert.deepStrictEqual(yield* get(key), { value: winners[0]!.value, version: winners[0]!.version })
      }))

    test("of a hundred that replace a version, one does", () =>
      Effect.gen(function*() {
        const key = { collection: newCollection(), id: "a" }
        const first = newWrite()
        yield* set(key, first)
        const writes = Array.from({ length: 100 }, (_, index) =>
          newWrite({ value: String(index), tag: `tag ${index}`, expected: first.version }))
        const results = yield* Effect.forEach(writes, (write) =>
          set(key, write), { concurrency: "unbounded" })
        const winners = writes.filter((_, index) => results[index])
        assert.strictEqual(winners.length, 1)
        assert.deepStrictEqual(yield* get(key), { value: winners[0]!.value, version: winners[0]!.version })
        for (const { tag } of writes) {
          assert.deepStrictEqual(yield* listAll(key.collection, tag), tag === winners[0]!.tag ? ["a"] : [])
        }
      }))

    test("a hundred records do not get into each other's way", () =>
      Effect.gen(function*() {
        const collection = newCollection()
        const keys = Array.from({ length: 100 }, (_, index) => ({ collection, id: String(index) }))
        const results = yield* Effect.forEach(keys, (key) => set(key, newWrite({ value: key.id })), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(results, keys.map(() => true))
        const found = yield* Effect.forEach(keys, get, { concurrency: "unbounded" })
        assert.deepStrictEqual(found.map((record) => record?.value), keys.map(({ id }) => id))
      }))

    test("a counter that ten raise loses nothing", () =>
      Effect.gen(function*() {
        const key = { collection: newCollection(), id: "counter" }
        yield* set(key, newWrite({ value: "0" }))
        const raise = Effect.gen(function*() {
          for (;;) {
            const { value, version } = (yield* get(key))!
            if (yield* set(key, newWrite({ value: String(Number(value) + 1), expected: version }))) return
          }
        })
        yield* Effect.forEach(Array.from({ length: 10 }), () => Effect.repeat(raise, { times: 4 }), {
          concurrency: "unbounded"
        })
        assert.strictEqual((yield* get(key))?.value, "50")
      }))
  })

  describe("time", () => {
    timed("forgets a record when its time is up, and not before", () =>
      Effect.gen(function*() {
        const collection = newCollection()
        const [short, long] = [{ collection, id: "short" }, { collection, id: "long" }]
        const write = newWrite({ ttlMillis: 400 })
        yield* set(long, newWrite())
        const began = yield* Clock.currentTimeMillis
        yield* set(short, write)
        const [found, listed] = [yield* get(short), yield* listAll(collection, "kept")]
        // A machine that is this slow shows nothing.
        if ((yield* Clock.currentTimeMillis) - began < 300) {
          assert.strictEqual(found?.version, write.version)
          assert.deepStrictEqual(listed, ["long", "short"])
        }
        yield* Effect.sleep(600)
        assert.isUndefined(yield* get(short))
        assert.deepStrictEqual(yield* listAll(collection, "kept"), ["long"])
        assert.isDefined(yield* get(long))
        // As if it had never been.
        assert.isFalse(yield* set(short, newWrite({ expected: write.version })))
        assert.isTrue(yield* set(short, newWrite({ value: "anew" })))
        assert.strictEqual((yield* get(short))?.value, "anew")
      }))

    timed("gives a record the time of its last version", () =>
      Effect.gen(function*() {
        const collection = newCollection()
        const [longer, shorter] = [{ collection, id: "longer" }, { collection, id: "shorter" }]
        const [first, second] = [newWrite({ ttlMillis: 300 }), newWrite()]
        yield* set(longer, first)
        yield* set(shorter, second)
        const isLonger = yield* set(longer, newWrite({ expected: first.version }))
        yield* set(shorter, newWrite({ expected: second.version, ttlMillis: 100 }))
        yield* Effect.sleep(600)
        assert.deepStrictEqual(yield* listAll(collection, "kept"), isLonger ? ["longer"] : [])
        assert.isUndefined(yield* get(shorter))
      }))
  })

  const step = Arbitrary.all([below(4), below(10)])

  it.effect.prop(
    "agrees with a model",
    [Arbitrary.array(step, { minLength: 5, maxLength: 30 })],
    ([steps]) =>
      Effect.gen(function*() {
        const collection = newCollection()
        const model = new Map<string, { readonly version: string; readonly value: string; readonly tag: string }>()
        for (const [index, [which, how]] of steps.entries()) {
          const id = String(which)
          const found = model.get(id)
          const write = newWrite({
            value: String(index),
            // Mostly what it takes.
            expected: how < 7 ? found?.version : how === 7 ? undefined : newVersion(),
            tag: how % 2 === 0 ? "even" : "odd",
            ttlMillis: how === 6 ? 0 : hour
          })
          const isWritten = yield* set({ collection, id }, write)
          assert.strictEqual(isWritten, found?.version === write.expected, `step ${index}`)
          if (isWritten && how === 6) model.delete(id)
          else if (isWritten) model.set(id, { version: write.version, value: write.value, tag: write.tag })
          const { tag: _, ...expected } = model.get(id) ?? { tag: "" }
          assert.deepStrictEqual((yield* get({ collection, id })) ?? {}, expected, `step ${index}`)
        }
        for (const tag of ["even", "odd"]) {
          const tagged = [...model].filter(([, record]) => record.tag === tag).map(([id]) => id).toSorted()
          assert.deepStrictEqual(yield* listAll(collection, tag), tagged)
        }
      }).pipe(Effect.provide(make())),
    { arbitrary: { runs: 100 } }
  )
}
