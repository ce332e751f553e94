/**
 * Failures of approvals that users of other libraries reported, each under its id. `fixtures/cases/field-reports.json` has the
 * symptoms, what was expected, and the public issues they come from.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import { ApprovalSigner } from "../src/ApprovalSigner.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import * as Message from "../src/Message.ts"
import * as Repair from "../src/Repair.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import {
  answer,
  ask,
  assistant,
  propose,
  question,
  recorder,
  server,
  signed,
  stored,
  toolCall,
  toolMessage,
  unsigned,
  user
} from "./approvalHistory.ts"
import reports from "./fixtures/cases/field-reports.json" with { type: "json" }
import { raw } from "./tools.ts"

interface Report {
  readonly id: string
  readonly group: string
  readonly symptom: string
  readonly input: any
  readonly expected: any
}

const all = (reports as unknown as ReadonlyArray<Report>).filter(({ group }) => group === "b")
const told = new Set<string>()

type Body = (report: Report) => Generator<Effect.Effect<any, any, any>, void, any>

const report = (id: string, body: Body, about = "") => {
  const found = all.find((candidate) => candidate.id === id)
  told.add(id)
  it.effect(`${id}: ${found?.symptom}${about}`, () =>
    Effect.gen(() => body(found!)).pipe(Effect.provide(signed)) as Effect.Effect<void, any>)
}

/** A tool that a person is asked about, and what it was given. */
const paying = (options: { readonly execute?: (input: unknown) => Effect.Effect<unknown> } = {}) => {
  const { executed, execute } = recorder(() => "paid")
  const pay = Tool.make("pay", {
    inputSchema: Schema.Struct({ amount: Schema.Int }),
    needsApproval: true,
    execute: (input) => Effect.andThen(execute(input), options.execute?.(input) ?? Effect.succeed("paid"))
  })
  return { executed, tools: ToolSet.make(pay) as ToolSet.ToolSet }
}

/** The messages of a reported history. */
const historyOf = (parts: ReadonlyArray<any>): ReadonlyArray<Message.Message> =>
  parts.reduce<Array<any>>((messages, part) => {
    if (part.role === "user") return [...messages, user(part.text)]
    const [role, written] = part.type === "tool-call"
      ? ["assistant", toolCall(part.id, part.name, part.input)]
      : part.type === "approval-request"
      ? ["assistant", question(part.approvalId, part.toolCallId)]
      : ["tool", answer(part.approvalId, part.approved)]
    const last = messages.at(-1)
    return last?.role === role
      ? [...messages.slice(0, -1), { role, content: [...last.content, written] }]
      : [...messages, { role, content: [written] }]
  }, [user()])

const resultsIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.ToolResultPart> =>
  messages.flatMap(({ content }) => typeof content === "string" ? [] : content as ReadonlyArray<any>)
    .filter(({ type }) => type === "tool-result")

const callsIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.ToolCallPart> =>
  messages.flatMap(({ content }) => typeof content === "string" ? [] : content as ReadonlyArray<any>)
    .filter(({ type }) => type === "tool-call")

/** Each call has one result, which is what providers demand before the model is called again. */
const assertAnswered = (messages: ReadonlyArray<Message.Message>) => {
  const answers = resultsIn(messages).map(({ toolCallId }) => toolCallId).sort()
  assert.deepStrictEqual(answers, [...new Set(callsIn(messages).map(({ toolCallId }) => toolCallId))].sort())
}

const outputs = (resumed: Approval.ResumeResult) => resultsIn(resumed.responseMessages).map(({ output }) => output)

