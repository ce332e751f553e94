import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import * as Crypto from "../src/Crypto.ts"
import type * as Message from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as UiMessage from "../src/UiMessage.ts"
import { answer, approvals, ask, step, type Tools } from "./approvals.ts"

/** A tool that is asked about, and says when it has begun and may end. */
const makeGated = (names: ReadonlyArray<string>, more: object = {}) => {
  const ran: Array<string> = []
  const gates = new Map(
    names.map((name) => [name, { begun: Deferred.makeUnsafe<void>(), end: Deferred.makeUnsafe<void>() }])
  )
  const tool = Tool.make("exec", {
    needsApproval: true,
    inputSchema: Schema.Struct({ name: Schema.String }),
    execute: ({ name }) =>
      Effect.gen(function*() {
        ran.push(name)
        const gate = gates.get(name)
        if (gate !== undefined) {
          yield* Deferred.succeed(gate.begun, undefined)
          yield* Deferred.await(gate.end)
        }
        return `${name} done`
      }),
    ...more
  })
  return {
    ran,
    tools: ToolSet.make(tool) as Tools,
    begun: (name: string) => Deferred.await(gates.get(name)!.begun),
    end: (name: string) => Deferred.succeed(gates.get(name)!.end, undefined)
  }
}

const askAll = (tools: Tools, names: ReadonlyArray<string>, options: Parameters<typeof ask>[2] = {}) =>
  Effect.forEach(
    names,
    (name) => ask(tools, { toolCallId: `call ${name}`, toolName: "exec", input: { name } }, options)
  )

const outputs = ({ results }: Approval.ResumeResult) => results.map(({ output }) => (output as any).value)

const resultsIn = (messages: ReadonlyArray<Message.Message>) =>
  messages.flatMap(({ content }) =>
    typeof content === "string" ? [] : content.filter(({ type }) => type === "tool-result")
  )

/** A ledger whose claims and settlements fail as it is told. */
const failingLedger = (fails: (what: "claim" | "settle", claim: ApprovalLedger.Claim) => boolean) =>
  Layer.effect(ApprovalLedger.ApprovalLedger)(Effect.map(ApprovalLedger.ApprovalLedger, (ledger) => {
    const unavailable = (what: "claim" | "settle", claim: ApprovalLedger.Claim) =>
      Effect.suspend(() =>
        fails(what, claim) ? Effect.fail(new ApprovalLedger.LedgerUnavailable({ reason: "no route" })) : Effect.void
      )
    return {
      claim: (claim) => Effect.andThen(unavailable("claim", claim), ledger.claim(claim)),
      find: (claim) => Effect.andThen(unavailable("claim", claim), ledger.find(claim)),
      settle: (claim, outcome) => Effect.andThen(unavailable("settle", claim), ledger.settle(claim, outcome)),
      resolve: ledger.resolve
    }
  }))

