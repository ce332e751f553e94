/**
 * The faults and limits of the AI SDK (7.0.173) around tool calls and approvals, by number, and what happens here instead.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { z } from "zod"
import * as Approval from "../src/Approval.ts"
import { ApprovalSigner } from "../src/ApprovalSigner.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import type * as Message from "../src/Message.ts"
import * as Repair from "../src/Repair.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import {
  answer,
  ask,
  assistant,
  propose,
  question,
  recorder,
  signed,
  stored,
  toolCall,
  toolMessage,
  unsigned,
  user
} from "./approvalHistory.ts"
import { raw } from "./tools.ts"

/** What cannot be shown yet, or is as in the SDK on purpose. The others each have a test below. */
const elsewhere: Record<number, string> = {
  // Fingerprints of tool sets come with the module Fingerprint. That an approval is bound to its tool: see B35 in approvalReports.
  15: "not built: Fingerprint",
  // Text that is still streaming in comes with the module ToolInputStream.
  17: "not built: JsonRecovery and ToolInputStream"
}

const told = new Set<number>()

const fault = (number: number, about: string, body: () => Generator<Effect.Effect<any, any, any>, void, any>) => {
  told.add(number)
  it.effect(`fault ${number}: ${about}`, () =>
    Effect.gen(body).pipe(Effect.provide(signed)) as Effect.Effect<void, any>)
}

const payments = (options: { readonly needsApproval?: boolean } = {}) => {
  const { executed, execute } = recorder(({ amount }) => `paid ${amount}`)
  const pay = Tool.make("pay", {
    inputSchema: Schema.Struct({ amount: Schema.Int }),
    needsApproval: options.needsApproval ?? true,
    execute
  })
  return { executed, tools: ToolSet.make(pay) as ToolSet.ToolSet }
}

const amounts = (...values: ReadonlyArray<number>) =>
  values.map((amount, index) => raw("pay", JSON.stringify({ amount }), { toolCallId: `c${index + 1}` }))

const outputsIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.ToolResultOutput> =>
  messages.flatMap(({ content }) => typeof content === "string" ? [] : content as ReadonlyArray<any>)
    .flatMap((part) => part.type === "tool-result" ? [part.output] : [])

const errorsOf = ({ invalid }: Approval.ResumeResult) => invalid.map(({ error }) => error._tag)