describe("who asked, and for what", () => {
  report("B01", function*({ expected, input }) {
    const { executed, tools } = paying()
    const messages = historyOf(input.history)
    const error = yield* Effect.flip(Approval.resume({ messages, tools }))
    assert.include(error, { _tag: "InvalidSignature", reason: "missing" })
    // A server that signs nothing keeps its questions.
    const kept = yield* Effect.flip(
      Effect.provide(Approval.resume({ messages, tools, requests: input.serverIssued }), unsigned)
    )
    assert.include(kept, { _tag: "InvalidToolApproval", reason: "unknown" })
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B02", function*({ expected, input }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", input.requested.input, { tools })
    const messages = [...history, toolMessage(answer(asked))]
    const changed = messages.map((message) =>
      message.role === "assistant"
        ? assistant(...(message.content as Array<any>).map((part) =>
          part.type === "tool-call" ? { ...part, input: input.resumed.input } : part
        ))
        : message
    )
    const error = yield* Effect.flip(Approval.resume({ messages: changed, tools }))
    assert.include(error, { _tag: "InvalidSignature", reason: "mismatch" })
    assert.strictEqual(executed.length, expected.executions)
    // The approval itself is not used up by that.
    yield* Approval.resume({ messages, tools })
    assert.deepStrictEqual(executed, [input.requested.input])
  })

  report("B31", function*({ expected, input }) {
    const signer = yield* ApprovalSigner
    const fieldsOf = ([approvalId, toolCallId, toolName, value]: ReadonlyArray<string>) =>
      ({ approvalId, toolCallId, toolName, input: value }) as any
    const [first, second] = [fieldsOf(input.t1), fieldsOf(input.t2)]
    const signature = yield* signer.sign(first)
    assert.strictEqual(signature === (yield* signer.sign(second)), expected.sameSignature)
    assert.include(yield* Effect.flip(signer.verify(signature, second)), { reason: "mismatch" })
  })

  report("B35", function*({ expected }) {
    const { executed, execute } = recorder()
    const declare = (options: { readonly description?: string; readonly title?: string; readonly note?: boolean }) => {
      const { note, ...named } = options
      return ToolSet.make(Tool.make("pay", {
        inputSchema: {
          type: "object",
          properties: { amount: { type: "integer" }, ...note === true ? { note: { type: "string" } } : {} }
        },
        needsApproval: true,
        execute,
        ...named
      })) as ToolSet.ToolSet
    }
    const tools = declare({ description: "Pays a bill" })
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const messages = [...history, toolMessage(answer(asked))]
    const changes = [{ description: "Pays a bill, twice" }, { description: "Pays a bill", title: "Pay" }, {
      description: "Pays a bill",
      note: true
    }, {}]
    for (const change of changes) {
      const { invalid } = yield* Approval.resume({ messages, tools: declare(change) })
      assert.deepStrictEqual(invalid.map(({ error }) => error._tag), ["ToolDrifted"])
    }
    assert.strictEqual(executed.length, expected.executions)
    // The same definition again, as after a restart, is no change.
    yield* Approval.resume({ messages, tools: declare({ description: "Pays a bill" }) })
    assert.strictEqual(executed.length, 1)
  })

  report("B40", function*({ expected, input: { call, rule } }) {
    const { executed, execute } = recorder()
    const policy = { [rule]: "approved" as const }
    const theirs = Tool.make(call, { needsApproval: true, execute })
    const together = ToolSet.make(theirs, Tool.make(rule, { execute })) as ToolSet.ToolSet
    const { step } = yield* propose([raw(call, "{}")], { tools: together, policy })
    assert.deepStrictEqual(step.approvals.map(({ _tag }) => _tag), ["Pending"])
    // Nor where a repair of the name makes the one of the other.
    const alone = ToolSet.make(theirs) as ToolSet.ToolSet
    const repaired = yield* propose([raw(rule, "{}")], { tools: alone, policy, repair: Repair.toolName })
    assert.strictEqual(repaired.step.approvals.some(({ _tag }) => _tag === "Approved"), expected.approved)
    assert.strictEqual(executed.length, 0)
  })

  report("B41", function*({ expected, input: { approvalId, toolName } }) {
    const { executed, tools } = paying()
    const { history } = yield* ask("pay", { amount: 1 }, { tools })
    const error = yield* Effect.flip(
      Approval.resume({ messages: [...history, toolMessage(answer(approvalId))], tools })
    )
    assert.include(error, { _tag: "InvalidToolApproval", reason: "unknown" })

    // Signed by this server: that there is no such tool is found all the same.
    const signer = yield* ApprovalSigner
    const signature = yield* signer.sign({ approvalId: "a1", toolCallId: "c1", toolName, input: {} })
    const messages = [
      assistant(toolCall("c1", toolName, {}), question("a1", "c1", { signature })),
      toolMessage(answer("a1"))
    ]
    const { invalid } = yield* Approval.resume({ messages, tools })
    assert.deepStrictEqual(invalid.map((one: Approval.InvalidApproval) => one.error._tag), ["NoSuchTool"])
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B42", function*({ expected, input }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const { signature: genuine } = asked.approvalRequest
    for (const signature of [input.signature, "", "A", "A".repeat(44), `${genuine}=`, 5, {}, [genuine], true]) {
      const request = { ...asked.approvalRequest, signature }
      const messages = [user(), assistant(asked.toolCall, request), toolMessage(answer(asked))]
      const error = yield* Effect.flip(Approval.resume({ messages, tools }))
      assert.include(error, { _tag: "InvalidSignature", reason: "malformed" }, JSON.stringify(signature))
    }
    assert.strictEqual(executed.length, expected.executions)
    yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
    assert.strictEqual(executed.length, 1)
  })
})

