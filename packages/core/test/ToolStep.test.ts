import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import { ApprovalSigner } from "../src/ApprovalSigner.ts"
import { CryptoUnavailable } from "../src/Crypto.ts"
import * as Message from "../src/Message.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { answer, approvals, type Tools } from "./approvals.ts"

const City = Schema.Struct({ city: Schema.String })

const makeTools = () => {
  const ran: Array<string> = []
  const run = (name: string) => ({ city }: { readonly city: string }, { reportUsage }: Tool.ExecuteContext) =>
    Effect.andThen(reportUsage({ calls: 1 }), Effect.sync(() => (ran.push(`${name} ${city}`), `${name} in ${city}`)))
  const make = (name: string, more: object = {}) => Tool.make(name, { inputSchema: City, execute: run(name), ...more })
  const tools = ToolSet.make(
    make("free"),
    make("asked", { needsApproval: true }),
    make("allowed"),
    make("forbidden"),
    make("fails", { execute: () => Effect.fail(new Error("exec failed")) }),
    make("client", { execute: undefined }),
    make("dynamic", { kind: "dynamic" }),
    make("provided", { kind: "provider" })
  ) as Tools
  const policy = {
    allowed: ApprovalPolicy.approved("harmless"),
    forbidden: ApprovalPolicy.denied("too hot")
  }
  return { ran, tools, policy: policy as ApprovalPolicy.ApprovalPolicy<Tools> }
}

const raw = (
  toolCallId: string,
  toolName: string,
  input: unknown = "{\"city\":\"Oslo\"}",
  more: object = {}
): RawToolCall => ({
  toolCallId,
  toolName,
  input,
  ...more
})

const contentOf = (messages: ReadonlyArray<Message.Message>, role: string): ReadonlyArray<any> =>
  messages.filter((message) => message.role === role).flatMap(({ content }): ReadonlyArray<any> =>
    typeof content === "string" ? [] : content
  )

/** What every step gives: messages that a provider takes, and that survive a wire. */
const check = (step: ToolStep.StepResult<any>) => {
  assert.isTrue(Schema.is(Schema.Array(Message.Message))(step.messages))
  assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(step.messages)), step.messages)
  const calls = contentOf(step.messages, "assistant").filter(({ type }) => type === "tool-call")
  assert.deepStrictEqual(calls.map(({ toolCallId }) => toolCallId), step.calls.map(({ toolCallId }) => toolCallId))
  const answered = contentOf(step.messages, "tool").filter(({ type }) => type === "tool-result").map((_) =>
    _.toolCallId
  )
  const awaiting = step.awaiting.map(({ toolCall }) => toolCall.toolCallId)
  const local = calls.filter(({ providerExecuted }) => providerExecuted !== true).map(({ toolCallId }) => toolCallId)
  assert.deepStrictEqual([...answered, ...awaiting].toSorted(), local.toSorted())
  return step
}

const run = (calls: ReadonlyArray<RawToolCall>, options: ToolStep.Options<Tools, any, any, any, any>) =>
  Effect.map(ToolStep.run(calls, options) as Effect.Effect<ToolStep.StepResult<Tools>, CryptoUnavailable, any>, check)

const test = (name: string, program: () => Effect.Effect<unknown, any, any>) =>
  it.effect(name, () => Effect.provide(program(), approvals) as Effect.Effect<void, any>)