describe("approvals", () => {
  fault(1, "a status that is not known denies, when asking and when resuming", function*() {
    for (const status of ["deny", "Approved", "", true, false, {}, null, 0, []]) {
      const policy: any = () => Effect.succeed(status)
      const { executed, tools } = payments()
      const { step } = yield* propose(amounts(1), { tools, policy })
      assert.deepStrictEqual(
        step.approvals.map(({ _tag }: Approval.Requested) => _tag),
        ["Denied"],
        JSON.stringify(status)
      )
      const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
      const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools, policy })
      assert.deepStrictEqual(resumed.denied.length, 1)
      assert.deepStrictEqual(executed, [])
    }
  })

  fault(2, "an approval runs once, for a time, and for one person", function*() {
    const { executed, tools } = payments()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const first = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
    // Sent again in a later tool message, and again with the history as it was before.
    const later = [...first.messages, assistant({ type: "text", text: "ok" }), toolMessage(answer(asked))]
    assert.strictEqual((yield* Approval.resume({ messages: later, tools })).stale.length, 1)
    yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
    assert.deepStrictEqual(executed, [{ amount: 1 }])

    const audience = "user 7"
    const mine = yield* ask("pay", { amount: 2 }, { tools, audience, timeToLive: "1 minute" })
    const messages = [...mine.history, toolMessage(answer(mine.asked))]
    for (const other of [undefined, "user 8"]) {
      assert.deepStrictEqual(errorsOf(yield* Approval.resume({ messages, tools, audience: other })), [
        "InvalidApprovalClaims"
      ])
    }
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(errorsOf(yield* Approval.resume({ messages, tools, audience })), ["ApprovalExpired"])
    assert.deepStrictEqual(executed, [{ amount: 1 }])
    // Asked about the same call twice, it is another question.
    assert.notStrictEqual(
      (yield* ask("pay", { amount: 3 }, { tools })).asked.approvalRequest.approvalId,
      (yield* ask("pay", { amount: 3 }, { tools })).asked.approvalRequest.approvalId
    )
  })

  fault(3, "a partial answer runs what it answers, and keeps its result", function*() {
    const { executed, tools } = payments()
    const { history, step } = yield* propose(amounts(1, 2), { tools })
    const [first, second] = step.pending
    const partly = yield* Approval.resume({ messages: [...history, toolMessage(answer(first!))], tools })
    assert.deepStrictEqual(executed, [{ amount: 1 }])
    assert.deepStrictEqual(partly.awaiting.map((one: Approval.UnansweredCall) => one.toolCall.toolCallId), ["c2"])
    // Neither the history that has the result nor the one that lacks it runs the first again.
    for (const before of [stored(partly.messages), history]) {
      const whole = yield* Approval.resume({
        messages: [...before, toolMessage(answer(first!), answer(second!))],
        tools
      })
      assert.deepStrictEqual(whole.awaiting, [])
      assert.deepStrictEqual(outputsIn(whole.messages).map((output: any) => output.value), ["paid 1", "paid 2"])
      assert.deepStrictEqual(executed, [{ amount: 1 }, { amount: 2 }])
    }
  })

  fault(4, "an approved call that cannot be run is answered, or left to the client", function*() {
    const { tools } = payments()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const messages = [...history, toolMessage(answer(asked))]
    const gone = yield* Approval.resume({ messages, tools: {} })
    assert.deepStrictEqual(errorsOf(gone), ["NoSuchTool"])
    assert.deepStrictEqual(outputsIn(gone.messages).map(({ type }) => type), ["error-text"])

    const { execute: _, ...client } = tools.pay!
    const left = yield* Approval.resume({ messages, tools: { pay: { ...client, execute: undefined } } })
    assert.deepStrictEqual(left.awaiting.map((one: Approval.UnansweredCall) => one.toolCall.toolCallId), ["call-1"])
    assert.deepStrictEqual(left.responseMessages, [])
  })

  fault(5, "a signature has one form, and another one is a typed refusal", function*() {
    const signer = yield* ApprovalSigner
    const fields = { approvalId: "a1", toolCallId: "c1", toolName: "pay", input: {} }
    const signature: string = (yield* signer.sign(fields))!
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    // The last character stands for four bits: there are three more that a lenient decoder reads as the same.
    const last = alphabet.indexOf(signature.at(-1)!)
    const twins = [1, 2, 3].map((more) => `${signature.slice(0, -1)}${alphabet[last + more]}`)
    const forms = [
      ...twins,
      `${signature}=`,
      ` ${signature}`,
      signature.replaceAll("-", "+").replaceAll("_", "/"),
      "***",
      ""
    ]
    for (const form of forms.filter((form) => form !== signature)) {
      const error = yield* Effect.flip(signer.verify(form, fields))
      assert.include(error, { _tag: "InvalidSignature", reason: "malformed" }, form)
    }
    yield* signer.verify(signature, fields)
  })

  fault(7, "what the schema saw cannot be exchanged, and does not depend on who changes what in place", function*() {
    const { executed, execute } = recorder()
    const tools: ToolSet.ToolSet = ToolSet.make(
      Tool.make("note", { inputSchema: { type: "object" }, needsApproval: true, execute })
    )
    // A refinement that changes its argument in place.
    const refine: any = {
      note: (input: { text: string }) => {
        input.text = input.text.trim()
        return Effect.succeed(input)
      }
    }
    const { asked, history } = yield* ask("note", { text: " a " }, { tools, refine } as any)
    assert.deepStrictEqual(asked.approvalRequest.inputSchemaInput, { text: " a " })
    const forged = { ...asked.approvalRequest, inputSchemaInput: { text: " b " } }
    const exchanged = [user(), assistant(asked.toolCall, forged), toolMessage(answer(asked))]
    assert.deepStrictEqual(errorsOf(yield* Approval.resume({ messages: exchanged, tools, refine })), [
      "InvalidApprovalClaims"
    ])
    assert.deepStrictEqual(executed, [])
    yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools, refine })
    assert.deepStrictEqual(executed, [{ text: "a" }])
  })

  fault(
    7,
    "fields that no schema knows are refused; those that a schema strips are shown to who approves, as in the SDK",
    function*() {
      const { tools } = payments()
      const { step } = yield* propose([raw("pay", "{\"amount\":1,\"secret\":2}")], { tools })
      assert.deepStrictEqual([step.pending, step.invalid.length], [[], 1])
      const stripping: ToolSet.ToolSet = ToolSet.make(
        Tool.make("pay", { inputSchema: z.object({ amount: z.number() }), needsApproval: true })
      )
      const { asked } = yield* ask("pay", { amount: 1, secret: 2 }, { tools: stripping })
      assert.deepStrictEqual(asked.toolCall.input, { amount: 1 })
      assert.deepStrictEqual(asked.approvalRequest.inputSchemaInput, { amount: 1, secret: 2 })
    }
  )

  fault(8, "a tool whose schema makes dates can be approved over the wire", function*() {
    const schemas = [
      Schema.Struct({ at: Schema.Date }),
      z.object({ at: z.string().transform((text) => new Date(text)) })
    ]
    for (const inputSchema of schemas) {
      const { executed, execute } = recorder()
      const tools: ToolSet.ToolSet = ToolSet.make(
        Tool.make("book", { inputSchema, needsApproval: true, execute }) as Tool.Any
      )
      const { asked, history } = yield* ask("book", { at: "2026-01-01T00:00:00.000Z" }, { tools })
      const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
      assert.deepStrictEqual(errorsOf(resumed), [])
      assert.deepStrictEqual(executed, [{ at: new Date("2026-01-01T00:00:00.000Z") }])
    }
    // What no wire can carry is not asked about, and the call is answered.
    const nan: ToolSet.ToolSet = ToolSet.make(
      Tool.make("book", { inputSchema: z.object({ at: z.string().transform(Number) }), needsApproval: true })
    )
    const { step } = yield* propose([raw("book", "{\"at\":\"x\"}")], { tools: nan })
    assert.deepStrictEqual(step.invalid.map(({ error }: any) => error.reason), ["not-json"])
    assert.strictEqual(outputsIn(step.messages).length, 1)
  })

  fault(12, "an answer says yes with true, and with nothing else", function*() {
    const { executed, tools } = payments()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    for (const approved of ["false", "true", 1, 0, null, undefined, {}, [], "yes"]) {
      const given = { ...answer(asked), approved } as unknown as Message.ToolApprovalResponse
      for (const messages of [[...history, toolMessage(given)], stored([...history, toolMessage(given)])]) {
        const error = yield* Effect.flip(Approval.resume({ messages, tools }))
        assert.include(error, { _tag: "InvalidToolApproval", reason: "malformed" })
      }
    }
    assert.deepStrictEqual(executed, [])
  })

  fault(
    13,
    "as in the SDK, a policy that is a function decides alone; of a record, only the tools that it names",
    function*() {
      const { executed, tools } = payments()
      const all = yield* propose(amounts(1), { tools, policy: () => Effect.succeed(undefined) })
      assert.deepStrictEqual([all.step.pending.length, executed.length], [0, 1])
      const other = yield* propose(amounts(2), { tools, policy: { other: "approved" } })
      assert.deepStrictEqual([other.step.pending.length, executed.length], [1, 1])
    }
  )

  fault(
    14,
    "a denial needs no signature and runs nothing; one by the policy cannot be turned into an approval",
    function*() {
      const { executed, tools } = payments()
      const forged = [
        user(),
        assistant(toolCall("c1", "pay", { amount: 1 }), question("a1", "c1")),
        toolMessage(answer("a1", false))
      ]
      const resumed = yield* Approval.resume({ messages: forged, tools })
      assert.deepStrictEqual(outputsIn(resumed.messages), [{ type: "execution-denied" }])

      const { history, step } = yield* propose(amounts(1), { tools, policy: { pay: "denied" } })
      const turned = [...history.slice(0, -1), toolMessage(answer(step.approvals[0]!.approvalRequest.approvalId))]
      const error = yield* Effect.flip(Approval.resume({ messages: turned, tools }))
      assert.include(error, { _tag: "InvalidSignature", reason: "missing" })
      assert.deepStrictEqual(executed, [])
    }
  )

  fault(16, "a JSON Schema is checked, when a call is proposed and when it is resumed", function*() {
    const { executed, execute } = recorder()
    const inputSchema = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
    const tools: ToolSet.ToolSet = ToolSet.make(Tool.make("read", { inputSchema, needsApproval: true, execute }))
    assert.strictEqual((yield* propose([raw("read", "{\"path\":5}")], { tools })).step.invalid.length, 1)
    // Without signatures too.
    const messages = [
      user(),
      assistant(toolCall("c1", "read", { path: 5 }), question("a1", "c1")),
      toolMessage(answer("a1"))
    ]
    assert.deepStrictEqual(errorsOf(yield* Effect.provide(Approval.resume({ messages, tools }), unsigned)), [
      "InvalidToolInput"
    ])
    assert.deepStrictEqual(executed, [])
  })

  fault(18, "an answer that was cut off leaves no approval behind that runs later", function*() {
    for (const finishReason of ["length", "content-filter", "error", "other", "unknown"]) {
      const { executed, tools } = payments()
      const { history, step } = yield* propose(amounts(1, 2), { tools, policy: { pay: "approved" }, finishReason })
      assert.deepStrictEqual(step.approvals, [])
      assert.deepStrictEqual(outputsIn(history).map(({ type }: any) => type), ["error-text", "error-text"])
      // Sent again, it still runs nothing.
      const resumed = yield* Approval.resume({ messages: history, tools, policy: { pay: "approved" } })
      assert.deepStrictEqual([resumed.results, resumed.responseMessages, executed], [[], [], []])
    }
  })
})

