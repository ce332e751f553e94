import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApprovalId from "../src/ApprovalId.ts"
import { fragmentText } from "./arbitraries.ts"
import { testCrypto } from "./testCrypto.ts"

const toolDigest = "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"
const nonce = "AAAAAAAAAAAAAAAAAAAAAA"

const claimsOf = (id: string): ApprovalId.Claims => {
  const claims = ApprovalId.parse(id)
  if (claims._tag !== "Claims") throw new Error(`${id} is ${claims._tag}`)
  return claims
}

const make = (expiresAt: number, audience?: string) => ApprovalId.make({ expiresAt, toolDigest, audience })

describe("make", () => {
  it.effect("gives an ID that says what it was made with", () =>
    Effect.gen(function*() {
      const forAnybody = yield* make(1_800_000_000_000)
      assert.match(forAnybody, /^cs1\.1800000000000\.[\w-]{22}\.RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o\.$/)
      assert.include(claimsOf(forAnybody), { expiresAt: 1_800_000_000_000, toolDigest, audienceDigest: undefined })
      const forSomebody = yield* make(0, "user 7")
      assert.match(forSomebody, /^cs1\.0\.[\w-]{22}\.[\w-]{43}\.[\w-]{43}$/)
      // A part of a URL, an HTML attribute and a key of anything.
      assert.match(forSomebody, /^[\w.-]+$/)
    }).pipe(Effect.provide(testCrypto)))

  it.effect("cuts the time to what an ID can say", () =>
    Effect.gen(function*() {
      const times = [
        [1.9, 1],
        [-1, 0],
        [-0.5, 0],
        [-0, 0],
        [999_999_999_999_999, 999_999_999_999_999],
        [1e15, 999_999_999_999_999],
        [1e21, 999_999_999_999_999],
        [Number.POSITIVE_INFINITY, 999_999_999_999_999],
        [Number.NEGATIVE_INFINITY, 0]
      ] as const
      for (const [given, said] of times) assert.strictEqual(claimsOf(yield* make(given)).expiresAt, said, `${given}`)
    }).pipe(Effect.provide(testCrypto)))

  it.effect("of a time that is none gives no ID that counts", () =>
    Effect.gen(function*() {
      const id = ApprovalId.parse(yield* make(Number.NaN))
      assert.isTrue(id._tag === "Malformed" || id._tag === "Claims" && id.expiresAt === 0, JSON.stringify(id))
    }).pipe(Effect.provide(testCrypto)))

  it.effect("gives another each time", () =>
    Effect.gen(function*() {
      const ids = yield* Effect.replicateEffect(make(0, "user 7"), 500)
      assert.strictEqual(new Set(ids.map((id) => claimsOf(id).nonce)).size, 500)
      // Nor can it be seen that they are for one person.
      assert.strictEqual(new Set(ids.map((id) => claimsOf(id).audienceDigest)).size, 500)
    }).pipe(Effect.provide(testCrypto)))
})