describe("a step of calls of every kind", () => {
  const calls = [
    raw("c1", "asked"),
    raw("c2", "free"),
    raw("c3", "free", "{\"city\":1}"),
    raw("c4", "missing"),
    raw("c5", "allowed", { city: "Rome" }),
    raw("c6", "forbidden"),
    raw("c7", "fails"),
    raw("c8", "client"),
    raw("c9", "dynamic"),
    raw("c10", "provided", "{\"city\":\"Bern\"}", { providerExecuted: true }),
    raw("c11", "webSearch", "{\"q\":1}", {
      providerExecuted: true,
      dynamic: true,
      providerMetadata: { acme: { id: 1 } }
    }),
    raw("c12", "free", "not json")
  ]

  test("answers each that can be, in the order of the calls", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const step = yield* run(calls, { tools, policy, finishReason: "tool-calls" })
      assert.deepStrictEqual(ran.toSorted(), ["allowed Rome", "dynamic Oslo", "free Oslo"])
      assert.deepStrictEqual(step.calls.map(({ toolCallId }) => toolCallId), calls.map(({ toolCallId }) => toolCallId))
      assert.deepStrictEqual(step.results.map(({ output, toolCallId }) => [toolCallId, (output as any).value]), [
        ["c2", "free in Oslo"],
        ["c5", "allowed in Rome"],
        ["c7", "Error: exec failed"],
        ["c9", "dynamic in Oslo"]
      ])
      assert.deepStrictEqual(step.approvals.map(({ _tag, approvalRequest }) => [approvalRequest.toolCallId, _tag]), [
        ["c1", "Pending"],
        ["c5", "Approved"],
        ["c6", "Denied"]
      ])
      assert.deepStrictEqual(step.pending.map(({ toolCall }) => toolCall.toolCallId), ["c1"])
      assert.deepStrictEqual(step.pending, JSON.parse(JSON.stringify(step.pending)))
      assert.deepStrictEqual(step.invalid.map(({ error, toolCallId }) => [toolCallId, error._tag]), [
        ["c3", "InvalidToolInput"],
        ["c4", "NoSuchTool"],
        ["c12", "InvalidToolInput"]
      ])
      assert.deepStrictEqual(
        step.awaiting.map(({ approvalRequest, toolCall }) => [toolCall.toolCallId, approvalRequest?.approvalId]),
        [
          ["c1", step.pending[0]!.approvalRequest.approvalId],
          ["c8", undefined]
        ]
      )
      assert.deepStrictEqual(step.usage, { calls: 3 })
    }))

  test("gives an assistant message of text, calls and questions, and a tool message with the automatic answers last", () =>
    Effect.gen(function*() {
      const { policy, tools } = makeTools()
      const text = { type: "text", text: "Let me see." } as const
      const { messages } = yield* run(calls, { tools, policy, content: [text] })
      assert.deepStrictEqual(messages.map(({ role }) => role), ["assistant", "tool"])
      const assistant = contentOf(messages, "assistant")
      assert.deepStrictEqual(
        assistant.map(({ toolCallId, type }) => toolCallId === undefined ? type : `${type} ${toolCallId}`),
        [
          "text",
          ...calls.map(({ toolCallId }) => `tool-call ${toolCallId}`),
          ...["c1", "c5", "c6"].map((id) => `tool-approval-request ${id}`)
        ]
      )
      assert.deepStrictEqual(assistant.filter(({ type }) => type === "tool-call").map(({ input }) => input), [
        ...["Oslo", "Oslo", 1, "Oslo", "Rome", "Oslo", "Oslo", "Oslo", "Oslo", "Bern"].map((city) => ({ city })),
        { q: 1 },
        {}
      ])
      assert.deepStrictEqual(assistant.find(({ toolCallId }) => toolCallId === "c11"), {
        type: "tool-call",
        toolCallId: "c11",
        toolName: "webSearch",
        input: { q: 1 },
        providerExecuted: true,
        providerOptions: { acme: { id: 1 } }
      })
      const [, c5, c6] = assistant.filter(({ type }) => type === "tool-approval-request")
      assert.deepInclude(c5, { isAutomatic: true })
      assert.match(c5.signature, /^[\w-]{43}$/)
      assert.deepInclude(c6, { isAutomatic: true })
      assert.notProperty(c6, "signature")
      assert.deepStrictEqual(
        contentOf(messages, "tool").map((part) => {
          const { approvalId: _a, toolName: _n, type: _t, ...rest } = part
          return rest
        }),
        [
          { toolCallId: "c2", output: { type: "text", value: "free in Oslo" } },
          {
            toolCallId: "c3",
            output: { type: "error-text", value: "Invalid input for tool free: /city: expected string" }
          },
          {
            toolCallId: "c4",
            output: {
              type: "error-text",
              value: contentOf(messages, "tool")[2].output.value
            }
          },
          { toolCallId: "c7", output: { type: "error-text", value: "Error: exec failed" } },
          { toolCallId: "c9", output: { type: "text", value: "dynamic in Oslo" } },
          { toolCallId: "c12", output: { type: "error-text", value: contentOf(messages, "tool")[5].output.value } },
          { approved: true, reason: "harmless" },
          { toolCallId: "c5", output: { type: "text", value: "allowed in Rome" } },
          { approved: false, reason: "too hot" },
          { toolCallId: "c6", output: { type: "execution-denied", reason: "too hot" } }
        ]
      )
      // What a provider is sent has neither question nor answer.
      const forModel = Message.forModel(messages)
      assert.notInclude(JSON.stringify(forModel), "approval")
      assert.deepStrictEqual(Message.forModel(forModel), forModel)
    }))

  test("goes on where a person answers", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const step = yield* run(calls, { tools, policy })
      ran.length = 0
      const messages = [...step.messages, { role: "tool", content: [answer(step.pending[0]!)] }]
      const resumed = yield* Approval.resume({ tools, policy, messages })
      assert.deepStrictEqual(ran, ["asked Oslo"])
      assert.deepStrictEqual(resumed.awaiting.map(({ toolCall }) => toolCall.toolCallId), ["c8"])
    }))

  test("runs nothing of it again, whatever a client leaves out of the history", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const { messages } = yield* run(calls, { tools, policy })
      ran.length = 0
      const kept = contentOf(messages, "tool").filter(({ type }) => type === "tool-approval-response")
      for (const approved of [undefined, true]) {
        for (const one of kept) {
          const content = [approved === undefined ? one : { ...one, approved }]
          const resumed = yield* Effect.exit(
            Approval.resume({ tools, messages: [messages[0]!, { role: "tool", content }] })
          )
          if (Exit.isSuccess(resumed)) {
            assert.deepStrictEqual(
              resumed.value.results.map(({ isReplayed, toolCallId, value }) => [toolCallId, value, isReplayed]),
              one.approved ? [["c5", "allowed in Rome", true]] : []
            )
          } else assert.include(JSON.stringify(resumed.cause), "InvalidSignature")
        }
      }
      assert.lengthOf(ran, 0)
    }))
})