describe("once", () => {
  report("B03", function*({ expected, input }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const messages = [...history, toolMessage(answer(asked))]
    const resumed: Array<Approval.ResumeResult> = []
    for (let post = 0; post < input.postTimes; post++) resumed.push(yield* Approval.resume({ messages, tools }))
    assert.strictEqual(executed.length, expected.executions)
    assert.deepStrictEqual(resumed.map(({ results }) => results[0]?.isReplayed), [false, true])
    assert.deepStrictEqual(resumed[1]!.messages, resumed[0]!.messages)
  })

  report("B04", function*({ expected, input }) {
    const { executed, tools } = paying()
    const shared = Layer.succeed(ApprovalLedger.ApprovalLedger)(yield* ApprovalLedger.ApprovalLedger)
    const onInstance = <A, E, R>(program: Effect.Effect<A, E, R>) =>
      Effect.provide(program, Layer.merge(server, shared), { local: true })
    const { asked, history } = yield* onInstance(ask("pay", { amount: 1 }, { tools }))
    const messages = [...history, toolMessage(answer(asked))]
    for (let instance = 0; instance < input.instances; instance++) {
      const { results } = yield* onInstance(Approval.resume({ messages, tools }))
      assert.deepStrictEqual(results[0]?.output, { type: "text", value: "paid" })
    }
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B05", function*({ expected, input }) {
    const conflict = yield* Deferred.make<void>()
    const { executed, tools } = paying({ execute: () => Effect.as(Deferred.await(conflict), "paid") })
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const tabs = input.concurrentResponses.map(({ approved }: any) =>
      Approval.resume({ messages: [...history, toolMessage(answer(asked, approved))], tools }).pipe(
        // The one that runs does not finish before the other has lost.
        Effect.tapError(() => Deferred.succeed(conflict, undefined)),
        Effect.result
      )
    )
    const ended: ReadonlyArray<any> = yield* Effect.all(tabs, { concurrency: "unbounded" })
    assert.strictEqual(executed.length, expected.executions)
    assert.strictEqual(ended.filter(Result.isSuccess).length, 1)
    for (const loser of ended.filter(Result.isFailure)) {
      assert.include(loser.failure as object, { _tag: "ApprovalAlreadyUsed", reason: "running" })
    }
  })

  for (const order of [[true, false], [false, true]]) {
    report("B05", function*() {
      const { executed, tools } = paying()
      const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
      const ended: Array<Result.Result<Approval.ResumeResult, Approval.ResumeError>> = []
      for (const approved of order) {
        const messages = [...history, toolMessage(answer(asked, approved))]
        ended.push(yield* Effect.result(Approval.resume({ messages, tools })))
      }
      // There is one end of the call, which both are told.
      const states = ended.filter(Result.isSuccess).flatMap(({ success }) => outputs(success)).map(({ type }) => type)
      const end = order[0] === true ? "text" : "execution-denied"
      assert.deepStrictEqual([...new Set(states)], [end])
      assert.strictEqual(executed.length, order[0] === true ? 1 : 0)
    }, order[0] === true ? " Yes, and later no." : " No, and later yes.")
  }

  report("B05", function*() {
    const started = yield* Deferred.make<void>()
    const finish = yield* Deferred.make<void>()
    const { executed, tools } = paying({
      execute: () => Effect.as(Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(finish)), "paid")
    })
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const resume = (approved: boolean) =>
      Approval.resume({ messages: [...history, toolMessage(answer(asked, approved))], tools })
    const yes = yield* Effect.forkChild(resume(true))
    yield* Deferred.await(started)
    const no = yield* Effect.result(resume(false))
    yield* Deferred.succeed(finish, undefined)
    assert.deepStrictEqual(outputs(yield* Fiber.join(yes)), [{ type: "text", value: "paid" }])
    assert.strictEqual(executed.length, 1)
    assert.isTrue(Result.isFailure(no), "the one who said no is told that the call was denied, while it runs")
    if (Result.isFailure(no)) assert.include(no.failure, { _tag: "ApprovalAlreadyUsed", reason: "running" })
  }, " No, while it runs.")

  report("B06", function*({ expected }) {
    const order: Array<string> = []
    const { tools } = paying({ execute: () => Effect.sync(() => order.push("execute")) })
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const real = yield* ApprovalLedger.ApprovalLedger
    const watched = Layer.succeed(ApprovalLedger.ApprovalLedger)({
      claim: (claim) => Effect.andThen(Effect.sync(() => order.push("claim atomically")), real.claim(claim)),
      find: real.find,
      settle: (claim, outcome) =>
        Effect.andThen(Effect.sync(() => order.push("record result")), real.settle(claim, outcome)),
      resolve: real.resolve
    })
    yield* Effect.provide(Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools }), watched)
    assert.deepStrictEqual(order, expected.order)
  })

  report("B07", function*({ expected }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked), answer(asked))], tools })
    assert.strictEqual(executed.length, expected.executions)
    assert.strictEqual(resumed.results.length, expected.results)
    assert.strictEqual(resultsIn(resumed.messages).length, expected.results)
  })

  report("B08", function*({ expected }) {
    for (const [first, second] of [[true, false], [false, true]]) {
      const { executed, tools } = paying()
      const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
      const messages = [...history, toolMessage(answer(asked, first), answer(asked, second))]
      const resumed = yield* Approval.resume({ messages, tools })
      assert.strictEqual(executed.length, expected.executions)
      assertAnswered(resumed.messages)
      if (first === true) {
        const [refused] = resumed.invalid
        assert.include(refused!.error, { _tag: "AmbiguousApproval", reason: "responses" })
      } else assert.deepStrictEqual(outputs(resumed), [{ type: "execution-denied" }])
    }
  })

  report("B20", function*({ expected }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
    const next = stored([...resumed.messages, assistant({ type: "text", text: "Done." }), user("hello")])
    const again = yield* Approval.resume({ messages: next, tools })
    assert.strictEqual(executed.length, expected.executions)
    assert.deepStrictEqual([again.results, again.responseMessages, again.superseded], [[], [], []])
    assert.deepStrictEqual(again.messages, next)
  })

  report("B44", function*({ expected }) {
    let repairs = 0
    const before = recorder()
    const { executed, tools: paid } = paying()
    const tools: ToolSet.ToolSet = { ...paid, ...ToolSet.make(Tool.make("read", { execute: before.execute })) }
    const repair: Repair.Repair = ({ toolCall }) =>
      Effect.sync(() => (repairs++, Option.some({ ...toolCall, input: "{\"amount\":1}" })))
    const { history, step } = yield* propose(
      [raw("read", "{}", { toolCallId: "c1" }), raw("pay", "{\"amount\":", { toolCallId: "c2" })],
      { tools, repair }
    )
    assert.deepStrictEqual([before.executed.length, repairs, executed.length], [expected.sideEffect, 1, 0])
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(step.pending[0]!))], tools })
    assert.deepStrictEqual([before.executed.length, repairs, executed.length], [expected.sideEffect, 1, 1])
    assertAnswered(resumed.messages)
  })
})

