import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import { sortedCopy } from "../src/internal/sortedCopy.ts"
import { writeJson } from "../src/internal/writeJson.ts"
import { jsonValue } from "./arbitraries.ts"
import vectors from "./fixtures/ai-sdk/canonical-json.json" with { type: "json" }
import goVector from "./fixtures/go-ai-sdk/canonical-json.json" with { type: "json" }
import { jsInputs } from "./jsInputs.ts"
import { testCrypto } from "./testCrypto.ts"
import { throughJson } from "./throughJson.ts"

const runs = { arbitrary: { runs: 2000 } }

/** Where this differs from the AI SDK on purpose: the canonical text here, or the reason to refuse. */
const deviations: Readonly<Record<string, { readonly text: string } | { readonly refused: string }>> = {
  // A number that is none has the text of null there.
  "-1e400": { refused: "not-finite" },
  "NaN": { refused: "not-finite" },
  // Nothing to sign.
  "undefined": { refused: "undefined" },
  "(()=>1)": { refused: "function" },
  "Object.assign(()=>1,{x:1})": { refused: "function" },
  // Their text there is not JSON, or that of another array.
  "({a:undefined})": { text: "{}" },
  "[1,,2]": { text: "[1,null,2]" },
  "[()=>1]": { refused: "function" },
  "[Symbol(\"x\")]": { refused: "symbol" },
  // All dates, maps, patterns and errors have one text there.
  "new Date(0)": { text: "\"1970-01-01T00:00:00.000Z\"" },
  "new Map([[1,2]])": { refused: "instance" },
  "/x/g": { refused: "instance" },
  "new Error(\"x\")": { refused: "instance" },
  // Refused there too, by a TypeError.
  "1n": { refused: "bigint" },
  "({a:1n})": { refused: "bigint" }
}

const refusal = (value: unknown) => {
  const result = CanonicalJson.encode(value)
  const json = CanonicalJson.toJson(value)
  if (Result.isSuccess(result) || Result.isSuccess(json)) return undefined
  assert.deepStrictEqual(json.failure, result.failure)
  return [result.failure.reason, result.failure.pointer]
}

describe("the vectors of the AI SDK", () => {
  for (const vector of vectors.cases) {
    const source = (vector.inputJson ?? vector.inputJs)!
    it.effect(source.slice(0, 60), () =>
      Effect.gen(function*() {
        const value = vector.inputJson === undefined ? jsInputs[source]!() : JSON.parse(source) as unknown
        const deviation = deviations[source]
        if (deviation === undefined) {
          assert.strictEqual(CanonicalJson.stringify(value), vector.canonical)
          assert.strictEqual(yield* CanonicalJson.digest(value), vector.digest)
        } else if ("text" in deviation) {
          assert.strictEqual(CanonicalJson.stringify(value), deviation.text)
          assert.notStrictEqual(vector.canonical, deviation.text)
        } else {
          assert.strictEqual(refusal(value)?.[0], deviation.refused)
        }
      }).pipe(Effect.provide(testCrypto)))
  }

  it("every deviation names a case", () => {
    const sources = new Set(vectors.cases.map((vector) => vector.inputJson ?? vector.inputJs))
    for (const source of Object.keys(deviations)) assert.isTrue(sources.has(source), source)
  })

  it("and of the Go AI SDK", () => {
    assert.strictEqual(CanonicalJson.stringify(goVector.equivalentJsInput), goVector.canonical)
  })
})

/** The same value, its keys the other way round at all depths. */
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]))
    : value

