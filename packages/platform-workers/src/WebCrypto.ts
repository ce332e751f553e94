/**
 * The service `Crypto` by Web Crypto (`crypto.subtle`): Cloudflare Workers, Deno, Bun, browsers, and Node too.
 *
 * @since 0.1.0
 */
import * as Crypto from "@countersign/core/Crypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

// The name alone: whatever else an exception of the platform says is not known.
const nameOf = (error: unknown): string => error instanceof Error ? error.name : "an unknown error"

const attempt = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, Crypto.CryptoUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => new Crypto.CryptoUnavailable({ reason: `Web Crypto failed to ${what}: ${nameOf(error)}` })
  })

/**
 * What is used of Web Crypto. Every runtime's `crypto` has it; `subtle` is absent where a browser does not allow it.
 *
 * @category models
 * @since 0.1.0
 */
export interface WebCryptoLike {
  readonly subtle?: SubtleLike | undefined
  getRandomValues(array: Uint8Array<ArrayBuffer>): unknown
}

/**
 * What is used of `crypto.subtle`. A key is opaque.
 *
 * @category models
 * @since 0.1.0
 */
export interface SubtleLike {
  digest(algorithm: "SHA-256", data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>
  importKey(
    format: "raw",
    keyData: Uint8Array<ArrayBuffer>,
    algorithm: { readonly name: string; readonly hash: string },
    extractable: boolean,
    keyUsages: Array<"sign" | "verify">
  ): Promise<object>
  sign(algorithm: "HMAC", key: object, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>
  verify(
    algorithm: "HMAC",
    key: object,
    signature: Uint8Array<ArrayBuffer>,
    data: Uint8Array<ArrayBuffer>
  ): Promise<boolean>
}

const algorithm = { name: "HMAC", hash: "SHA-256" }

type Keys = WeakMap<Crypto.Secret, object>

const make = (crypto: WebCryptoLike, subtle: SubtleLike, keys: Keys): Crypto.Crypto["Service"] => {
  const encoder = new TextEncoder()
  const bytesOf = (data: Crypto.Data) =>
    (typeof data === "string" ? encoder.encode(data) : data) as Uint8Array<ArrayBuffer>

  const keyOf = Effect.fnUntraced(function*(secret: Crypto.Secret) {
    const known = keys.get(secret)
    if (known !== undefined) return known
    const bytes = bytesOf(Redacted.value(secret))
    if (bytes.byteLength === 0) return yield* Crypto.emptySecret()
    const key = yield* attempt(
      "import a key",
      () => subtle.importKey("raw", bytes, algorithm, false, ["sign", "verify"])
    )
    keys.set(secret, key)
    return key
  })

  return {
    hmacSha256: (secret) =>
      Effect.map(keyOf(secret), (key) => ({
        sign: (data) =>
          Effect.map(attempt("sign", () => subtle.sign("HMAC", key, bytesOf(data))), (code) => new Uint8Array(code)),
        verify: (code, data) =>
          attempt("verify", () => subtle.verify("HMAC", key, code as Uint8Array<ArrayBuffer>, bytesOf(data)))
      })),
    sha256: (data) =>
      Effect.map(Effect.promise(() => subtle.digest("SHA-256", bytesOf(data))), (digest) => new Uint8Array(digest)),
    randomBytes: (length) =>
      Effect.sync(() => {
        const bytes = new Uint8Array(length)
        for (let at = 0; at < length; at += maxRandomBytes) {
          crypto.getRandomValues(bytes.subarray(at, at + maxRandomBytes))
        }
        return bytes
      })
  }
}

/** What `getRandomValues` fills at a time. */
const maxRandomBytes = 65_536

const layerOf = (
  getCrypto: () => WebCryptoLike | undefined
): Layer.Layer<Crypto.Crypto, Crypto.CryptoUnavailable> => {
  // Outlives a build of the layer, which a Worker may do for every request: a secret becomes a key once. The keys are kept, and
  // not promises of them, which one request may not await for another.
  const keys: Keys = new WeakMap()
  return Layer.effect(Crypto.Crypto)(Effect.suspend(() => {
    const crypto = getCrypto()
    return crypto?.subtle === undefined
      ? Effect.fail(
        new Crypto.CryptoUnavailable({
          reason: "Web Crypto unavailable, provide another Crypto layer. Browsers have crypto.subtle on https only."
        })
      )
      : Effect.succeed(make(crypto, crypto.subtle, keys))
  }))
}

/**
 * Uses the runtime's `crypto`. Fails to build with `CryptoUnavailable` where there is no `crypto.subtle`, as on a web page
 * that did not come by https.
 *
 * A secret is imported once, for as long as its `Redacted` lives: keep that, rather than make it anew for each request.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 * import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
 *
 * await Effect.runPromise(Effect.provide(CanonicalJson.digest([]), WebCrypto.layer))
 * // => "T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Crypto.Crypto, Crypto.CryptoUnavailable> = layerOf(
  () => (globalThis as { readonly crypto?: WebCryptoLike }).crypto
)

/**
 * Uses another Web Crypto than the runtime's, such as a polyfill.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 * import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
 *
 * const program = Effect.provide(CanonicalJson.digest([]), WebCrypto.layerFrom(undefined))
 * Effect.runSync(Effect.flip(program)).message
 * // => "Web Crypto unavailable, provide another Crypto layer. Browsers have crypto.subtle on https only."
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerFrom = (
  crypto: WebCryptoLike | undefined
): Layer.Layer<Crypto.Crypto, Crypto.CryptoUnavailable> => layerOf(() => crypto)
