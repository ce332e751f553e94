/**
 * The cryptography that Countersign needs, as a service: HMAC-SHA-256, SHA-256 and random bytes.
 *
 * Choose a layer by platform:
 *
 * - `NodeCrypto.layer` of `@countersign/platform-node`: `node:crypto`. Everything runs synchronously.
 * - `WebCrypto.layer` of `@countersign/platform-workers`: `crypto.subtle`, for Workers, Deno, Bun and browsers.
 * - `EffectCrypto.layer` of `@countersign/core`: whatever `effect/crypto` runs on.
 *
 * They agree on every result. A layer of your own (a key server, a hardware module) implements the three methods.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { printable } from "./internal/printable.ts"

/**
 * What is hashed or signed: bytes, or a text, which stands for its UTF-8. A lone surrogate in a text becomes U+FFFD, as in
 * `TextEncoder`.
 *
 * @category models
 * @since 0.1.0
 */
export type Data = string | Uint8Array

/**
 * A secret: bytes, or a text, which stands for its UTF-8. Nothing is trimmed, nor decoded from base64 or hexadecimal digits.
 *
 * @category models
 * @since 0.1.0
 */
export type Secret = Redacted.Redacted<Data>

/**
 * HMAC-SHA-256 with one key. Only its two functions know the key.
 *
 * - `sign` gives the 32 bytes of the code.
 * - `verify` says whether a code is that of the data, in a time that does not depend on the code. One of another length is not.
 *
 * @category models
 * @since 0.1.0
 */
export interface HmacSha256 {
  readonly sign: (data: Data) => Effect.Effect<Uint8Array, CryptoUnavailable>
  readonly verify: (code: Uint8Array, data: Data) => Effect.Effect<boolean, CryptoUnavailable>
}

/**
 * The platform cannot do what it was asked for. `reason` says why, and what to do.
 *
 * @example
 * ```ts
 * import * as Crypto from "@countersign/core/Crypto"
 *
 * const error = new Crypto.CryptoUnavailable({ reason: "Web Crypto unavailable, provide another Crypto layer" })
 * error.message // => "Web Crypto unavailable, provide another Crypto layer"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class CryptoUnavailable extends Schema.TaggedError<CryptoUnavailable>(
  "@countersign/core/Crypto/CryptoUnavailable"
)("CryptoUnavailable", { reason: Schema.String }) {
  override get message(): string {
    return printable(this.reason, 500)
  }
}

/**
 * The service.
 *
 * - `hmacSha256` makes a key of a secret, once; what it gives is used for as long as the secret is. An empty secret fails: no
 *   key can be made of it everywhere.
 * - `sha256` gives the 32 bytes of a digest. It cannot fail: a layer that has none fails to build.
 * - `randomBytes` gives bytes that nobody can guess.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Hex from "effect/encoding/Hex"
 * import * as Redacted from "effect/Redacted"
 * import { Crypto } from "@countersign/core/Crypto"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const program = Effect.gen(function*() {
 *   const crypto = yield* Crypto
 *   const key = yield* crypto.hmacSha256(Redacted.make("key"))
 *   const code = yield* key.sign("The quick brown fox jumps over the lazy dog")
 *   return [Hex.encode(code).slice(0, 8), yield* key.verify(code, "another text")]
 * })
 * Effect.runSync(Effect.provide(program, NodeCrypto.layer)) // => ["f7bc83f4", false]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class Crypto extends Context.Service<Crypto, {
  readonly hmacSha256: (secret: Secret) => Effect.Effect<HmacSha256, CryptoUnavailable>
  readonly sha256: (data: Data) => Effect.Effect<Uint8Array>
  readonly randomBytes: (length: number) => Effect.Effect<Uint8Array>
}>()("@countersign/core/Crypto") {}

/**
 * The failure of `hmacSha256` for a secret of no bytes, for those who write a layer.
 *
 * @example
 * ```ts
 * import * as Crypto from "@countersign/core/Crypto"
 *
 * Crypto.emptySecret().message // => "an empty secret makes no key"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export const emptySecret = (): CryptoUnavailable => new CryptoUnavailable({ reason: "an empty secret makes no key" })