describe("which call", () => {
  report("B10", function*({ expected, input }) {
    const [first, , second] = input.history
    const { executed, tools } = paying()
    // The second call comes in a later step, as in the report.
    const one = yield* ask("pay", first.input, { tools }, first.id)
    const two = yield* ask("pay", second.input, { tools }, second.id)
    for (const asked of [one.asked, two.asked]) {
      const messages = [...one.history, ...two.history.slice(1), toolMessage(answer(asked))]
      const { invalid, messages: after } = yield* Approval.resume({ messages, tools })
      assert.deepStrictEqual(invalid.map(({ error }: Approval.InvalidApproval) => error._tag), ["AmbiguousApproval"])
      assertAnswered(after)
    }
    // Both come in one step: nobody is asked about either.
    const together = yield* propose(
      [first, second].map(({ id, input, name }) => raw(name, JSON.stringify(input), { toolCallId: id })),
      { tools }
    )
    assert.deepStrictEqual(together.step.pending, [])
    assert.deepStrictEqual(together.step.invalid.map(({ error }: any) => error.reason), ["duplicate-id"])
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B11", function*({ expected, input }) {
    const { executed, tools } = paying()
    const old = yield* ask("pay", { amount: 1 }, { tools }, input.response.toolCallId)
    const finished = yield* Approval.resume({
      messages: [...old.history, toolMessage(answer(old.asked, false))],
      tools
    })
    const { history } = yield* ask("pay", { amount: 2 }, { tools }, input.pending[0])
    const messages = stored([...finished.messages, ...history, toolMessage(answer(old.asked, input.response.approved))])
    const resumed = yield* Approval.resume({ messages, tools })
    assert.strictEqual(executed.length, expected.executions)
    assert.deepStrictEqual(resumed.stale.map(({ toolCall }) => toolCall.toolCallId), ["c1"])
    assert.deepStrictEqual(resumed.awaiting.map(({ toolCall }) => toolCall.toolCallId), input.pending)
    // Where the history no longer has the old call, its answer belongs to nothing.
    const error = yield* Effect.flip(Approval.resume({ messages: [...history, toolMessage(answer(old.asked))], tools }))
    assert.include(error, { _tag: "InvalidToolApproval", reason: "unknown" })
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B12", function*() {
    const { executed, tools } = paying()
    const calls = [1, 2].map((amount) => raw("pay", JSON.stringify({ amount }), { toolCallId: `c${amount}` }))
    const { history, step } = yield* propose(calls, { tools })
    const [first, second] = step.pending
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(second!))], tools })
    assert.deepStrictEqual(executed, [{ amount: 2 }])
    assert.deepStrictEqual(resumed.denied, [])
    assert.deepStrictEqual(resumed.awaiting, stored([first!]))
    // Its own answer still counts, and runs nothing again.
    const both = [...resumed.messages, toolMessage(answer(first!))]
    assertAnswered((yield* Approval.resume({ messages: both, tools })).messages)
    assert.deepStrictEqual(executed, [{ amount: 2 }, { amount: 1 }])
  })

  report("B22", function*({ expected, input }) {
    const { executed, tools } = paying()
    const [first] = input.stored
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools }, first.call)
    // One message has the call alone, the next has it again with its question.
    const messages = [user(), assistant(asked.toolCall), ...history.slice(1), toolMessage(answer(asked))]
    const resumed = yield* Approval.resume({ messages, tools })
    assert.strictEqual(callsIn(resumed.messages).length, expected.calls)
    assert.strictEqual(executed.length, 1)
    assertAnswered(resumed.messages)
  })
})