/** The AI SDK's own algorithm, as short as it is there. */
const reference = (value: any): string =>
  typeof value !== "object" || value === null
    ? JSON.stringify(value)
    : Array.isArray(value)
    ? `[${value.map(reference).join(",")}]`
    : `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${reference(value[key])}`).join(",")}}`

describe("CanonicalJson.stringify", () => {
  it.prop("gives the AI SDK's text for every JSON value", [jsonValue], ([value]) => {
    assert.strictEqual(CanonicalJson.stringify(value), reference(value))
  }, runs)

  it.prop("gives JSON for the same value, whatever the order of its keys", [jsonValue], ([value]) => {
    const text = CanonicalJson.stringify(value)
    assert.strictEqual(CanonicalJson.stringify(reversed(value)), text)
    const read: unknown = JSON.parse(text)
    if (JSON.stringify(read) === text) assert.strictEqual(CanonicalJson.stringify(read), text)
  }, runs)

  const texts = Arbitrary.array(Arbitrary.map(jsonValue, (value) => JSON.stringify(value)), { maxLength: 60 })
  it.prop("sorts any number of keys as Array.prototype.sort does", [texts], ([keys]) => {
    const value = Object.fromEntries(keys.map((key) => [key, 0]))
    assert.strictEqual(CanonicalJson.stringify(value), reference(value))
  })

  it.prop("has two ways that give one text", [jsonValue], ([value]) => {
    const copy = sortedCopy(value)
    if (copy === undefined) return assert.match(JSON.stringify(value), /"\d+":|"__proto__":/)
    assert.strictEqual(JSON.stringify(copy.value), writeJson(value))
  }, runs)

  it("keeps keys in order that an object would not", () => {
    for (
      const keys of [["10", "9"], ["b", "1"], ["4294967295", "4294967294", "5"], ["__proto__", "a"], ["1a", "10", "-1"]]
    ) {
      const value = Object.fromEntries(keys.map((key) => [key, { [key]: 0 }]))
      assert.strictEqual(CanonicalJson.stringify(value), reference(value))
    }
  })

  it("sorts by UTF-16 code units", () => {
    const keys = ["\uff5e", "\u{1f600}", "é", "z", "Z", "10", "9", "1", "", "\ud800", "__proto__"]
    const value = Object.fromEntries(keys.map((key) => [key, 0]))
    assert.strictEqual(CanonicalJson.stringify(value), reference(value))
    assert.include(CanonicalJson.stringify(value), "\"\u{1f600}\":0,\"\uff5e\":0")
  })

  it("escapes each character as JSON.stringify does", () => {
    for (let code = 0; code < 0x10000; code++) {
      const text = String.fromCharCode(code)
      if (CanonicalJson.stringify(text) !== JSON.stringify(text)) assert.fail(code.toString(16))
    }
    assert.strictEqual(CanonicalJson.stringify("\ud83d\ude00"), "\"\ud83d\ude00\"")
  })

  it("takes a hundred thousand levels", () => {
    const open = 100_000
    const arrays = "[".repeat(open) + "]".repeat(open)
    assert.strictEqual(CanonicalJson.stringify(JSON.parse(arrays)), arrays)
    const objects = "{\"a\":".repeat(open) + "1" + "}".repeat(open)
    assert.strictEqual(CanonicalJson.stringify(JSON.parse(objects)), objects)
    const bad: Array<unknown> = [1n]
    assert.strictEqual(refusal(JSON.parse(arrays))?.[0], undefined)
    let deep: unknown = bad
    for (let level = 1; level < open; level++) deep = [deep]
    assert.strictEqual(refusal(deep)?.[1]!.length, 2 * open)
  })

  it("throws NotJson", () => {
    assert.throws(() => CanonicalJson.stringify(1n), /^not a JSON value: bigint/)
  })
})

describe("CanonicalJson.toJson", () => {
  const json = (value: unknown) => Result.getOrThrow(CanonicalJson.toJson(value))

  it("leaves out what JSON leaves out", () => {
    assert.deepStrictEqual(json({ a: undefined, b: [undefined, { c: undefined }], [Symbol("s")]: 1 }), {
      b: [null, {}]
    })
    // oxlint-disable-next-line no-sparse-arrays
    assert.deepStrictEqual(json([1, , 2]), [1, null, 2])
    assert.isTrue(Object.is(json(-0), 0))
  })

  it("keeps the order of keys, and __proto__ an own one", () => {
    const text = "{\"b\":1,\"__proto__\":{\"x\":1},\"a\":2}"
    const value = json(JSON.parse(text)) as object
    assert.strictEqual(JSON.stringify(value), text)
    assert.strictEqual(Object.getPrototypeOf(value), Object.prototype)
  })

  it("keeps keys that V8 misreads", () => {
    const keys = ["", "\n", "\u0000", "\u001f", "\u000f", "\\", "\"", "a"]
    for (let run = 0; run < 5000; run++) {
      const value = Object.fromEntries(keys.filter((_, bit) => run >> bit & 1).map((key) => [key, { at: new Date(0) }]))
      assert.sameMembers(Object.keys(json(value) as object), Object.keys(value))
    }
  })

  it("applies toJSON, once, with the key", () => {
    const echo = { toJSON: (key: string) => ({ key }) }
    assert.deepStrictEqual(json({ at: new Date(0), url: new URL("https://a.example/b"), list: [echo], echo }), {
      at: "1970-01-01T00:00:00.000Z",
      url: "https://a.example/b",
      list: [{ key: "0" }],
      echo: { key: "echo" }
    })
    assert.deepStrictEqual(json(echo), { key: "" })
    assert.deepStrictEqual(json({ gone: { toJSON: () => undefined }, list: [{ toJSON: () => undefined }] }), {
      list: [null]
    })
    assert.deepStrictEqual(refusal({ a: { toJSON: () => new Map() } }), ["instance", "/a"])
    assert.deepStrictEqual(refusal({ a: { toJSON: () => 1n } }), ["bigint", "/a"])
    assert.deepStrictEqual(refusal({ toJSON: () => undefined }), ["undefined", ""])
  })

  it("refuses what would be lost, with its place", () => {
    class Money {
      readonly amount = 1
    }
    const refused: ReadonlyArray<readonly [value: unknown, reason: string, pointer: string]> = [
      [{ a: { "b/c": [0, 1n] } }, "bigint", "/a/b~1c/1"],
      [[Number.NaN], "not-finite", "/0"],
      [{ a: -Infinity }, "not-finite", "/a"],
      [{ a: () => 1 }, "function", "/a"],
      [{ a: undefined, b: Symbol("x") }, "symbol", "/b"],
      [[[], new Money()], "instance", "/1"],
      [{ a: new Map() }, "instance", "/a"],
      [new Set(), "instance", ""],
      [new Uint8Array(2), "instance", ""],
      // oxlint-disable-next-line no-new-wrappers
      [[new String("x")], "instance", "/0"],
      [Promise.resolve(1), "instance", ""],
      [{ at: new Date(Number.NaN) }, "invalid-date", "/at"],
      [undefined, "undefined", ""]
    ]
    for (const [value, reason, pointer] of refused) assert.deepStrictEqual(refusal(value), [reason, pointer])
  })

  it("refuses what cannot be read", () => {
    const throwing = () => {
      throw new Error("hunter2")
    }
    const getter = Object.defineProperty({}, "a", { enumerable: true, get: throwing })
    const values = [
      getter,
      { toJSON: throwing },
      new Proxy({}, { ownKeys: throwing }),
      new Proxy({}, { get: throwing })
    ]
    for (const value of values) {
      assert.strictEqual(refusal({ x: value })?.[0], "unreadable")
      const result = CanonicalJson.encode(value)
      assert.notInclude(JSON.stringify(result) + (Result.isFailure(result) ? result.failure.message : ""), "hunter2")
    }
    assert.deepStrictEqual(refusal({ x: [getter] }), ["unreadable", "/x/0/a"])
  })

  it("refuses a cycle where it closes, and takes one object twice", () => {
    const cycle: Record<string, unknown> = { list: [1, {}] }
    ;(cycle["list"] as Array<any>)[1].back = cycle
    assert.deepStrictEqual(refusal(cycle), ["cycle", "/list/1/back"])
    assert.deepStrictEqual(refusal([0, cycle]), ["cycle", "/1/list/1/back"])
    const self: Array<unknown> = []
    self.push(self, self)
    assert.deepStrictEqual(refusal(self), ["cycle", "/0"])

    let deep: any = {}
    const bottom = deep
    for (let level = 0; level < 1000; level++) deep = { a: deep }
    bottom.up = deep
    assert.strictEqual(refusal([deep])?.[0], "cycle")

    const shared = { a: 1 }
    let twice: unknown = [shared, shared]
    for (let level = 0; level < 600; level++) twice = [twice, shared]
    assert.isUndefined(refusal(twice))
  })

  it("takes objects without a prototype, frozen ones and arrays of a class", () => {
    class List extends Array<number> {}
    const bare = Object.assign(Object.create(null), { a: Object.freeze([1]), list: List.from([1, 2]) })
    assert.deepStrictEqual(json(bare), { a: [1], list: [1, 2] })
  })

  it.prop("gives what JSON gives at the other end", [jsonValue], ([value]) => {
    assert.strictEqual(JSON.stringify(json(value)), JSON.stringify(value))
    assert.deepStrictEqual(json(value), json(throughJson(value)))
    assert.strictEqual(CanonicalJson.stringify(json(value)), CanonicalJson.stringify(value))
  }, runs)

  it("shares nothing with the value", () => {
    const value = { a: [1] }
    const copy = json(value) as typeof value
    copy.a.push(2)
    assert.deepStrictEqual(value, { a: [1] })
  })
})

describe("CanonicalJson.digest", () => {
  it.effect("dies for what is not JSON", () =>
    Effect.gen(function*() {
      assert.isTrue(Exit.hasDies(yield* Effect.exit(CanonicalJson.digest({ a: 1n }))))
    }).pipe(Effect.provide(testCrypto)))
})