describe("resume", () => {
  describe("runs several calls", () => {
    it.effect("at most `concurrency` at a time, 8 if it is not given", () =>
      Effect.gen(function*() {
        for (const [concurrency, bound] of [[undefined, 8], [1, 1], [3, 3], [50, 12]] as const) {
          const names = Array.from({ length: 12 }, (_, index) => `${bound}-${index}`)
          const { begun, end, ran, tools } = makeGated(names)
          const messages = step(yield* askAll(tools, names))
          const fiber = yield* Effect.forkChild(Approval.resume({ tools, messages, concurrency }))
          yield* begun(names[bound - 1]!)
          for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
          assert.lengthOf(ran, bound)
          for (const [index, name] of names.entries()) {
            yield* end(name)
            if (index + bound < names.length) yield* begun(names[index + bound]!)
            for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
            assert.lengthOf(ran, Math.min(names.length, index + bound + 1))
          }
          assert.deepStrictEqual(outputs(yield* Fiber.join(fiber)), names.map((name) => `${name} done`))
        }
      }).pipe(Effect.provide(approvals)))

    it.effect("and gives their results in the order of the calls, in whatever order they end and were answered", () =>
      Effect.gen(function*() {
        const names = ["a", "b", "c"]
        const { begun, end, tools } = makeGated(names)
        const pending = yield* askAll(tools, names)
        const messages = step(pending, pending.map((one) => answer(one)).reverse())
        const finished: Array<string> = []
        const fiber = yield* Effect.forkChild(Approval.resume({
          tools,
          messages,
          onToolExecutionEnd: ({ toolCallId }) => Effect.sync(() => finished.push(toolCallId))
        }))
        for (const name of names) yield* begun(name)
        for (const name of ["c", "a", "b"]) {
          yield* end(name)
          for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
        }
        const resumed = yield* Fiber.join(fiber)
        assert.deepStrictEqual(finished, ["call c", "call a", "call b"])
        assert.deepStrictEqual(outputs(resumed), ["a done", "b done", "c done"])
        assert.deepStrictEqual(
          resultsIn(resumed.messages).map((part) => (part as Message.ToolResultPart).toolCallId),
          ["call a", "call b", "call c"]
        )
        assert.deepStrictEqual(resumed.messages.slice(0, 2), messages)
        assert.deepStrictEqual<unknown>(resumed.messages.slice(2), resumed.responseMessages)
      }).pipe(Effect.provide(approvals)))

    it.effect("and lets none that fails keep another from its result", () =>
      Effect.gen(function*() {
        const hanging = yield* Deferred.make<void>()
        const tools = ToolSet.make(Tool.make("exec", {
          needsApproval: true,
          timeout: "1 second",
          inputSchema: Schema.Struct({ name: Schema.String }),
          execute: ({ name }, { reportUsage }) =>
            Effect.andThen(
              reportUsage({ cents: 1 }),
              name === "fails"
                ? Effect.fail("no")
                : name === "crashes"
                ? Effect.die(new RangeError("s3cret"))
                : name === "hangs"
                ? Effect.andThen(Deferred.succeed(hanging, undefined), Effect.never)
                : Effect.succeed(`${name} done`)
            )
        })) as Tools
        const names = ["fails", "a", "crashes", "hangs", "b"]
        const fiber = yield* Effect.forkChild(Approval.resume({ tools, messages: step(yield* askAll(tools, names)) }))
        yield* Deferred.await(hanging)
        yield* TestClock.adjust("1 second")
        const resumed = yield* Fiber.join(fiber)
        assert.deepStrictEqual(outputs(resumed), [
          "no",
          "a done",
          "The tool failed: it crashed (RangeError)",
          "Tool exec was stopped after 1000 ms. It may have had an effect.",
          "b done"
        ])
        assert.deepStrictEqual(resumed.usage, { cents: 5 })
      }).pipe(Effect.provide(approvals)))
  })

  describe("twice", () => {
    it.effect("gives the outcome of the first, and runs nothing", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([], { execute: undefined })
        assert.lengthOf(ran, 0)
        const executed: Array<string> = []
        const withExecute = {
          exec: {
            ...tools.exec!,
            execute: ({ name }: any, { reportUsage }: Tool.ExecuteContext) =>
              Effect.andThen(reportUsage({ cents: 2 }), Effect.sync(() => (executed.push(name), { by: name })))
          }
        } as Tools
        const messages = step(yield* askAll(withExecute, ["a", "b"]))
        const first = yield* Approval.resume({ tools: withExecute, messages })
        const second = yield* Approval.resume({ tools: withExecute, messages })
        assert.deepStrictEqual(executed.toSorted(), ["a", "b"])
        assert.deepStrictEqual(second.messages, first.messages)
        assert.deepStrictEqual(second.results, first.results.map((result) => ({ ...result, isReplayed: true })))
        assert.deepStrictEqual([first.usage, second.usage], [{ cents: 4 }, {}])
        // The history that came out has nothing left to do.
        const third = yield* Approval.resume({ tools: withExecute, messages: first.messages })
        assert.lengthOf(third.results, 0)
        assert.deepStrictEqual(third.messages, first.messages)
      }).pipe(Effect.provide(approvals)))

    it.effect("at the same time, runs each call once; who comes second is told to come again, and then has all outcomes", () =>
      Effect.gen(function*() {
        const { begun, end, ran, tools } = makeGated(["a", "b"])
        const pending = yield* askAll(tools, ["a", "b"])
        const messages = step(pending)
        const first = yield* Effect.forkChild(Approval.resume({ tools, messages }))
        yield* begun("a")
        yield* begun("b")
        const error = yield* Effect.flip(Approval.resume({ tools, messages }))
        assert.include(error, {
          _tag: "ApprovalAlreadyUsed",
          reason: "running",
          approvalId: pending[0]!.approvalRequest.approvalId,
          toolCallId: "call a"
        })
        yield* end("a")
        yield* end("b")
        assert.deepStrictEqual(outputs(yield* Fiber.join(first)), ["a done", "b done"])
        const third = yield* Approval.resume({ tools, messages })
        assert.deepStrictEqual(outputs(third), ["a done", "b done"])
        assert.deepStrictEqual(third.results.map(({ isReplayed }) => isReplayed), [true, true])
        assert.deepStrictEqual(ran.toSorted(), ["a", "b"])
      }).pipe(Effect.provide(approvals)))

    it.effect("at the same time, lets the second run what the first does not", () =>
      Effect.gen(function*() {
        const { begun, end, ran, tools } = makeGated(["a"])
        const pending = yield* askAll(tools, ["a", "b"])
        const first = yield* Effect.forkChild(
          Approval.resume({ tools, messages: step(pending, [answer(pending[0]!)]) })
        )
        yield* begun("a")
        const both = step(pending)
        assert.strictEqual((yield* Effect.flip(Approval.resume({ tools, messages: both })))._tag, "ApprovalAlreadyUsed")
        assert.deepStrictEqual(ran, ["a", "b"])
        yield* end("a")
        yield* Fiber.join(first)
        assert.deepStrictEqual(outputs(yield* Approval.resume({ tools, messages: both })), ["a done", "b done"])
        assert.deepStrictEqual(ran, ["a", "b"])
      }).pipe(Effect.provide(approvals)))

    it.effect("with a no first and a yes then, stays with the no; the other way round with what ran", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const pending = yield* askAll(tools, ["a", "b"])
        const [a, b] = pending as [Approval.PendingApproval, Approval.PendingApproval]
        const answers = [answer(a, false, { reason: "no" }), answer(b)]
        const first = yield* Approval.resume({ tools, messages: step(pending, answers) })
        assert.deepStrictEqual(first.denied.map(({ toolCall }) => toolCall.toolCallId), ["call a"])
        const second = yield* Approval.resume({ tools, messages: step(pending, [answer(a), answer(b, false)]) })
        assert.deepStrictEqual(ran, ["b"])
        assert.sameDeepMembers([...resultsIn(second.messages)], [...resultsIn(first.messages)])
        assert.deepStrictEqual(second.usage, {})
      }).pipe(Effect.provide(approvals)))

    it.effect("with another input than it ran with the first time, refuses", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([], { allowEdits: true })
        const pending = yield* askAll(tools, ["a"])
        const edited = (name: string) => step(pending, [answer(pending[0]!, true, { input: { name } })])
        yield* Approval.resume({ tools, messages: edited("b") })
        for (const messages of [edited("c"), step(pending)]) {
          const { invalid, results } = yield* Approval.resume({ tools, messages })
          assert.lengthOf(results, 0)
          assert.include(invalid[0]?.error, { _tag: "ApprovalAlreadyUsed", reason: "other-call" })
        }
        const again = yield* Approval.resume({ tools, messages: edited("b") })
        assert.isTrue(again.results[0]?.isReplayed)
        assert.deepStrictEqual(ran, ["b"])
      }).pipe(Effect.provide(approvals)))

    it.effect("with a no first that the page tells with its result, stays with the no", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const [pending] = (yield* askAll(tools, ["a"])) as [Approval.PendingApproval]
        const { approvalRequest: { approvalId: id, signature }, toolCall: { input, toolCallId } } = pending
        const fromPage = (approved: boolean) =>
          UiMessage.toMessages([{
            role: "assistant",
            parts: [{
              type: "tool-exec",
              toolCallId,
              input,
              state: "approval-responded",
              approval: { id, approved, signature }
            }]
          } as UiMessage.UiMessage])
        const first = yield* Approval.resume({ tools, messages: fromPage(false) })
        assert.lengthOf(first.denied, 1)
        assert.deepStrictEqual(first.messages, fromPage(false))
        const second = yield* Approval.resume({ tools, messages: fromPage(true) })
        assert.lengthOf(ran, 0)
        assert.deepStrictEqual(second.results.map(({ output }) => output), [{ type: "execution-denied" }])
        // A no that comes after the call has run does not undo it, whatever the page says.
        const [other] = (yield* askAll(tools, ["b"])) as [Approval.PendingApproval]
        yield* Approval.resume({ tools, messages: step([other]) })
        const result: Message.ToolResultPart = {
          type: "tool-result",
          toolCallId: other.toolCall.toolCallId,
          toolName: "exec",
          output: { type: "execution-denied" }
        }
        const third = yield* Approval.resume({ tools, messages: step([other], [answer(other, false), result]) })
        assert.deepStrictEqual(resultsIn(third.messages).map(({ output }: any) => output.value), ["b done"])
      }).pipe(Effect.provide(approvals)))
  })

  it.effect("never says of a call that ran with another input that it did not", () =>
    Effect.gen(function*() {
      const wrong: Array<string> = []
      const edits = { input: { name: "b" } }
      const later: ReadonlyArray<readonly [what: string, more: object, response: readonly [boolean, object]]> = [
        ["the policy denies", { policy: { exec: "denied" } }, [true, edits]],
        ["edits are not allowed", { allowEdits: false }, [true, edits]],
        ["the tool changes", { description: "changed" }, [true, edits]],
        ["the policy denies what was proposed", { policy: { exec: "denied" } }, [true, {}]],
        ["another page says yes", {}, [true, {}]],
        ["another page says no", {}, [false, {}]]
      ]
      for (const [what, { policy, ...more }, [approved, response]] of later as ReadonlyArray<any>) {
        const { ran, tools } = makeGated([], { allowEdits: true })
        const [pending] = (yield* askAll(tools, ["a"])) as [Approval.PendingApproval]
        yield* Approval.resume({ tools, messages: step([pending], [answer(pending, true, edits)]) })
        const resumed = yield* Approval.resume({
          tools: { exec: { ...tools.exec!, ...more } } as Tools,
          messages: step([pending], [answer(pending, approved, response)]),
          policy
        })
        assert.deepStrictEqual(ran, ["b"])
        const text = JSON.stringify((resultsIn(resumed.responseMessages)[0] as Message.ToolResultPart).output)
        if (/was not run:|execution-denied|Propose/.test(text)) wrong.push(`${what}: ${text}`)
        if (response === edits) assert.include(text, "b done", what)
      }
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void, any>)

  it.effect("runs the tool that was validated, though the set is changed meanwhile", () =>
    Effect.gen(function*() {
      const [validated, other] = [makeGated([]), makeGated([])]
      const tools: Record<string, Tool.Any> = { ...validated.tools }
      const messages = step(yield* askAll(tools, ["a"]))
      const policy = () =>
        Effect.sync(() => {
          tools["exec"] = { ...other.tools.exec!, description: "changed" }
          return "user-approval" as const
        })
      assert.lengthOf((yield* Approval.resume({ tools, messages, policy })).results, 1)
      assert.deepStrictEqual([validated.ran, other.ran], [["a"], []])
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void, any>)

  it.effect("never says of a call that ran that it did not, when the client has lost its result", () =>
    Effect.gen(function*() {
      const later: ReadonlyArray<
        readonly [what: string, change: (tools: Tools) => Partial<Approval.ResumeOptions<Tools>>, said: boolean]
      > = [
        ["the person goes on", () => ({}), true],
        ["the tool changes", ({ exec }) => ({ tools: { exec: { ...exec!, description: "changed" } } }), false],
        ["the policy denies", () => ({ policy: { exec: "denied" } }), false],
        ["the approval expires", () => ({}), false]
      ]
      const wrong: Array<string> = []
      for (const [what, change, said] of later) {
        const { ran, tools } = makeGated([])
        const messages = step(yield* askAll(tools, [what], { timeToLive: "1 hour" }))
        yield* Approval.resume({ tools, messages })
        if (what === "the approval expires") yield* TestClock.adjust("1 hour")
        const lost = said ? [...messages, { role: "user", content: "and?" }] : messages
        const resumed = yield* Approval.resume({ tools, messages: lost, ...change(tools) })
        assert.deepStrictEqual(ran, [what])
        const [told] = resultsIn(resumed.responseMessages)
        const text = JSON.stringify((told as Message.ToolResultPart).output)
        if (/was not run|execution-denied/.test(text)) wrong.push(`${what}: ${text}`)
      }
      assert.deepStrictEqual(wrong, [])
    }).pipe(Effect.provide(approvals)))

  it.effect("fails where it cannot be told whether a no is to a question of this server", () =>
    Effect.gen(function*() {
      const { tools } = makeGated([])
      const [pending] = yield* askAll(tools, ["a"])
      const messages = step([pending!], [answer(pending!, false)])
      const unavailable = Effect.fail(new Crypto.CryptoUnavailable({ reason: "the key server is away" }))
      const signer = Layer.succeed(ApprovalSigner.ApprovalSigner)({
        sign: () => unavailable,
        verify: () => unavailable
      })
      const error = yield* Effect.flip(Effect.provide(Approval.resume({ tools, messages }), signer))
      assert.strictEqual(error._tag, "CryptoUnavailable")
    }).pipe(Effect.provide(approvals)))

  it.effect("hears a no whatever the person says after it, and knows it again", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeGated([])
      const pending = yield* askAll(tools, ["a", "b"])
      const said = [answer(pending[0]!, false, { reason: "too much" }), answer(pending[1]!)]
      const messages = [...step(pending, said), { role: "user", content: "and do not ask again" }]
      const resumed = yield* Approval.resume({ tools, messages })
      assert.deepStrictEqual(resumed.denied.map(({ toolCall }) => toolCall.toolCallId), ["call a"])
      assert.deepStrictEqual(resumed.superseded.map(({ toolCall }) => toolCall.toolCallId), ["call b"])
      assert.deepStrictEqual(
        resultsIn(resumed.messages).map((part) => (part as Message.ToolResultPart).output.type),
        ["execution-denied", "error-text"]
      )
      assert.strictEqual(resumed.messages.at(-1)?.role, "user")
      // Another tab, with the history as it was when the question came.
      const late = yield* Approval.resume({ tools, messages: step(pending, [answer(pending[0]!)]) })
      assert.deepStrictEqual(late.results.map(({ output }) => output.type), ["execution-denied"])
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide(approvals)))

  describe("interrupted", () => {
    const broken = Effect.fnUntraced(function*(more: object, proposed = "b") {
      const gated = makeGated(["b"], more)
      const pending = yield* askAll(gated.tools, ["a", proposed, "c"])
      const change = proposed === "b" ? {} : { input: { name: "b" } }
      const messages = step(pending, pending.map((one, index) => answer(one, true, index === 1 ? change : {})))
      // Two of them have finished, and are in the ledger.
      const finished = yield* Deferred.make<void>()
      let left = 2
      const fiber = yield* Effect.forkChild(Stream.runForEach(
        Approval.resumeStream({ tools: gated.tools, messages, concurrency: 2 }),
        ({ _tag }) => _tag === "Finished" && --left === 0 ? Deferred.succeed(finished, undefined) : Effect.void
      ))
      yield* gated.begun("b")
      yield* Deferred.await(finished)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      return { ...gated, messages }
    })

    it.effect("does not run again what was broken off, and knows what had finished", () =>
      Effect.gen(function*() {
        const { messages, ran, tools } = yield* broken({})
        for (let count = 0; count < 2; count++) {
          const resumed = yield* Approval.resume({ tools, messages })
          assert.deepStrictEqual(outputs(resumed), ["a done", "c done"])
          assert.include(resumed.invalid[0]?.error, { _tag: "ApprovalAlreadyUsed", reason: "indeterminate" })
          const told = resultsIn(resumed.messages).find((part: any) => part.toolCallId === "call b") as any
          assert.include(told.output.value, "It may have had an effect")
        }
        assert.deepStrictEqual(ran.toSorted(), ["a", "b", "c"])
      }).pipe(Effect.provide(approvals)))

    it.effect("runs it again where that does no harm", () =>
      Effect.gen(function*() {
        const { end, messages, ran, tools } = yield* broken({ idempotent: true })
        yield* end("b")
        for (let count = 0; count < 2; count++) {
          assert.deepStrictEqual(outputs(yield* Approval.resume({ tools, messages })), ["a done", "b done", "c done"])
        }
        assert.deepStrictEqual(ran.toSorted(), ["a", "b", "b", "c"])
      }).pipe(Effect.provide(approvals)))

    it.effect("is answered with what a person has found out", () =>
      Effect.gen(function*() {
        const ledger = yield* ApprovalLedger.ApprovalLedger
        for (const proposed of ["b", "what the person changed to b"]) {
          const { messages, ran, tools } = yield* broken({ allowEdits: true }, proposed)
          const [invalid] = (yield* Approval.resume({ tools, messages })).invalid
          const claim = yield* Approval.claimOf(invalid!)
          const outcome = { output: { type: "text", value: "it was paid, says the bank" } } as const
          assert.deepStrictEqual(yield* ledger.resolve(claim, outcome), { _tag: "Settled", outcome })
          const resumed = yield* Approval.resume({ tools, messages })
          assert.deepStrictEqual(outputs(resumed).toSorted(), ["a done", "c done", "it was paid, says the bank"])
          assert.deepStrictEqual(resumed.invalid, [])
          assert.deepStrictEqual(ran.toSorted(), ["a", "b", "c"])
        }
      }).pipe(Effect.provide(approvals)))

    it.effect("while a policy is asked, ends, and runs nothing", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const messages = step(yield* askAll(tools, ["a", "b"]))
        const begun = yield* Deferred.make<void>()
        let went = false
        const policy = () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
        const fiber = yield* Effect.forkChild(
          Approval.resume({ tools, messages, policy }).pipe(Effect.andThen(Effect.sync(() => {
            went = true
          })))
        )
        yield* Deferred.await(begun)
        yield* Effect.forkChild(Fiber.interrupt(fiber))
        for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
        const exit = fiber.pollUnsafe()
        assert.isTrue(exit !== undefined && Exit.hasInterrupts(exit), "the resume has not ended")
        assert.isFalse(went)
        assert.lengthOf(ran, 0)
        // Nothing was claimed for it.
        const { results } = yield* Approval.resume({ tools, messages })
        assert.deepStrictEqual(results.map(({ isReplayed }) => isReplayed), [false, false])
      }).pipe(Effect.provide(approvals)))
  })

  describe("with a ledger that is not there", () => {
    it.effect("for one claim, runs the others, fails, and has the outcomes of all the next time", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const pending = yield* askAll(tools, ["a", "b", "c"])
        const messages = step(pending)
        const lost = pending[1]!.approvalRequest.approvalId
        let isDown = true
        const ledger = failingLedger((what, { approvalId }) => isDown && what === "claim" && approvalId === lost)
        yield* Effect.gen(function*() {
          const error = yield* Effect.flip(Approval.resume({ tools, messages }))
          assert.strictEqual(error._tag, "LedgerUnavailable")
          assert.deepStrictEqual(ran.toSorted(), ["a", "c"])
          isDown = false
          const resumed = yield* Approval.resume({ tools, messages })
          assert.deepStrictEqual(outputs(resumed), ["a done", "b done", "c done"])
          assert.deepStrictEqual(resumed.results.map(({ isReplayed }) => isReplayed), [true, false, true])
          assert.deepStrictEqual(ran.slice(2), ["b"])
        }).pipe(Effect.provide(ledger))
      }).pipe(Effect.provide(approvals)))

    it.effect("to keep an outcome, gives it, says so, and does not run the call again", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const messages = step(yield* askAll(tools, ["a"]))
        yield* Effect.gen(function*() {
          const resumed = yield* Approval.resume({ tools, messages })
          assert.deepStrictEqual(outputs(resumed), ["a done"])
          assert.strictEqual(resumed.results[0]?.unsettled?._tag, "LedgerUnavailable")
          assert.lengthOf(resultsIn(resumed.messages), 1)
          const again = yield* Approval.resume({ tools, messages })
          assert.include(again.invalid[0]?.error, { reason: "indeterminate" })
          assert.deepStrictEqual(ran, ["a"])
        }).pipe(Effect.provide(failingLedger((what) => what === "settle")))
      }).pipe(Effect.provide(approvals)))
  })

  describe("late", () => {
    it.effect("does not run what expires while it waits for its turn", () =>
      Effect.gen(function*() {
        const { begun, end, ran, tools } = makeGated(["a"])
        const messages = step(yield* askAll(tools, ["a", "b"], { timeToLive: "1 hour" }))
        const fiber = yield* Effect.forkChild(Approval.resume({ tools, messages, concurrency: 1 }))
        yield* begun("a")
        yield* TestClock.adjust("1 hour")
        yield* end("a")
        const resumed = yield* Fiber.join(fiber)
        assert.deepStrictEqual(ran, ["a"])
        assert.deepStrictEqual(outputs(resumed), ["a done"])
        assert.deepStrictEqual(resumed.invalid.map(({ error }) => error._tag), ["ApprovalExpired"])
      }).pipe(Effect.provide(approvals)))

    it.effect("does not run again what the ledger forgets while it waits for its turn", () =>
      Effect.gen(function*() {
        const { begun, end, ran, tools } = makeGated(["a"])
        const pending = yield* askAll(tools, ["a", "b"], { timeToLive: "1 hour" })
        yield* Approval.resume({ tools, messages: step(pending, [answer(pending[1]!)]) })
        const fiber = yield* Effect.forkChild(Approval.resume({ tools, messages: step(pending), concurrency: 1 }))
        yield* begun("a")
        yield* TestClock.adjust("1 hour")
        yield* end("a")
        yield* Fiber.join(fiber)
        assert.deepStrictEqual(ran, ["b", "a"])
      }).pipe(Effect.provide(approvals)))
  })

  describe("of what is ambiguous", () => {
    it.effect("runs nothing: yes and no to two questions about one call", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const first = (yield* askAll(tools, ["a"]))[0]!
        const second = (yield* askAll(tools, ["a"]))[0]!
        for (const [one, other] of [[true, false], [false, true]] as const) {
          const messages: Array<Message.Message> = [
            { role: "assistant", content: [first.toolCall, first.approvalRequest, second.approvalRequest] },
            { role: "tool", content: [answer(first, one), answer(second, other)] }
          ]
          const resumed = yield* Approval.resume({ tools, messages })
          assert.lengthOf(ran, 0)
          assert.lengthOf(resumed.results, 0)
          assert.lengthOf(resultsIn(resumed.messages), 1)
        }
      }).pipe(Effect.provide(approvals)))

    it.effect("answers once for all calls of one ID", () =>
      Effect.gen(function*() {
        const { ran, tools } = makeGated([])
        const calls = yield* Effect.forEach(["a", "b"], (name) =>
          ask(tools, { toolCallId: "same", toolName: "exec", input: { name } }))
        const [first, second] = calls as [Approval.PendingApproval, Approval.PendingApproval]
        const content = [first.toolCall, first.approvalRequest, second.toolCall, second.approvalRequest]
        const histories: ReadonlyArray<ReadonlyArray<Message.Message>> = [
          [{ role: "assistant", content }, { role: "tool", content: [answer(first), answer(second)] }],
          [{ role: "assistant", content }, { role: "tool", content: [answer(first, false), answer(second)] }],
          [{ role: "assistant", content }, { role: "tool", content: [answer(first, false), answer(second, false)] }],
          [{ role: "assistant", content }, { role: "tool", content: [answer(second)] }],
          [{ role: "assistant", content }, { role: "user", content: "never mind" }]
        ]
        for (const [index, messages] of histories.entries()) {
          const resumed = yield* Approval.resume({ tools, messages })
          assert.lengthOf(ran, 0)
          assert.lengthOf(resultsIn(resumed.messages), 1, `history ${index}`)
        }
      }).pipe(Effect.provide(approvals)))
  })

  it.effect("of an empty history, and of what is none, has nothing to do", () =>
    Effect.gen(function*() {
      const histories: ReadonlyArray<ReadonlyArray<any>> = [
        [],
        [null, 7, "tool", [], {}],
        [{ role: "tool" }, { role: "tool", content: null }, { role: "tool", content: [null, 1, {}, []] }],
        [{ role: "assistant", content: [{ type: "tool-call" }, { type: "tool-call", toolCallId: 1, toolName: {} }] }],
        [{ role: "tool", content: [{ type: "tool-result", toolCallId: "c" }] }]
      ]
      for (const messages of histories) {
        const resumed = yield* Approval.resume({ tools: {}, messages })
        assert.deepStrictEqual(resumed.messages, messages)
        assert.lengthOf(resumed.responseMessages, 0)
      }
    }).pipe(Effect.provide(approvals)))

  it.effect("passes over responses that are none", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeGated([])
      const pending = yield* askAll(tools, ["a"])
      const type = "tool-approval-response"
      const none: ReadonlyArray<any> = [null, 7, "yes", {}, { type }, { type, approvalId: {}, approved: true }]
      const messages = step(pending, [])
      const nothing = yield* Approval.resume({ tools, messages, responses: none })
      assert.lengthOf(nothing.awaiting, 1)
      assert.lengthOf(ran, 0)
      const responses = [...none, answer(pending[0]!)]
      assert.deepStrictEqual(outputs(yield* Approval.resume({ tools, messages, responses })), ["a done"])
    }).pipe(Effect.provide(approvals)))

  it.effect("refuses what is no JSON, though no signature is asked for", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeGated([], { allowEdits: true })
      // What JSON.parse gives for 1e400 comes first.
      for (const input of [Infinity, { name: Infinity }, 5n, new Map()]) {
        for (
          const [proposed, response] of [
            [input, { approved: true }],
            [input, { approved: false }],
            [{ name: "a" }, { approved: true, input }]
          ] as const
        ) {
          const messages = [
            {
              role: "assistant",
              content: [
                { type: "tool-call", toolCallId: "c1", toolName: "exec", input: proposed },
                { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" }
              ]
            },
            { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", ...response }] }
          ]
          const resumed = yield* Approval.resume({ tools, messages })
          assert.deepStrictEqual([resumed.invalid.length, resumed.denied.length], response.approved ? [1, 0] : [0, 1])
        }
      }
      assert.lengthOf(ran, 0)
    }).pipe(Effect.provide(Layer.merge(approvals, ApprovalSigner.layerUnsigned))))

  it.effect("reads each part a few times, however many a client sends", () =>
    Effect.gen(function*() {
      const { tools } = makeGated([])
      const count = 300
      let reads = 0
      const counted = (key: string, fields: object) =>
        Object.defineProperty({ ...fields }, key, {
          enumerable: true,
          get: () => {
            reads++
            return (fields as any)[key]
          }
        })
      const call = (toolCallId: string, name: string) =>
        counted("toolCallId", { type: "tool-call", toolCallId, toolName: "exec", input: { name } })
      const output = { type: "text", value: "" }
      const result = (toolCallId: string) =>
        counted("toolCallId", { type: "tool-result", toolCallId, toolName: "exec", output })
      const names = Array.from({ length: count }, (_, index) => String(index))
      const toolMessages = names.map(() => counted("role", { role: "tool", content: [{ type: "text" }] }))
      const histories: ReadonlyArray<ReadonlyArray<unknown>> = [
        [{ role: "assistant", content: names.map((name) => call(name, name)) }, ...toolMessages, { role: "user" }],
        [{ role: "assistant", content: names.map((name) => call("same", name)) }, ...toolMessages, { role: "user" }],
        [
          { role: "assistant", content: names.map((name) => call("same", name)) },
          ...names.map(() => ({ role: "tool", content: [result("same")] }))
        ],
        [{
          role: "assistant",
          content: names.flatMap((name) => [call("same", name), call("same", `${name}.`), result("same")])
        }]
      ]
      for (const [index, messages] of histories.entries()) {
        reads = 0
        yield* Approval.resume({ tools, messages })
        assert.isAtMost(reads, 60 * count, `history ${index}`)
      }
    }).pipe(Effect.provide(approvals)))
})