describe("canonical JSON and signatures", () => {
  fault(6, "values that are not the same have not the same text", function*() {
    const textOf = (value: unknown) => Result.getOrElse(CanonicalJson.encode(value), ({ reason }) => reason)
    assert.notStrictEqual(textOf({ d: new Date(0) }), textOf({ d: new Date(1) }))
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) assert.strictEqual(textOf({ n: value }), "not-finite")
    for (const value of [new Map(), new Set([1]), /a/]) assert.strictEqual(textOf({ v: value }), "instance")
    // What is undefined is not there, as on the wire, and the text is JSON.
    assert.strictEqual(textOf({ a: 1, b: undefined }), textOf({ a: 1 }))
    assert.deepStrictEqual(JSON.parse(textOf({ a: [undefined, 1], b: undefined })), { a: [null, 1] })
    yield* Effect.void
  })

  fault(6, "what a refinement leaves undefined can be approved over the wire", function*() {
    const { executed, execute } = recorder()
    const inputSchema = Schema.Struct({ to: Schema.String, cc: Schema.optional(Schema.String) })
    const tools: ToolSet.ToolSet = ToolSet.make(Tool.make("send", { inputSchema, needsApproval: true, execute }))
    const refine: any = { send: ({ to }: { to: string }) => Effect.succeed({ to, cc: undefined }) }
    const { asked, history } = yield* ask("send", { to: "a@x", cc: "b@x" }, { tools, refine } as any)
    assert.deepStrictEqual(asked.toolCall.input, { to: "a@x" })
    yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools, refine })
    assert.deepStrictEqual(stored(executed), [{ to: "a@x" }])
  })
})

