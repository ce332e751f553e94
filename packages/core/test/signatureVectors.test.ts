/**
 * What the AI SDK (7.0.173) and the Go AI SDK sign and verify, case by case. Where Countersign answers otherwise on purpose, the
 * case stands in `deviations` with the answer it gets here.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import type { Secret } from "../src/Crypto.ts"
import { secretOf } from "./cryptoCases.ts"
import vectors from "./fixtures/ai-sdk/signatures.json" with { type: "json" }
import goVectors from "./fixtures/go-ai-sdk/approval-signatures.json" with { type: "json" }
import { jsInputs } from "./jsInputs.ts"
import { testCrypto } from "./testCrypto.ts"

const deviations: Readonly<Record<string, string>> = {
  // A secret that can be guessed is refused when the layer is built. That its codes are equal is shown in cryptoCases.
  "secret short": "InvalidSecret",
  "secret nul": "InvalidSecret",
  "secret newline": "InvalidSecret",
  "secret surrogate": "InvalidSecret",
  "secret bytes1": "InvalidSecret",
  "Buffer subarray secret uses only the view bytes": "InvalidSecret",
  "same as bytes 1122": "InvalidSecret",
  // The older payload writes a lone surrogate as U+FFFD, so that another ID has the same signature.
  "lone surrogate ids": "legacy mismatch",
  // A signature has one form.
  "standard base64 alphabet accepted": "malformed",
  "padded accepted": "malformed",
  "non-canonical trailing bits accepted (malleable)": "malformed",
  // What is undefined is left out, as on the wire; a hole is null, as on the wire.
  "undefined property differs from missing": "other signature",
  "array hole -> empty slot text": "other signature",
  // A Date and what has toJSON are what they are on the wire.
  "Date hashes as {}": "other signature",
  "other Date hashes as {} (collision)": "other signature",
  "toJSON ignored": "other signature",
  // What JSON would lose.
  "Map hashes as {} (collision)": "NotJson",
  "RegExp hashes as {}": "NotJson",
  "Infinity = null": "NotJson",
  "function value": "NotJson",
  "top-level function": "NotJson"
}

interface Fields {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
}

const fieldsOf = ({ approvalId, toolCallId, toolName }: Fields, input: unknown): ApprovalSigner.SignedFields => ({
  approvalId,
  toolCallId,
  toolName,
  input
})

const layer = (secret: Secret) => Layer.provide(ApprovalSigner.layer({ secrets: [secret] }), testCrypto)

const verdict = (signature: string, fields: ApprovalSigner.SignedFields) =>
  Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) =>
    signer.verify(signature, fields).pipe(
      Effect.as("valid"),
      Effect.catchTag("InvalidSignature", ({ reason }) => Effect.succeed(reason))
    ))

const sign = (fields: ApprovalSigner.SignedFields) =>
  Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) => signer.sign(fields))

describe("signed by the AI SDK", () => {
  for (const vector of vectors.cases) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const input: unknown = JSON.parse(vector.inputJson)
        const fields = fieldsOf(vector, input)
        assert.strictEqual(CanonicalJson.stringify(input), vector.canonicalJson)
        assert.strictEqual(yield* Effect.provide(CanonicalJson.digest(input), testCrypto), vector.inputDigest)
        const signer = layer(secretOf(vector.secret))
        const deviation = deviations[vector.name]
        if (deviation === "InvalidSecret") {
          assert.strictEqual((yield* Effect.flip(Effect.provide(sign(fields), signer)))._tag, deviation)
          return
        }
        yield* Effect.gen(function*() {
          assert.strictEqual(yield* sign(fields), vector.signature)
          assert.isTrue(vector.verify.signature)
          assert.strictEqual(yield* verdict(vector.signature, fields), "valid")
          const isLegacyValid = vector.verify.legacySignature && deviation !== "legacy mismatch"
          assert.strictEqual(yield* verdict(vector.legacySignature, fields), isLegacyValid ? "valid" : "mismatch")
        }).pipe(Effect.provide(signer))
      }))
  }
})

describe("verified by the AI SDK", () => {
  for (const vector of vectors.verifyCases) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const answer = yield* verdict(vector.signature, fieldsOf(vector, vector.input))
        const deviation = deviations[vector.name]
        if (deviation !== undefined) {
          assert.isTrue(vector.result)
          assert.strictEqual(answer, deviation)
        } else if (vector.throws !== undefined) {
          // There a DOMException.
          assert.strictEqual(answer, "malformed")
        } else {
          assert.strictEqual(answer === "valid", vector.result)
        }
      }).pipe(Effect.provide(layer(Redacted.make(vector.secret)))))
  }
})

describe("inputs and secrets that are not JSON, in the AI SDK", () => {
  for (const vector of vectors.specialInputs) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const input = jsInputs[vector.inputJs]!()
        const fields = fieldsOf(vector, input)
        const secret = typeof vector.secret === "string"
          ? vector.secret
          : Result.getOrThrow(Hex.decode(vector.secret.$bytesHex))
        const signed = yield* Effect.result(Effect.provide(sign(fields), layer(Redacted.make(secret))))
        const deviation = deviations[vector.name] ?? (vector.throws === undefined ? undefined : "NotJson")
        switch (deviation) {
          case undefined:
            assert.strictEqual(Result.getOrThrow(signed), vector.signature)
            break
          case "other signature": {
            const json: unknown = JSON.parse(JSON.stringify(input))
            assert.notStrictEqual(Result.getOrThrow(signed), vector.signature)
            // What the AI SDK signs of the input as it arrives.
            const arrived = yield* Effect.provide(sign(fieldsOf(vector, json)), layer(Redacted.make(secret)))
            assert.strictEqual(Result.getOrThrow(signed), arrived)
            break
          }
          default:
            assert.strictEqual(Result.isFailure(signed) ? signed.failure._tag as string : undefined, deviation)
        }
      }))
  }
})

describe("the Go AI SDK", () => {
  const signer = layer(Redacted.make(goVectors.secretUtf8))

  for (const vector of goVectors.vectors) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const fields = fieldsOf(vector, vector.input)
        assert.strictEqual(CanonicalJson.stringify(vector.input), vector.canonical)
        assert.strictEqual(yield* Effect.provide(CanonicalJson.digest(vector.input), testCrypto), vector.digest)
        if (!vector.legacy) assert.strictEqual(yield* sign(fields), vector.signature)
        assert.strictEqual(yield* verdict(vector.signature, fields), "valid")
      }).pipe(Effect.provide(signer)))
  }

  it.effect("takes other forms of a signature, which are refused here", () =>
    Effect.gen(function*() {
      const { of, signatures } = goVectors.alsoAccepted
      const vector = goVectors.vectors.find(({ name }) => name === of)!
      for (const form of signatures) {
        assert.strictEqual(yield* verdict(form, fieldsOf(vector, vector.input)), "malformed")
      }
    }).pipe(Effect.provide(signer)))

  for (const vector of goVectors.mustReject) {
    it.effect(vector.why, () =>
      Effect.gen(function*() {
        for (const fields of [vector.verifyAs].flat()) {
          assert.strictEqual(yield* verdict(vector.signature, fieldsOf(fields, fields.input)), "mismatch")
        }
        if (vector.signedFor !== undefined) {
          const { signedFor } = vector
          assert.strictEqual(yield* verdict(vector.signature, fieldsOf(signedFor, signedFor.input)), "valid")
        }
      }).pipe(Effect.provide(signer)))
  }
})

it("every deviation names a case", () => {
  const names = new Set([...vectors.cases, ...vectors.verifyCases, ...vectors.specialInputs].map(({ name }) => name))
  for (const name of Object.keys(deviations)) assert.isTrue(names.has(name), name)
})