describe("calls of one ID", () => {
  test("that are equal are one", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const step = yield* run([raw("c1", "free"), raw("c2", "free"), raw("c1", "free")], { tools })
      assert.deepStrictEqual(ran, ["free Oslo", "free Oslo"])
      assert.lengthOf(step.calls, 2)
    }))

  test("that differ are both refused, also where one or both are invalid", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const pairs = [
        [raw("c1", "free"), raw("c1", "free", { city: "Rome" })],
        [raw("c1", "free"), raw("c1", "asked")],
        [raw("c1", "asked"), raw("c1", "free")],
        [raw("c1", "allowed"), raw("c1", "forbidden")],
        [raw("c1", "free"), raw("c1", "free", "{}")],
        [raw("c1", "free", "{}"), raw("c1", "free")],
        [raw("c1", "missing"), raw("c1", "free")],
        [raw("c1", "client"), raw("c1", "free"), raw("c1", "client")]
      ]
      for (const calls of pairs) {
        const step = yield* run([...calls, raw("c2", "free")], { tools, policy })
        assert.deepStrictEqual(ran.splice(0), ["free Oslo"])
        assert.deepStrictEqual(step.calls.map(({ toolCallId }) => toolCallId), ["c1", "c2"])
        assert.deepStrictEqual(step.invalid.map(({ error }) => (error as any).reason), ["duplicate-id"])
        assert.lengthOf(step.pending, 0)
        assert.include(contentOf(step.messages, "tool")[0].output.value, "another call has the same tool call ID")
      }
    }))
})

describe("an answer that was cut off", () => {
  for (const finishReason of ["length", "content-filter", "error", "other", "unknown", "", "tool_calls"]) {
    test(`with "${finishReason}" asks and runs nothing`, () =>
      Effect.gen(function*() {
        const { policy, ran, tools } = makeTools()
        const calls = [
          raw("c1", "free"),
          raw("c2", "asked"),
          raw("c3", "allowed"),
          raw("c4", "client"),
          raw("c5", "free", "{\"ci")
        ]
        const step = yield* run(calls, { tools, policy, finishReason })
        assert.lengthOf(ran, 0)
        assert.lengthOf(step.approvals, 0)
        assert.lengthOf(step.awaiting, 0)
        const reasons = step.invalid.map(({ error }) => error._tag === "ToolCallRefused" ? error.reason : error._tag)
        assert.deepStrictEqual(reasons, ["cut-off", "cut-off", "cut-off", "cut-off", "InvalidToolInput"])
      }))
  }

  test("is none with the reasons of a whole one", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      for (const finishReason of ["stop", "tool-calls", undefined]) {
        yield* run([raw("c1", "free")], { tools, finishReason })
      }
      assert.lengthOf(ran, 3)
    }))
})

