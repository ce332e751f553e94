/**
 * The service that signs a question put to a person, so that a server knows its own question again when the answer comes back.
 *
 * A signature covers the approval's ID, the call's ID, the tool's name and the input, by the AI SDK's payload
 * `ai-sdk-tool-approval-v1` with HMAC-SHA-256: what Countersign signs, the AI SDK and the Go AI SDK verify, and the other way
 * round. It proves that the server asked; it does not say what was answered.
 *
 * - {@link layer} takes secrets, {@link layerConfig} reads them from `Config`. The first secret signs, all of them verify: to
 *   replace a secret, put the new one first and keep the old one until the last question that it signed is answered.
 * - {@link layerUnsigned} signs nothing and takes everything: for a server that keeps its questions itself.
 *
 * @since 0.1.0
 */
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "./CanonicalJson.ts"
import * as Crypto from "./Crypto.ts"
import { printable } from "./internal/printable.ts"

/**
 * What a signature covers. `input` is brought to plain JSON first, by the rules of `CanonicalJson.toJson`, so that the
 * signature still fits after storage and transport.
 *
 * @category models
 * @since 0.1.0
 */
export interface SignedFields {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/**
 * A signature does not show that this server asked this question.
 *
 * - `missing`: there is none.
 * - `malformed`: it is not 43 characters of base64url without padding, the one form that is taken.
 * - `mismatch`: no secret makes it of these fields. One of them was changed, or it was signed by somebody else, or with a
 *   secret that is no longer in the ring.
 *
 * @example
 * ```ts
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 *
 * const error = new ApprovalSigner.InvalidSignature({ approvalId: "a1", toolCallId: "c1", reason: "missing" })
 * error.message // => "Approval a1 of tool call c1 is refused: it has no signature"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSignature extends Schema.TaggedError<InvalidSignature>(
  "@countersign/core/ApprovalSigner/InvalidSignature"
)("InvalidSignature", {
  approvalId: Schema.String,
  toolCallId: Schema.String,
  reason: Schema.Literals(["missing", "malformed", "mismatch"])
}) {
  override get message(): string {
    const { approvalId, reason, toolCallId } = this
    return `Approval ${printable(approvalId, 100)} of tool call ${printable(toolCallId, 100)} is refused: ${
      faults[reason]
    }`
  }
}

const faults: Record<InvalidSignature["reason"], string> = {
  missing: "it has no signature",
  malformed: "its signature is not 43 characters of base64url without padding",
  mismatch: "its signature does not fit its ID, tool call, tool name and input"
}

/**
 * How many bytes a secret has at least: 16, what nobody can guess if the bytes are random.
 *
 * @example
 * ```ts
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 *
 * ApprovalSigner.minSecretBytes // => 16
 * ```
 *
 * @category constants
 * @since 0.1.0
 */
export const minSecretBytes = 16

/**
 * The secrets cannot be used: there is `none`, or the one at `index` is too `short`. A secret has at least
 * {@link minSecretBytes} bytes; a text counts in UTF-8.
 *
 * @example
 * ```ts
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 *
 * const error = new ApprovalSigner.InvalidSecret({ reason: "short", index: 0 })
 * error.message
 * // => "Secret 1 for approvals is shorter than 16 bytes. Make one with: openssl rand -base64 32"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSecret extends Schema.TaggedError<InvalidSecret>("@countersign/core/ApprovalSigner/InvalidSecret")(
  "InvalidSecret",
  {
    reason: Schema.Literals(["none", "short"]),
    index: Schema.optionalKey(Schema.Number)
  }
) {
  override get message(): string {
    const fault = this.reason === "none"
      ? "There is no secret for approvals"
      : `Secret ${(this.index ?? 0) + 1} for approvals is shorter than ${minSecretBytes} bytes`
    return `${fault}. Make one with: openssl rand -base64 32`
  }
}

/**
 * The service.
 *
 * - `sign` gives the signature, 43 characters; `undefined` only from {@link layerUnsigned}. An input that is not JSON fails.
 * - `verify` fails unless the signature is one of these fields. An input that is not JSON was never signed: a `mismatch`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const question = { approvalId: "a1", toolCallId: "c1", toolName: "deleteFile", input: { path: "/tmp", force: true } }
 * const program = Effect.gen(function*() {
 *   const signer = yield* ApprovalSigner.ApprovalSigner
 *   const signature = yield* signer.sign(question)
 *   yield* signer.verify(signature, { ...question, input: { force: true, path: "/tmp" } })
 *   return yield* Effect.flip(signer.verify(signature, { ...question, input: { path: "/", force: true } }))
 * })
 *
 * const secret = Redacted.make("a secret of at least 16 bytes")
 * const layer = Layer.provide(ApprovalSigner.layer({ secrets: [secret] }), NodeCrypto.layer)
 * Effect.runSync(Effect.provide(program, layer)).message
 * // => "Approval a1 of tool call c1 is refused: its signature does not fit its ID, tool call, tool name and input"
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class ApprovalSigner extends Context.Service<ApprovalSigner, {
  readonly sign: (
    fields: SignedFields
  ) => Effect.Effect<string | undefined, CanonicalJson.NotJson | Crypto.CryptoUnavailable>
  readonly verify: (
    signature: string | undefined,
    fields: SignedFields
  ) => Effect.Effect<void, InvalidSignature | Crypto.CryptoUnavailable>
}>()("@countersign/core/ApprovalSigner") {}

/**
 * What to do with the payload before v1, the fields one a line, which the AI SDK 6 signs and verifies.
 *
 * - `accept`, the default: it is verified, as in the AI SDK, where no field holds a line feed (which could be moved from one
 *   field to the next) or a lone surrogate (which it cannot tell from U+FFFD). Nothing else can be read into it: neither
 *   another legacy payload nor one of v1 has the same bytes.
 * - `sign`: it is verified, and signed as well, for conversations that a server with the AI SDK 6 goes on with. The AI SDK 7
 *   and the Go AI SDK verify it too. What it cannot tell apart is signed with v1.
 * - `refuse`: only v1 is verified. For a program that never met an older SDK, or has no question of it left.
 *
 * @category models
 * @since 0.1.0
 */
export type Legacy = "accept" | "sign" | "refuse"

// 256 bits are 42 characters of six bits, and one whose last two bits stand for nothing and have to be zero.
const signaturePattern = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/

const v1Payload = ({ approvalId, toolCallId, toolName }: SignedFields, inputDigest: string): string =>
  JSON.stringify(["ai-sdk-tool-approval-v1", approvalId, toolCallId, toolName, inputDigest])

const isAmbiguous = /\n|\p{Surrogate}/u

const legacyPayload = (
  { approvalId, toolCallId, toolName }: SignedFields,
  inputDigest: string
): string | undefined => {
  const lines = [approvalId, toolCallId, toolName]
  return lines.some((line) => isAmbiguous.test(line)) ? undefined : [...lines, inputDigest].join("\n")
}

/** Of a text, how many bytes its UTF-8 has; a lone surrogate counts as the U+FFFD that takes its place. */
const byteLength = (data: Crypto.Data): number => {
  if (typeof data !== "string") return data.length
  let length = 0
  for (const character of data) {
    const code = character.codePointAt(0)!
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
  }
  return length
}

/**
 * Signs with the first secret, and verifies with each. Fails to build with {@link InvalidSecret} if there is none, or one of
 * fewer than {@link minSecretBytes} bytes. Each becomes a key once, when the layer is built.
 *
 * To verify takes the same time whichever secret fits: the signature is compared with that of each, in constant time.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const secrets = [Redacted.make("the secret of this year"), Redacted.make(new Uint8Array(32).fill(7))]
 * const layer = Layer.provide(ApprovalSigner.layer({ secrets, legacy: "refuse" }), NodeCrypto.layer)
 * const fields = { approvalId: "a1", toolCallId: "c1", toolName: "now", input: {} }
 * const program = Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) => signer.sign(fields))
 * Effect.runSync(Effect.provide(program, layer))?.length // => 43
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: {
  readonly secrets: ReadonlyArray<Crypto.Secret>
  readonly legacy?: Legacy | undefined
}): Layer.Layer<ApprovalSigner, InvalidSecret | Crypto.CryptoUnavailable, Crypto.Crypto> =>
  Layer.effect(ApprovalSigner)(make(options))

const make = Effect.fnUntraced(
  function*({ legacy = "accept", secrets }: {
    readonly secrets: ReadonlyArray<Crypto.Secret>
    readonly legacy?: Legacy | undefined
  }): Effect.fn.Return<ApprovalSigner["Service"], InvalidSecret | Crypto.CryptoUnavailable, Crypto.Crypto> {
    const crypto = yield* Crypto.Crypto
    if (secrets.length === 0) return yield* new InvalidSecret({ reason: "none" })
    const index = secrets.findIndex((secret) => byteLength(Redacted.value(secret)) < minSecretBytes)
    if (index !== -1) return yield* new InvalidSecret({ reason: "short", index })
    const keys = yield* Effect.forEach(secrets, (secret) => crypto.hmacSha256(secret))

    const digestOf = (text: string) => CanonicalJson.digestOfText(crypto, text)
    const fits = (code: Uint8Array, payload: string) =>
      Effect.map(Effect.forEach(keys, (key) => key.verify(code, payload)), (answers) => answers.includes(true))

    const verified = Effect.fnUntraced(function*(code: Uint8Array, fields: SignedFields) {
      const text = CanonicalJson.encode(fields.input)
      if (Result.isFailure(text)) return false
      const inputDigest = yield* digestOf(text.success)
      if (yield* fits(code, v1Payload(fields, inputDigest))) return true
      const payload = legacy === "refuse" ? undefined : legacyPayload(fields, inputDigest)
      return payload !== undefined && (yield* fits(code, payload))
    })

    return {
      sign: Effect.fnUntraced(function*(fields) {
        const text = yield* Effect.fromResult(CanonicalJson.encode(fields.input))
        const inputDigest = yield* digestOf(text)
        const payload = legacy === "sign" ? legacyPayload(fields, inputDigest) : undefined
        const code = yield* keys[0]!.sign(payload ?? v1Payload(fields, inputDigest))
        return Base64Url.encode(code)
      }),
      verify: Effect.fnUntraced(function*(signature, fields) {
        const { approvalId, toolCallId } = fields
        const refuse = (reason: InvalidSignature["reason"]) => new InvalidSignature({ approvalId, toolCallId, reason })
        if (signature === undefined) return yield* refuse("missing")
        if (typeof signature !== "string" || !signaturePattern.test(signature)) return yield* refuse("malformed")
        const code = Result.getOrElse(Base64Url.decode(signature), () => new Uint8Array())
        if (!(yield* verified(code, fields))) return yield* refuse("mismatch")
      })
    }
  }
)

/**
 * As {@link layer}, with the secret or secrets from `Config`.
 *
 * @example
 * ```ts
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const secrets = Config.all([Config.Redacted("NEW_SECRET"), Config.Redacted("OLD_SECRET")])
 * const env = { NEW_SECRET: "the secret of this year", OLD_SECRET: "that of the year before" }
 * const layer = ApprovalSigner.layerConfig({ secrets }).pipe(
 *   Layer.provide(NodeCrypto.layer),
 *   Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
 * )
 * const fields = { approvalId: "a1", toolCallId: "c1", toolName: "now", input: {} }
 * const program = Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) => signer.sign(fields))
 * Effect.runSync(Effect.provide(program, layer))?.length // => 43
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (options: {
  readonly secrets: Config.Config<Crypto.Secret | ReadonlyArray<Crypto.Secret>>
  readonly legacy?: Legacy | undefined
}): Layer.Layer<ApprovalSigner, Config.ConfigError | InvalidSecret | Crypto.CryptoUnavailable, Crypto.Crypto> =>
  Layer.unwrap(
    Effect.map(
      options.secrets,
      (secrets) => layer({ secrets: Redacted.isRedacted(secrets) ? [secrets] : secrets, legacy: options.legacy })
    )
  )

/**
 * Signs nothing, and takes every question for its own, signed or not, as the AI SDK does without a secret. Then a client can
 * have anything run that a tool and its policy allow. Only for a server that keeps its questions, or trusts its clients.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
 *
 * const fields = { approvalId: "a1", toolCallId: "c1", toolName: "now", input: {} }
 * const program = Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) => signer.sign(fields))
 * Effect.runSync(Effect.provide(program, ApprovalSigner.layerUnsigned)) // => undefined
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUnsigned: Layer.Layer<ApprovalSigner> = Layer.succeed(ApprovalSigner)({
  sign: () => Effect.succeed(undefined),
  verify: () => Effect.void
})
