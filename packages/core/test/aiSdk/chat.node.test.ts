/** The chat of the AI SDK, over HTTP, with a backend that is Countersign's. */
import { assert, describe, it } from "@effect/vitest"
import type { AbstractChat, UIMessage } from "ai"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import type * as Approval from "../../src/Approval.ts"
import * as ApprovalPolicy from "../../src/ApprovalPolicy.ts"
import type { RawToolCall } from "../../src/RawToolCall.ts"
import * as UiMessage from "../../src/UiMessage.ts"
import { signed, stored } from "../approvalHistory.ts"
import { serve } from "./chatServer.ts"
import { openChat } from "./page.ts"
import { type Sdk, sdk7, sdks } from "./sdk.ts"
import { type Shop, shop } from "./shop.ts"

const pay = { toolCallId: "c1", toolName: "pay", input: "{\"cents\":\"500\",\"note\":\"?\"}" }

const toolParts = (chat: AbstractChat<UIMessage>): ReadonlyArray<any> =>
  chat.lastMessage!.parts.filter(({ type }) => type.startsWith("tool-"))

const textOf = (chat: AbstractChat<UIMessage>) =>
  chat.lastMessage!.parts.flatMap((part) => part.type === "text" ? [part.text] : []).join()

/** A chat whose backend has asked about its calls. */
const open = Effect.fnUntraced(function*(
  sdk: Sdk,
  calls: ReadonlyArray<RawToolCall> = [pay],
  options: Pick<Approval.ResumeOptions<Shop["tools"]>, "policy"> = {}
) {
  const { aiTools, executed, tools } = shop(sdk)
  const server = yield* serve(calls, { ...options, tools })
  const { chat, finished } = yield* openChat(sdk, server.url)
  yield* Effect.promise(() => chat.sendMessage({ text: "Pay five euros." }))
  yield* finished
  const answer = (toolCallId: string, approved: boolean, reason?: string) =>
    Effect.promise(async () => {
      const { approval } = toolParts(chat).find((part) => part.toolCallId === toolCallId)
      await chat.addToolApprovalResponse({ id: approval.id, approved, ...reason === undefined ? {} : { reason } })
    })
  return { ...server, aiTools, answer, chat, executed, finished, sdk, tools }
})

/** The SDK takes the messages of the page for valid, and makes of them what is made of them here. */
const assertReadable = Effect.fnUntraced(
  function*({ aiTools, chat, sdk: { ai } }: Effect.Success<ReturnType<typeof open>>) {
    const messages = stored(chat.messages)
    const validated = yield* Effect.promise(() => ai.validateUIMessages({ messages, tools: aiTools as any }))
    const converted = yield* Effect.promise(async () => await ai.convertToModelMessages(validated))
    assert.deepStrictEqual<unknown>(UiMessage.toMessages(messages as any), stored(converted))
  }
)

