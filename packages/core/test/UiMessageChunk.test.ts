import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import * as JsonSchemaValidator from "../src/JsonSchemaValidator.ts"
import type { ToolResultOutput } from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import * as UiMessageChunk from "../src/UiMessageChunk.ts"
import { answer, approvals, ask, step } from "./approvals.ts"
import { below, fragmentText, jsonValue, oneOf } from "./arbitraries.ts"
import roundtrip from "./fixtures/ai-sdk/roundtrip.json" with { type: "json" }
import { extraKeys, sameText, withKeys } from "./wireObjects.ts"

type Chunk = UiMessageChunk.UiMessageChunk

const decode = Schema.decodeUnknownEffect(UiMessageChunk.UiMessageChunk)

const samples: ReadonlyArray<Chunk> = [
  { type: "start", messageId: "m1", messageMetadata: { a: 1 } },
  { type: "start-step" },
  { type: "text-start", id: "t1" },
  { type: "text-delta", id: "t1", delta: "a\nb\r\n日本\u2028😀", providerMetadata: { p: { x: 1 } } },
  { type: "text-end", id: "t1" },
  { type: "tool-input-start", toolCallId: "c1", toolName: "pay", title: "Pay", dynamic: true, inputEncoding: "text" },
  { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{\"" },
  { type: "tool-input-available", toolCallId: "c1", toolName: "pay", input: { a: null }, toolMetadata: { b: 1 } },
  { type: "tool-input-error", toolCallId: "c1", toolName: "pay", input: "{", errorText: "no", providerExecuted: true },
  {
    type: "tool-approval-request",
    approvalId: "a1",
    toolCallId: "c1",
    approvalDescriptor: { a: 1 },
    inputSchemaInput: null,
    reason: "why",
    isAutomatic: false,
    signature: "s"
  },
  { type: "tool-approval-response", approvalId: "a1", approved: false, reason: "no", providerExecuted: true },
  { type: "tool-output-available", toolCallId: "c1", output: [1], preliminary: true },
  { type: "tool-output-error", toolCallId: "c1", errorText: "broken", dynamic: false },
  { type: "tool-output-denied", toolCallId: "c1" },
  { type: "error", errorText: "broken" },
  { type: "abort", reason: "gone" },
  { type: "finish-step" },
  { type: "finish", finishReason: "tool-calls", messageMetadata: [] },
  { type: "data-weather", id: "d1", data: { celsius: 12 }, transient: true },
  { type: "reasoning-delta", id: "r1", delta: "hm" }
]

const chunks: Arbitrary.Arbitrary<Array<Chunk>> = Arbitrary.array(
  Arbitrary.map(
    Arbitrary.all([oneOf(samples), fragmentText, jsonValue, extraKeys]),
    ([chunk, text, value, keys]) =>
      withKeys(
        {
          ...chunk,
          ...chunk.type === "text-delta" ? { delta: text } : {},
          ...chunk.type === "tool-output-available" ? { output: value } : {}
        },
        keys.filter(([key]) => key !== "id" && key !== "title")
      ) as Chunk
  ),
  { maxLength: 5 }
)

/** Cuts where the numbers say, in ten-thousandths of the whole. */
const cut = <A extends string | Uint8Array<ArrayBuffer>>(whole: A, places: ReadonlyArray<number>): Array<A> => {
  const at = places.map((place) => Math.floor(place * whole.length / 10_000)).sort((left, right) => left - right)
  return [0, ...at].map((from, index) => whole.slice(from, at[index] ?? whole.length) as A)
}

const places = Arbitrary.array(below(10_000), { maxLength: 12 })

const read = (pieces: ReadonlyArray<string>, options?: { readonly maxEventLength?: number }) =>
  Stream.runCollect(UiMessageChunk.decodeSse(Stream.fromIterable(pieces), options))

const toBytes = (input: ReadonlyArray<Chunk>) =>
  Effect.map(
    Stream.runCollect(UiMessageChunk.encodeSse(Stream.fromIterable(input))),
    (pieces) => Uint8Array.from(pieces.flatMap((piece) => [...piece]))
  )

const readBytes = (pieces: ReadonlyArray<Uint8Array>) =>
  Stream.runCollect(UiMessageChunk.decodeSse(Stream.fromIterable(pieces)))

const failure = (text: string, options?: { readonly maxEventLength?: number }) => Effect.flip(read([text], options))

describe("UiMessageChunk", () => {
  it.effect("decodes and encodes every chunk unchanged", () =>
    Effect.gen(function*() {
      for (const chunk of samples) {
        assert.deepStrictEqual(yield* decode(chunk), chunk)
        assert.deepStrictEqual(yield* Schema.encodeEffect(UiMessageChunk.UiMessageChunk)(chunk), chunk)
      }
    }))

  it.effect("takes the chunks of a real stream", () =>
    Effect.gen(function*() {
      for (const { uiChunks } of roundtrip.cases) {
        for (const chunk of uiChunks) assert.deepStrictEqual<unknown>(yield* decode(chunk), chunk)
      }
    }))

  it.effect("refuses chunks whose type is known and whose shape is not", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [chunk: object, place: string]> = [
        [{ type: "tool-output-denied" }, "Missing key\n  at [\"toolCallId\"]"],
        [
          { type: "tool-approval-response", approvalId: "a1", approved: "true" },
          "Expected boolean\n  at [\"approved\"]"
        ],
        [{ type: "tool-input-start", toolCallId: "c1", toolName: 1 }, "Expected string\n  at [\"toolName\"]"],
        [{ type: "text-delta", id: "t1" }, "Missing key\n  at [\"delta\"]"],
        [{ type: "finish", finishReason: "bored" }, "at [\"finishReason\"]"],
        [{}, "Missing key\n  at [\"type\"]"]
      ]
      for (const [chunk, place] of cases) {
        const error = yield* Effect.flip(decode(chunk))
        assert.strictEqual(error._tag, "SchemaError")
        assert.include(error.message, place)
      }
    }))

  it("tells chunks apart by their type alone", () => {
    const idOf = (chunk: Chunk): string | undefined =>
      chunk.type === "tool-output-denied" ? chunk.toolCallId : undefined
    assert.strictEqual(idOf({ type: "tool-output-denied", toolCallId: "c1" }), "c1")
  })
})