describe("every call is answered", () => {
  report("B16", function*({ expected }) {
    for (const reason of [undefined, "too much"]) {
      const { executed, tools } = paying()
      const { asked, history } = yield* ask("pay", { amount: 1 }, { tools }, expected.results[0].toolCallId)
      const messages = [...history, toolMessage(answer(asked, false, reason === undefined ? {} : { reason }))]
      const resumed = yield* Approval.resume({ messages, tools })
      assert.strictEqual(executed.length, expected.executions)
      assert.deepStrictEqual(resultsIn(resumed.messages), [{
        type: "tool-result",
        toolCallId: "c1",
        toolName: "pay",
        output: { type: "execution-denied", ...reason === undefined ? {} : { reason } }
      }])
    }
  })

  report("B18", function*({ expected, input }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const said = user(input.history.at(-1).text)
    const messages = [...history, toolMessage(answer(asked)), said]
    // The person has said something else since: by default the old answer is not acted upon, and the call is answered as overtaken.
    const refused = yield* Approval.resume({ messages, tools })
    assert.strictEqual(executed.length, 0)
    assert.deepStrictEqual(refused.superseded.map(({ toolCall }) => toolCall.toolCallId), ["call-1"])
    assertAnswered(refused.messages)
    assert.deepStrictEqual(refused.messages.at(-1), said)

    const ran = yield* Approval.resume({ messages, tools, superseded: "run" })
    assert.strictEqual(executed.length, expected.executions)
    assert.deepStrictEqual(outputs(ran), [{ type: "text", value: "paid" }])
    assertAnswered(ran.messages)
    assert.deepStrictEqual(ran.messages.at(-1), said)
    yield* Approval.resume({ messages, tools, superseded: "run" })
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B18", function*({ expected }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const system = { role: "system", content: "Be brief." } as const
    const resumed = yield* Approval.resume({ messages: [...history, toolMessage(answer(asked)), system], tools })
    assert.strictEqual(executed.length, expected.executions)
    assertAnswered(resumed.messages)
  }, " What the system says overtakes nothing.")

  report("B19", function*() {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools })
    const messages = [...history, toolMessage(answer(asked))]
    const resumed = yield* Approval.resume({ messages, tools: ToolSet.make(Tool.make("other")) })
    assert.deepStrictEqual(outputs(resumed), [{
      type: "error-text",
      value: "Model tried to call unavailable tool 'pay'. Available tools: other."
    }])
    assertAnswered(Message.forModel(resumed.messages))
    const next = [...resumed.messages, user("and now?")]
    assert.deepStrictEqual((yield* Approval.resume({ messages: next, tools })).messages, next)
    assert.strictEqual(executed.length, 0)
  })

  report("B25", function*({ expected, input }) {
    let decided = 0
    const { executed, execute } = recorder()
    const tools: ToolSet.ToolSet = ToolSet.make(Tool.make("send", {
      inputSchema: Schema.Struct({ subject: Schema.String }),
      needsApproval: ({ subject }) => Effect.sync(() => (decided++, subject.includes("refund"))),
      execute
    }))
    const { step } = yield* propose([raw("send", input.args)], { tools })
    assert.deepStrictEqual([step.pending, decided, executed.length], [[], 0, expected.executions])
    assert.deepStrictEqual(step.invalid.map(({ error }: any) => error._tag), ["InvalidToolInput"])
    assertAnswered(step.messages)
    // Whole, the same arguments are asked about.
    assert.strictEqual((yield* propose([raw("send", `${input.args}"}`)], { tools })).step.pending.length, 1)
    assert.deepStrictEqual([decided, executed.length], [1, 0])
  })
})

