import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import * as Crypto from "../src/Crypto.ts"
import { fragmentText, jsonValue, oneOf } from "./arbitraries.ts"
import { testCrypto } from "./testCrypto.ts"
import { throughJson } from "./throughJson.ts"

const secret = "test-secret-key-for-hmac-signing"

const layer = (options: Partial<Parameters<typeof ApprovalSigner.layer>[0]> = {}) =>
  Layer.provide(ApprovalSigner.layer({ secrets: [Redacted.make(secret)], ...options }), testCrypto)

const question: ApprovalSigner.SignedFields = {
  approvalId: "approval-1",
  toolCallId: "call-1",
  toolName: "deleteFile",
  input: { path: "/tmp/cache" }
}
const signature = "KhhdqErvPwq9PCD-YYlVKgPDJ_tby36fpqptjJpmYhE"
const legacySignature = "m_3hnkZy4Mx-__NmCA7J5NTNUwAk3bhbUtXD7PDAF_k"

const sign = (fields: ApprovalSigner.SignedFields) =>
  Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) => Effect.map(signer.sign(fields), (signed) => signed!))

/** `valid`, or the reason for which a signature is refused. */
const verdict = (signature: string | undefined, fields: ApprovalSigner.SignedFields) =>
  Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) =>
    signer.verify(signature, fields).pipe(
      Effect.as("valid"),
      Effect.catchTag("InvalidSignature", (error) => {
        assert.include(error, { approvalId: fields.approvalId, toolCallId: fields.toolCallId })
        return Effect.succeed(error.reason)
      })
    ))

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

