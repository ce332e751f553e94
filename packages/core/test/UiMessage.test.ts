/**
 * What the AI SDK's `convertToModelMessages` (7.0.173) makes of UI messages, case by case, and what is own here.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Message } from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as UiMessage from "../src/UiMessage.ts"
import { jsonValue, oneOf } from "./arbitraries.ts"
import approvals from "./fixtures/ai-sdk/approvals.json" with { type: "json" }
import roundtrip from "./fixtures/ai-sdk/roundtrip.json" with { type: "json" }
import { extraKeys, sameText, withKeys, withoutUndefinedKeys } from "./wireObjects.ts"

const decode = Schema.decodeUnknownEffect(UiMessage.UiMessage)
const decodeAll = Schema.decodeUnknownEffect(Schema.Array(UiMessage.UiMessage))
const decodeMessages = Schema.decodeUnknownEffect(Schema.Array(Message))

const refusal = (message: unknown) =>
  Effect.map(Effect.flip(decode(message)), (error) => `${error._tag}: ${error.message}`)

const part = { type: "tool-pay", toolCallId: "c1", state: "input-available", input: { cents: 5 } } as const
const call = { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { cents: 5 } } as const

/** The part at a place among the messages. */
const at = (messages: ReadonlyArray<Message>, message: number, index: number): any => messages[message]!.content[index]

/** The messages that one message of the assistant with these parts becomes. */
const convert = (parts: ReadonlyArray<object>, options?: Parameters<typeof UiMessage.toMessages>[1]) =>
  UiMessage.toMessages([{ role: "assistant", parts: parts as UiMessage.UiMessage["parts"] }], options)

describe("the AI SDK's convertToModelMessages, case by case", () => {
  for (const vector of approvals.uiMessages as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const messages = yield* decodeAll(vector.uiMessages)
        assert.deepStrictEqual(messages, vector.uiMessages)
        const converted = UiMessage.toMessages(messages)
        assert.deepStrictEqual<unknown>(converted, withoutUndefinedKeys(vector.modelMessages))
        assert.deepStrictEqual(yield* decodeMessages(converted), converted)
        const isComplete = vector.lastAssistantMessageIsCompleteWithApprovalResponses
        assert.strictEqual(UiMessage.lastAssistantMessageIsComplete(messages), isComplete ?? false)
      }))
  }

  for (const { modelMessages, name, uiPartRequested } of roundtrip.cases as ReadonlyArray<any>) {
    it.effect(`round trip: ${name}`, () =>
      Effect.gen(function*() {
        // What `addToolApprovalResponse` of the SDK does to the part.
        const { approved, reason } = withoutUndefinedKeys(modelMessages).at(-1).content[0]
        const approval = { ...uiPartRequested.approval, approved, ...reason === undefined ? {} : { reason } }
        const messages = yield* decodeAll([
          { role: "user", parts: [{ type: "text", text: "x" }] },
          { role: "assistant", parts: [{ ...uiPartRequested, state: "approval-responded", approval }] }
        ])
        assert.deepStrictEqual<unknown>(UiMessage.toMessages(messages), withoutUndefinedKeys(modelMessages))
      }))
  }
})

