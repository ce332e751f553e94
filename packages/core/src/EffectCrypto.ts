/**
 * The service `Crypto` on top of `effect/crypto`, for programs that provide those services already.
 *
 * A subpath of its own, and not in the barrel: `effect/crypto` is marked unstable, and nobody else pays for it.
 *
 * @since 0.1.0
 */
import * as Digest from "effect/crypto/Digest"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Crypto from "./Crypto.ts"
import { encodeUtf8 } from "./internal/utf8.ts"

const bytesOf = (data: Crypto.Data): Uint8Array => typeof data === "string" ? encodeUtf8(data) : data

/**
 * Uses `Mac`, `Digest` and `SecureRandom`. Where Effect's layers run on `crypto.subtle` and there is none, `sha256` dies,
 * since `Digest` has no failure.
 *
 * @example
 * ```ts
 * import * as Digest from "effect/crypto/Digest"
 * import * as Mac from "effect/crypto/Mac"
 * import * as SecureRandom from "effect/crypto/SecureRandom"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 * import * as EffectCrypto from "@countersign/core/EffectCrypto"
 *
 * const effectCrypto = Layer.mergeAll(Digest.layerWebCrypto, Mac.layerWebCrypto).pipe(
 *   Layer.provideMerge(SecureRandom.layerWebCrypto)
 * )
 * const layer = Layer.provide(EffectCrypto.layer, effectCrypto)
 * await Effect.runPromise(Effect.provide(CanonicalJson.digest({}), layer))
 * // => "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Crypto.Crypto, never, Mac.Mac | Digest.Digest | SecureRandom.SecureRandom> = Layer
  .effect(
    Crypto.Crypto
  )(Effect.gen(function*() {
    const mac = yield* Mac.Mac
    const digest = yield* Digest.Digest
    const random = yield* SecureRandom.SecureRandom
    // Its message can be shown: effect/crypto puts no key and no data into it.
    const unavailable = (error: { readonly message: string }) => new Crypto.CryptoUnavailable({ reason: error.message })
    return {
      hmacSha256: Effect.fnUntraced(function*(secret) {
        const bytes = bytesOf(Redacted.value(secret))
        if (bytes.length === 0) return yield* Crypto.emptySecret()
        const key = yield* Effect.mapError(Mac.key(Mac.hmacSha256, bytes), unavailable)
        return {
          sign: (data) => Effect.mapError(mac.sign(key, bytesOf(data)), unavailable),
          verify: (code, data) => Effect.mapError(mac.verify(key, code, bytesOf(data)), unavailable)
        }
      }),
      sha256: (data) => digest.digest(Digest.sha256, bytesOf(data)),
      randomBytes: (length) => random.randomBytes(length)
    }
  }))