describe("fromToolCall", () => {
  const inputSchema = Schema.Struct({ city: Schema.String })
  const tools = ToolSet.make(
    Tool.make("weather", { inputSchema, title: "Weather", metadata: { a: 1 } }),
    Tool.make("dyn", { kind: "dynamic", inputSchema })
  )
  const chunkOf = Effect.fnUntraced(function*(raw: object, known: ToolSet.ToolSet | undefined) {
    const call = yield* ToolCall.parseOrInvalid({ toolCallId: "c1", toolName: "weather", input: "{}", ...raw }, {
      tools
    })
    return UiMessageChunk.fromToolCall(call, { tools: known })
  }, Effect.provide(JsonSchemaValidator.layerRefuse))

  it.effect("gives the input of a call that can run, and nothing that is only kept", () =>
    Effect.gen(function*() {
      const raw = { input: "{\"city\":\"Oslo\"}", providerMetadata: { p: { x: 1 } } }
      assert.deepStrictEqual<unknown>(yield* chunkOf(raw, undefined), {
        type: "tool-input-available",
        toolCallId: "c1",
        toolName: "weather",
        input: { city: "Oslo" },
        title: "Weather",
        toolMetadata: { a: 1 },
        providerMetadata: { p: { x: 1 } }
      })
      const dynamic = yield* chunkOf({ ...raw, toolName: "dyn" }, undefined)
      assert.strictEqual(dynamic.dynamic, true)
    }))

  it.effect("gives the error of a call that cannot", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual<unknown>(yield* chunkOf({ input: "{\"city\":1}" }, tools), {
        type: "tool-input-error",
        toolCallId: "c1",
        toolName: "weather",
        input: { city: 1 },
        title: "Weather",
        toolMetadata: { a: 1 },
        errorText: "Invalid input for tool weather: /city: expected string"
      })
    }))

  it.effect("says dynamic as the tool set does, and as the call does where there is none", () =>
    Effect.gen(function*() {
      assert.isFalse(Object.hasOwn(yield* chunkOf({}, tools), "dynamic"))
      assert.strictEqual((yield* chunkOf({}, undefined)).dynamic, true)
      assert.strictEqual((yield* chunkOf({ toolName: "dyn" }, tools)).dynamic, true)
      assert.strictEqual((yield* chunkOf({ toolName: "toString" }, tools)).dynamic, true)
    }))
})

