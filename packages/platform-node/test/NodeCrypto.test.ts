import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import { Crypto } from "@countersign/core/Crypto"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"
import { cryptoCases } from "../../core/test/cryptoCases.ts"
import * as NodeCrypto from "../src/NodeCrypto.ts"

describe("NodeCrypto", () => {
  cryptoCases(NodeCrypto.layer)

  it("signs and verifies synchronously", () => {
    const layer = Layer.provide(
      ApprovalSigner.layer({ secrets: [Redacted.make("test-secret-key-for-hmac-signing")] }),
      NodeCrypto.layer
    )
    const fields = {
      approvalId: "approval-1",
      toolCallId: "call-1",
      toolName: "deleteFile",
      input: { path: "/tmp/cache" }
    }
    const signed = Effect.runSync(Effect.provide(
      Effect.gen(function*() {
        const signer = yield* ApprovalSigner.ApprovalSigner
        const signature = yield* signer.sign(fields)
        yield* signer.verify(signature, fields)
        return signature
      }),
      layer
    ))
    assert.strictEqual(signed, "KhhdqErvPwq9PCD-YYlVKgPDJ_tby36fpqptjJpmYhE")
  })

  it.effect("shows a secret nowhere: not inspected, not in a span, not in an error", () =>
    Effect.gen(function*() {
      const hidden = "hunter2hunter2hunter2"
      const bytes = Buffer.from(hidden)
      const shown: Array<string> = []
      const show = (value: unknown) =>
        shown.push(inspect(value, { depth: 20, showHidden: true, maxStringLength: null }), JSON.stringify(value) ?? "")
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      for (
        const secrets of [[Redacted.make(hidden)], [Redacted.make(bytes)], [Redacted.make(hidden), Redacted.make("x")]]
      ) {
        const exit = yield* Effect.gen(function*() {
          const signer = yield* ApprovalSigner.ApprovalSigner
          show(signer)
          const crypto = yield* Crypto
          const hmac = yield* crypto.hmacSha256(secrets[0]!)
          show(hmac)
          show(yield* hmac.sign("data"))
          const fields = { approvalId: "a", toolCallId: "c", toolName: "t", input: {} }
          show(yield* signer.sign(fields))
          return yield* signer.verify("A".repeat(43), fields)
        }).pipe(
          Effect.withSpan("signing"),
          Effect.provide(Layer.provideMerge(ApprovalSigner.layer({ secrets }), NodeCrypto.layer)),
          Effect.withTracer(tracer),
          Effect.exit
        )
        assert.isTrue(Exit.isFailure(exit))
        show(exit)
        show(secrets)
      }
      for (const { attributes, name } of spans) show([name, [...attributes]])
      assert.isNotEmpty(spans)
      const text = shown.join("\n")
      const forms = [hidden, hidden.slice(0, 8), bytes.toString("hex"), bytes.toString("base64url").slice(0, 10)]
      for (
        const form of [
          ...forms,
          [...bytes.subarray(0, 6)].join(", "),
          bytes.toString("hex", 0, 5).replace(/../g, "$& ")
        ]
      ) {
        assert.notInclude(text, form)
      }
    }))
})