describe("an input that is no JSON", () => {
  const makeBig = (more: object = {}) => {
    const ran: Array<unknown> = []
    const tools = ToolSet.make(Tool.make("big", {
      inputSchema: Schema.Struct({ n: Schema.BigIntFromString }),
      execute: ({ n }) => Effect.sync(() => (ran.push(n), "done")),
      ...more
    })) as Tools
    return { ran, tools }
  }
  const call = raw("c1", "big", "{\"n\":\"12\"}")

  test("runs where nobody is asked", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeBig()
      const step = yield* run([call], { tools })
      assert.deepStrictEqual(ran, [12n])
      assert.deepStrictEqual(contentOf(step.messages, "assistant")[0].input, { n: "12" })
    }))

  test("is refused where somebody would be", () =>
    Effect.gen(function*() {
      for (const policy of [{ big: "user-approval" }, { big: "approved" }, { big: "denied" }] as const) {
        const { ran, tools } = makeBig()
        const step = yield* run([call, raw("c2", "missing")], { tools, policy })
        assert.lengthOf(ran, 0)
        assert.lengthOf(step.pending, 0)
        assert.include(step.invalid[0]?.error, { _tag: "ToolCallRefused", reason: "not-json" })
        assert.deepStrictEqual(contentOf(step.messages, "assistant")[0].input, { n: "12" })
      }
    }))

  test("leaves JSON in the history, for whatever reason it is refused", () =>
    Effect.gen(function*() {
      const { tools } = makeBig()
      const cutOff = yield* run([call], { tools, finishReason: "length" })
      assert.deepStrictEqual(contentOf(cutOff.messages, "assistant")[0].input, { n: "12" })
      const duplicate = yield* run([call, raw("c1", "big", "{\"n\":\"13\"}")], { tools })
      assert.deepStrictEqual(contentOf(duplicate.messages, "assistant")[0].input, { n: "12" })
    }))
})

describe("order and concurrency", () => {
  const turns = Effect.gen(function*() {
    for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
  })

  test("everything is asked before anything runs", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeTools()
      const asked: Array<string> = []
      const last = yield* Deferred.make<void>()
      const policy: ApprovalPolicy.ApprovalPolicy<Tools> = ({ toolCallId }: any) =>
        Effect.gen(function*() {
          assert.lengthOf(ran, 0)
          asked.push(toolCallId)
          if (toolCallId === "c3") yield* Deferred.await(last)
          return undefined
        })
      for (const concurrency of [1, 8]) {
        const fiber = yield* Effect.forkChild(
          run(["c1", "c2", "c3"].map((id) => raw(id, "free")), { tools, policy, concurrency })
        )
        yield* turns
        if (concurrency === 1) {
          assert.deepStrictEqual(asked, ["c1", "c2", "c3"])
          assert.lengthOf(ran, 0)
          yield* Deferred.succeed(last, undefined)
        }
        assert.lengthOf((yield* Fiber.join(fiber)).results, 3)
        ran.length = 0
      }
    }))

  test("at most `concurrency` tools run at a time, 8 if it is not given; the results keep the order of the calls", () =>
    Effect.gen(function*() {
      for (const [concurrency, bound] of [[undefined, 8], [1, 1], [3, 3]] as const) {
        const gates = new Map<string, Deferred.Deferred<void>>()
        const tools = ToolSet.make(Tool.make("gated", {
          execute: (_, { toolCallId }) =>
            Effect.gen(function*() {
              const gate = yield* Deferred.make<void>()
              gates.set(toolCallId, gate)
              yield* Deferred.await(gate)
              return toolCallId
            })
        })) as Tools
        const ids = Array.from({ length: 12 }, (_, index) => `c${index}`)
        const fiber = yield* Effect.forkChild(run(ids.map((id) => raw(id, "gated", "{}")), { tools, concurrency }))
        for (let ended = 0; ended < ids.length; ended++) {
          yield* turns
          assert.strictEqual(gates.size, Math.min(ids.length, ended + bound))
          // The one that began last ends first.
          const latest = [...gates.keys()].filter((id) => !Deferred.isDoneUnsafe(gates.get(id)!)).at(-1)!
          yield* Deferred.succeed(gates.get(latest)!, undefined)
        }
        assert.deepStrictEqual((yield* Fiber.join(fiber)).results.map(({ value }) => value), ids)
      }
    }))

  test("interruption interrupts what runs, and gives no step", () =>
    Effect.gen(function*() {
      let begun = yield* Deferred.make<void>()
      const seen: Array<string> = []
      const tools = ToolSet.make(Tool.make("waits", {
        execute: (_, { toolCallId }) =>
          Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Effect.sync(() => seen.push(toolCallId)))
          )
      })) as Tools
      const policies = [{}, { waits: "approved" }] as const
      for (const policy of policies) {
        const fiber = yield* Effect.forkChild(
          run([raw("c1", "waits", ""), raw("c2", "waits", "")], { tools, policy, concurrency: 1 })
        )
        yield* Deferred.await(begun)
        yield* turns
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        assert.deepStrictEqual(seen.splice(0), ["c1"])
        begun = yield* Deferred.make<void>()
      }
    }))
})