describe("fromApprovalRequest, fromApprovalResponse", () => {
  it("keep what there is, and no key of the request that is inherited", () => {
    const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" } as const
    const full = {
      ...request,
      inputSchemaInput: null,
      approvalDescriptor: 1,
      reason: "r",
      isAutomatic: true,
      signature: "s"
    }
    assert.deepStrictEqual<unknown>(UiMessageChunk.fromApprovalRequest(full), full)
    assert.deepStrictEqual(
      UiMessageChunk.fromApprovalRequest(Object.assign(Object.create({ inputSchemaInput: 1 }), request)),
      request
    )
    const response = { type: "tool-approval-response", approvalId: "a1", approved: false, reason: "no" } as const
    assert.deepStrictEqual<unknown>(
      UiMessageChunk.fromApprovalResponse({ ...response, providerExecuted: true, input: 1, providerOptions: {} }),
      { ...response, providerExecuted: true }
    )
  })
})

describe("fromToolResult", () => {
  it("is the chunk that the output calls for", () => {
    const from = (output: ToolResultOutput, rest: object = {}): unknown =>
      UiMessageChunk.fromToolResult({ toolCallId: "c1", output, ...rest })
    const available = { type: "tool-output-available", toolCallId: "c1" }
    const error = { type: "tool-output-error", toolCallId: "c1" }
    assert.deepStrictEqual(from({ type: "text", value: "a" }), { ...available, output: "a" })
    assert.deepStrictEqual(from({ type: "json", value: undefined }), { ...available, output: null })
    assert.deepStrictEqual(from({ type: "content", value: [1] }), { ...available, output: [1] })
    assert.deepStrictEqual(from({ type: "json", value: 1 }, { value: { a: 1 }, dynamic: true }), {
      ...available,
      output: { a: 1 },
      dynamic: true
    })
    assert.deepStrictEqual(from({ type: "json", value: 1 }, { value: undefined }), { ...available, output: null })
    assert.deepStrictEqual(from({ type: "error-text", value: "a" }, { value: 1, providerExecuted: true }), {
      ...error,
      errorText: "a",
      providerExecuted: true
    })
    assert.deepStrictEqual(from({ type: "error-json", value: { a: 1 } }), { ...error, errorText: "{\"a\":1}" })
    assert.deepStrictEqual(from({ type: "error-json", value: "a" }), { ...error, errorText: "a" })
    assert.deepStrictEqual(from({ type: "error-json", value: 1n }), { ...error, errorText: "unknown error" })
    assert.deepStrictEqual(from({ type: "execution-denied", reason: "no" }, { value: 1, dynamic: true }), {
      type: "tool-output-denied",
      toolCallId: "c1"
    })
  })
})

const nothing = Schema.Struct({})

const approvable = ToolSet.make(
  Tool.make("free", { inputSchema: nothing, metadata: { a: 1 }, execute: () => Effect.succeed({ at: 12 }) }),
  Tool.make("asked", { inputSchema: nothing, needsApproval: true, execute: () => Effect.succeed("asked ran") }),
  Tool.make("allowed", { inputSchema: nothing, execute: () => Effect.fail(new Error("broken")) }),
  Tool.make("forbidden", { inputSchema: nothing, execute: () => Effect.succeed("never") }),
  Tool.make("client", { inputSchema: nothing })
)

