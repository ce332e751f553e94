/** What Countersign asks and signs, the AI SDK verifies and runs. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Approval from "../../src/Approval.ts"
import * as ApprovalPolicy from "../../src/ApprovalPolicy.ts"
import * as ToolCall from "../../src/ToolCall.ts"
import { question, secret, signed, signedForOlder, stored } from "../approvalHistory.ts"
import { answers, both, call, partsOf, proceed, sdk6, sdk7, sdks, text, user, ways } from "./sdk.ts"
import { shop, start } from "./shop.ts"

/** The result that the model was shown. */
const shown = (prompts: ReadonlyArray<any>) => partsOf(prompts.at(-1), "tool-result").map(({ output }) => output)

describe("a question that was asked here", () => {
  for (const via of ways) {
    it.effect(`ai 7.0.173, ${via}: is verified, and its call runs once`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk7)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500", note: "?" })])
        const history = [...messages, answers(messages)]
        const options = { tools: aiTools, secret, messages: history }
        const resumed = yield* proceed(sdk7, via, options, [text("done")])
        assert.deepStrictEqual(executed, ["pay 500 EUR"])
        assert.deepStrictEqual(shown(resumed.prompts), [{ type: "text", value: "paid 500 EUR" }])
        assert.deepStrictEqual(partsOf(resumed.messages, "text").map(({ text }) => text), ["done"])
      }).pipe(Effect.provide(signed)))

    it.effect(`ai 7.0.173, ${via}: does not run anything where it was changed`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk7)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500" }), call("c2", "refund", {})])
        const changes: ReadonlyArray<(parts: Array<any>) => unknown> = [
          (parts) => parts[0].input.cents = 501,
          (parts) => parts[0].toolName = "refund",
          (parts) => parts[0].toolCallId = parts[2].toolCallId = "c3",
          (parts) => [parts[2].toolCallId, parts[3].toolCallId] = ["c2", "c1"],
          (parts) => parts[2].approvalId = parts[2].approvalId.replace(/^cs1\.\d+/, "cs1.999999999999999"),
          (parts) => parts[2].signature = parts[3].signature,
          (parts) => delete parts[2].signature
        ]
        for (const change of changes) {
          const changed = stored(messages)
          change(changed[1]!.content as Array<any>)
          const history = [...changed, answers(changed)]
          const failure = yield* Effect.flip(proceed(sdk7, via, { tools: aiTools, secret, messages: history }))
          assert.strictEqual(failure.name, "AI_InvalidToolApprovalSignatureError")
          assert.deepStrictEqual(executed, [])
        }
      }).pipe(Effect.provide(signed)))
  }

  for (const { name, sdk, via } of both) {
    it.effect(`${name}: runs its call once where no secret is set`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500", note: "?" })])
        const history = [...messages, answers(messages)]
        const resumed = yield* proceed(sdk, via, { tools: aiTools, messages: history }, [text("done")])
        assert.deepStrictEqual(executed, ["pay 500 EUR"])
        assert.deepStrictEqual(shown(resumed.prompts), [{ type: "text", value: "paid 500 EUR" }])
      }).pipe(Effect.provide(signed)))

    it.effect(`${name}: does not run what was denied, and shows the model why`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500" })])
        const history = [...messages, answers(messages, false, { reason: "too much" })]
        const resumed = yield* proceed(sdk, via, { tools: aiTools, secret, messages: history }, [text("a pity")])
        assert.deepStrictEqual(executed, [])
        assert.deepStrictEqual(shown(resumed.prompts), [{ type: "execution-denied", reason: "too much" }])
      }).pipe(Effect.provide(signed)))
  }

  for (const via of ways) {
    it.effect(`ai 6.0.326, ${via}: is refused, for it knows only the payload before v1`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk6)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500" })])
        const history = [...messages, answers(messages)]
        const failure = yield* Effect.flip(proceed(sdk6, via, { tools: aiTools, secret, messages: history }))
        assert.strictEqual(failure.name, "AI_InvalidToolApprovalSignatureError")
        assert.include(failure.message, "invalid signature")
        assert.deepStrictEqual(executed, [])
      }).pipe(Effect.provide(signed)))
  }

  for (const { name, sdk, via } of both) {
    it.effect(`${name}: is verified, and its call runs once, signed with the payload before v1`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "500" })])
        const history = [...messages, answers(messages)]
        const options = { tools: aiTools, secret, messages: history }
        yield* proceed(sdk, via, options, [text("done")])
        assert.deepStrictEqual(executed, ["pay 500 EUR"])
        const changed = stored(messages)
        ;(changed[1]!.content as Array<any>)[0].input.cents = 501
        const tampered = { ...options, messages: [...changed, answers(changed)] }
        const failure = yield* Effect.flip(proceed(sdk, via, tampered))
        assert.strictEqual(failure.name, "AI_InvalidToolApprovalSignatureError")
        assert.lengthOf(executed, 1)
      }).pipe(Effect.provide(signedForOlder)))
  }

  it.effect("ai 7.0.173: is verified as Approval.request makes it", () =>
    Effect.gen(function*() {
      const { aiTools, executed, tools } = shop(sdk7)
      const raw = { toolCallId: "c1", toolName: "pay", input: "{\"cents\":\"500\"}" }
      const asked = yield* Approval.request(yield* ToolCall.parse(raw, { tools }), { tools })
      assert(asked._tag === "Pending")
      const messages = stored([user(), { role: "assistant", content: [asked.toolCall, asked.approvalRequest] }])
      const history = [...messages, answers(messages)]
      yield* proceed(sdk7, "generateText", { tools: aiTools, secret, messages: history }, [text("done")])
      assert.deepStrictEqual(executed, ["pay 500 EUR"])
    }).pipe(Effect.provide(signed)))
})

