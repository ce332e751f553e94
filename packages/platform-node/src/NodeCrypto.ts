/**
 * The service `Crypto` by `node:crypto`. Everything is synchronous: it runs under `Effect.runSync`.
 *
 * @since 0.1.0
 */
import * as Crypto from "@countersign/core/Crypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHmac, createSecretKey, hash, randomFillSync, timingSafeEqual } from "node:crypto"

const make = (secret: Crypto.Secret): Effect.Effect<Crypto.HmacSha256, Crypto.CryptoUnavailable> =>
  Effect.suspend(() => {
    const value = Redacted.value(secret)
    if (value.length === 0) return Effect.fail(Crypto.emptySecret())
    // Holds a copy, which is not shown when it is inspected.
    const key = typeof value === "string" ? createSecretKey(value, "utf8") : createSecretKey(value)
    const codeOf = (data: Crypto.Data) => createHmac("sha256", key).update(data).digest()
    return Effect.succeed({
      sign: (data) => Effect.sync(() => new Uint8Array(codeOf(data))),
      verify: (code, data) =>
        Effect.sync(() => {
          const expected = codeOf(data)
          return code.length === expected.length && timingSafeEqual(code, expected)
        })
    })
  })

/** Native code hands over a text in half the time that it takes for a buffer. */
const bytesOf = (binary: string): Uint8Array => {
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index)
  return bytes
}

/**
 * One-shot digests, HMAC with a key made once, comparison by `timingSafeEqual`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * Effect.runSync(Effect.provide(CanonicalJson.digest([]), NodeCrypto.layer))
 * // => "T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Crypto.Crypto> = Layer.succeed(Crypto.Crypto)({
  hmacSha256: make,
  sha256: (data) => Effect.sync(() => bytesOf(hash("sha256", data, "binary"))),
  randomBytes: (length) => Effect.sync(() => randomFillSync(new Uint8Array(length)))
})