describe("a chat", () => {
  for (const sdk of sdks) {
    it.effect(`${sdk.version}: what is approved runs once, and its result is shown`, () =>
      Effect.gen(function*() {
        const session = yield* open(sdk)
        const { answer, bodies, chat, executed, finished, post } = session
        assert.deepStrictEqual(toolParts(chat).map(({ state }) => state), ["approval-requested"])
        assert.deepStrictEqual(executed, [])
        yield* assertReadable(session)

        yield* answer("c1", true)
        yield* finished
        assert.strictEqual(chat.status, "ready")
        assert.lengthOf(chat.messages, 2)
        const [part] = toolParts(chat)
        assert.deepInclude(part, {
          type: "tool-pay",
          state: "output-available",
          input: { cents: 500, currency: "EUR" },
          output: "paid 500 EUR"
        })
        assert.deepInclude(part.approval, { approved: true, inputSchemaInput: { cents: "500", note: "?" } })
        assert.strictEqual(textOf(chat), "done")
        assert.deepStrictEqual(executed, ["pay 500 EUR"])
        yield* assertReadable(session)

        // A client that has not heard the answer sends the same again.
        const again = yield* post(bodies[1]!)
        assert.deepInclude(again, { type: "tool-output-available", toolCallId: "c1", output: "paid 500 EUR" })
        assert.deepStrictEqual(executed, ["pay 500 EUR"])

        // The conversation goes on, and nothing is run for what was answered before.
        yield* Effect.promise(() => chat.sendMessage({ text: "And again." }))
        yield* finished
        assert.deepStrictEqual(executed, ["pay 500 EUR"])
        assert.deepStrictEqual(toolParts(chat).map(({ state }) => state), ["approval-requested"])
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what is denied does not run, and is shown as that`, () =>
      Effect.gen(function*() {
        const session = yield* open(sdk)
        const { answer, chat, executed, finished } = session
        yield* answer("c1", false, "too much")
        yield* finished
        const [part] = toolParts(chat)
        assert.strictEqual(part.state, "output-denied")
        assert.include(part.approval, { approved: false, reason: "too much" })
        assert.strictEqual(textOf(chat), "done")
        assert.deepStrictEqual(executed, [])
        yield* assertReadable(session)
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: several calls, one of each fate`, () =>
      Effect.gen(function*() {
        const calls = [
          { toolCallId: "c0", toolName: "look", input: "{}" },
          pay,
          { toolCallId: "c2", toolName: "refund", input: "{}" },
          { toolCallId: "c3", toolName: "break", input: "{}" },
          { toolCallId: "c4", toolName: "nothing", input: "{}" }
        ]
        const session = yield* open(sdk, calls)
        const { answer, bodies, chat, executed, finished } = session
        yield* answer("c2", false)
        yield* answer("c1", true)
        assert.lengthOf(bodies, 1)
        yield* answer("c3", true)
        yield* finished
        const [look, paid, refund, broken] = toolParts(chat)
        assert.include(look, { state: "output-available" })
        assert.include(paid, { state: "output-available", output: "paid 500 EUR" })
        assert.include(refund, { state: "output-denied" })
        assert.include(broken, { state: "output-error", errorText: "Error: out of order" })
        const unknown = chat.lastMessage!.parts.find(({ type }) => type === "dynamic-tool")
        assert.include(unknown, { state: "output-error", toolName: "nothing" })
        assert.strictEqual(textOf(chat), "done")
        assert.deepStrictEqual(executed, ["look", "pay 500 EUR"])
        yield* assertReadable(session)
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what the person changed runs as changed, and stays marked as that`, () =>
      Effect.gen(function*() {
        const rename = { toolCallId: "c1", toolName: "rename", input: "{\"name\":\"a\"}" }
        const session = yield* open(sdk, [rename])
        const { answer, chat, executed, finished, tools } = session
        chat.messages = stored(chat.messages)
        toolParts(chat)[0].approval.input = { name: "b" }
        yield* answer("c1", true)
        yield* finished
        assert.deepStrictEqual(executed, ["rename b"])
        const [part] = toolParts(chat)
        assert.deepInclude(part, { state: "output-available", input: { name: "a" }, output: "renamed" })

        // What the model reads of it in the next turn.
        const history = UiMessage.toMessages(stored(chat.messages) as any, { tools })
        const [, result] = history.flatMap(({ content, role }) => role === "tool" ? content : []) as ReadonlyArray<any>
        const note = "A person changed the input before approving. It ran with: {\"name\":\"b\"}"
        assert.deepStrictEqual(result.output, { type: "text", value: `${note}\nrenamed` })
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what the person changed does not run where the tool does not let them`, () =>
      Effect.gen(function*() {
        const { answer, chat, executed, finished } = yield* open(sdk)
        chat.messages = stored(chat.messages)
        toolParts(chat)[0].approval.input = { cents: "1" }
        yield* answer("c1", true)
        yield* finished
        assert.strictEqual(toolParts(chat)[0].state, "output-error")
        assert.deepStrictEqual(executed, [])
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what was changed on the page fails, and runs nothing`, () =>
      Effect.gen(function*() {
        const { answer, chat, executed, finished } = yield* open(sdk)
        chat.messages = stored(chat.messages)
        toolParts(chat)[0].input.cents = 1
        yield* answer("c1", true)
        yield* finished
        assert.strictEqual(chat.status, "error")
        assert.include(chat.error?.message, "its signature does not fit its ID, tool call, tool name and input")
        assert.deepStrictEqual(toolParts(chat).map(({ state }) => state), ["approval-responded"])
        assert.deepStrictEqual(executed, [])
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what no longer leads to the approved input is shown as an error`, () =>
      Effect.gen(function*() {
        const session = yield* open(sdk)
        const { answer, chat, executed, finished } = session
        chat.messages = stored(chat.messages)
        toolParts(chat)[0].approval.inputSchemaInput = { cents: "1" }
        yield* answer("c1", true)
        yield* finished
        const [part] = toolParts(chat)
        assert.strictEqual(part.state, "output-error")
        assert.include(part.errorText, "was not run")
        assert.deepStrictEqual(executed, [])
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: what has expired is shown as an error`, () =>
      Effect.gen(function*() {
        const session = yield* open(sdk)
        const { answer, chat, executed, finished } = session
        yield* TestClock.adjust("2 days")
        yield* answer("c1", true)
        yield* finished
        const [part] = toolParts(chat)
        assert.strictEqual(part.state, "output-error")
        assert.include(part.errorText, "expired")
        assert.strictEqual(textOf(chat), "done")
        assert.deepStrictEqual(executed, [])
        yield* assertReadable(session)
      }).pipe(Effect.provide(signed)))
  }

  for (const sdk of sdks) {
    it.effect(`${sdk.version}: what a policy has forbidden since is shown as denied, as in the AI SDK`, () =>
      Effect.gen(function*() {
        let isOpen = true
        const policy = {
          pay: () => Effect.sync(() => isOpen ? ApprovalPolicy.userApproval() : ApprovalPolicy.denied("closed"))
        }
        const { answer, chat, executed, finished, url } = yield* open(sdk, [pay], { policy })
        isOpen = false
        yield* answer("c1", true)
        yield* finished
        const [part] = toolParts(chat)
        assert.strictEqual(part.state, "output-denied")
        assert.deepStrictEqual(executed, [])

        // The page still says that the person said yes. Here that can be read; the SDK takes such a page for invalid.
        assert.include(part.approval, { approved: true })
        isOpen = true
        const reopened = yield* openChat(sdk, url, stored(chat.messages))
        yield* Effect.promise(() => reopened.chat.sendMessage({ text: "Go on." }))
        yield* reopened.finished
        assert.strictEqual(reopened.chat.status, "ready")
        const validated = yield* Effect.promise(() => sdk.ai.safeValidateUIMessages({ messages: chat.messages }))
        assert.isFalse(validated.success)
      }).pipe(Effect.provide(signed)))
  }

  it.effect("7.0.173: what a policy decides is shown with its answer", () =>
    Effect.gen(function*() {
      const calls = [pay, { toolCallId: "c2", toolName: "refund", input: "{}" }]
      const policy = { pay: ApprovalPolicy.approved("cheap"), refund: ApprovalPolicy.denied("never") }
      const session = yield* open(sdk7, calls, { policy })
      const [paid, refund] = toolParts(session.chat)
      assert.deepInclude(paid, { state: "output-available", output: "paid 500 EUR" })
      assert.deepInclude(paid.approval, { isAutomatic: true, approved: true, reason: "cheap" })
      assert.strictEqual(refund.state, "output-denied")
      assert.deepInclude(refund.approval, { isAutomatic: true, approved: false, reason: "never" })
      assert.deepStrictEqual(session.executed, ["pay 500 EUR"])
      yield* assertReadable(session)
    }).pipe(Effect.provide(signed)))
})