describe("steps", () => {
  fault(9, "calls are kept by whatever ID they have, in the order in which they came", function*() {
    const { executed, tools } = payments()
    const ids = ["9", "1", "__proto__", "5", "constructor"]
    const calls = ids.map((toolCallId, amount) => raw("pay", JSON.stringify({ amount }), { toolCallId }))
    const { history, step } = yield* propose(calls, { tools })
    assert.deepStrictEqual(step.pending.map(({ toolCall }: Approval.PendingApproval) => toolCall.toolCallId), ids)
    const answers = step.pending.map((one: Approval.PendingApproval) => answer(one)).reverse()
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(...answers)], tools, concurrency: 1 })
    assert.deepStrictEqual(resumed.results.map(({ toolCallId }) => toolCallId), ids)
    assert.deepStrictEqual(executed.map(({ amount }) => amount), [0, 1, 2, 3, 4])
  })

  fault(9, "two calls with one ID are both refused; the same call twice is one", function*() {
    const { executed, tools } = payments({ needsApproval: false })
    const [first, second] = amounts(1, 2)
    const twice = yield* propose([first!, { ...second!, toolCallId: "c1" }], { tools })
    assert.deepStrictEqual(twice.step.invalid.map(({ error }: any) => error.reason), ["duplicate-id"])
    assert.strictEqual(outputsIn(twice.step.messages).length, 1)
    assert.deepStrictEqual(executed, [])
    const same = yield* propose([first!, first!], { tools })
    assert.deepStrictEqual([same.step.calls.length, executed.length], [1, 1])
  })

  fault(
    10,
    "a repair that answers for another call, or with no text, does no harm, and may be asked again",
    function*() {
      const { executed, tools } = payments({ needsApproval: false })
      const malformed = [raw("pay", "{\"amount\":", { toolCallId: "c1" })]
      const repairWith = (change: object): Repair.Repair => ({ toolCall }) =>
        Effect.succeed(Option.some({ ...toolCall, ...change }))
      const other = yield* ToolStep.run(malformed, {
        tools,
        repair: repairWith({ toolCallId: "c2", input: "{\"amount\":1}" })
      })
      assert.deepStrictEqual(other.invalid.map(({ error }) => error._tag), ["ToolCallRepairFailed"])
      assert.strictEqual(outputsIn(other.messages).length, 1)
      for (const input of [null, undefined, 5, [], () => 1, Symbol("x")]) {
        const step = yield* ToolStep.run(malformed, { tools, repair: repairWith({ input }) })
        assert.deepStrictEqual(step.invalid.map(({ error }) => error._tag), ["InvalidToolInput"], String(input))
      }
      assert.deepStrictEqual(executed, [])
      // A value is taken as it is.
      yield* ToolStep.run(malformed, { tools, repair: repairWith({ input: { amount: 3 } }) })
      assert.deepStrictEqual(executed, [{ amount: 3 }])

      let asked = 0
      const second: Repair.Repair = ({ toolCall }) =>
        Effect.sync(() => Option.some({ ...toolCall, input: ++asked < 3 ? "{" : "{\"amount\":4}" }))
      const repaired = yield* ToolCall.parse(malformed[0]!, { tools, repair: Repair.attempts(second, 5) } as any)
      assert.deepStrictEqual([asked, repaired.input], [3, { amount: 4 }])
    }
  )

  fault(11, "streamed or not, a resume does the same, in the order of the calls", function*() {
    const { executed, execute } = recorder(({ amount }) => amount)
    const finished = new Map<number, Deferred.Deferred<void>>()
    // The first to be called is the last to finish.
    const slow = ({ amount }: { readonly amount: number }) =>
      Effect.andThen(
        finished.has(amount + 1) ? Deferred.await(finished.get(amount + 1)!) : Effect.void,
        execute({ amount })
      )
        .pipe(Effect.tap(() => Deferred.succeed(finished.get(amount)!, undefined)))
    const tools: ToolSet.ToolSet = ToolSet.make(
      Tool.make("pay", { inputSchema: Schema.Struct({ amount: Schema.Int }), needsApproval: true, execute: slow })
    )
    const ended: Array<Approval.ResumeResult> = []
    const whole = (options: any) => Approval.resume(options)
    const streamed = (options: any) =>
      Effect.map(
        Stream.runCollect(Approval.resumeStream(options)),
        (events) => (events.at(-1) as Approval.ResumeEvent & { readonly _tag: "Resumed" }).result
      )
    const { history, step } = yield* propose(amounts(1, 2, 3, 4), { tools })
    const [first, second, third, fourth] = step.pending
    const provider = [
      toolCall("p1", "search", {}, { providerExecuted: true }),
      question("ap", "p1")
    ] as const
    const proposed = history[1] as Message.AssistantMessage
    const messages = [
      user(),
      assistant(...proposed.content as ReadonlyArray<Message.ToolCallPart>, ...provider),
      toolMessage(answer(fourth!, false), answer(third!), answer(first!), answer(second!), answer("ap", false))
    ]
    for (const resume of [whole, streamed]) {
      for (const amount of [1, 2, 3]) finished.set(amount, yield* Deferred.make<void>())
      // Each with a ledger of its own: what one ledger knows is not run again.
      ended.push(yield* Effect.provide(resume({ messages, tools }), signed, { local: true }))
    }
    assert.deepStrictEqual(ended[0], ended[1])
    assert.deepStrictEqual(executed.map(({ amount }) => amount), [3, 2, 1, 3, 2, 1])
    assert.deepStrictEqual(outputsIn(ended[0]!.responseMessages), [
      { type: "json", value: 1 },
      { type: "json", value: 2 },
      { type: "json", value: 3 },
      { type: "execution-denied" },
      { type: "execution-denied", providerOptions: { openai: { approvalId: "ap" } } }
    ])
    // Where there is nothing to say, there is no empty message.
    const nothing = yield* Approval.resume({ messages: [user()], tools })
    assert.deepStrictEqual(nothing.responseMessages, [])
  })

  fault(11, "an invalid call has its title and metadata", function*() {
    const tools: ToolSet.ToolSet = ToolSet.make(
      Tool.make("pay", { title: "Pay", metadata: { m: 1 }, inputSchema: Schema.Struct({ amount: Schema.Int }) })
    )
    const { step } = yield* propose([raw("pay", "{}")], { tools })
    assert.deepInclude(step.invalid[0], { title: "Pay", toolMetadata: { m: 1 } })
  })

  fault(19, "errors are in our own words, whatever the engine", function*() {
    const tools: ToolSet.ToolSet = ToolSet.make(
      Tool.make("pay", { inputSchema: z.object({ amount: z.number() }) }),
      Tool.make("get", { inputSchema: Schema.Struct({ id: Schema.Int }) })
    )
    const texts: ReadonlyArray<readonly [string, string, string]> = [
      ["pay", "{\"amount\":\"x\"}", "Invalid input for tool pay: /amount: expected number"],
      ["get", "{}", "Invalid input for tool get: /id: missing required key"],
      ["get", "{\"id\":1.5}", "Invalid input for tool get: /id: expected an integer"],
      ["get", "{\"id\":}", "Invalid input for tool get: "]
    ]
    for (const [toolName, input, expected] of texts) {
      const { step } = yield* propose([raw(toolName, input)], { tools })
      const [output] = outputsIn(step.messages)
      assert.include(output, { type: "error-text" })
      const text = (output as { readonly value: string }).value
      assert.isTrue(text.startsWith(expected), text)
      assert.notMatch(text, /Unexpected token|Unexpected end|SyntaxError|JSON\.parse|invalid_type|at position/, text)
    }
  })
})

it("tells every fault", () => {
  const numbers = [...told, ...Object.keys(elsewhere).map(Number)].sort((left, right) => left - right)
  assert.deepStrictEqual(numbers, Array.from({ length: 19 }, (_, index) => index + 1))
})
