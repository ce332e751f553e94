import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Message from "../src/Message.ts"
import { below, oneOf } from "./arbitraries.ts"
import { extraKeys, sameText, withKeys } from "./wireObjects.ts"

const call = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { cents: 5 } } as const
const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" } as const
const response = { type: "tool-approval-response", approvalId: "a1", approved: true } as const
const result = {
  type: "tool-result",
  toolCallId: "c1",
  toolName: "pay",
  output: { type: "text", value: "paid" }
} as const
const text = { type: "text", text: "hello" } as const

const outputs: ReadonlyArray<Message.ToolResultOutput> = [
  { type: "text", value: "a" },
  { type: "json", value: null },
  { type: "error-text", value: "a" },
  { type: "error-json", value: { a: [1] } },
  { type: "execution-denied" },
  { type: "execution-denied", reason: "no" },
  { type: "content", value: [text] }
]

const messages: ReadonlyArray<Message.Message> = [
  { role: "system", content: "Be brief.", providerOptions: { p: { cache: true } } },
  { role: "user", content: "hello" },
  { role: "user", content: [text, { type: "file", mediaType: "text/plain", data: "aGk=" }] },
  { role: "assistant", content: "hello" },
  { role: "assistant", content: [text, { ...call, providerExecuted: true }, request, result] },
  { role: "assistant", content: [{ ...request, inputSchemaInput: null, isAutomatic: true, signature: "s" }] },
  { role: "tool", content: [response, { ...response, input: null }, result] },
  ...outputs.map((output): Message.Message => ({ role: "tool", content: [{ ...result, output }] }))
]

const decode = Schema.decodeUnknownEffect(Message.Message)
const encode = Schema.encodeEffect(Message.Message)

const refusal = (message: unknown) =>
  Effect.map(Effect.flip(decode(message)), (error) => `${error._tag}: ${error.message}`)

describe("Message", () => {
  it.effect("decodes and encodes every kind of message unchanged", () =>
    Effect.gen(function*() {
      for (const message of messages) {
        assert.deepStrictEqual(yield* decode(message), message)
        assert.deepStrictEqual(yield* encode(message), message)
      }
    }))

  it.effect.prop(
    "keeps keys that it does not know",
    [oneOf(messages), extraKeys, extraKeys],
    Effect.fnUntraced(function*([message, onMessage, onParts]) {
      const content = typeof message.content === "string"
        ? message.content
        : (message.content as ReadonlyArray<object>).map((part) => withKeys(part, onParts))
      const extended = withKeys({ ...message, content }, onMessage)
      const decoded = yield* decode(extended)
      assert.isTrue(sameText(decoded, extended))
      assert.isTrue(sameText(yield* encode(decoded), extended))
      assert.strictEqual(Object.getPrototypeOf(decoded), Object.prototype)
    })
  )

  it.effect("takes an optional key that is undefined, and keeps it", () =>
    Effect.gen(function*() {
      const message = {
        role: "assistant",
        content: [
          { ...call, providerExecuted: undefined, providerOptions: undefined },
          { ...request, reason: undefined, isAutomatic: undefined, signature: undefined, inputSchemaInput: undefined }
        ],
        providerOptions: undefined
      }
      assert.deepStrictEqual<unknown>(yield* decode(message), message)
    }))

  it.effect("takes a call without input, as JSON leaves it", () =>
    Effect.gen(function*() {
      const message = { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "pay" }] }
      assert.deepStrictEqual<unknown>(yield* decode(message), message)
    }))

  it.effect("passes parts of other types unread, in every role", () =>
    Effect.gen(function*() {
      const part = JSON.parse(
        "{\"type\":\"new\",\"__proto__\":{\"approved\":true},\"constructor\":1,\"approved\":\"x\"}"
      )
      for (const role of ["user", "assistant", "tool"]) {
        const decoded = yield* decode({ role, content: [part] })
        assert.isTrue(sameText(decoded, { role, content: [part] }))
        assert.strictEqual(Object.getPrototypeOf((decoded.content as ReadonlyArray<object>)[0]), Object.prototype)
      }
    }))

  it.effect("refuses an answer that is neither true nor false", () =>
    Effect.gen(function*() {
      for (const approved of ["true", "false", 1, 0, null, undefined, {}]) {
        const message = yield* refusal({ role: "tool", content: [result, { ...response, approved }] })
        assert.include(message, "SchemaError: Expected boolean\n  at [\"content\"][1][\"approved\"]")
        assert.notInclude(message, "paid")
      }
    }))

  it.effect("refuses parts whose type is known and whose shape is not", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [role: string, part: object, place: string]> = [
        [
          "assistant",
          { type: "tool-call", toolName: "pay", input: 1 },
          "Missing key\n  at [\"content\"][0][\"toolCallId\"]"
        ],
        ["assistant", { ...call, toolName: 1 }, "Expected string\n  at [\"content\"][0][\"toolName\"]"],
        ["assistant", { ...call, providerExecuted: "yes" }, "at [\"content\"][0][\"providerExecuted\"]"],
        ["assistant", { ...request, approvalId: undefined }, "Expected string\n  at [\"content\"][0][\"approvalId\"]"],
        ["assistant", { ...request, signature: null }, "at [\"content\"][0][\"signature\"]"],
        [
          "tool",
          { type: "tool-approval-response", approvalId: "a1" },
          "Missing key\n  at [\"content\"][0][\"approved\"]"
        ],
        [
          "tool",
          { type: "tool-result", toolCallId: "c1", toolName: "pay" },
          "Missing key\n  at [\"content\"][0][\"output\"]"
        ],
        ["tool", { ...result, output: { type: "text", value: 1 } }, "at [\"content\"][0][\"output\"][\"value\"]"],
        ["tool", { ...result, output: { type: "json" } }, "at [\"content\"][0][\"output\"][\"value\"]"],
        ["tool", { ...result, output: { type: "video" } }, "at [\"content\"][0][\"output\"]"],
        ["tool", {}, "Missing key\n  at [\"content\"][0][\"type\"]"]
      ]
      for (const [role, part, place] of cases) assert.include(yield* refusal({ role, content: [part] }), place)
    }))

  it.effect("refuses parts that have no place in a message of that role", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [role: string, part: object]> = [
        ["user", call],
        ["user", response],
        ["assistant", response],
        ["tool", call],
        ["tool", request]
      ]
      for (const [role, part] of cases) {
        assert.include(yield* refusal({ role, content: [part] }), "at [\"content\"][0][\"type\"]")
      }
    }))

  it.effect("refuses what is no message", () =>
    Effect.gen(function*() {
      for (const message of [null, 1, "a", [], {}, { role: "admin", content: "a" }, { role: "user" }]) {
        assert.include(yield* refusal(message), "SchemaError: ")
      }
      assert.include(yield* refusal({ role: "tool", content: "a" }), "Expected array\n  at [\"content\"]")
    }))

  it("tells parts apart by their type alone", () => {
    const inputOf = (part: Exclude<Message.AssistantMessage["content"], string>[number]): string =>
      part.type === "tool-call" ? part.toolCallId : part.type === "tool-result" ? part.output.type : part.type
    assert.strictEqual(inputOf(call), "c1")
    assert.strictEqual(inputOf(text), "text")
  })
})