describe("toMessages", () => {
  it("makes a message of each step, and of what was said in between", () => {
    const done = { ...part, state: "output-available", output: "paid" }
    assert.deepStrictEqual<unknown>(
      convert([
        { type: "step-start" },
        { type: "reasoning", text: "think", providerMetadata: { p: { x: 1 } }, state: "done" },
        done,
        { type: "steering-message", id: "m2", parts: [{ type: "text", text: "wait" }, { type: "source-url" }] },
        { type: "step-start" },
        { type: "step-start" },
        { type: "data-progress", data: 1 },
        { type: "source-url", sourceId: "s", url: "u" },
        { type: "custom", kind: "a.b" },
        { type: "text", text: "done" }
      ]),
      [
        {
          role: "assistant",
          content: [{ type: "reasoning", text: "think", providerOptions: { p: { x: 1 } } }, call]
        },
        {
          role: "tool",
          content: [{ type: "tool-result", toolCallId: "c1", toolName: "pay", output: { type: "text", value: "paid" } }]
        },
        { role: "user", content: [{ type: "text", text: "wait" }] },
        { role: "assistant", content: [{ type: "custom", kind: "a.b" }, { type: "text", text: "done" }] }
      ]
    )
  })

  it("takes texts and files of the user and the system", () => {
    const reference = { openai: "file-1" }
    assert.deepStrictEqual<unknown>(
      UiMessage.toMessages([
        {
          role: "system",
          parts: [
            { type: "text", text: "a", providerMetadata: { p: { x: 1 }, q: 1 } },
            { type: "text", text: "b", providerMetadata: JSON.parse("{\"p\":{\"y\":2},\"__proto__\":{\"z\":1}}") }
          ]
        },
        { role: "system", parts: [] },
        {
          role: "user",
          parts: [
            { type: "file", mediaType: "image/png", url: "https://example.com/a.png", filename: "a.png" },
            { type: "file", mediaType: "image/png", url: "", providerReference: reference },
            { type: "data-x", data: 1 }
          ]
        },
        {
          role: "assistant",
          parts: [{ type: "reasoning-file", mediaType: "image/png", url: "data:image/png;base64,AA==" }]
        }
      ]),
      [
        {
          role: "system",
          content: "ab",
          providerOptions: JSON.parse("{\"p\":{\"y\":2},\"q\":1,\"__proto__\":{\"z\":1}}")
        },
        { role: "system", content: "" },
        {
          role: "user",
          content: [
            { type: "file", mediaType: "image/png", data: "https://example.com/a.png", filename: "a.png" },
            { type: "file", mediaType: "image/png", data: { type: "reference", reference } }
          ]
        },
        {
          role: "assistant",
          content: [{ type: "reasoning-file", mediaType: "image/png", data: "data:image/png;base64,AA==" }]
        }
      ]
    )
  })

  it("tells results as text or JSON, and errors as text", () => {
    const outputOf = (change: object): unknown =>
      at(convert([{ ...part, state: "output-available", ...change }]), 1, 0).output
    assert.deepStrictEqual(outputOf({ output: "12" }), { type: "text", value: "12" })
    assert.deepStrictEqual(outputOf({ output: { a: [1, undefined], b: undefined } }), {
      type: "json",
      value: { a: [1, null] }
    })
    assert.deepStrictEqual(outputOf({ output: new Date(0) }), { type: "json", value: "1970-01-01T00:00:00.000Z" })
    assert.deepStrictEqual(outputOf({}), { type: "json", value: null })
    assert.deepStrictEqual(outputOf({ output: 1n }), {
      type: "error-text",
      value: "not a JSON value: bigint"
    })
    assert.deepStrictEqual(outputOf({ state: "output-error", errorText: "broken" }), {
      type: "error-text",
      value: "broken"
    })
    assert.deepStrictEqual(outputOf({ state: "output-error" }), { type: "error-text", value: "unknown error" })
  })

  it("puts the result of what the provider ran into the assistant's message", () => {
    const metadata = { callProviderMetadata: { p: { call: 1 } }, resultProviderMetadata: { p: { result: 1 } } }
    const providers = { ...part, providerExecuted: true, ...metadata }
    const providersCall = { ...call, providerExecuted: true, providerOptions: { p: { call: 1 } } }
    const result = { type: "tool-result", toolCallId: "c1", toolName: "pay", providerOptions: { p: { result: 1 } } }
    assert.deepStrictEqual<unknown>(convert([{ ...providers, state: "output-available", output: { a: 1 } }]), [
      { role: "assistant", content: [providersCall, { ...result, output: { type: "json", value: { a: 1 } } }] }
    ])
    assert.deepStrictEqual<unknown>(convert([{ ...providers, state: "output-error", errorText: "no" }]), [
      { role: "assistant", content: [providersCall, { ...result, output: { type: "error-json", value: "no" } }] }
    ])
  })

  it("takes the raw input and the result's metadata of a call that could not be read", () => {
    const { input: _, ...unread } = part
    const error = { ...unread, state: "output-error", errorText: "no", rawInput: "{", resultProviderMetadata: { p: 1 } }
    assert.deepStrictEqual<unknown>(convert([error])[0]?.content, [
      { ...call, input: "{", providerOptions: { p: 1 } }
    ])
  })

  it("keeps the output of a tool that is gone from the model", () => {
    const gone = {
      ...part,
      type: "dynamic-tool",
      toolName: "pay",
      dynamic: false,
      state: "output-available",
      output: "secret"
    }
    const resultOf = (change: object, tools?: ToolSet.ToolSet): unknown =>
      at(convert([{ ...gone, ...change }], { tools }), 1, 0).output
    const omitted = { type: "text", value: "Tool output omitted because the tool is no longer available." }
    assert.deepStrictEqual(resultOf({}), omitted)
    assert.deepStrictEqual(resultOf({ toolName: "toString" }, {}), omitted)
    assert.deepStrictEqual(resultOf({}, ToolSet.make(Tool.make("pay"))), { type: "text", value: "secret" })
    assert.deepStrictEqual(resultOf({ dynamic: true }), { type: "text", value: "secret" })
  })

  it("forwards the input that the approver changed, also where it is null", () => {
    for (const input of [{ cents: 1 }, null]) {
      const approval = { id: "a1", approved: true, input }
      assert.deepStrictEqual<unknown>(convert([{ ...part, state: "approval-responded", approval }])[1]?.content, [
        { type: "tool-approval-response", approvalId: "a1", approved: true, input }
      ])
    }
  })

  it("forwards inputSchemaInput by own property, also where it is null", () => {
    const requestOf = (approval: object): unknown =>
      at(convert([{ ...part, state: "approval-requested", approval }]), 0, 1)
    const request = { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
    assert.deepStrictEqual(requestOf({ id: "a1", inputSchemaInput: null, descriptor: 1 }), {
      ...request,
      inputSchemaInput: null
    })
    assert.deepStrictEqual(
      requestOf(Object.assign(Object.create({ inputSchemaInput: 1, reason: "x" }), { id: "a1" })),
      request
    )
  })

  it("passes on an answer that is none, for its reader to refuse", () => {
    const approval = { id: "a1", approved: "true" }
    assert.deepStrictEqual<unknown>(convert([{ ...part, state: "approval-responded", approval }])[1]?.content, [
      { type: "tool-approval-response", approvalId: "a1", approved: "true" }
    ])
  })

  it("names a tool by what follows the prefix", () => {
    const nameOf = (type: string): unknown => at(convert([{ ...part, type }]), 0, 0).toolName
    assert.strictEqual(nameOf("tool-a-b"), "a-b")
    assert.strictEqual(nameOf("tool-__proto__"), "__proto__")
  })

  const anything = Arbitrary.map(
    Arbitrary.all([
      oneOf<object>([part, { ...part, type: "dynamic-tool" }, { type: "text" }, { type: "file" }, {
        type: "step-start"
      }]),
      oneOf(["approval-requested", "approval-responded", "output-available", "output-error", "output-denied", "odd"]),
      oneOf(["approval", "output", "errorText", "providerExecuted", "toolName", "providerMetadata", "parts", "text"]),
      jsonValue,
      extraKeys
    ]),
    ([base, state, key, value, keys]) => withKeys({ ...base, state, [key]: value }, keys)
  )
  const odd = Arbitrary.map(
    Arbitrary.all([
      oneOf(["system", "user", "assistant", "odd"]),
      Arbitrary.array(anything, { maxLength: 4 }),
      jsonValue
    ]),
    ([role, parts, other]) => role === "odd" ? other : { role, parts }
  )

  it.prop("throws nothing, whatever a client sends", [Arbitrary.array(odd, { maxLength: 4 })], ([messages]) => {
    const before = JSON.stringify(messages)
    UiMessage.toMessages(messages as ReadonlyArray<any>)
    UiMessage.lastAssistantMessageIsComplete(messages as ReadonlyArray<any>)
    assert.strictEqual(JSON.stringify(messages), before)
  })
})

describe("UiMessage", () => {
  it.effect.prop(
    "keeps keys that it does not know",
    [extraKeys, extraKeys, extraKeys],
    Effect.fnUntraced(function*([onMessage, onPart, onApproval]) {
      const tool = { ...part, state: "approval-requested", approval: withKeys({ id: "a1" }, onApproval) }
      const parts = [withKeys(tool, onPart), withKeys({ type: "text", text: "a" }, onPart)]
      const message = withKeys({ role: "assistant", parts }, onMessage)
      const decoded = yield* decode(message)
      assert.isTrue(sameText(decoded, message))
      assert.isTrue(sameText(yield* Schema.encodeEffect(UiMessage.UiMessage)(decoded), message))
    })
  )

  it.effect("refuses tool parts that are malformed", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [part: object, place: string]> = [
        [{ ...part, toolCallId: 1 }, "Expected string\n  at [\"parts\"][0][\"toolCallId\"]"],
        [{ ...part, state: "done" }, "at [\"parts\"][0][\"state\"]"],
        [{ ...part, approval: { id: "a1", approved: "true" } }, "at [\"parts\"][0][\"approval\"][\"approved\"]"],
        [{ ...part, approval: { approved: true } }, "Missing key\n  at [\"parts\"][0][\"approval\"][\"id\"]"],
        [{ ...part, type: "dynamic-tool" }, "Missing key\n  at [\"parts\"][0][\"toolName\"]"]
      ]
      for (const [malformed, place] of cases) {
        assert.include(yield* refusal({ role: "assistant", parts: [malformed] }), place)
      }
      assert.include(yield* refusal({ role: "tool", parts: [] }), "at [\"role\"]")
      assert.include(yield* refusal({ role: "user" }), "Missing key\n  at [\"parts\"]")
    }))
})

