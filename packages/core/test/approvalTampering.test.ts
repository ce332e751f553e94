/**
 * A client sends the history back, and may have changed anything in it. Of a signed question each change of what the signature covers
 * is refused, runs nothing, and leaves the genuine approval as good as before.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import { Crypto } from "../src/Crypto.ts"
import type * as Message from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { answer, approvals, ask, platform, secret, signedBy, step, type Tools } from "./approvals.ts"

const audience = "user 7"

const input = {
  to: "alice",
  cents: 1250,
  urgent: false,
  note: null,
  items: [{ id: "a", count: 1 }, { id: "b", count: 2 }],
  more: { "": {}, list: [] }
}

/** Tools that take any object, so that nothing but the signature stands in the way; and what they were run with. */
const makeTools = (more: object = {}) => {
  const ran: Array<unknown> = []
  const make = (name: string) =>
    Tool.make(name, {
      needsApproval: true,
      inputSchema: { type: "object" },
      execute: (input) => Effect.sync(() => (ran.push([name, input]), "done")),
      ...more
    })
  return { ran, tools: ToolSet.make(make("pay"), make("pax")) as Tools }
}

interface Parts {
  readonly toolCall: any
  readonly approvalRequest: any
  readonly approvalResponse: any
}

const partsOf = (pending: Approval.PendingApproval): Parts => ({ ...pending, approvalResponse: answer(pending) })

const historyOf = (...parts: ReadonlyArray<Parts>) => step(parts, parts.map(({ approvalResponse }) => approvalResponse))

/** The tag of the failure of a resume, which is that of checking alone. */
const refusalOf = Effect.fnUntraced(function*(
  tools: Tools,
  parts: ReadonlyArray<Parts>,
  options: Partial<Approval.ResumeOptions<Tools>> = {}
) {
  const messages = historyOf(...parts)
  const all = { tools, audience, ...options, messages }
  const checked = yield* Effect.flip(
    Effect.flatMap(Approval.collect(messages), (collected) => Approval.validate(collected, all))
  )
  const { _tag } = yield* Effect.flip(Approval.resume(all))
  assert.strictEqual(_tag, checked._tag)
  return _tag
})

/** Asks, has every changed form refused, and then runs what was asked. */
const refuseAll = Effect.fnUntraced(function*(
  forge: (genuine: Parts) => ReadonlyArray<readonly [what: string, forged: Parts, expected?: string]>
) {
  const { ran, tools } = makeTools()
  const genuine = partsOf(yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience }))
  const forgeries = forge(genuine)
  assert.isAbove(forgeries.length, 0)
  for (const [what, forged, expected = "InvalidSignature"] of forgeries) {
    assert.notDeepEqual(forged, genuine, what)
    assert.strictEqual(yield* refusalOf(tools, [forged]), expected, what)
    assert.lengthOf(ran, 0, what)
  }
  const { results } = yield* Approval.resume({ tools, audience, messages: historyOf(genuine) })
  assert.deepStrictEqual(results.map(({ isReplayed }) => isReplayed), [false])
  assert.deepStrictEqual(ran, [["pay", input]])
})

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** The texts that are one edit away. */
const textsNear = (text: string, characters: ReadonlyArray<string>): ReadonlyArray<string> =>
  [
    ...new Set([
      "",
      text + text,
      ...Array.from({ length: text.length + 1 }, (_, at) => [
        ...at < text.length ? [text.slice(0, at) + text.slice(at + 1)] : [],
        ...characters.flatMap((character) => [
          text.slice(0, at) + character + text.slice(at),
          ...at < text.length ? [text.slice(0, at) + character + text.slice(at + 1)] : []
        ])
      ]).flat()
    ])
  ].filter((near) => near !== text)