describe("forModel", () => {
  const forModel = (input: ReadonlyArray<unknown>) => Message.forModel(input as ReadonlyArray<Message.Message>)

  it("leaves out requests and responses", () => {
    assert.deepStrictEqual(
      Message.forModel([
        { role: "user", content: "hello" },
        { role: "assistant", content: [text, call, { ...request, inputSchemaInput: 1, approvalDescriptor: 2 }] },
        { role: "tool", content: [response, result] }
      ]),
      [
        { role: "user", content: "hello" },
        { role: "assistant", content: [text, call] },
        { role: "tool", content: [result] }
      ]
    )
  })

  it("keeps a response about a call that the provider runs, without what is not the provider's", () => {
    const kept = {
      type: "tool-approval-response",
      approvalId: "a1",
      approved: false,
      reason: "no",
      providerExecuted: true
    }
    const own = { ...response, approved: false, reason: "no", input: { cents: 1 }, extra: 1 }
    const providers = { role: "assistant", content: [{ ...call, providerExecuted: true }, request] }
    assert.deepStrictEqual<unknown>(forModel([{ role: "tool", content: [{ ...own, providerExecuted: true }] }]), [
      { role: "tool", content: [kept] }
    ])
    assert.deepStrictEqual<unknown>(forModel([providers, { role: "tool", content: [own] }])[1], {
      role: "tool",
      content: [kept]
    })
  })

  it("goes by the call and the request that had an ID last", () => {
    const answer = { role: "tool", content: [response] }
    const callOf = (providerExecuted: boolean) => ({
      role: "assistant",
      content: [{ ...call, providerExecuted }, request]
    })
    const typesOf = (input: ReadonlyArray<unknown>) => typesIn(forModel(input))
    assert.deepStrictEqual(typesOf([callOf(true), callOf(false), answer]), ["tool-call", "tool-call"])
    assert.deepStrictEqual(typesOf([callOf(false), callOf(true), answer]), [
      "tool-call",
      "tool-call",
      "tool-approval-response"
    ])
  })

  it("leaves out a response that is no answer, whoever runs the call", () => {
    for (const change of [{ approved: "true" }, { approved: undefined }, { approvalId: 1 }]) {
      assert.deepStrictEqual(
        forModel([{ role: "tool", content: [{ ...response, providerExecuted: true, ...change }] }]),
        []
      )
    }
  })

  it("leaves out what Countersign keeps with a call", () => {
    const own = { ...call, title: "Pay", inputSchemaInput: 1, rawInput: "{}", edits: [], approvalDescriptor: 1 }
    assert.deepStrictEqual<unknown>(forModel([{ role: "assistant", content: [own] }]), [
      { role: "assistant", content: [{ ...call, title: "Pay" }] }
    ])
  })

  it("puts consecutive tool messages together, in their order", () => {
    const results = ["c1", "c2", "c3", "c4"].map((toolCallId) => ({ ...result, toolCallId }))
    const options = { p: { cache: true } }
    assert.deepStrictEqual<unknown>(
      forModel([
        { role: "tool", content: [results[0]] },
        { role: "tool", content: [response] },
        { role: "tool", content: [results[1], response, results[2]], providerOptions: undefined },
        { role: "tool", content: [results[3]], providerOptions: options },
        { role: "tool", content: [results[0]] },
        { role: "tool", content: [results[1]] },
        { role: "user", content: "hello" },
        { role: "tool", content: [results[2]] }
      ]),
      [
        { role: "tool", content: results.slice(0, 3) },
        { role: "tool", content: [results[3]], providerOptions: options },
        { role: "tool", content: [results[0], results[1]] },
        { role: "user", content: "hello" },
        { role: "tool", content: [results[2]] }
      ]
    )
  })

  it("leaves out messages that become empty, and not an assistant message that was", () => {
    assert.deepStrictEqual<unknown>(
      forModel([
        { role: "tool", content: [] },
        { role: "tool", content: [response], providerOptions: { p: 1 } },
        { role: "assistant", content: [request] },
        { role: "assistant", content: [] }
      ]),
      [{ role: "assistant", content: [] }]
    )
  })

  it("reads own properties only", () => {
    const inherited = Object.assign(Object.create({ providerExecuted: true }), response)
    assert.deepStrictEqual(forModel([{ role: "tool", content: [inherited] }]), [])
  })

  it("takes time in proportion to the messages", () => {
    const many = Array.from({ length: 100_000 }, () => ({ role: "tool", content: [result] }))
    assert.strictEqual(forModel(many)[0]?.content.length, 100_000)
  })

  const part = Arbitrary.map(
    Arbitrary.all([
      oneOf<unknown>([call, request, response, result, text, null, 1, [], { type: "tool-call" }, { type: 1 }]),
      oneOf([{}, { providerExecuted: true }, { inputSchemaInput: 1 }, { approved: "true" }, { toolCallId: "c2" }]),
      extraKeys
    ]),
    ([base, change, keys]) => typeof base === "object" && base !== null ? withKeys({ ...base, ...change }, keys) : base
  )
  const message = Arbitrary.flatMap(
    Arbitrary.all([oneOf(["system", "user", "assistant", "tool", "tool", "other"]), below(12), extraKeys]),
    ([role, kind, keys]) =>
      Arbitrary.map(Arbitrary.array(part, { maxLength: 4 }), (content): unknown => {
        if (kind === 0) return oneOfOdd[content.length]
        const options = kind === 1 ? { providerOptions: { p: 1 } } : {}
        return withKeys({ role, content: kind === 2 ? "text" : content, ...options }, keys)
      })
  )
  const oneOfOdd = [null, 1, "a", {}, { role: "tool" }]

  const typesIn = (input: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
    input.flatMap((entry: any) => Array.isArray(entry?.content) ? entry.content.map((one: any) => one?.type) : [])

  it.prop(
    "is idempotent, leaves no request, and changes nothing that it is given",
    [Arbitrary.array(message, { maxLength: 6 })],
    ([input]) => {
      const before = JSON.stringify(input)
      const once = forModel(input)
      assert.deepStrictEqual(forModel(once), once)
      assert.notInclude(typesIn(once), "tool-approval-request")
      assert.strictEqual(JSON.stringify(input), before)
      const results = (entries: ReadonlyArray<unknown>) => typesIn(entries).filter((type) => type === "tool-result")
      assert.strictEqual(results(once).length, results(input).length)
    }
  )
})