describe("parse", () => {
  const valid = `cs1.1.${nonce}.${toolDigest}.${toolDigest}`

  it("knows one form", () => {
    assert.strictEqual(ApprovalId.parse(valid)._tag, "Claims")
    assert.strictEqual(ApprovalId.parse(`cs1.1.${nonce}.${toolDigest}.`)._tag, "Claims")
    const malformed = [
      "cs1.",
      "cs1.1",
      `cs1..${nonce}.${toolDigest}.`,
      `cs1.01.${nonce}.${toolDigest}.`,
      `cs1.-1.${nonce}.${toolDigest}.`,
      `cs1.+1.${nonce}.${toolDigest}.`,
      `cs1.1e3.${nonce}.${toolDigest}.`,
      `cs1.1.0.${nonce}.${toolDigest}.`,
      `cs1. 1.${nonce}.${toolDigest}.`,
      `cs1.1000000000000000.${nonce}.${toolDigest}.`,
      `cs1.١.${nonce}.${toolDigest}.`,
      `cs1.1.${nonce}.${toolDigest}`,
      `cs1.1.${nonce.slice(1)}.${toolDigest}.`,
      `cs1.1.${nonce}A.${toolDigest}.`,
      `cs1.1.${nonce}.${toolDigest.slice(1)}.`,
      `cs1.1.${nonce}.${toolDigest}A.`,
      `cs1.1.${nonce}.${toolDigest}.A`,
      `${valid}.`,
      `${valid}\n`,
      `${valid} `,
      `cs1.\n1.${nonce}.${toolDigest}.`,
      valid.replace("RBN", "R+N"),
      valid.replace("RBN", "R=N"),
      `cs1.${valid}`
    ]
    for (const id of malformed) assert.deepStrictEqual(ApprovalId.parse(id), { _tag: "Malformed" }, id)
  })

  it("takes one text for one value: the bits that stand for nothing are zero", () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    const count = (id: (last: string) => string) =>
      [...alphabet].filter((last) => ApprovalId.parse(id(last))._tag === "Claims").length
    assert.strictEqual(count((last) => `cs1.1.${nonce.slice(0, -1)}${last}.${toolDigest}.`), 4)
    assert.strictEqual(count((last) => `cs1.1.${nonce}.${toolDigest.slice(0, -1)}${last}.`), 16)
    assert.strictEqual(count((last) => `${valid.slice(0, -1)}${last}`), 16)
  })

  it("takes what starts otherwise for another SDK's", () => {
    for (const id of ["", "a1", "cs1", "CS1.", "cs2.1", "cs10.1", " cs1.", "aitxt-mXmxQXeNWC8IqkMsCvwHuS8O"]) {
      assert.deepStrictEqual(ApprovalId.parse(id), { _tag: "Foreign" })
    }
  })

  it.prop("never throws, and reads nothing out of chance", [fragmentText], ([text]) => {
    for (const id of [text, `cs1.${text}`]) {
      assert.strictEqual(ApprovalId.parse(id)._tag, id.startsWith("cs1.") ? "Malformed" : "Foreign")
    }
  })

  it("is quick to refuse what is long", () => {
    const long = `cs1.${"1.".repeat(500_000)}`
    assert.strictEqual(ApprovalId.parse(long)._tag, "Malformed")
  })
})

describe("isFor", () => {
  const audiences = [
    undefined,
    "",
    " ",
    "user 7",
    "user 7 ",
    "user 70",
    "User 7",
    "user\n7",
    "\ud800",
    "\ufffd",
    "é",
    "e\u0301"
  ]

  it.effect("is so for the audience that was asked, and for no other", () =>
    Effect.gen(function*() {
      for (const asked of audiences) {
        const claims = claimsOf(yield* make(0, asked))
        for (const answering of audiences) {
          // A lone surrogate has no UTF-8 of its own.
          if (asked !== answering && [asked, answering].every((text) => text === "\ud800" || text === "\ufffd")) {
            continue
          }
          assert.strictEqual(
            yield* ApprovalId.isFor(claims, answering),
            asked === answering,
            JSON.stringify([asked, answering])
          )
        }
      }
    }).pipe(Effect.provide(testCrypto)))

  it.effect("is not so with the audience of another question", () =>
    Effect.gen(function*() {
      const [one, other] = [claimsOf(yield* make(0, "user 7")), claimsOf(yield* make(0, "user 7"))]
      const mixed = { ...one, audienceDigest: other.audienceDigest }
      assert.isFalse(yield* ApprovalId.isFor(mixed, "user 7"))
      // Nonce and audience do not run into each other.
      const shifted = { ...one, nonce: `${one.nonce}\nuser`, audienceDigest: one.audienceDigest }
      assert.isFalse(yield* ApprovalId.isFor(shifted, " 7"))
    }).pipe(Effect.provide(testCrypto)))
})

describe("for all times and audiences", () => {
  const time = Arbitrary.schema(Schema.Int)
  it.effect.prop("what is made can be read", [time, Schema.String], ([expiresAt, audience]) =>
    Effect.gen(function*() {
      const claims = claimsOf(yield* make(expiresAt, audience))
      assert.strictEqual(claims.expiresAt, Math.min(Math.max(0, expiresAt), 999_999_999_999_999))
      assert.isTrue(yield* ApprovalId.isFor(claims, audience))
      assert.isFalse(yield* ApprovalId.isFor(claims, `${audience}.`))
      assert.isFalse(yield* ApprovalId.isFor(claims, undefined))
    }).pipe(Effect.provide(testCrypto)))
})