describe("an input that the person changed", () => {
  const makePay = (ran: Array<unknown>) =>
    ToolSet.make(Tool.make("pay", {
      needsApproval: true,
      allowEdits: true,
      inputSchema: Schema.Struct({ to: Schema.String, cents: Schema.NumberFromString }),
      execute: (input) => Effect.sync(() => (ran.push(input), `paid ${input.cents}`))
    })) as Tools
  const raw = { toolCallId: "c1", toolName: "pay", input: { to: "alice", cents: "500" } }

  it.effect("keeps proposed, approved and effective input apart, and tells the model", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const tools = makePay(ran)
      const pending = yield* ask(tools, raw)
      assert.deepStrictEqual(pending.toolCall.input, { to: "alice", cents: 500 })
      const refine = { pay: (input: any) => Effect.succeed({ ...input, to: input.to.toUpperCase() }) } as any
      const messages = step([pending], [answer(pending, true, { input: { to: "bob", cents: "7" } })])
      const { messages: after, results } = yield* Approval.resume({ tools, messages, refine })
      assert.deepStrictEqual(results, [{
        toolCallId: "c1",
        toolName: "pay",
        proposedInput: { to: "alice", cents: 500 },
        approvedInput: { to: "bob", cents: "7" },
        effectiveInput: { to: "BOB", cents: 7 },
        output: { type: "text", value: "paid 7" },
        value: "paid 7",
        isReplayed: false
      }])
      assert.deepStrictEqual(ran, [{ to: "BOB", cents: 7 }])
      // The call in the history stays the model's own.
      assert.deepStrictEqual(after.slice(0, 2), messages)
      assert.deepStrictEqual(resultsIn(after), [{
        type: "tool-result",
        toolCallId: "c1",
        toolName: "pay",
        output: {
          type: "text",
          value: "A person changed the input before approving. It ran with: {\"cents\":7,\"to\":\"BOB\"}\npaid 7"
        }
      }])
    }).pipe(Effect.provide(approvals)) as Effect.Effect<void, any>)

  it.effect("is none where it is the one that was proposed", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const tools = makePay(ran)
      const pending = yield* ask(tools, raw)
      const messages = step([pending], [answer(pending, true, { input: { cents: 500, to: "alice" } })])
      const { results, responseMessages } = yield* Approval.resume({ tools, messages })
      assert.deepStrictEqual(results[0]?.approvedInput, { to: "alice", cents: 500 })
      assert.deepStrictEqual((resultsIn(responseMessages)[0] as any).output, { type: "text", value: "paid 500" })
      assert.deepStrictEqual(ran, [{ to: "alice", cents: 500 }])
    }).pipe(Effect.provide(approvals)))

  it.effect("that does not fit the schema is refused, and may be put right", () =>
    Effect.gen(function*() {
      const ran: Array<unknown> = []
      const tools = makePay(ran)
      const pending = yield* ask(tools, raw)
      const resume = (input: unknown) =>
        Approval.resume({ tools, messages: step([pending], [answer(pending, true, { input })]) })
      for (
        const input of [null, 7, "", "{\"to\":\"bob\",\"cents\":\"7\"}", [], {}, { to: "bob" }, { to: "bob", cents: 7 }]
      ) {
        const { invalid } = yield* resume(input)
        assert.deepStrictEqual(invalid.map(({ error }) => error._tag), ["InvalidToolInput"], JSON.stringify(input))
      }
      assert.lengthOf(ran, 0)
      assert.lengthOf((yield* resume({ to: "bob", cents: "7" })).results, 1)
    }).pipe(Effect.provide(approvals)))
})

