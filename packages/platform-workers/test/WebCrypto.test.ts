import { Crypto } from "@countersign/core/Crypto"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { cryptoCases } from "../../core/test/cryptoCases.ts"

const secret = Redacted.make("a secret that nobody knows")

const sign = Effect.flatMap(Crypto, (crypto) => Effect.flatMap(crypto.hmacSha256(secret), (hmac) => hmac.sign("data")))

/** The runtime's Web Crypto, some of its methods replaced, and how often its keys are imported. */
const counting = (overrides: Partial<WebCrypto.SubtleLike> = {}) => {
  const subtle: WebCrypto.SubtleLike = globalThis.crypto.subtle
  const calls = { importKey: 0 }
  const crypto: WebCrypto.WebCryptoLike = {
    getRandomValues: (array) => globalThis.crypto.getRandomValues(array),
    subtle: {
      digest: (...args) => subtle.digest(...args),
      importKey: (...args) => {
        calls.importKey++
        return subtle.importKey(...args)
      },
      sign: (...args) => subtle.sign(...args),
      verify: (...args) => subtle.verify(...args),
      ...overrides
    }
  }
  return { crypto, calls }
}

describe("WebCrypto", () => {
  describe("layer", () => cryptoCases(WebCrypto.layer))

  it.effect("imports a secret once, however often its layer is built", () =>
    Effect.gen(function*() {
      const { calls, crypto } = counting()
      const layer = WebCrypto.layerFrom(crypto)
      for (let request = 0; request < 3; request++) yield* Effect.provide(sign, layer, { local: true })
      assert.strictEqual(calls.importKey, 1)
    }))

  it.effect("fails where there is no crypto, or no crypto.subtle, and says what to do", () =>
    Effect.gen(function*() {
      for (const crypto of [undefined, { getRandomValues: () => undefined }]) {
        const error = yield* Effect.flip(Effect.provide(sign, WebCrypto.layerFrom(crypto)))
        assert.strictEqual(error._tag, "CryptoUnavailable")
        assert.match(error.message, /^Web Crypto unavailable, provide another Crypto layer/)
      }
    }))

  it.effect("fails with its type when the runtime does, and repeats nothing that it said", () =>
    Effect.gen(function*() {
      const reject = () => Promise.reject(new RangeError("a secret that nobody knows"))
      for (const method of ["importKey", "sign"] as const) {
        const { crypto } = counting({ [method]: reject })
        const error = yield* Effect.flip(Effect.provide(sign, WebCrypto.layerFrom(crypto)))
        assert.strictEqual(error._tag, "CryptoUnavailable")
        assert.match(error.message, /^Web Crypto failed to (import a key|sign): RangeError$/)
      }
    }))
})
