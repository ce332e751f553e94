/** What the AI SDK signs, Countersign verifies. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as ApprovalSigner from "../../src/ApprovalSigner.ts"
import { secret, server } from "../approvalHistory.ts"
import { fragmentText, jsonValue, oneOf } from "../arbitraries.ts"
import { testCrypto } from "../testCrypto.ts"
import { both, call, partsOf, proceed, type Sdk, sdk6, sdk7, sdks, user, type Via } from "./sdk.ts"

/** What the SDK signs for a call, and the signature. */
const signedBy = Effect.fnUntraced(function*(
  sdk: Sdk,
  via: Via,
  { approvalId, input, toolCallId = "c1", toolName = "pay" }: {
    readonly input: string
    readonly approvalId?: string
    readonly toolCallId?: string
    readonly toolName?: string
  }
) {
  const { ai } = sdk
  const pay = ai.tool({ inputSchema: ai.jsonSchema({}), needsApproval: true, execute: async () => "paid" })
  const tools = Object.defineProperty({}, toolName, { value: pay, enumerable: true })
  const internal = approvalId === undefined ? {} : { _internal: { generateId: () => approvalId } }
  const options = { tools, secret, messages: [user()], ...internal }
  const { messages } = yield* proceed(sdk, via, options, [call(toolCallId, toolName, input)])
  const [toolCall] = partsOf(messages, "tool-call")
  const [request] = partsOf(messages, "tool-approval-request")
  const fields: ApprovalSigner.SignedFields = {
    approvalId: request.approvalId,
    toolCallId: toolCall.toolCallId,
    toolName: toolCall.toolName,
    input: toolCall.input
  }
  return { fields, signature: request.signature as string }
})

const verdict = (signature: string | undefined, fields: ApprovalSigner.SignedFields) =>
  Effect.flatMap(ApprovalSigner.ApprovalSigner, (signer) =>
    signer.verify(signature, fields).pipe(
      Effect.as("valid"),
      Effect.catchTag("InvalidSignature", ({ reason }) => Effect.succeed(reason))
    ))

const input = "{\"cents\":500,\"to\":\"Zoë\",\"at\":[1.5,null,{\"a\":-0}]}"

describe("a question that the AI SDK has signed", () => {
  for (const { name, sdk, via } of both) {
    it.effect(`${name}: is verified, and nothing may be changed in it`, () =>
      Effect.gen(function*() {
        const { fields, signature } = yield* signedBy(sdk, via, { input })
        assert.strictEqual(yield* verdict(signature, fields), "valid")
        const changes: ReadonlyArray<Partial<ApprovalSigner.SignedFields>> = [
          { approvalId: `${fields.approvalId}x` },
          { toolCallId: "c2" },
          { toolName: "payall" },
          { input: { ...fields.input as object, cents: 501 } },
          { input: { ...fields.input as object, extra: null } },
          { input: [fields.input] }
        ]
        for (const change of changes) {
          assert.strictEqual(yield* verdict(signature, { ...fields, ...change }), "mismatch")
        }
        const other = signature.startsWith("A") ? "B" : "A"
        assert.strictEqual(yield* verdict(other + signature.slice(1), fields), "mismatch")
        assert.strictEqual(yield* verdict(`${signature}=`, fields), "malformed")
        assert.strictEqual(yield* verdict(undefined, fields), "missing")
      }).pipe(Effect.provide(server)))
  }

  it.effect("7.0.173: has the signature that is made here", () =>
    Effect.gen(function*() {
      const { fields, signature } = yield* signedBy(sdk7, "generateText", { input })
      const signer = yield* ApprovalSigner.ApprovalSigner
      assert.strictEqual(yield* signer.sign(fields), signature)
    }).pipe(Effect.provide(server)))

  it.effect("6.0.326: has another one, of the payload before v1, which can be refused", () =>
    Effect.gen(function*() {
      const { fields, signature } = yield* signedBy(sdk6, "generateText", { input })
      const signer = yield* ApprovalSigner.ApprovalSigner
      assert.notStrictEqual(yield* signer.sign(fields), signature)
      const strict = ApprovalSigner.layer({ secrets: [Redacted.make(secret)], legacy: "refuse" })
      const refused = Effect.provide(verdict(signature, fields), Layer.provide(strict, testCrypto))
      assert.strictEqual(yield* refused, "mismatch")
    }).pipe(Effect.provide(server)))

  it.effect("6.0.326: is refused where its payload could be read in two ways", () =>
    Effect.gen(function*() {
      for (const toolCallId of ["c\n1", "c\ud800"]) {
        const { fields, signature } = yield* signedBy(sdk6, "generateText", { input, toolCallId })
        assert.strictEqual(yield* verdict(signature, fields), "mismatch")
      }
    }).pipe(Effect.provide(server)))
})

/** The text of a JSON value, with numbers and strings that are written in more ways than one. */
const inputText: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.all([
    jsonValue,
    Arbitrary.array(
      Arbitrary.all([
        fragmentText,
        oneOf(["-0", "1e21", "1E-7", "5e-324", "1.0", "1e400", "\"\\ud800\"", "\"\\uDC00x\"", "\"\\/\\u2028\"", "{}"])
      ]),
      { maxLength: 4 }
    ),
    oneOf([0, 1, 40])
  ]),
  ([value, members, depth]) => {
    const object = members.map(([key, member]) => `${JSON.stringify(key)}:${member}`)
    const inner = `{${[...object, `"value":${JSON.stringify(value)}`].join(",")}}`
    // The SDK does not read these keys.
    const read = inner.replaceAll("__proto__", "proto").replaceAll("prototype", "type")
    return "{\"a\":[".repeat(depth) + read + "]}".repeat(depth)
  }
)

describe("any input", () => {
  for (const sdk of sdks) {
    it.effect.prop(
      `${sdk.version}: is signed and verified`,
      [inputText, fragmentText, fragmentText, fragmentText, oneOf<Via>(["generateText", "streamText"])],
      Effect.fnUntraced(function*([text, id, callId, name, via]) {
        // The older payload has no line feeds and lone surrogates here.
        const kept = (value: string) => sdk === sdk7 ? value : value.replace(/\n|\p{Surrogate}/gu, "")
        const ids = { approvalId: kept(`a${id}`), toolCallId: kept(`c${callId}`), toolName: kept(`t${name}`) }
        const { fields, signature } = yield* signedBy(sdk, via, { ...ids, input: text })
        assert.include(fields, ids)
        assert.strictEqual(yield* verdict(signature, fields), "valid")
        assert.strictEqual(yield* verdict(signature, { ...fields, input: { input: fields.input } }), "mismatch")
      }, Effect.provide(server)),
      { arbitrary: { runs: 100 } }
    )
  }
})