describe("resumeStream", () => {
  const tagsOf = (events: ReadonlyArray<Approval.ResumeEvent>) =>
    events.map((event) =>
      event._tag === "Started"
        ? `Started ${event.toolCallId}`
        : event._tag === "Finished"
        ? `Finished ${event.result.toolCallId}`
        : event._tag
    )

  it.effect("tells denials, refusals, starts and ends, and the result at last", () =>
    Effect.gen(function*() {
      const { begun, end, tools } = makeGated(["a", "b"])
      const pending = yield* askAll(tools, ["a", "b", "denied", "late"], {})
      const [a, b, denied] = pending as [Approval.PendingApproval, Approval.PendingApproval, Approval.PendingApproval]
      const late = (yield* askAll(tools, ["late"], { timeToLive: 0 }))[0]!
      const messages = step([a, b, denied, late], [answer(a), answer(b), answer(denied, false), answer(late)])
      const fiber = yield* Effect.forkChild(Stream.runCollect(Approval.resumeStream({ tools, messages })))
      yield* begun("a")
      yield* begun("b")
      yield* end("b")
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      yield* end("a")
      const events = yield* Fiber.join(fiber)
      const tags = tagsOf(events)
      assert.deepStrictEqual(tags.slice(0, 2), ["Denied", "Invalid"])
      // Which of two begins first is not said.
      assert.deepStrictEqual(tags.slice(2, 4).toSorted(), ["Started call a", "Started call b"])
      assert.deepStrictEqual(tags.slice(4), ["Finished call b", "Finished call a", "Resumed"])
      const last = events.at(-1)!
      assert.strictEqual(last._tag, "Resumed")
      if (last._tag !== "Resumed") return
      // The same as without events.
      const again = yield* Approval.resume({ tools, messages })
      assert.deepStrictEqual(last.result.messages, again.messages)
      const replayed = yield* Stream.runCollect(Approval.resumeStream({ tools, messages }))
      assert.sameMembers(tagsOf(replayed), ["Denied", "Invalid", "Finished call a", "Finished call b", "Resumed"])
    }).pipe(Effect.provide(approvals)))

  it.effect("fails as a resume does, after what happened before", () =>
    Effect.gen(function*() {
      const { begun, end, tools } = makeGated(["a"])
      const pending = yield* askAll(tools, ["a", "b"])
      const messages = step(pending)
      const first = yield* Effect.forkChild(Approval.resume({ tools, messages: step(pending, [answer(pending[0]!)]) }))
      yield* begun("a")
      const seen: Array<Approval.ResumeEvent> = []
      const error = yield* Effect.flip(
        Stream.runForEach(Approval.resumeStream({ tools, messages }), (event) => Effect.sync(() => seen.push(event)))
      )
      assert.strictEqual(error._tag, "ApprovalAlreadyUsed")
      assert.deepStrictEqual(tagsOf(seen), ["Started call b", "Finished call b"])
      yield* end("a")
      yield* Fiber.join(first)
      const forged = step(pending.map((one) => ({ ...one, toolCall: { ...one.toolCall, toolName: "other" } })))
      const refused = yield* Effect.flip(Stream.runDrain(Approval.resumeStream({ tools, messages: forged })))
      assert.strictEqual(refused._tag, "InvalidSignature")
    }).pipe(Effect.provide(approvals)))

  it.effect("to stop reading interrupts what runs", () =>
    Effect.gen(function*() {
      let interrupted = false
      const tools = makeGated([], {
        execute: () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              interrupted = true
            }))
      }).tools
      const messages = step(yield* askAll(tools, ["a"]))
      const events = yield* Stream.runCollect(Stream.take(Approval.resumeStream({ tools, messages }), 1))
      assert.deepStrictEqual(tagsOf(events), ["Started call a"])
      assert.isTrue(interrupted)
      const { invalid } = yield* Approval.resume({ tools, messages })
      assert.include(invalid[0]?.error, { _tag: "ApprovalAlreadyUsed", reason: "indeterminate" })
    }).pipe(Effect.provide(approvals)))

  it.effect("does nothing before it is read", () =>
    Effect.gen(function*() {
      const { ran, tools } = makeGated([])
      const stream = Approval.resumeStream({ tools, messages: step(yield* askAll(tools, ["a"])) })
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      assert.lengthOf(ran, 0)
      yield* Stream.runDrain(stream)
      assert.lengthOf(ran, 1)
    }).pipe(Effect.provide(approvals)))

  it.effect("tells hundreds of calls to a reader that takes its time", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 300 }, (_, index) => `${index}`)
      const { tools } = makeGated([])
      const messages = step(yield* askAll(tools, names))
      const events: Array<Approval.ResumeEvent> = []
      const stream = Approval.resumeStream({ tools, messages })
      yield* Stream.runForEach(
        stream,
        (event) => Effect.andThen(Effect.yieldNow, Effect.sync(() => events.push(event)))
      )
      assert.lengthOf(events, 601)
      assert.strictEqual(events.at(-1)?._tag, "Resumed")
    }).pipe(Effect.provide(approvals)))
})