describe("lastAssistantMessageIsComplete", () => {
  const responded = { ...part, state: "approval-responded", approval: { id: "a1", approved: true } }
  const isComplete = (...parts: ReadonlyArray<object>): boolean =>
    UiMessage.lastAssistantMessageIsComplete([{ role: "assistant", parts: parts as UiMessage.UiMessage["parts"] }])

  it("asks for an answer, and that nothing else is open, in the last step", () => {
    assert.isTrue(isComplete(responded))
    assert.isTrue(isComplete(responded, { ...part, state: "output-available" }, { ...part, state: "output-denied" }))
    assert.isTrue(isComplete({ ...part, state: "approval-requested" }, { type: "step-start" }, responded))
    assert.isFalse(isComplete(responded, { type: "step-start" }, { type: "text", text: "a" }))
    assert.isFalse(isComplete(responded, { ...part, state: "approval-requested" }))
    assert.isFalse(isComplete(responded, { ...part, state: "output-available", preliminary: true }))
    assert.isFalse(isComplete({ ...part, state: "output-available" }))
  })

  it("is false where the last message is not the assistant's", () => {
    const answered = { role: "assistant", parts: [responded] } as unknown as UiMessage.UiMessage
    assert.isFalse(UiMessage.lastAssistantMessageIsComplete([answered, { role: "user", parts: [] }]))
    assert.isFalse(UiMessage.lastAssistantMessageIsComplete([]))
  })
})