describe("what is shown, and what runs", () => {
  const sending = (allowEdits: boolean) => {
    const { executed, execute } = recorder(({ to }) => `sent to ${to}`)
    const tools: ToolSet.ToolSet = ToolSet.make(Tool.make("send", {
      inputSchema: Schema.Struct({ to: Schema.String }),
      needsApproval: true,
      allowEdits,
      execute
    }))
    return { executed, tools }
  }

  report("B27", function*({ expected, input }) {
    const { executed, tools } = sending(true)
    const { asked, history } = yield* ask("send", input.proposed, { tools })
    const resume = (edited: unknown) =>
      Approval.resume({ messages: [...history, toolMessage(answer(asked, true, { input: edited }))], tools })

    const { invalid } = yield* resume({ to: 5 })
    assert.deepStrictEqual(invalid.map(({ error }: Approval.InvalidApproval) => error._tag), ["InvalidToolInput"])
    assert.deepStrictEqual(executed, [])

    const resumed: Approval.ResumeResult = yield* resume(input.edited)
    assert.deepStrictEqual(executed, [expected.executed])
    const [ran] = resumed.results
    assert.deepStrictEqual(
      [ran!.proposedInput, ran!.approvedInput, ran!.effectiveInput],
      [input.proposed, input.edited, expected.executed]
    )
    // The history still has the proposed input, so the model is told of the other.
    assert.deepStrictEqual(callsIn(resumed.messages).map((call) => call.input), [input.proposed])
    assert.include(JSON.stringify(outputs(resumed)), "It ran with: {\\\"to\\\":\\\"b@x\\\"}")
  })

  report("B27", function*({ input }) {
    const { executed, tools } = sending(false)
    const { asked, history } = yield* ask("send", input.proposed, { tools })
    const edited = answer(asked, true, { input: input.edited })
    const { invalid } = yield* Approval.resume({ messages: [...history, toolMessage(edited)], tools })
    assert.deepStrictEqual(invalid.map(({ error }: Approval.InvalidApproval) => error._tag), ["EditsNotAllowed"])
    assert.deepStrictEqual(executed, [])
  }, " Without allowEdits it is refused.")

  report("B28", function*({ expected, input }) {
    const { executed, execute } = recorder()
    const tools: ToolSet.ToolSet = ToolSet.make(
      Tool.make("save", { inputSchema: { type: "object" }, needsApproval: true, execute })
    )
    const { asked } = yield* ask("save", input.input, { tools })
    const sorted = { ...asked.toolCall, input: input.stored }
    assert.notStrictEqual(JSON.stringify(asked.toolCall.input), JSON.stringify(sorted.input))
    const messages = [user(), assistant(sorted, asked.approvalRequest), toolMessage(answer(asked))]
    const { results } = yield* Approval.resume({ messages, tools })
    assert.strictEqual(results.length === 1, expected.verifies)
    assert.deepStrictEqual(executed, [input.stored])
  })

  report("B32", function*({ input }) {
    // Keys by UTF-16 code units and numbers as ECMAScript writes them, as RFC 8785 has it.
    assert.strictEqual(CanonicalJson.stringify(input.value), "{\"\ud800\udc00\":1e-7,\"\ufffd\":0}")
    assert.strictEqual(CanonicalJson.stringify([1e21, -0, 1e-7, 0.1, 1e20]), "[1e+21,0,1e-7,0.1,100000000000000000000]")
    const signer = yield* ApprovalSigner
    const fields = { approvalId: "a1", toolCallId: "c1", toolName: "t" }
    const signature = yield* signer.sign({ ...fields, input: { ...input.value, zero: -0 } })
    yield* signer.verify(signature, { ...fields, input: stored({ zero: -0, ...input.value }) })
  })

  report("B39", function*({ input: { command, toolName } }) {
    // oxlint-disable-next-line no-control-regex
    const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
    assert.match(command, hidden)
    const { executed, execute } = recorder()
    const tools: ToolSet.ToolSet = ToolSet.make(Tool.make(toolName, {
      inputSchema: Schema.Struct({ command: Schema.String }),
      needsApproval: true,
      execute
    }))
    const { asked, history } = yield* ask(toolName, { command }, { tools })
    const shown = Approval.display(asked.toolCall)
    assert.notMatch(shown, hidden)
    for (const escaped of ["read\\u001b[2K", "\\u202e", "\\u200b", "\\r", "\\u001b[2K"]) assert.include(shown, escaped)
    yield* Approval.resume({ messages: [...history, toolMessage(answer(asked))], tools })
    assert.deepStrictEqual(executed, [{ command }])
  })

  report("B39", function*() {
    // Characters that Unicode calls format characters, and other blanks: none may stand in what is shown.
    const invisible = [
      "\u00ad",
      "\u061c",
      "\u180e",
      "\u200d",
      "\u2028",
      "\u2066",
      "\ufeff",
      "\ufff9",
      "\u{e0041}",
      "\u3164"
    ]
    for (const character of invisible) {
      const shown = Approval.display({ toolName: `a${character}b`, input: { text: `a${character}b` } })
      assert.notInclude(shown, character, character.codePointAt(0)!.toString(16))
    }
    // What padding pushes out of sight is said to be missing.
    const padded = Approval.display({ toolName: "run", input: { command: `ls${" ".repeat(5000)}; rm -rf /` } })
    assert.isBelow(padded.length, 2100)
    assert.include(padded, "…")
    yield* Effect.void
  }, " Others of their kind.")
})