const policy = { allowed: ApprovalPolicy.approved("cheap"), forbidden: ApprovalPolicy.denied("never") }

const propose = (...names: ReadonlyArray<string>) =>
  ToolStep.run(names.map((toolName) => ({ toolCallId: toolName, toolName, input: "{}" })), {
    tools: approvable,
    policy
  })

const down = Effect.fail(new ApprovalLedger.LedgerUnavailable({ reason: "down" }))

describe("fromStep", () => {
  it.effect("gives each call with what was decided about it, then the results", () =>
    Effect.gen(function*() {
      const step = yield* propose("free", "nothing", "asked", "forbidden", "allowed", "client")
      const [asked, forbidden, allowed] = step.approvals.map(({ approvalRequest }) => approvalRequest)
      const input = (toolCallId: string, more: object = {}) => ({
        type: "tool-input-available",
        toolCallId,
        toolName: toolCallId,
        input: {},
        ...more
      })
      const request = (part: typeof asked, toolCallId: string, more: object = {}) => ({
        type: "tool-approval-request",
        approvalId: part!.approvalId,
        toolCallId,
        ...part!.signature === undefined ? {} : { signature: part!.signature },
        ...more
      })
      const response = (part: typeof asked, approved: boolean, reason: string) => ({
        type: "tool-approval-response",
        approvalId: part!.approvalId,
        approved,
        reason
      })
      assert.deepStrictEqual<unknown>(UiMessageChunk.fromStep(step, { tools: approvable }), [
        input("free", { toolMetadata: { a: 1 } }),
        {
          type: "tool-input-error",
          toolCallId: "nothing",
          toolName: "nothing",
          input: {},
          dynamic: true,
          errorText: step.invalid[0]!.error.message
        },
        input("asked"),
        request(asked, "asked"),
        input("forbidden"),
        request(forbidden, "forbidden", { isAutomatic: true }),
        response(forbidden, false, "never"),
        { type: "tool-output-denied", toolCallId: "forbidden" },
        input("allowed"),
        request(allowed, "allowed", { isAutomatic: true }),
        response(allowed, true, "cheap"),
        input("client"),
        { type: "tool-output-available", toolCallId: "free", output: { at: 12 } },
        { type: "tool-output-error", toolCallId: "allowed", errorText: "Error: broken" }
      ])
      assert.isString(asked!.signature)
    }).pipe(Effect.provide(approvals)))

  it.effect("tells of a call that could not be claimed", () =>
    Effect.gen(function*() {
      const chunks = UiMessageChunk.fromStep(yield* propose("allowed"))
      const errorText = "Tool allowed was not run: its approval could not be claimed."
      assert.deepStrictEqual<unknown>(chunks.at(-1), { type: "tool-output-error", toolCallId: "allowed", errorText })
    }).pipe(
      Effect.provideService(ApprovalLedger.ApprovalLedger, {
        claim: () => down,
        find: () => down,
        settle: () => Effect.void,
        resolve: () => down
      }),
      Effect.provide(approvals)
    ))

  it.effect("takes a tool without a tool set for what the call says of it", () =>
    Effect.gen(function*() {
      const dynamic = ToolSet.make(Tool.make("dyn", { kind: "dynamic", execute: () => Effect.succeed(1) }))
      const step = yield* ToolStep.run([{ toolCallId: "c1", toolName: "dyn", input: "{}" }], { tools: dynamic })
      assert.deepStrictEqual<unknown>(UiMessageChunk.fromStep(step), [
        { type: "tool-input-available", toolCallId: "c1", toolName: "dyn", input: {}, dynamic: true },
        { type: "tool-output-available", toolCallId: "c1", output: 1, dynamic: true }
      ])
    }).pipe(Effect.provide(approvals)))
})