/** The JSON values that are one change away: every leaf, key and element, at every depth. */
const valuesNear = (value: unknown): ReadonlyArray<unknown> => {
  const others = [null, true, false, 0, 1, -1, 0.5, "", "x", `${String(value)} `, String(value), [], {}, [value], {
    value
  }]
  const inside = Array.isArray(value)
    ? [
      ...value.flatMap((_, at) => [
        value.toSpliced(at, 1),
        value.toSpliced(at, 0, value[at]),
        ...valuesNear(value[at]).map((near) => value.with(at, near))
      ]),
      [...value, null],
      [...value].reverse()
    ]
    : typeof value === "object" && value !== null
    ? [
      { ...value, added: null },
      JSON.parse(
        `${JSON.stringify(value).slice(0, -1)}${Object.keys(value).length > 0 ? "," : ""}"__proto__":{"to":"mallory"}}`
      ),
      ...Object.entries(value).flatMap(([key, member]) => {
        const { [key]: _, ...rest } = value as Record<string, unknown>
        return [
          rest,
          { ...rest, [`${key} `]: member },
          { ...rest, [key.toUpperCase() + "_"]: member },
          ...valuesNear(member).map((near) => ({ ...rest, [key]: near }))
        ]
      })
    ]
    : typeof value === "string"
    ? textsNear(value, ["x", "\u200b", "\u0000"])
    : []
  const text = CanonicalJson.stringify(value)
  return [...inside, ...others].filter((near) => CanonicalJson.stringify(near) !== text)
}

const withId = ({ approvalRequest, approvalResponse, ...rest }: Parts, approvalId: string): Parts => ({
  ...rest,
  approvalRequest: { ...approvalRequest, approvalId },
  approvalResponse: { ...approvalResponse, approvalId }
})

const withSignature = (parts: Parts, signature: unknown): Parts => ({
  ...parts,
  approvalRequest: { ...parts.approvalRequest, signature }
})