describe("ApprovalSigner", () => {
  it.effect("signs as the AI SDK does", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* sign(question), signature)
      assert.strictEqual(yield* verdict(signature, question), "valid")
    }).pipe(Effect.provide(layer())))

  describe("a signature", () => {
    it.effect("that is absent is missing", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* verdict(undefined, question), "missing")
      }).pipe(Effect.provide(layer())))

    it.effect("has one form", () =>
      Effect.gen(function*() {
        const forms = [
          "",
          "A",
          "!!!",
          `${signature}=`,
          `${signature}===`,
          ` ${signature}`,
          `${signature}\n`,
          `${signature.slice(0, 20)}\t${signature.slice(20)}`,
          signature.replaceAll("-", "+").replaceAll("_", "/"),
          signature.slice(0, -1),
          `${signature}A`,
          signature.repeat(2),
          `${signature.slice(0, -1)}Ｅ`
        ]
        for (const form of forms) assert.strictEqual(yield* verdict(form, question), "malformed", form)
        for (const form of [null, 7, [signature], {}]) {
          assert.strictEqual(yield* verdict(form as unknown as string, question), "malformed")
        }
      }).pipe(Effect.provide(layer())))

    it.effect("is refused with any character changed, or left out, or put in", () =>
      Effect.gen(function*() {
        for (let at = 0; at < signature.length; at++) {
          const before = signature.slice(0, at)
          for (const character of alphabet + "+/=. \n\u0000é") {
            const changed = before + character + signature.slice(at + 1)
            if (changed !== signature) assert.notStrictEqual(yield* verdict(changed, question), "valid", changed)
          }
          assert.strictEqual(yield* verdict(before + signature.slice(at + 1), question), "malformed")
          assert.strictEqual(yield* verdict(`${before}A${signature.slice(at)}`, question), "malformed")
        }
        // Two bits of the last character stand for nothing: of its four readings, one is the signature.
        const last = [...alphabet].map((character) => signature.slice(0, -1) + character)
        assert.lengthOf(
          (yield* Effect.forEach(last, (form) => verdict(form, question))).filter((_) => _ === "valid"),
          1
        )
      }).pipe(Effect.provide(layer())))

    it.effect("is refused with any bit changed", () =>
      Effect.gen(function*() {
        const code = Result.getOrThrow(Base64Url.decode(signature))
        for (let bit = 0; bit < 256; bit++) {
          const other = code.slice()
          other[bit >> 3]! ^= 1 << (bit & 7)
          assert.strictEqual(yield* verdict(Base64Url.encode(other), question), "mismatch")
        }
      }).pipe(Effect.provide(layer())))
  })

  it.effect("refuses a field with any character changed, left out or put in", () =>
    Effect.gen(function*() {
      for (const signed of [signature, legacySignature]) {
        for (const field of ["approvalId", "toolCallId", "toolName"] as const) {
          const text = question[field]
          for (let at = 0; at <= text.length; at++) {
            for (const other of ["", "x", "\n", "\u0000", "\ud800", "-", text[at] + "x", " " + text[at]]) {
              const changed = text.slice(0, at) + other + text.slice(at + 1)
              if (changed === text) continue
              assert.strictEqual(yield* verdict(signed, { ...question, [field]: changed }), "mismatch")
            }
          }
        }
      }
    }).pipe(Effect.provide(layer())))

  it.effect("refuses an input with any character changed", () =>
    Effect.gen(function*() {
      const input = { path: "/tmp/cache", force: true, count: 10, tags: ["a", null] }
      const signed = yield* sign({ ...question, input })
      const text = JSON.stringify(input)
      for (let at = 0; at < text.length; at++) {
        for (const character of "x01\"[]{}: ,\\") {
          const changed = text.slice(0, at) + character + text.slice(at + 1)
          let other: unknown
          try {
            other = JSON.parse(changed)
          } catch {
            continue
          }
          if (JSON.stringify(other) === text) continue
          assert.strictEqual(yield* verdict(signed, { ...question, input: other }), "mismatch", changed)
        }
      }
    }).pipe(Effect.provide(layer())))

  it.effect("refuses values moved from one field to the next", () =>
    Effect.gen(function*() {
      const fields = { approvalId: "a\nb", toolCallId: "c\",\"d", toolName: "e\nf", input: {} }
      const signed = yield* sign(fields)
      assert.strictEqual(yield* verdict(signed, fields), "valid")
      const moved = [
        { ...fields, approvalId: "a", toolCallId: "b\nc\",\"d" },
        { ...fields, toolCallId: "c\",\"d\ne", toolName: "f" },
        { ...fields, toolCallId: "c", toolName: "d\",\"e\nf" },
        { ...fields, approvalId: fields.toolCallId, toolCallId: fields.approvalId }
      ]
      for (const other of moved) assert.strictEqual(yield* verdict(signed, other), "mismatch")
    }).pipe(Effect.provide(layer())))

  it.effect("tells lone surrogates apart", () =>
    Effect.gen(function*() {
      const texts = ["\ud800", "\udc00", "\ufffd", "\ud83d\ude00", "e\u0301", "é", "\\ud800"]
      const signatures = yield* Effect.forEach(
        texts,
        (text) => sign({ ...question, approvalId: text, input: { text } })
      )
      assert.strictEqual(new Set(signatures).size, texts.length)
      for (const [index, text] of texts.entries()) {
        assert.strictEqual(
          yield* verdict(signatures[index], { ...question, approvalId: text, input: { text } }),
          "valid"
        )
        for (const input of [{ text: "\ufffd" }, { text: "\ud801" }]) {
          if (input.text === text) continue
          assert.strictEqual(yield* verdict(signatures[index], { ...question, approvalId: text, input }), "mismatch")
        }
      }
    }).pipe(Effect.provide(layer())))

  describe("an input", () => {
    it.effect("is signed as what arrives at the other end", () =>
      Effect.gen(function*() {
        const input = { at: new Date(0), note: undefined, list: [undefined, -0], by: { toJSON: () => "me" } }
        const signed = yield* sign({ ...question, input })
        assert.strictEqual(yield* verdict(signed, { ...question, input: JSON.parse(JSON.stringify(input)) }), "valid")
        // Postgres jsonb: shorter keys first.
        const stored = { by: "me", at: "1970-01-01T00:00:00.000Z", list: [null, 0] }
        assert.strictEqual(yield* verdict(signed, { ...question, input: stored }), "valid")
        assert.strictEqual(yield* verdict(signed, { ...question, input: { ...input, at: new Date(1) } }), "mismatch")
      }).pipe(Effect.provide(layer())))

    it.effect("that is not JSON fails to be signed, and was never signed", () =>
      Effect.gen(function*() {
        for (const input of [undefined, 1n, new Map(), { a: Number.NaN }, { a: () => 1 }]) {
          const error = yield* Effect.flip(sign({ ...question, input }))
          assert.strictEqual(error._tag, "NotJson")
          assert.strictEqual(yield* verdict(signature, { ...question, input }), "mismatch")
        }
      }).pipe(Effect.provide(layer())))

    it.effect("may nest a hundred thousand levels", () =>
      Effect.gen(function*() {
        const input = JSON.parse("[".repeat(100_000) + "]".repeat(100_000))
        assert.strictEqual(yield* verdict(yield* sign({ ...question, input }), { ...question, input }), "valid")
      }).pipe(Effect.provide(layer())))
  })

  describe("the older payload", () => {
    it.effect("is verified, and not signed", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* verdict(legacySignature, question), "valid")
        assert.notStrictEqual(yield* sign(question), legacySignature)
      }).pipe(Effect.provide(layer())))

    it.effect("is signed on demand, where it cannot be misread", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* sign(question), legacySignature)
        assert.strictEqual(yield* verdict(legacySignature, question), "valid")
        assert.strictEqual(yield* verdict(signature, question), "valid")
        const split = { ...question, toolName: "a\nb" }
        assert.strictEqual(yield* verdict(yield* sign(split), split), "valid")
        const fields = { ...question, toolCallId: `${question.toolCallId}\na`, toolName: "b" }
        const other = { ...question, toolName: "a\nb" }
        assert.notStrictEqual(yield* sign(fields), yield* sign(other))
      }).pipe(Effect.provide(layer({ legacy: "sign" }))))

    it.effect("is refused on demand", () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* verdict(legacySignature, question), "mismatch")
        assert.strictEqual(yield* verdict(signature, question), "valid")
      }).pipe(Effect.provide(layer({ legacy: "refuse" }))))

    it.effect("is refused where a field holds a line feed or a lone surrogate", () =>
      Effect.gen(function*() {
        const hmac = yield* (yield* Crypto.Crypto).hmacSha256(Redacted.make(secret))
        const legacy = Effect.fnUntraced(function*(fields: ApprovalSigner.SignedFields) {
          const digest = yield* CanonicalJson.digest(fields.input)
          const lines = [fields.approvalId, fields.toolCallId, fields.toolName, digest]
          return Base64Url.encode(yield* hmac.sign(lines.join("\n")))
        })
        assert.strictEqual(yield* legacy(question), legacySignature)
        for (const field of ["approvalId", "toolCallId", "toolName"]) {
          for (const text of ["\n", "a\nb", "a\n", "\ud800", "a\udfffb"]) {
            const fields = { ...question, [field]: text }
            assert.strictEqual(yield* verdict(yield* legacy(fields), fields), "mismatch")
          }
          for (const text of ["", "a\rb", "a\u2028b", "\ufffd", "\ud83d\ude00"]) {
            const fields = { ...question, [field]: text }
            assert.strictEqual(yield* verdict(yield* legacy(fields), fields), "valid")
          }
        }
      }).pipe(Effect.provide(Layer.merge(layer(), testCrypto))))
  })

  describe("the ring", () => {
    const [older, newer, stranger] = ["the secret of last year", "the secret of this year", "the secret of nobody here"]
      .map((text) => Redacted.make(text))

    it.effect("signs with the first secret and verifies with each", () =>
      Effect.gen(function*() {
        const before = yield* Effect.provide(sign(question), layer({ secrets: [older!] }))
        const after = yield* Effect.provide(sign(question), layer({ secrets: [newer!] }))
        const ring = layer({ secrets: [newer!, older!] })
        assert.strictEqual(yield* Effect.provide(sign(question), ring), after)
        for (const signed of [before, after]) {
          assert.strictEqual(yield* Effect.provide(verdict(signed, question), ring), "valid")
        }
        const retired = layer({ secrets: [newer!] })
        assert.strictEqual(yield* Effect.provide(verdict(before, question), retired), "mismatch")
        const forged = yield* Effect.provide(sign(question), layer({ secrets: [stranger!] }))
        assert.strictEqual(yield* Effect.provide(verdict(forged, question), ring), "mismatch")
      }))

    it.effect("asks every key, whichever fits", () =>
      Effect.gen(function*() {
        const asked: Array<string> = []
        const crypto = Layer.effect(Crypto.Crypto)(Effect.map(Crypto.Crypto, (crypto) => ({
          ...crypto,
          hmacSha256: (secret) =>
            Effect.map(crypto.hmacSha256(secret), (hmac) => ({
              sign: hmac.sign,
              verify: (code, data) => {
                asked.push(Redacted.value(secret) as string)
                return hmac.verify(code, data)
              }
            }))
        })))
        const secrets = [newer!, older!, stranger!]
        const ring = Layer.provide(ApprovalSigner.layer({ secrets }), Layer.provide(crypto, testCrypto))
        for (const first of secrets) {
          const signed = yield* Effect.provide(sign(question), layer({ secrets: [first] }))
          asked.length = 0
          assert.strictEqual(yield* Effect.provide(verdict(signed, question), ring), "valid")
          assert.deepStrictEqual(asked, secrets.map((secret) => Redacted.value(secret)))
        }
      }))

    it.effect("refuses no secret, and one that is short, when it is built", () =>
      Effect.gen(function*() {
        const long = Redacted.make("0123456789abcdef")
        const refused: ReadonlyArray<readonly [ReadonlyArray<Crypto.Secret>, object]> = [
          [[], { reason: "none" }],
          [[Redacted.make("")], { reason: "short", index: 0 }],
          [[long, Redacted.make("0123456789abcde")], { reason: "short", index: 1 }],
          [[Redacted.make(new Uint8Array(15))], { reason: "short", index: 0 }],
          [[long, long, Redacted.make(new Uint8Array(64).subarray(3, 6))], { reason: "short", index: 2 }]
        ]
        for (const [secrets, expected] of refused) {
          const error = yield* Effect.flip(Effect.provide(sign(question), layer({ secrets })))
          assert.include(error, { _tag: "InvalidSecret", ...expected })
        }
        // Counted in UTF-8.
        for (const secrets of [[long], [Redacted.make("éééééééé")], [Redacted.make(new Uint8Array(16))]]) {
          assert.strictEqual((yield* Effect.provide(sign(question), layer({ secrets }))).length, 43)
        }
      }))
  })

  describe("layerConfig", () => {
    const configured = (options: Parameters<typeof ApprovalSigner.layerConfig>[0], env: Record<string, string>) =>
      ApprovalSigner.layerConfig(options).pipe(
        Layer.provide(testCrypto),
        Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
      )
    const NEW = Config.Redacted("NEW")
    const both = Config.all([NEW, Config.Redacted("OLD")])

    it.effect("reads one secret or several", () =>
      Effect.gen(function*() {
        const one = configured({ secrets: NEW }, { NEW: secret })
        assert.strictEqual(yield* Effect.provide(sign(question), one), signature)
        const ring = configured({ secrets: both, legacy: "refuse" }, { NEW: "the secret of this year", OLD: secret })
        assert.strictEqual(yield* Effect.provide(verdict(signature, question), ring), "valid")
        assert.strictEqual(yield* Effect.provide(verdict(legacySignature, question), ring), "mismatch")
      }))

    it.effect("fails for one that is absent or short", () =>
      Effect.gen(function*() {
        const failure = (env: Record<string, string>) =>
          Effect.flip(Effect.provide(sign(question), configured({ secrets: both }, env)))
        assert.strictEqual((yield* failure({ NEW: secret }))._tag, "ConfigError")
        assert.include(yield* failure({ NEW: secret, OLD: "short" }), { _tag: "InvalidSecret", index: 1 })
      }))
  })

  it.effect("layerUnsigned signs nothing and takes everything", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* sign(question))
      for (const any of [undefined, "", "x", signature]) assert.strictEqual(yield* verdict(any, question), "valid")
    }).pipe(Effect.provide(ApprovalSigner.layerUnsigned)))

  it.effect("fails with its type when the platform cannot sign or verify", () =>
    Effect.gen(function*() {
      const unavailable = Effect.fail(new Crypto.CryptoUnavailable({ reason: "the key server is down" }))
      const crypto = Layer.effect(Crypto.Crypto)(Effect.map(Crypto.Crypto, (crypto) => ({
        ...crypto,
        hmacSha256: () => Effect.succeed({ sign: () => unavailable, verify: () => unavailable })
      })))
      const signer = Layer.provide(
        ApprovalSigner.layer({ secrets: [Redacted.make(secret)] }),
        Layer.provide(crypto, testCrypto)
      )
      assert.strictEqual((yield* Effect.flip(Effect.provide(sign(question), signer)))._tag, "CryptoUnavailable")
      const verified = Effect.provide(verdict(signature, question), signer)
      assert.strictEqual((yield* Effect.flip(verified))._tag, "CryptoUnavailable")
    }))

  it.effect("shows its secrets nowhere", () =>
    Effect.gen(function*() {
      const hidden = "hunter2hunter2hunter2"
      const bytes = new TextEncoder().encode(hidden)
      const shown: Array<string> = []
      const show = (value: unknown) => {
        shown.push(String(value), JSON.stringify(value) ?? "")
        if (value instanceof Error) shown.push(value.message, value.stack ?? "")
      }
      const logger = Logger.make(({ message }) => show(message))
      const short = Redacted.make(hidden.slice(0, 14))
      for (const secrets of [[Redacted.make(hidden)], [Redacted.make(bytes)], [Redacted.make(hidden), short], []]) {
        const program = Effect.gen(function*() {
          const signer = yield* ApprovalSigner.ApprovalSigner
          show(signer)
          yield* Effect.logInfo(signer)
          show(yield* signer.sign(question))
          show(yield* Effect.flip(signer.sign({ ...question, input: { a: 1n } })))
          for (const form of [undefined, "x", legacySignature]) show(yield* Effect.flip(signer.verify(form, question)))
          return yield* signer.verify("A".repeat(43), question)
        }).pipe(Effect.withSpan("signing"), Effect.provide(layer({ secrets })), Effect.provide(Logger.layer([logger])))
        const exit = yield* Effect.exit(program)
        assert.isTrue(Exit.isFailure(exit))
        show(exit)
        if (Exit.isFailure(exit)) shown.push(Cause.pretty(exit.cause))
      }
      const text = shown.join("\n")
      assert.isAbove(text.length, 500)
      for (
        const form of [hidden, hidden.slice(0, 8), Base64Url.encode(hidden).slice(0, 10), bytes.slice(0, 6).join(",")]
      ) {
        assert.notInclude(text, form)
      }
    }))

  it("its errors cross a wire", () => {
    const error = new ApprovalSigner.InvalidSignature({ approvalId: "a", toolCallId: "c", reason: "mismatch" })
    const codec = Schema.toCodecJson(ApprovalSigner.InvalidSignature)
    const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
    assert.strictEqual(back.message, error.message)
    assert.notInclude(
      new ApprovalSigner.InvalidSignature({ approvalId: "a\nb", toolCallId: "c".repeat(999), reason: "missing" })
        .message,
      "\n"
    )
  })
})

