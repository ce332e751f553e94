/** What every layer of `Crypto` has to give; each runs it, on each runtime that it is for. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Hex from "effect/encoding/Hex"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { Crypto, type CryptoUnavailable } from "../src/Crypto.ts"
import canonicalJson from "./fixtures/ai-sdk/canonical-json.json" with { type: "json" }
import signatures from "./fixtures/ai-sdk/signatures.json" with { type: "json" }

const bytes = (hex: string): Uint8Array => Result.getOrThrow(Hex.decode(hex))

/** The secret of a vector. */
export const secretOf = (secret: { readonly encoding: string; readonly value: string }) =>
  Redacted.make(secret.encoding === "hex" ? bytes(secret.value) : secret.value)

// RFC 4231: key, data, code.
const rfc4231: ReadonlyArray<readonly [key: string, data: string, code: string]> = [
  ["0b".repeat(20), Hex.encode("Hi There"), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"],
  [
    Hex.encode("Jefe"),
    Hex.encode("what do ya want for nothing?"),
    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
  ],
  ["aa".repeat(20), "dd".repeat(50), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"],
  [
    "aa".repeat(131),
    Hex.encode("Test Using Larger Than Block-Size Key - Hash Key First"),
    "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
  ]
]

export const cryptoCases = (layer: Layer.Layer<Crypto, CryptoUnavailable>): void => {
  const test = (name: string, program: Effect.Effect<void, unknown, Crypto>) =>
    it.effect(name, () => Effect.provide(program, layer))

  test(
    "sha256 gives the digests of all vectors, of text and of its bytes",
    Effect.gen(function*() {
      const { sha256 } = yield* Crypto
      for (const { canonical, digest } of canonicalJson.cases) {
        if (digest === undefined) continue
        const text = canonical ?? ""
        assert.strictEqual(Base64Url.encode(yield* sha256(text)), digest)
        assert.strictEqual(Base64Url.encode(yield* sha256(new TextEncoder().encode(text))), digest)
      }
      const long = "é".repeat(1_000_000)
      assert.deepStrictEqual(yield* sha256(long), yield* sha256(new TextEncoder().encode(long)))
    })
  )

  test(
    "hmacSha256 gives the codes of RFC 4231",
    Effect.gen(function*() {
      const crypto = yield* Crypto
      for (const [key, data, code] of rfc4231) {
        const hmac = yield* crypto.hmacSha256(Redacted.make(bytes(key)))
        assert.deepStrictEqual(yield* hmac.sign(bytes(data)), bytes(code))
        assert.isTrue(yield* hmac.verify(bytes(code), bytes(data)))
      }
    })
  )

  test(
    "hmacSha256 gives the signatures of all vectors, whatever the length of the secret",
    Effect.gen(function*() {
      const crypto = yield* Crypto
      for (const { legacyPayload, legacySignature, name, payload, payloadHex, secret, signature } of signatures.cases) {
        const hmac = yield* crypto.hmacSha256(secretOf(secret))
        assert.strictEqual(Base64Url.encode(yield* hmac.sign(payload)), signature, name)
        const asBytes = payloadHex === undefined ? payload : bytes(payloadHex)
        assert.strictEqual(Base64Url.encode(yield* hmac.sign(asBytes)), signature, name)
        assert.strictEqual(Base64Url.encode(yield* hmac.sign(legacyPayload)), legacySignature, name)
      }
    })
  )

  test(
    "verify takes one code and no other: every bit, every length",
    Effect.gen(function*() {
      const hmac = yield* (yield* Crypto).hmacSha256(Redacted.make("secret"))
      const code = yield* hmac.sign("data")
      assert.isTrue(yield* hmac.verify(code, "data"))
      assert.isFalse(yield* hmac.verify(code, "datb"))
      for (let bit = 0; bit < 256; bit++) {
        const other = code.slice()
        other[bit >> 3]! ^= 1 << (bit & 7)
        assert.isFalse(yield* hmac.verify(other, "data"))
      }
      for (let length = 0; length < 70; length++) {
        if (length === 32) continue
        const other = new Uint8Array(length)
        other.set(code.subarray(0, length))
        assert.isFalse(yield* hmac.verify(other, "data"), String(length))
      }
    })
  )

  test(
    "a lone surrogate is U+FFFD, in data and in secrets",
    Effect.gen(function*() {
      const crypto = yield* Crypto
      for (const text of ["\ud800", "a\udfffb", "\ude00\ud83d", "\ud83d\ude00", "\u0000"]) {
        const encoded = new TextEncoder().encode(text)
        assert.deepStrictEqual(yield* crypto.sha256(text), yield* crypto.sha256(encoded), text)
        const hmac = yield* crypto.hmacSha256(Redacted.make(text))
        const same = yield* crypto.hmacSha256(Redacted.make(encoded))
        assert.deepStrictEqual(yield* hmac.sign(text), yield* same.sign(encoded), text)
      }
    })
  )

  test(
    "a secret is the bytes of its view, as they were",
    Effect.gen(function*() {
      const crypto = yield* Crypto
      const memory = new Uint8Array(64).fill(1)
      const view = memory.subarray(16, 32)
      const hmac = yield* crypto.hmacSha256(Redacted.make(view))
      memory.fill(2)
      const same = yield* crypto.hmacSha256(Redacted.make(new Uint8Array(16).fill(1)))
      assert.deepStrictEqual(yield* hmac.sign("data"), yield* same.sign("data"))
    })
  )

  test(
    "an empty secret is refused",
    Effect.gen(function*() {
      const crypto = yield* Crypto
      for (const empty of ["", new Uint8Array(0)]) {
        const error = yield* Effect.flip(crypto.hmacSha256(Redacted.make(empty)))
        assert.include(error, { _tag: "CryptoUnavailable", reason: "an empty secret makes no key" })
      }
    })
  )

  test(
    "randomBytes gives as many as asked for, never the same",
    Effect.gen(function*() {
      const { randomBytes } = yield* Crypto
      for (const length of [0, 1, 16, 65_536, 65_537, 200_000]) {
        assert.strictEqual((yield* randomBytes(length)).length, length)
      }
      const seen = new Set<string>()
      for (let run = 0; run < 1000; run++) seen.add(Hex.encode(yield* randomBytes(16)))
      assert.strictEqual(seen.size, 1000)
      const tail = (yield* randomBytes(65_536 + 64)).subarray(65_536)
      assert.isTrue(tail.some((byte) => byte !== 0))
    })
  )
}