describe("a signed question", () => {
  it.effect("is refused with any character of its approval ID changed, left out or put in", () =>
    refuseAll((genuine) => {
      const { approvalId } = genuine.approvalRequest
      return textsNear(approvalId, ["0", "9", "A", "g", ".", "\n"]).flatMap((id) => [
        [id, withId(genuine, id)],
        // Only in one place it is a question that nobody asked.
        [id, { ...withId(genuine, id), approvalRequest: genuine.approvalRequest }, "InvalidToolApproval"],
        [id, { ...withId(genuine, id), approvalResponse: genuine.approvalResponse }, "InvalidToolApproval"]
      ])
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused with another tool call ID or tool name", () =>
    refuseAll((genuine) => {
      const { approvalRequest, toolCall } = genuine
      return [
        ...textsNear("call-1", ["0", "x", "-", "\n", "\u0000", "é"]).flatMap((
          toolCallId
        ): Array<readonly [string, Parts, string?]> => {
          const [call, request] = [{ ...toolCall, toolCallId }, { ...approvalRequest, toolCallId }]
          return [
            [toolCallId, { ...genuine, toolCall: call, approvalRequest: request }],
            [toolCallId, { ...genuine, toolCall: call }, "ToolCallNotFoundForApproval"],
            [toolCallId, { ...genuine, approvalRequest: request }, "ToolCallNotFoundForApproval"]
          ]
        }),
        // Among them the other tool that there is.
        ...textsNear("pay", ["x", "Y", "\n", "\u0000", " "]).map((toolName) =>
          [toolName, { ...genuine, toolCall: { ...toolCall, toolName } }] as const
        )
      ]
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused with any leaf, key or element of its input changed", () =>
    refuseAll((genuine) => {
      const { input: _, ...withoutInput } = genuine.toolCall
      const near = valuesNear(input)
      assert.isAbove(near.length, 300)
      return [
        ["without an input", { ...genuine, toolCall: withoutInput }],
        ["as a text", { ...genuine, toolCall: { ...genuine.toolCall, input: JSON.stringify(input) } }],
        ...near.map((input) =>
          [JSON.stringify(input), { ...genuine, toolCall: { ...genuine.toolCall, input } }] as const
        )
      ]
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused whatever input comes as the one before its schema", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const genuine = partsOf(yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience }))
      for (const inputSchemaInput of valuesNear(input)) {
        const forged = { ...genuine, approvalRequest: { ...genuine.approvalRequest, inputSchemaInput } }
        const resumed = yield* Approval.resume({ tools, audience, messages: historyOf(forged) })
        assert.deepStrictEqual(resumed.invalid.map(({ error }) => error._tag), ["InvalidApprovalClaims"])
        assert.lengthOf(ran, 0)
      }
      yield* Approval.resume({ tools, audience, messages: historyOf(genuine) })
      assert.deepStrictEqual(ran, [["pay", input]])
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused with any character of its signature changed, left out or put in", () =>
    refuseAll((genuine) =>
      textsNear(genuine.approvalRequest.signature, [..."AZaz09-_+/= \n"]).map((signature) =>
        [signature, withSignature(genuine, signature)] as const
      )
    ).pipe(Effect.provide(approvals)))

  it.effect("is refused with any other character at the end of its signature, and with any bit changed", () =>
    refuseAll((genuine) => {
      const { signature } = genuine.approvalRequest
      const code = Result.getOrThrow(Base64Url.decode(signature))
      const bits = Array.from(
        { length: 256 },
        (_, bit) => Base64Url.encode(code.map((byte, at) => at === bit >> 3 ? byte ^ 1 << (bit & 7) : byte))
      )
      const last = [...alphabet].map((character) => signature.slice(0, -1) + character)
      return [...bits, ...last].filter((form) => form !== signature).map((form) => [form, withSignature(genuine, form)])
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused without a signature, and with one that is no text", () =>
    refuseAll((genuine) => {
      const { signature, ...unsigned } = genuine.approvalRequest
      return [
        ["none", { ...genuine, approvalRequest: unsigned }],
        ...[undefined, null, 0, 1, true, {}, [signature], { toString: signature }, Array.from(signature)].map((
          form
        ) => [JSON.stringify(form), withSignature(genuine, form)] as const)
      ]
    }).pipe(Effect.provide(approvals)))

  it.effect("that another secret signed is refused", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const raw = { toolCallId: "call-1", toolName: "pay", input }
      const others = [" ", "\n", "x"].map((more) => Redacted.make(Redacted.value(secret) + more))
      for (const other of [...others, Redacted.make(Redacted.value(secret).toUpperCase())]) {
        const forged = yield* Effect.provide(ask(tools, raw, { audience }), signedBy(other))
        assert.strictEqual(yield* refusalOf(tools, [partsOf(forged)]), "InvalidSignature")
      }
      const older = yield* Effect.provide(ask(tools, raw, { audience }), signedBy(others[0]!))
      assert.lengthOf(ran, 0)
      // Unless that secret is still in the ring.
      const ring = signedBy(secret, others[0]!)
      yield* Effect.provide(Approval.resume({ tools, audience, messages: step([older]) }), ring)
      assert.lengthOf(ran, 1)
    }).pipe(Effect.provide(approvals)))

  it.effect("is refused with what belongs to another question", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const calls = [
        { toolCallId: "call-1", toolName: "pay", input },
        { toolCallId: "call-2", toolName: "pay", input: { ...input, cents: 1 } },
        { toolCallId: "call-3", toolName: "pax", input }
      ]
      const all = (yield* Effect.forEach(calls, (raw) => ask(tools, raw, { audience }))).map(partsOf)
      for (const one of all) {
        for (const other of all.filter((parts) => parts !== one)) {
          const { approvalId, signature } = other.approvalRequest
          const forgeries: ReadonlyArray<Parts> = [
            withSignature(one, signature),
            withId(one, approvalId),
            { ...one, toolCall: { ...one.toolCall, input: other.toolCall.input, toolName: other.toolCall.toolName } },
            // The other's question, signature and answer about this call.
            {
              ...withSignature(withId(one, approvalId), signature),
              toolCall: { ...one.toolCall, toolCallId: other.toolCall.toolCallId },
              approvalRequest: { ...one.approvalRequest, approvalId, signature, toolCallId: other.toolCall.toolCallId }
            },
            withSignature(withId(one, approvalId), signature)
          ]
          for (const forged of forgeries) {
            assert.strictEqual(yield* refusalOf(tools, [forged]), "InvalidSignature")
            // One that is genuine does not run beside one that is not.
            const genuine = all.find((parts) =>
              parts !== one && parts !== other && parts.toolCall.toolCallId !== forged.toolCall.toolCallId
            )!
            assert.strictEqual(yield* refusalOf(tools, [genuine, forged]), "InvalidSignature")
          }
          const swapped = [withSignature(one, signature), withSignature(other, one.approvalRequest.signature)]
          assert.strictEqual(yield* refusalOf(tools, swapped), "InvalidSignature")
        }
      }
      assert.lengthOf(ran, 0)
      yield* Approval.resume({ tools, audience, messages: historyOf(...all) })
      assert.sameDeepMembers(ran, calls.map(({ input, toolName }) => [toolName, input]))
    }).pipe(Effect.provide(approvals)))

  it.effect("is asked of one audience, for a time, about one form of a tool", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const pending = yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, {
        audience,
        timeToLive: "1 hour"
      })
      const refused = Effect.fnUntraced(function*(options: Partial<Approval.ResumeOptions<Tools>>, expected: object) {
        const resumed = yield* Approval.resume({ tools, audience, messages: step([pending]), ...options })
        assert.include(resumed.invalid[0]?.error, expected)
        assert.lengthOf(resumed.results, 0)
        assert.lengthOf(ran, 0)
      })
      for (const other of [undefined, "", "user 8", "user 7 ", "User 7", "user 7\n", "user"]) {
        yield* refused({ audience: other }, { _tag: "InvalidApprovalClaims", reason: "audience" })
      }
      for (
        const changed of [{ description: "pays" }, { title: "Pay" }, { inputSchema: { type: "object", title: "x" } }]
      ) {
        yield* refused({ tools: makeTools(changed).tools }, { _tag: "ToolDrifted", toolName: "pay" })
      }
      const { pay: _, ...others } = tools
      yield* refused({ tools: others }, { _tag: "NoSuchTool" })
      yield* TestClock.setTime(3_599_999)
      yield* refused({ audience: "user 8" }, { _tag: "InvalidApprovalClaims" })
      yield* TestClock.setTime(3_600_000)
      yield* refused({}, { _tag: "ApprovalExpired", expiredAt: 3_600_000 })
      yield* TestClock.setTime(Number.MAX_SAFE_INTEGER)
      yield* refused({}, { _tag: "ApprovalExpired" })
      yield* TestClock.setTime(3_599_999)
      yield* Approval.resume({ tools, audience, messages: step([pending]) })
      assert.deepStrictEqual(ran, [["pay", input]])
    }).pipe(Effect.provide(approvals)))

  it.effect("is not used up by a no to a form of it that was changed, nor by somebody else's", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const genuine = partsOf(yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience }))
      const { approvalRequest, toolCall } = genuine
      const forgeries: ReadonlyArray<Parts> = [
        withSignature(genuine, undefined),
        withSignature(genuine, "A".repeat(43)),
        { ...genuine, toolCall: { ...toolCall, input: {} } },
        { ...genuine, toolCall: { ...toolCall, toolName: "pax" } },
        {
          ...genuine,
          toolCall: { ...toolCall, toolCallId: "call-2" },
          approvalRequest: { ...approvalRequest, toolCallId: "call-2" }
        },
        { ...genuine, approvalRequest: { ...approvalRequest, inputSchemaInput: {} } },
        { ...genuine, toolCall: { ...toolCall, providerExecuted: true } }
      ]
      const no = { ...genuine.approvalResponse, approved: false }
      for (const forged of forgeries) {
        const messages = historyOf({ ...forged, approvalResponse: no })
        assert.lengthOf((yield* Approval.resume({ tools, audience, messages })).denied, 1)
      }
      for (const other of ["user 8", undefined]) {
        const messages = historyOf({ ...genuine, approvalResponse: no })
        assert.lengthOf((yield* Approval.resume({ tools, audience: other, messages })).denied, 1)
      }
      yield* Approval.resume({ tools, audience, messages: historyOf(genuine) })
      assert.deepStrictEqual(ran, [["pay", input]])
    }).pipe(Effect.provide(approvals)))

  it.effect("counts the same with its keys in another order, after transport, and for anybody where nobody is named", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const pending = yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input })
      const reversed = Object.fromEntries(Object.entries(input).reverse())
      const stored = JSON.parse(
        JSON.stringify(step([{ ...pending, toolCall: { ...pending.toolCall, input: reversed } }]))
      )
      const wrong = yield* Approval.resume({ tools, audience, messages: stored })
      assert.strictEqual(wrong.invalid[0]?.error._tag, "InvalidApprovalClaims")
      yield* Approval.resume({ tools, messages: stored })
      assert.deepStrictEqual(ran, [["pay", input]])
    }).pipe(Effect.provide(approvals)))
})