describe("a set of tools that is changed meanwhile", () => {
  test("does not change what was asked about", () =>
    Effect.gen(function*() {
      const [asked, other] = [makeTools(), makeTools()]
      const tools: Record<string, Tool.Any> = { ...asked.tools }
      const policy = () =>
        Effect.sync(() => {
          tools["free"] = other.tools.free!
          return "approved" as const
        })
      yield* run([raw("c1", "free")], { tools, policy })
      assert.deepStrictEqual([asked.ran, other.ran], [["free Oslo"], []])
    }))
})

describe("without what it needs", () => {
  test("a signature that cannot be made fails the step before anything runs", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const signer = Layer.succeed(ApprovalSigner)({
        sign: () => Effect.fail(new CryptoUnavailable({ reason: "there is none" })),
        verify: () => Effect.void
      })
      for (const name of ["asked", "allowed"]) {
        const calls = [raw("c1", "free"), raw("c2", name), raw("c3", "free")]
        const error = yield* Effect.flip(Effect.provide(run(calls, { tools, policy }), signer))
        assert.strictEqual((error as CryptoUnavailable)._tag, "CryptoUnavailable")
        assert.lengthOf(ran, 0)
      }
      // A denial is not signed.
      const step = yield* Effect.provide(run([raw("c1", "forbidden"), raw("c2", "free")], { tools, policy }), signer)
      assert.lengthOf(step.results, 1)
    }))

  test("a ledger that is unavailable runs nothing that it has to know of, and all else", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const unavailable = Effect.fail(new ApprovalLedger.LedgerUnavailable({ reason: "no route" }))
      const ledger = Layer.succeed(ApprovalLedger.ApprovalLedger)({
        claim: () => unavailable,
        find: () => unavailable,
        settle: () => unavailable,
        resolve: () => unavailable
      })
      const calls = [raw("c1", "free"), raw("c2", "allowed"), raw("c3", "asked")]
      const step = yield* Effect.provide(run(calls, { tools, policy }), ledger)
      assert.deepStrictEqual(ran, ["free Oslo"])
      assert.deepStrictEqual(step.results.map(({ toolCallId }) => toolCallId), ["c1"])
      assert.strictEqual(
        contentOf(step.messages, "tool").find(({ toolCallId }) => toolCallId === "c2").output.value,
        "Tool allowed was not run: its approval could not be claimed."
      )
    }))

  test("a ledger that cannot keep an outcome gives it, and says so", () =>
    Effect.gen(function*() {
      const { policy, ran, tools } = makeTools()
      const unsettling = Layer.effect(ApprovalLedger.ApprovalLedger)(
        Effect.map(ApprovalLedger.ApprovalLedger, (ledger) => ({
          claim: ledger.claim,
          find: ledger.find,
          settle: () => Effect.fail(new ApprovalLedger.LedgerUnavailable({ reason: "no route" })),
          resolve: ledger.resolve
        }))
      )
      const step = yield* Effect.provide(run([raw("c1", "allowed"), raw("c2", "free")], { tools, policy }), unsettling)
      assert.deepStrictEqual(ran.toSorted(), ["allowed Oslo", "free Oslo"])
      assert.strictEqual(step.results[0]?.unsettled?._tag, "LedgerUnavailable")
      assert.notProperty(step.results[1], "unsettled")
    }))
})

test("a step without calls gives what the model said, or nothing", () =>
  Effect.gen(function*() {
    const text = { type: "text", text: "hello" } as const
    assert.deepStrictEqual((yield* run([], { tools: {} })).messages, [])
    assert.deepStrictEqual<unknown>((yield* run([], { tools: {}, content: [text] })).messages, [{
      role: "assistant",
      content: [text]
    }])
  }))

test("a tool of its own name is not one that every object has", () =>
  Effect.gen(function*() {
    for (const name of ["toString", "constructor", "__proto__"]) {
      const step = yield* run([raw("c1", name, "{}")], { tools: {} })
      assert.strictEqual(step.invalid[0]?.error._tag, "NoSuchTool")
    }
  }))