describe("fromResumeEvent", () => {
  it.effect("gives denials, refusals and results, and nothing of the rest", () =>
    Effect.gen(function*() {
      const pending = yield* Effect.forEach(["c1", "c2", "c3"], (toolCallId) =>
        ask(approvable, { toolCallId, toolName: "asked", input: "{}" }, {
          timeToLive: toolCallId === "c3" ? 0 : "1 minute"
        }))
      const messages = step(
        pending,
        pending.map((one, index) =>
          answer(one, index !== 1)
        )
      )
      const events = yield* Stream.runCollect(Approval.resumeStream({ messages, tools: approvable }))
      const invalid = events.find((event) => event._tag === "Invalid")!.invalid
      assert.deepStrictEqual(
        events.map((event): readonly [string, unknown] => [event._tag, UiMessageChunk.fromResumeEvent(event)]),
        [
          ["Denied", [{ type: "tool-output-denied", toolCallId: "c2" }]],
          ["Invalid", [{ type: "tool-output-error", toolCallId: "c3", errorText: invalid.error.message }]],
          ["Started", []],
          ["Finished", [{ type: "tool-output-available", toolCallId: "c1", output: "asked ran" }]],
          ["Resumed", []]
        ]
      )
      assert.strictEqual(invalid.error._tag, "ApprovalExpired")
    }).pipe(Effect.provide(approvals)))
})