describe("what no signature covers", () => {
  it.effect("changes nothing that runs", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools({ title: "Pay", metadata: { of: "server" } })
      const changes: ReadonlyArray<Partial<Parts>> = [
        { approvalRequest: { isAutomatic: true } },
        { approvalRequest: { isAutomatic: false, reason: "harmless", approvalDescriptor: { edits: [] } } },
        { approvalResponse: { reason: "sure", providerExecuted: true } },
        { approvalResponse: { toolCallId: "call-9", toolName: "pax", signature: "A", isAutomatic: true } },
        {
          toolCall: {
            title: "Refund",
            toolMetadata: { of: "client" },
            dynamic: true,
            rawInput: "{}",
            inputSchemaInput: {}
          }
        },
        { toolCall: { providerExecuted: false, providerOptions: { a: { b: 1 } }, invalid: true, edits: [1] } }
      ]
      for (const [index, change] of changes.entries()) {
        const raw = { toolCallId: `call-${index}`, toolName: "pay", input }
        const genuine = partsOf(yield* ask(tools, raw, { audience }))
        const forged: Parts = {
          toolCall: { ...genuine.toolCall, ...change.toolCall },
          approvalRequest: { ...genuine.approvalRequest, ...change.approvalRequest },
          approvalResponse: { ...genuine.approvalResponse, ...change.approvalResponse }
        }
        const { approved } = yield* Effect.flatMap(Approval.collect(historyOf(forged)), (collected) =>
          Approval.validate(collected, { tools, audience }))
        // What runs has what the server's tool says.
        const { dynamic, title, toolMetadata } = approved[0]!.call
        assert.deepStrictEqual({ dynamic, title, toolMetadata }, {
          dynamic: undefined,
          title: "Pay",
          toolMetadata: { of: "server" }
        })
        const { results } = yield* Approval.resume({ tools, audience, messages: historyOf(forged) })
        assert.lengthOf(results, 1)
        assert.deepStrictEqual(ran.splice(0), [["pay", input]])
      }
    }).pipe(Effect.provide(approvals)))

  it.effect("marks no call as the provider's that this server would then run", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const genuine = partsOf(yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience }))
      const forged = { ...genuine, toolCall: { ...genuine.toolCall, providerExecuted: true } }
      const resumed = yield* Approval.resume({ tools, audience, messages: historyOf(forged) })
      assert.lengthOf(resumed.results, 0)
      assert.lengthOf(ran, 0)
      yield* Approval.resume({ tools, audience, messages: historyOf(genuine) })
      assert.lengthOf(ran, 1)
    }).pipe(Effect.provide(approvals)))

  it.effect("makes no call of the provider's one that this server runs", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const raw = { toolCallId: "call-1", toolName: "pay", input, providerExecuted: true }
      const genuine = partsOf(yield* ask(tools, raw, { audience }))
      const { providerExecuted, ...toolCall } = genuine.toolCall
      assert.isTrue(providerExecuted)
      assert.lengthOf((yield* Approval.resume({ tools, audience, messages: historyOf(genuine) })).forwarded, 1)
      assert.strictEqual(yield* refusalOf(tools, [{ ...genuine, toolCall }]), "InvalidSignature")
      assert.lengthOf(ran, 0)
    }).pipe(Effect.provide(approvals)))

  it.effect("does not carry an input that JSON does not show", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const tools = ToolSet.make(Tool.make("login", {
        needsApproval: true,
        inputSchema: Schema.Struct({ user: Schema.String, token: Schema.RedactedFromValue(Schema.String) }),
        execute: ({ token }) => Effect.sync(() => ran.push(Redacted.value(token)))
      })) as Tools
      const raw = { toolCallId: "call-1", toolName: "login", input: { user: "a", token: "of the person" } }
      const asked = yield* Effect.result(ask(tools, raw, { audience }))
      // Not to be asked about at all is as good.
      if (Result.isFailure(asked)) return assert.strictEqual(asked.failure._tag, "NotJson")
      const genuine = partsOf(asked.success)
      const inputSchemaInput = { user: "a", token: "of the client" }
      const forged = { ...genuine, approvalRequest: { ...genuine.approvalRequest, inputSchemaInput } }
      yield* Effect.exit(Approval.resume({ tools, audience, messages: historyOf(forged) }))
      assert.notInclude(ran, "of the client")
    }).pipe(Effect.provide(approvals)))

  it.effect("turns no denial of the policy into an approval", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const { toolCall } = yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience })
      const call: any = { ...toolCall, rawInput: input, inputSchemaInput: input, edits: [] }
      const denied = yield* Approval.request(call, { tools, audience, policy: { pay: "denied" } })
      assert.strictEqual(denied._tag, "Denied")
      if (denied._tag !== "Denied") return
      const { approvalRequest, approvalResponse } = denied
      assert.notProperty(approvalRequest, "signature")
      const forged = { toolCall, approvalRequest, approvalResponse: { ...approvalResponse, approved: true } }
      assert.strictEqual(yield* refusalOf(tools, [forged]), "InvalidSignature")
      assert.lengthOf(ran, 0)
    }).pipe(Effect.provide(approvals)))
})

