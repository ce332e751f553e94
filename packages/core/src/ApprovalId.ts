/**
 * The ID of an approval, which carries what the question claims about itself: when it expires, for which definition of the tool
 * it was asked, and of whom.
 *
 * ```text
 * cs1.<expiry>.<nonce>.<tool digest>.<audience digest>
 * ```
 *
 * Every client gives the ID back and every signature covers it, so the claims are authenticated without anything new on the wire:
 * an AI SDK or Go server verifies the signature as ever.
 *
 * - expiry: milliseconds since 1970, in at most 15 decimal digits
 * - nonce: 16 random bytes, as 22 characters of base64url
 * - tool digest: SHA-256 of the tool's description, title and input schema, as 43 characters of base64url; for a raw JSON Schema it is
 *   the AI SDK's fingerprint
 * - audience digest: SHA-256 of the canonical JSON of nonce, audience and, where schema or refinement changed it, what the model
 *   sent, as 43 characters; empty where there is neither. The nonce keeps two questions of one person from being recognised as
 *   such. What the model sent stands in the question, and only this digest protects it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import * as CanonicalJson from "./CanonicalJson.ts"
import { Crypto } from "./Crypto.ts"

/**
 * What an ID claims.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claims {
  readonly _tag: "Claims"
  readonly expiresAt: number
  readonly nonce: string
  readonly toolDigest: string
  readonly audienceDigest: string | undefined
}

/**
 * An ID, read: one with claims, one of another SDK (`Foreign`), which claims nothing, or one that starts as ours do and is none.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalId = Claims | { readonly _tag: "Foreign" } | { readonly _tag: "Malformed" }

// The last character of a base64url text stands for fewer bits than it could: only the one with zeros there is taken.
const pattern =
  /^cs1\.(0|[1-9][0-9]{0,14})\.([A-Za-z0-9_-]{21}[AQgw])\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])?$/

/**
 * Makes an ID with a new nonce. `expiresAt` is in milliseconds since 1970; fractions are cut off, and what lies beyond the year
 * 33658 becomes that year.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ApprovalId from "@countersign/core/ApprovalId"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const toolDigest = "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"
 * const program = ApprovalId.make({ expiresAt: 1_800_000_000_000, toolDigest, audience: "user 7" })
 * const id = Effect.runSync(Effect.provide(program, NodeCrypto.layer))
 * id.startsWith("cs1.1800000000000.") // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options: {
  readonly expiresAt: number
  readonly toolDigest: string
  readonly audience?: string | undefined
  readonly inputSchemaInput?: unknown
}) => Effect.Effect<string, never, Crypto> = Effect.fnUntraced(
  function*({ audience, expiresAt, inputSchemaInput, toolDigest }) {
    const crypto = yield* Crypto
    const nonce = Base64Url.encode(yield* crypto.randomBytes(16))
    const audienceDigest = yield* digestAudience(nonce, audience, inputSchemaInput)
    return ["cs1", Math.min(Math.max(Math.trunc(expiresAt), 0), latest), nonce, toolDigest, audienceDigest].join(".")
  }
)

const latest = 999_999_999_999_999

/**
 * Reads an ID. Says nothing about whether it is genuine: that is for its signature.
 *
 * @example
 * ```ts
 * import * as ApprovalId from "@countersign/core/ApprovalId"
 *
 * ApprovalId.parse("aitxt-mXmxQXeNWC8IqkMsCvwHuS8O")._tag // => "Foreign"
 * ApprovalId.parse("cs1.soon")._tag // => "Malformed"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (approvalId: string): ApprovalId => {
  if (!approvalId.startsWith("cs1.")) return { _tag: "Foreign" }
  const match = pattern.exec(approvalId)
  if (match === null) return { _tag: "Malformed" }
  const [, expiresAt, nonce, toolDigest, audienceDigest] = match
  return { _tag: "Claims", expiresAt: Number(expiresAt), nonce: nonce!, toolDigest: toolDigest!, audienceDigest }
}

/**
 * Whether a question was for this audience; `undefined` is anybody. One for somebody was not for anybody, nor the other way round.
 * `inputSchemaInput` is what the question holds under that name, and has to be the same as well.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ApprovalId from "@countersign/core/ApprovalId"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const toolDigest = "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"
 * const program = Effect.gen(function*() {
 *   const claims = ApprovalId.parse(yield* ApprovalId.make({ expiresAt: 0, toolDigest, audience: "user 7" }))
 *   return claims._tag === "Claims" && (yield* ApprovalId.isFor(claims, "user 8"))
 * })
 * Effect.runSync(Effect.provide(program, NodeCrypto.layer)) // => false
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isFor = (
  { audienceDigest, nonce }: Claims,
  audience: string | undefined,
  inputSchemaInput?: unknown
): Effect.Effect<boolean, never, Crypto> =>
  Effect.map(digestAudience(nonce, audience, inputSchemaInput), (digest) => digest === (audienceDigest ?? ""))

/** A value that is no JSON was never in a question. */
const digestAudience = (
  nonce: string,
  audience: string | undefined,
  inputSchemaInput: unknown
): Effect.Effect<string, never, Crypto> => {
  if (audience === undefined && inputSchemaInput === undefined) return Effect.succeed("")
  const sent = CanonicalJson.encode(inputSchemaInput)
  return CanonicalJson.digest([nonce, audience, Result.getOrUndefined(sent)])
}