describe("server-sent events", () => {
  it("have one line each, whatever is in the chunk", () => {
    for (const chunk of samples) {
      const event = UiMessageChunk.toSse(chunk)
      assert.match(event, /^data: [^\r\n]*\n\n$/)
      assert.deepStrictEqual(JSON.parse(event.slice("data: ".length)), chunk)
    }
  })

  it("tell of a chunk that has no JSON", () => {
    const cycle: Record<string, unknown> = {}
    cycle["self"] = cycle
    for (const data of [1n, cycle]) {
      assert.include(UiMessageChunk.toSse({ type: "data-x", data }), "\"type\":\"error\"")
    }
  })

  it.effect("end with the done marker, also where there is no chunk", () =>
    Effect.gen(function*() {
      const text = yield* UiMessageChunk.encodeSse(Stream.empty).pipe(Stream.decodeText, Stream.mkString)
      assert.strictEqual(text, "data: [DONE]\n\n")
    }))

  it.effect("end without it where the stream fails", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const exit = yield* UiMessageChunk.encodeSse(Stream.concat(Stream.make(samples[1]!), Stream.fail("broken"))).pipe(
        Stream.decodeText,
        Stream.runForEach((text) => Effect.sync(() => seen.push(text))),
        Effect.exit
      )
      assert.deepStrictEqual(exit, Exit.fail("broken"))
      assert.deepStrictEqual(seen, ["data: {\"type\":\"start-step\"}\n\n"])
    }))

  it.effect.prop(
    "come back as the chunks that were sent, wherever the bytes are cut",
    [chunks, places],
    Effect.fnUntraced(function*([input, where]) {
      const bytes = yield* toBytes(input)
      const read = yield* readBytes(cut(bytes, where))
      assert.isTrue(sameText(read, JSON.parse(JSON.stringify(input))))
    })
  )

  it.effect("keep U+FEFF, wherever the bytes are cut", () =>
    Effect.gen(function*() {
      const chunk = { type: "text-delta", id: "t1", delta: "\ufeffa\ufeff", "\ufeff": "\ufeff" } as Chunk
      const bytes = yield* toBytes([chunk])
      for (let at = 0; at <= bytes.length; at++) {
        assert.deepStrictEqual(yield* readBytes([bytes.subarray(0, at), bytes.subarray(at)]), [chunk], `cut at ${at}`)
      }
      // One at the very beginning is not part of the text.
      assert.deepStrictEqual(yield* readBytes([Uint8Array.of(0xef), Uint8Array.of(0xbb, 0xbf), bytes]), [chunk])
    }))

  it.effect("come back as the chunks that were sent, byte by byte", () =>
    Effect.gen(function*() {
      const bytes = yield* toBytes(samples)
      assert.deepStrictEqual(yield* readBytes(Array.from(bytes, (byte) => Uint8Array.of(byte))), samples)
    }))

  it.effect.prop(
    "are read whatever ends the lines, with comments, other fields and data over several lines",
    [chunks, places, oneOf(["\n", "\r\n", "\r"])],
    Effect.fnUntraced(function*([input, where, end]) {
      const events = input.map((chunk) => [
        ": keep-alive",
        "event: message",
        ...JSON.stringify(chunk, null, 1).split("\n").map((line, index) =>
          index % 2 === 0 ? `data: ${line}` : `data:${line}`
        ),
        "id",
        "datax: 1",
        ""
      ])
      const text = `\ufeff${["", ...events.flat(), ":", "", "data", "", "data: [DONE]", ""].join(end)}${end}`
      const read = yield* Stream.runCollect(UiMessageChunk.decodeSse(Stream.fromIterable(cut(text, where))))
      assert.isTrue(sameText(read, JSON.parse(JSON.stringify(input))))
    })
  )

  it.effect("end at the done marker, and at the end of the text", () =>
    Effect.gen(function*() {
      const start = "data: {\"type\":\"start\"}\n\n"
      const open = Stream.concat(Stream.make(`${start}data: [DONE]\n\ndata: 1\n\n`), Stream.never)
      assert.deepStrictEqual(yield* Stream.runCollect(UiMessageChunk.decodeSse(open)), [{ type: "start" }])
      assert.deepStrictEqual(yield* read([start]), [{ type: "start" }])
      assert.deepStrictEqual(yield* read([start, "data: {\"type\":\"fin"]), [{ type: "start" }])
      assert.deepStrictEqual(yield* read([]), [])
    }))

  it.effect("give the chunks before one that is none, and then the error", () =>
    Effect.gen(function*() {
      const seen: Array<Chunk> = []
      const text = "data: {\"type\":\"start\"}\n\ndata: {\"secret\":1}\n\n"
      const error = yield* UiMessageChunk.decodeSse(Stream.make(text)).pipe(
        Stream.runForEach((chunk) => Effect.sync(() => seen.push(chunk))),
        Effect.flip
      )
      assert.deepStrictEqual(seen, [{ type: "start" }])
      assert.strictEqual(error._tag, "InvalidUiMessageChunk")
      assert.strictEqual(error.reason, "chunk")
      assert.strictEqual(
        error.message,
        "The stream holds an event that is not a UI message chunk: Missing key\n  at [\"type\"]"
      )
    }))

  it.effect("fail where an event is no JSON", () =>
    Effect.gen(function*() {
      const error = yield* failure("data: secret\n\n")
      assert.deepStrictEqual([error._tag, error.reason], ["InvalidUiMessageChunk", "json"])
      assert.strictEqual(error.message, "The stream holds an event that is not a UI message chunk: it is not JSON")
      for (const json of ["1", "null", "[]", "\"start\""]) {
        assert.strictEqual((yield* failure(`data: ${json}\n\n`)).reason, "chunk")
      }
    }))

  it.effect("fail where an event is too long, in one line or many", () =>
    Effect.gen(function*() {
      const delta = `data: {"type":"text-delta","id":"t1","delta":"${"a".repeat(50)}"}\n\n`
      assert.strictEqual((yield* read([delta, delta], { maxEventLength: 200 })).length, 2)
      for (const text of [delta, "data:\n".repeat(100), `:${"a".repeat(100)}`]) {
        const error = yield* failure(text, { maxEventLength: 90 })
        assert.deepStrictEqual([error._tag, error.reason], ["InvalidUiMessageChunk", "length"])
        assert.include(error.message, "longer than the limit")
      }
    }))

  it.effect("take time in proportion to the text", () =>
    Effect.gen(function*() {
      const text = UiMessageChunk.toSse({ type: "data-x", data: "a".repeat(1_000_000) })
      const pieces = Array.from({ length: Math.ceil(text.length / 10) }, (_, index) =>
        text.slice(index * 10, index * 10 + 10))
      assert.strictEqual((yield* read(pieces)).length, 1)
    }))
})