describe("later", () => {
  report("B33", function*({ expected, input: { responseAt, ttlMs } }) {
    const { executed, tools } = paying()
    const { asked, history } = yield* ask("pay", { amount: 1 }, { tools, timeToLive: ttlMs })
    const late = yield* ask("pay", { amount: 2 }, { tools, timeToLive: ttlMs })
    const resume = (one: typeof late) =>
      Approval.resume({ messages: [...one.history, toolMessage(answer(one.asked))], tools })
    yield* TestClock.adjust(ttlMs - 1)
    yield* resume({ asked, history })
    assert.deepStrictEqual(executed, [{ amount: 1 }])
    for (const at of [ttlMs, responseAt, 1000 * responseAt]) {
      yield* TestClock.setTime(at)
      const { invalid } = yield* resume(late)
      assert.deepStrictEqual(invalid.map(({ error }: Approval.InvalidApproval) => error._tag), ["ApprovalExpired"])
    }
    // The expiry is signed: to move it is a forgery.
    const { approvalRequest, toolCall } = late.asked
    const approvalId = approvalRequest.approvalId.replace(/^cs1\.\d+/, "cs1.999999999999999")
    const moved = [user(), assistant(toolCall, { ...approvalRequest, approvalId }), toolMessage(answer(approvalId))]
    const error = yield* Effect.flip(Approval.resume({ messages: moved, tools }))
    assert.include(error, { _tag: "InvalidSignature", reason: "mismatch" })
    assert.strictEqual(executed.length - 1, expected.executions)
  })

  report("B37", function*({ expected, input: { innerRun, outerRun } }) {
    const { executed, tools } = paying()
    const inner = yield* ask("pay", { amount: 1 }, { tools })
    // What the program keeps, as a row of its database: the question, and in which run of which run it was asked.
    const row = JSON.stringify({ outerRun, innerRun, pending: inner.asked, history: inner.history })
    const loaded = JSON.parse(row)
    const options = {
      messages: loaded.history,
      tools,
      requests: [loaded.pending],
      responses: [answer(loaded.pending)]
    }
    const resumed = yield* Approval.resume(options)
    assert.strictEqual(executed.length, expected.executions)
    assert.strictEqual(resumed.awaiting.length, expected.newPrompts)
    assertAnswered(resumed.messages)
    yield* Approval.resume(options)
    assert.strictEqual(executed.length, expected.executions)
  })

  report("B43", function*({ expected }) {
    const { executed, tools } = paying()
    const process = <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.provide(program, signed, { local: true })
    const history = yield* process(Effect.map(ask("pay", { amount: 1 }, { tools }), (one) => one.history))
    const { awaiting } = yield* Approval.collect(history)
    assert.strictEqual(awaiting.length === 1, expected.resumable)
    const { approvalId } = awaiting[0]!.approvalRequest!
    const resumed = yield* process(
      Approval.resume({ messages: [...history, toolMessage(answer(approvalId))], tools })
    )
    assert.deepStrictEqual(executed, [{ amount: 1 }])
    assertAnswered(resumed.messages)
  })
})

it("tells every report of group b", () => {
  assert.deepStrictEqual([...told].sort(), all.map(({ id }) => id).sort())
})
