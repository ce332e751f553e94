/** A conversation that changes hands: the AI SDK asks and Countersign resumes, and the other way round. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Approval from "../../src/Approval.ts"
import * as Message from "../../src/Message.ts"
import { secret, signed, stored } from "../approvalHistory.ts"
import { answers, both, call, partsOf, proceed, sdk7, text, user, ways } from "./sdk.ts"
import { shop, start } from "./shop.ts"

const outputs = (messages: ReadonlyArray<any>) =>
  partsOf(messages, "tool-result").map(({ output, toolCallId }) => [toolCallId, output])

const paid = (toolCallId: string, cents: number) => [toolCallId, { type: "text", value: `paid ${cents} EUR` }]

describe("a conversation that the AI SDK has begun", () => {
  for (const { name, sdk, via } of both) {
    it.effect(`${name}: is resumed here, and read on there`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const proposed = [
          call("c1", "look", {}),
          call("c2", "pay", { cents: "500", note: "?" }),
          call("c3", "refund", {}),
          call("c4", "break", {})
        ]
        const options = { tools: aiTools, secret, messages: [user()] }
        const begun = yield* proceed(sdk, via, options, proposed)
        assert.deepStrictEqual(executed, ["look"])
        const requests = partsOf(begun.messages, "tool-approval-request")
        assert.deepStrictEqual(requests[0].inputSchemaInput, { cents: "500", note: "?" })

        const answered = [user(), ...begun.messages, {
          role: "tool",
          content: requests.map(({ approvalId, toolCallId }) => ({
            type: "tool-approval-response",
            approvalId,
            approved: toolCallId !== "c3",
            reason: toolCallId === "c3" ? "no" : undefined
          }))
        }]
        const resumed = yield* Approval.resume({ messages: stored(answered), tools })
        assert.deepStrictEqual(executed, ["look", "pay 500 EUR"])
        assert.deepStrictEqual(resumed.results.map(({ effectiveInput }) => effectiveInput), [
          { cents: 500, currency: "EUR" },
          {}
        ])
        assert.deepStrictEqual(resumed.awaiting, [])

        const read = yield* proceed(
          sdk,
          via,
          { tools: aiTools, secret, messages: stored(resumed.messages) },
          [text("done")]
        )
        const results = [
          ["c1", { type: "json", value: { items: [1, null] } }],
          paid("c2", 500),
          ["c4", { type: "error-text", value: "Error: out of order" }],
          ["c3", { type: "execution-denied", reason: "no" }]
        ]
        assert.deepStrictEqual(outputs(read.prompts[0]), results)
        assert.deepStrictEqual(outputs(Message.forModel(resumed.messages)), results)
        assert.deepStrictEqual(executed, ["look", "pay 500 EUR"])
      }).pipe(Effect.provide(signed)))

    it.effect(`${name}: is not run again here when the answer is sent again, as it is there`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const options = { tools: aiTools, secret, messages: [user()] }
        const begun = yield* proceed(sdk, via, options, [call("c1", "pay", { cents: "1" })])
        const history = stored([user(), ...begun.messages, answers(begun.messages)])
        const first = yield* Approval.resume({ messages: history, tools })
        const second = yield* Approval.resume({ messages: history, tools })
        assert.deepStrictEqual(second.responseMessages, first.responseMessages)
        assert.deepStrictEqual(second.results.map(({ isReplayed }) => isReplayed), [true])
        assert.deepStrictEqual(executed, ["pay 1 EUR"])
        yield* proceed(sdk, via, { tools: aiTools, secret, messages: history }, [text("done")])
        yield* proceed(sdk, via, { tools: aiTools, secret, messages: history }, [text("done")])
        assert.deepStrictEqual(executed, ["pay 1 EUR", "pay 1 EUR", "pay 1 EUR"])
      }).pipe(Effect.provide(signed)))

    it.effect(`${name}: is refused here where it was changed`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk)
        const options = { tools: aiTools, secret, messages: [user()] }
        const begun = yield* proceed(sdk, via, options, [call("c1", "pay", { cents: "500", note: "?" })])
        const history = stored([user(), ...begun.messages, answers(begun.messages)])
        const [toolCall] = partsOf(history, "tool-call")
        const [request] = partsOf(history, "tool-approval-request")

        // What no signature covers has to lead to the input that one covers.
        request.inputSchemaInput = { cents: "501" }
        const { invalid } = yield* Approval.resume({ messages: history, tools })
        assert.include(invalid[0]?.error.message, "Approved tool input does not match the validated schema output.")

        toolCall.input.cents = 501
        const refused = yield* Effect.flip(Approval.resume({ messages: history, tools }))
        assert.include(refused, { _tag: "InvalidSignature", reason: "mismatch" })
        assert.deepStrictEqual(executed, [])
      }).pipe(Effect.provide(signed)))
  }
})

describe("a conversation that was begun here", () => {
  for (const via of ways) {
    it.effect(`ai 7.0.173, ${via}: is resumed there, asks again there, and is resumed here`, () =>
      Effect.gen(function*() {
        const { aiTools, executed, tools } = shop(sdk7)
        const { messages } = yield* start(tools, [call("c1", "pay", { cents: "1", note: "?" })])
        const asked = [...messages, answers(messages)]
        const options = { tools: aiTools, secret, messages: asked }
        const there = yield* proceed(sdk7, via, options, [call("c2", "pay", { cents: "2", note: "?" })])
        assert.deepStrictEqual(executed, ["pay 1 EUR"])
        assert.deepStrictEqual(outputs(there.messages), [paid("c1", 1)])

        const history = [...asked, ...there.messages, answers(there.messages)]
        const here = yield* Approval.resume({ messages: stored(history), tools })
        assert.deepStrictEqual(executed, ["pay 1 EUR", "pay 2 EUR"])
        assert.deepStrictEqual([here.awaiting, here.superseded, here.stale], [[], [], []])

        const again = yield* start(tools, [call("c3", "pay", { cents: "3" })])
        const third = [...here.messages, again.messages[1]!, answers([again.messages[1]])]
        const end = yield* Approval.resume({ messages: stored(third), tools })
        assert.deepStrictEqual(executed, ["pay 1 EUR", "pay 2 EUR", "pay 3 EUR"])
        const read = yield* proceed(
          sdk7,
          via,
          { tools: aiTools, secret, messages: stored(end.messages) },
          [text("done")]
        )
        assert.deepStrictEqual(outputs(read.prompts[0]), [paid("c1", 1), paid("c2", 2), paid("c3", 3)])
        assert.deepStrictEqual(executed, ["pay 1 EUR", "pay 2 EUR", "pay 3 EUR"])
      }).pipe(Effect.provide(signed)))
  }

  it.effect("is read on with one of two questions open only once that is answered", () =>
    Effect.gen(function*() {
      const { aiTools, executed, tools } = shop(sdk7)
      const { messages } = yield* start(tools, [call("c1", "pay", { cents: "1" }), call("c2", "pay", { cents: "2" })])
      const both = answers(messages)
      const [first, second] = both.content.map((answer) => [{ ...both, content: [answer] }])
      const half = yield* Approval.resume({ messages: [...messages, ...first!], tools })
      assert.deepStrictEqual(half.awaiting.map(({ toolCall }) => toolCall.toolCallId), ["c2"])
      const options = { tools: aiTools, secret, messages: stored(half.messages) }
      const failure = yield* Effect.flip(proceed(sdk7, "generateText", options, [text("done")]))
      assert.strictEqual(failure.name, "AI_MissingToolResultsError")

      const whole = yield* Approval.resume({ messages: stored([...half.messages, ...second!]), tools })
      assert.deepStrictEqual(executed, ["pay 1 EUR", "pay 2 EUR"])
      const read = yield* proceed(
        sdk7,
        "generateText",
        { tools: aiTools, secret, messages: stored(whole.messages) },
        [text("done")]
      )
      assert.deepStrictEqual(outputs(read.prompts[0]), [paid("c1", 1), paid("c2", 2)])
    }).pipe(Effect.provide(signed)))
})