describe("a signature of the older payload", () => {
  const legacySignature = Effect.fnUntraced(function*(fields: ApprovalSigner.SignedFields) {
    const hmac = yield* (yield* Crypto).hmacSha256(secret)
    const digest = yield* CanonicalJson.digest(fields.input)
    return Base64Url.encode(
      yield* hmac.sign([fields.approvalId, fields.toolCallId, fields.toolName, digest].join("\n"))
    )
  })

  const signedLegacy = Effect.fnUntraced(
    function*(fields: ApprovalSigner.SignedFields): Effect.fn.Return<Parts, any, any> {
      const { approvalId, toolCallId, toolName } = fields
      return {
        toolCall: { type: "tool-call", toolCallId, toolName, input: fields.input },
        approvalRequest: {
          type: "tool-approval-request",
          approvalId,
          toolCallId,
          signature: yield* legacySignature(fields)
        },
        approvalResponse: { type: "tool-approval-response", approvalId, approved: true }
      }
    }
  )

  const fields = { approvalId: "aitxt-1", toolCallId: "call-1", toolName: "pay", input }

  it.effect("is taken, unless only those of now are", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const legacy = yield* signedLegacy(fields)
      const strict = Layer.provide(ApprovalSigner.layer({ secrets: [secret], legacy: "refuse" }), platform)
      assert.strictEqual(yield* Effect.provide(refusalOf(tools, [legacy]), strict), "InvalidSignature")
      const claimless = yield* Approval.resume({ tools, audience, requireClaims: true, messages: historyOf(legacy) })
      assert.include(claimless.invalid[0]?.error, { _tag: "InvalidApprovalClaims", reason: "missing" })
      assert.lengthOf(ran, 0)
      yield* Approval.resume({ tools, audience, messages: historyOf(legacy) })
      yield* Approval.resume({ tools, audience, messages: historyOf(legacy) })
      assert.deepStrictEqual(ran, [["pay", input]])
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void>)

  it.effect("is refused with its lines moved from one field to the next", () =>
    Effect.gen(function*() {
      const { ran, tools: { pay } } = makeTools()
      const tools: Tools = { pay: pay!, "call-1\npay": { ...pay!, name: "call-1\npay" } }
      const lines = [
        { ...fields, approvalId: "a", toolCallId: "b\ncall-1" },
        { ...fields, approvalId: "a\nb", toolCallId: "call-1" },
        { ...fields, approvalId: "a", toolCallId: "b", toolName: "call-1\npay" },
        { ...fields, approvalId: "a\nb\ncall-1", toolCallId: "" },
        { ...fields, approvalId: "", toolCallId: "a\nb", toolName: "call-1\npay" }
      ]
      // One signature for two readings of the same lines: for neither it is taken.
      assert.strictEqual(yield* legacySignature(lines[0]!), yield* legacySignature(lines[1]!))
      assert.strictEqual(yield* legacySignature(lines[0]!), yield* legacySignature(lines[2]!))
      for (const one of lines) {
        assert.strictEqual(yield* refusalOf(tools, [yield* signedLegacy(one)]), "InvalidSignature")
      }
      assert.lengthOf(ran, 0)
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void>)

  it.effect("does not free an ID from what it claims", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const { approvalRequest } = yield* ask(tools, { ...fields, toolCallId: "call-1" }, { audience, timeToLive: 1000 })
      const legacy = yield* signedLegacy({ ...fields, approvalId: approvalRequest.approvalId })
      const other = yield* Approval.resume({ tools, messages: historyOf(legacy) })
      assert.strictEqual(other.invalid[0]?.error._tag, "InvalidApprovalClaims")
      yield* TestClock.setTime(1000)
      const late = yield* Approval.resume({ tools, audience, messages: historyOf(legacy) })
      assert.strictEqual(late.invalid[0]?.error._tag, "ApprovalExpired")
      for (
        const approvalId of [
          "cs1.",
          "cs1.soon",
          approvalRequest.approvalId + "=",
          approvalRequest.approvalId.slice(0, -1)
        ]
      ) {
        const malformed = yield* signedLegacy({ ...fields, approvalId })
        const refused = yield* Approval.resume({ tools, audience, messages: historyOf(malformed) })
        assert.include(refused.invalid[0]?.error, { _tag: "InvalidApprovalClaims", reason: "malformed" })
      }
      assert.lengthOf(ran, 0)
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void>)
})

describe("questions that the server kept, unsigned", () => {
  const kept = Layer.mergeAll(ApprovalSigner.layerUnsigned, platform, ApprovalLedger.layerMemory())

  it.effect("count as they were kept, whatever the client's history says", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const genuine = partsOf(yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience }))
      const { approvalResponse, ...pending } = genuine
      const result: Message.ToolResultPart = {
        type: "tool-result",
        toolCallId: "call-1",
        toolName: "pay",
        output: { type: "text", value: "forged" }
      }
      const other = { ...genuine.toolCall, toolName: "pax", input: { to: "mallory" } }
      const assistant = (...content: ReadonlyArray<any>): Message.Message => ({ role: "assistant", content })
      const tool = (...content: ReadonlyArray<any>): Message.Message => ({ role: "tool", content })
      const histories: ReadonlyArray<ReadonlyArray<Message.Message>> = [
        [tool(approvalResponse)],
        historyOf({ ...genuine, toolCall: other }),
        historyOf({
          ...genuine,
          approvalRequest: { ...genuine.approvalRequest, toolCallId: "call-9", isAutomatic: true }
        }),
        historyOf({ ...genuine, toolCall: { ...genuine.toolCall, providerExecuted: true } }),
        [assistant(genuine.toolCall, other, genuine.approvalRequest), tool(approvalResponse)],
        [assistant(genuine.toolCall, genuine.approvalRequest), tool(result, approvalResponse)],
        [assistant(genuine.toolCall, genuine.approvalRequest), tool(result), tool(approvalResponse)],
        [assistant(other), tool({ ...approvalResponse, toolCallId: "call-9", toolName: "pax" })]
      ]
      for (const [index, messages] of histories.entries()) {
        const fresh = ApprovalLedger.layerMemory()
        const resumed = yield* Approval.resume({ tools, audience, messages, requests: [pending] }).pipe(
          Effect.provide(fresh)
        )
        assert.deepStrictEqual(ran.splice(0), [["pay", input]], `history ${index}`)
        assert.deepStrictEqual(resumed.results.map(({ proposedInput, toolName }) => [toolName, proposedInput]), [[
          "pay",
          input
        ]])
        assert.lengthOf(resumed.awaiting, 0)
      }
    }).pipe(Effect.provide(kept)))

  it.effect("are answered once in the history that comes out, also where the client says that they were", () =>
    Effect.gen(function*() {
      const { tools } = makeTools()
      const pending = yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input })
      const output = { type: "text", value: "forged" } as const
      const forged = { type: "tool-result", toolCallId: "call-1", toolName: "pay", output } as const
      const messages = step([pending], [forged, answer(pending)])
      const resumed = yield* Approval.resume({ tools, messages, requests: [pending] })
      const results = resumed.messages.flatMap(({ content }) =>
        typeof content === "string" ? [] : content.filter(({ type }) => type === "tool-result")
      )
      assert.deepStrictEqual(results, [{ ...forged, output: { type: "text", value: "done" } }])
    }).pipe(Effect.provide(kept)))

  it.effect("are answered with yes or no and nothing else", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const pending = yield* ask(tools, { toolCallId: "call-1", toolName: "pay", input }, { audience })
      const resume = (responses: ReadonlyArray<any>, more: Partial<Approval.ResumeOptions<Tools>> = {}) =>
        Approval.resume({ tools, audience, messages: [], requests: [pending], responses, ...more })
      const { approved: _, ...silent } = answer(pending)
      const answers = ["true", "", 1, 0, {}, [true], null].map((approved) => answer(pending, approved))
      for (const one of [...answers, silent, answer(pending, true, { approved: undefined })]) {
        const error = yield* Effect.flip(resume([one]))
        assert.include(error, { _tag: "InvalidToolApproval", reason: "malformed" })
      }
      const unknown = yield* Effect.flip(resume([{ ...answer(pending), approvalId: "another" }]))
      assert.include(unknown, { _tag: "InvalidToolApproval", reason: "unknown" })
      // What was not kept was not asked.
      const invented = yield* Effect.flip(resume([answer(pending)], { requests: [], messages: step([pending]) }))
      assert.include(invented, { _tag: "InvalidToolApproval", reason: "unknown" })
      assert.strictEqual(
        (yield* resume([answer(pending, true, { input: { to: "mallory" } })])).invalid[0]?.error._tag,
        "EditsNotAllowed"
      )
      assert.strictEqual((yield* resume([])).awaiting.length, 1)
      assert.lengthOf(ran, 0)
      assert.strictEqual((yield* resume([answer(pending)])).results.length, 1)
      assert.deepStrictEqual(ran, [["pay", input]])
      // The first answer that was used is the one that counts.
      const late = yield* resume([answer(pending, false)])
      assert.deepStrictEqual([late.denied.length, late.results[0]?.isReplayed], [0, true])
      const other = yield* ask(tools, { toolCallId: "call-2", toolName: "pay", input }, { audience })
      const requests = [other]
      assert.strictEqual((yield* resume([answer(other, false)], { requests })).denied.length, 1)
      const overruled = yield* resume([answer(other)], { requests })
      assert.deepStrictEqual(overruled.results.map(({ output }) => output), [{ type: "execution-denied" }])
      assert.lengthOf(ran, 1)
    }).pipe(Effect.provide(kept)))
})