describe("a step that ran here", () => {
  for (const { name, sdk, via } of both) {
    it.effect(`${name}: is read on, with results, automatic answers and errors, and runs nothing again`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const policy = { refund: ApprovalPolicy.denied("never"), pay: ApprovalPolicy.approved("cheap") }
        const calls = [
          call("c1", "look", {}),
          call("c2", "pay", { cents: "5" }),
          call("c3", "refund", {}),
          call("c4", "nothing", {}),
          call("c5", "look", "{")
        ]
        const { messages } = yield* start(tools, calls, { policy })
        assert.deepStrictEqual(executed, ["look", "pay 5 EUR"])
        const resumed = yield* proceed(sdk, via, { tools: aiTools, secret, messages }, [text("done")])
        assert.deepStrictEqual(executed, ["look", "pay 5 EUR"])
        const results = partsOf(resumed.prompts[0], "tool-result")
        assert.deepStrictEqual(results.map(({ output, toolCallId }) => [toolCallId, output.type]), [
          ["c1", "json"],
          ["c4", "error-text"],
          ["c5", "error-text"],
          ["c2", "text"],
          ["c3", "execution-denied"]
        ])
      }).pipe(Effect.provide(signed)))
  }

  for (const sdk of sdks) {
    it.effect(`${sdk.version}: nothing runs for a question that was never asked`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "5" })])
        const content = [...messages[1]!.content as Array<any>, question("a2", "c1")]
        const history = [messages[0], { role: "assistant", content }, answers([{ content: [content.at(-1)] }])]
        const options = { tools: aiTools, secret, messages: history }
        assert.include((yield* Effect.flip(proceed(sdk, "generateText", options))).message, "missing signature")
        assert.deepStrictEqual(executed, [])
        // Here as well.
        const refused = yield* Effect.flip(Approval.resume({ messages: history, tools }))
        assert.include(refused, { _tag: "InvalidSignature", reason: "missing" })
      }).pipe(Effect.provide(signed)))
  }
})