const runs = { arbitrary: { runs: 500 } }
const fields = Arbitrary.map(
  Arbitrary.all([fragmentText, fragmentText, fragmentText, jsonValue]),
  ([approvalId, toolCallId, toolName, input]): ApprovalSigner.SignedFields => ({
    approvalId,
    toolCallId,
    toolName,
    input
  })
)

/** The same value, its keys the other way round at all depths. */
const reversed = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]))
    : value

describe("for all fields", () => {
  it.effect.prop(
    "what is signed is valid, after transport and in any order of keys",
    [fields],
    ([fields]) =>
      Effect.gen(function*() {
        const signed = yield* sign(fields)
        assert.match(signed, /^[\w-]{43}$/)
        assert.strictEqual(yield* verdict(signed, fields), "valid")
        assert.strictEqual(yield* verdict(signed, { ...fields, input: throughJson(fields.input) }), "valid")
        assert.strictEqual(yield* verdict(signed, { ...fields, input: reversed(fields.input) }), "valid")
      }).pipe(Effect.provide(layer())),
    runs
  )

  const names = oneOf(["approvalId", "toolCallId", "toolName", "input"] as const)
  it.effect.prop(
    "a change of any of them is refused",
    [fields, fields, names],
    ([fields, others, name]) =>
      Effect.gen(function*() {
        const changed = { ...fields, [name]: others[name] }
        const isSame = CanonicalJson.stringify(changed) === CanonicalJson.stringify(fields)
        assert.strictEqual(yield* verdict(yield* sign(fields), changed), isSame ? "valid" : "mismatch")
      }).pipe(Effect.provide(layer())),
    runs
  )

  it.effect.prop(
    "a change anywhere in the input is refused",
    [jsonValue, jsonValue],
    ([input, other]) =>
      Effect.gen(function*() {
        const nested = { a: [input], b: input }
        const signed = yield* sign({ ...question, input: nested })
        const isSame = CanonicalJson.stringify(input) === CanonicalJson.stringify(other)
        for (const changed of [{ a: [other], b: input }, { a: [input], b: other }]) {
          assert.strictEqual(yield* verdict(signed, { ...question, input: changed }), isSame ? "valid" : "mismatch")
        }
        for (const changed of [{ a: [input, null], b: input }, { a: [input] }, { ...nested, c: null }, [nested]]) {
          assert.strictEqual(yield* verdict(signed, { ...question, input: changed }), "mismatch")
        }
      }).pipe(Effect.provide(layer())),
    runs
  )
})
