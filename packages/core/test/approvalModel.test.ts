/**
 * Whatever a model, a person, a client and two servers do, in whatever order: nothing runs that was not approved with exactly that
 * input, nothing runs twice, and every call ends up answered.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Approval from "../src/Approval.ts"
import type * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import * as Message from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { approvals, type Tools } from "./approvals.ts"
import { below, oneOf } from "./arbitraries.ts"

/** `missing` is no tool, `broken` is called with an input that does not fit; the others are tools of that name. */
const kinds = [
  "pay",
  "pay",
  "repeatable",
  "fails",
  "slow",
  "free",
  "allowed",
  "forbidden",
  "broken",
  "missing"
] as const
type Kind = typeof kinds[number]

const askedKinds: ReadonlySet<string> = new Set(["pay", "repeatable", "fails", "slow"])

const tamperings = [
  "input",
  "tool name",
  "call ID of the call",
  "call ID everywhere",
  "approval ID everywhere",
  "signature",
  "no signature",
  "drop a result",
  "drop the input before the schema",
  "change the input before the schema",
  "duplicate a message in place",
  "duplicate a message at the end",
  "isAutomatic",
  "providerExecuted",
  "approve what the policy denied",
  "swap two questions",
  "another call of the same ID",
  "edit"
] as const

type Action =
  | { readonly do: "propose"; readonly calls: ReadonlyArray<Kind> }
  | { readonly do: "answer"; readonly which: number; readonly approved: boolean }
  | { readonly do: "tamper"; readonly how: typeof tamperings[number]; readonly which: number }
  | { readonly do: "replay"; readonly which: number }
  // What a failing sequence is shrunk to.
  | { readonly do: "nothing" }
  | { readonly do: "answer all" | "say" | "resume" | "resume twice" | "crash" | "change tools" | "change policy" }
  | { readonly do: "wait"; readonly minutes: number }

const action: Arbitrary.Arbitrary<Action> = Arbitrary.map(
  Arbitrary.all([
    below(100),
    Arbitrary.array(oneOf(kinds), { minLength: 1, maxLength: 4 }),
    below(5),
    below(4),
    oneOf(tamperings)
  ]),
  ([percent, calls, which, quarter, how]): Action => {
    // Both ends of a range are drawn more often than what lies between.
    if (percent < 2) return { do: "nothing" }
    if (percent < 14) return { do: "answer", which, approved: quarter > 0 }
    if (percent < 30) return { do: "propose", calls }
    if (percent < 46) return { do: "resume" }
    if (percent < 54) return { do: "resume twice" }
    if (percent < 64) return { do: "crash" }
    if (percent < 76) return { do: "tamper", how, which }
    if (percent < 86) return { do: "replay", which }
    if (percent < 88) return { do: "wait", minutes: quarter === 0 ? 60 : 15 }
    if (percent < 89) return { do: "say" }
    if (percent < 91) return { do: "change tools" }
    return { do: percent < 93 ? "change policy" : "answer all" }
  }
)

/** A question of the server, as it knows it. */
interface Question {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly expiresAt: number
  readonly version: number
  readonly isAutomatic: boolean
}

interface Run {
  readonly toolCallId: string
  readonly isCrash: boolean
}

interface History {
  readonly messages: ReadonlyArray<any>
  readonly isGenuine: boolean
}

const minute = 60_000

/** How often what happened, over all runs: a property that nothing happens in holds too. */
const seen = { ran: 0, replayed: 0, refused: 0, denied: 0, crashed: 0, rejected: 0 }

const partsOf = (messages: ReadonlyArray<any>, type: string): ReadonlyArray<any> =>
  messages.flatMap(({ content }) => Array.isArray(content) ? content.filter((part) => part.type === type) : [])

/** The server, and what is known of it. */
const makeWorld = () => {
  const questions = new Map<string, Question>()
  const runs: Array<Run> = []
  const said = new Set<string>()
  /** By call. `broken` was begun and not ended; of `unknown` a server cannot tell from here what became of it. */
  const states = new Map<string, "ran" | "denied" | "broken" | "unknown">()
  let version = 0
  let denies = false
  let stepInputs = new Map<string, string>()
  // What is resumed at the moment; answers that it does not hold do not count.
  let resuming: ReadonlyArray<any> | undefined
  let crash: Deferred.Deferred<void> | undefined

  const onRun = Effect.fnUntraced(function*(toolName: string, toolCallId: string, input: unknown) {
    const now = yield* Clock.currentTimeMillis
    const text = CanonicalJson.stringify(input)
    const what = `${toolName} ${toolCallId} ${text}`
    if (resuming === undefined) {
      assert.isTrue(toolName === "free" || toolName === "allowed", `${what} ran unasked`)
      assert.strictEqual(text, stepInputs.get(toolCallId), `${what} ran with another input`)
    } else {
      const question = questions.get(toolCallId)
      assert.isDefined(question, `${what} ran, and nobody was asked`)
      const { approvalId, expiresAt, isAutomatic } = question!
      assert.strictEqual(toolName, question!.toolName, `${what} ran as another tool`)
      assert.strictEqual(text, question!.input, `${what} ran with another input`)
      assert.isTrue(isAutomatic || said.has(approvalId), `${what} ran, and nobody said yes`)
      assert.isBelow(now, expiresAt, `${what} ran late`)
      assert.strictEqual(version, question!.version, `${what} ran as a changed tool`)
      assert.isFalse(denies, `${what} ran against the policy`)
      assert.notStrictEqual(states.get(toolCallId), "denied", `${what} ran after a no`)
      const answers = partsOf(resuming, "tool-approval-response").filter((part) => part.approvalId === approvalId)
      assert.isTrue(answers.some(({ approved }) => approved === true), `${what} ran without an answer`)
    }
    const before = runs.filter((run) => run.toolCallId === toolCallId)
    const mayRepeat = toolName === "repeatable" && before.every(({ isCrash }) => isCrash)
    assert.isTrue(before.length === 0 || mayRepeat, `${what} ran twice`)
    runs.push({ toolCallId, isCrash: crash !== undefined })
    seen.ran++
    if (crash !== undefined) {
      seen.crashed++
      yield* Deferred.succeed(crash, undefined)
      yield* Effect.never
    }
  })

  /** A failed check inside of a tool is a crash of that tool: it is kept, and told after. */
  let broken: unknown
  const execute =
    (name: string, then: Effect.Effect<unknown, unknown>) =>
    (input: { readonly n: number }, { toolCallId }: Tool.ExecuteContext) =>
      onRun(name, toolCallId, input).pipe(
        Effect.tapDefect((defect) =>
          Effect.sync(() => {
            broken ??= defect
          })
        ),
        Effect.andThen(then)
      )

  const make = (name: string, more: object, then: Effect.Effect<unknown, unknown> = Effect.succeed(`${name} done`)) =>
    Tool.make(name, {
      description: `version ${version}`,
      inputSchema: Schema.Struct({ n: Schema.NumberFromString }),
      execute: execute(name, then),
      ...more
    })
  const asked = { needsApproval: true }
  const makeTools = () =>
    ToolSet.make(
      make("pay", asked),
      make("repeatable", { ...asked, idempotent: true }),
      make("fails", asked, Effect.fail(new Error("exec failed"))),
      // The time of the test passes while it runs, until it is stopped.
      make(
        "slow",
        { ...asked, timeout: "1 second" },
        Effect.forever(Effect.andThen(Effect.yieldNow, TestClock.adjust(250)))
      ),
      make("free", {}),
      make("allowed", {}),
      make("forbidden", {})
    ) as Tools
  let tools = makeTools()

  const policy = (): ApprovalPolicy.ApprovalPolicy<Tools> =>
    denies
      ? Object.fromEntries(Object.keys(tools).map((name) => [name, "denied" as const]))
      : { allowed: "approved", forbidden: "denied" }

  let history: History = { messages: [{ role: "user", content: "go" }], isGenuine: true }
  const past: Array<History> = []
  const go = (messages: ReadonlyArray<any>, isGenuine = history.isGenuine) => {
    past.push(history)
    history = { messages: JSON.parse(JSON.stringify(messages)), isGenuine }
  }

  let count = 0
  const propose = Effect.fnUntraced(function*(proposed: ReadonlyArray<Kind>) {
    const now = yield* Clock.currentTimeMillis
    stepInputs = new Map()
    const calls = proposed.map((kind) => {
      const toolCallId = `c${count++}`
      stepInputs.set(toolCallId, CanonicalJson.stringify({ n: count }))
      return {
        toolCallId,
        toolName: kind === "broken" ? "pay" : kind,
        input: kind === "broken" ? "{\"n\":[]}" : `{"n":"${count}"}`
      }
    })
    const step: ToolStep.StepResult = yield* ToolStep.run(calls, { tools, policy: policy(), timeToLive: "1 hour" })
    for (const { approvalRequest: { approvalId, toolCallId }, ...approval } of step.approvals) {
      if (approval._tag === "Denied") continue
      const { input, toolName } = partsOf(step.messages, "tool-call").find((part) => part.toolCallId === toolCallId)
      questions.set(toolCallId, {
        approvalId,
        toolCallId,
        toolName,
        input: CanonicalJson.stringify(input),
        expiresAt: now + 60 * minute,
        version,
        isAutomatic: approval._tag === "Approved"
      })
      if (approval._tag === "Approved") states.set(toolCallId, "ran")
    }
    assert.deepStrictEqual(
      step.pending.map(({ toolCall }) => toolCall.toolCallId),
      denies ? [] : calls.filter((_, index) => askedKinds.has(proposed[index]!)).map(({ toolCallId }) => toolCallId)
    )
    go([...history.messages, ...step.messages])
  })

  const say = (answers: ReadonlyArray<{ readonly approvalId: string; readonly approved: boolean }>) => {
    if (answers.length === 0) return
    const content = answers.map((one) => ({ type: "tool-approval-response", ...one }))
    for (const { approvalId, approved } of answers) if (approved) said.add(approvalId)
    const last = history.messages.at(-1)
    go(
      last.role === "tool"
        ? [...history.messages.slice(0, -1), { ...last, content: [...last.content, ...content] }]
        : [...history.messages, { role: "tool", content }]
    )
  }

  const questionsIn = (messages: ReadonlyArray<any>) =>
    partsOf(messages, "tool-approval-request").filter(({ isAutomatic }) => isAutomatic !== true)

  const answer = (which: number, approved: boolean) => {
    const request = questionsIn(history.messages).at(-1 - which)
    if (request !== undefined) say([{ approvalId: request.approvalId, approved }])
  }

  const answerAll = () => {
    const step = history.messages.findLast(({ role }) => role === "assistant")
    say(questionsIn(step === undefined ? [] : [step]).map(({ approvalId }) => ({ approvalId, approved: true })))
  }

  /** What a genuine history has to lead to, by call. */
  const expected = (messages: ReadonlyArray<any>, now: number) => {
    const last = messages.at(-1)
    const verdicts = new Map<string, ReadonlyArray<"runs" | "replays" | "refused" | "denied">>()
    if (last.role !== "tool") return verdicts
    const done = new Set(partsOf(messages, "tool-result").map(({ toolCallId }) => toolCallId))
    for (const question of questions.values()) {
      const answers = last.content.filter((part: any) => part.approvalId === question.approvalId && "approved" in part)
      if (answers.length === 0 || done.has(question.toolCallId)) continue
      const isOne = answers.every(({ approved }: any) => approved === answers[0].approved)
      const state = states.get(question.toolCallId)
      const isLate = now >= question.expiresAt
      verdicts.set(
        question.toolCallId,
        !answers[0].approved
          ? isLate || state === undefined || state === "denied"
            ? ["denied"]
            : state === "ran"
            ? ["replays"]
            : state === "broken"
            ? ["refused"]
            : ["denied", "replays", "refused"]
          : isLate
          ? ["refused"]
          : !isOne || question.version !== version || denies
          // What has an outcome is told it, whatever speaks against running it now.
          ? state === "ran" || state === "denied"
            ? ["replays"]
            : state === "broken"
            ? ["refused"]
            : state === undefined
            ? [isOne && question.version === version ? "denied" : "refused"]
            : ["refused", "denied", "replays"]
          : state === undefined
          ? ["runs"]
          : state === "ran" || state === "denied"
          ? ["replays"]
          : state === "broken"
          ? [question.toolName === "repeatable" ? "runs" : "refused"]
          : ["runs", "replays", "refused"]
      )
    }
    return verdicts
  }

  const check = (from: History, result: Approval.ResumeResult, verdicts: ReturnType<typeof expected>) => {
    const messages: ReadonlyArray<any> = result.messages
    assert.deepStrictEqual<unknown>(JSON.parse(JSON.stringify(messages)), messages)
    const awaiting = new Set(result.awaiting.map(({ toolCall }) => toolCall.toolCallId))
    for (const { toolCall } of result.awaiting) {
      const answered = result.responseMessages.some(({ content }) =>
        content.some((part: any) => part.toolCallId === toolCall.toolCallId)
      )
      assert.isFalse(
        answered && !isForged(messages, toolCall.toolCallId),
        `${toolCall.toolCallId} is awaited and answered`
      )
    }
    checkForModel(Message.forModel(messages), awaiting, from.isGenuine)
    seen.replayed += result.results.filter(({ isReplayed }) => isReplayed).length
    seen.refused += result.invalid.length
    if (!from.isGenuine) return
    const found = new Map<string, string>([
      ...result.results.map(({ isReplayed, toolCallId }) => [toolCallId, isReplayed ? "replays" : "runs"] as const),
      ...result.invalid.map(({ toolCall }) => [toolCall.toolCallId, "refused"] as const),
      ...result.denied.map(({ toolCall }) => [toolCall.toolCallId, "denied"] as const)
    ])
    for (const [toolCallId, verdict] of verdicts) {
      const is = found.get(toolCallId)
      const agrees = (verdict as ReadonlyArray<unknown>).includes(is)
      assert.isTrue(agrees, `${toolCallId} ${is ?? "is not answered"}, and ${verdict.join(" or ")} was expected`)
    }
  }

  /** After a resume of which not everything is told. */
  const remember = (from: History, ranBefore: number, verdicts: ReturnType<typeof expected>) => {
    for (const { isCrash, toolCallId } of runs.slice(ranBefore)) states.set(toolCallId, isCrash ? "broken" : "ran")
    for (const [toolCallId, verdict] of verdicts) {
      if (states.get(toolCallId) !== undefined) continue
      if (verdict[0] === "denied" && from.isGenuine) {
        const answers = from.messages.at(-1).content.filter((part: any) =>
          part.approvalId === questions.get(toolCallId)!.approvalId
        )
        if (!answers[0].approved) states.set(toolCallId, "denied")
      } else if (verdict[0] !== "refused") states.set(toolCallId, "unknown")
    }
  }

  /** Resumes, and takes the history that comes out. */
  const resume = Effect.fnUntraced(function*() {
    const from = history
    const verdicts = expected(from.messages, yield* Clock.currentTimeMillis)
    const ranBefore = runs.length
    resuming = from.messages
    const exit = yield* Effect.exit(Approval.resume({ tools, policy: policy(), messages: from.messages }))
    if (Exit.isSuccess(exit)) {
      check(from, exit.value, verdicts)
      remember(from, ranBefore, verdicts)
      seen.denied += exit.value.denied.length
      go(exit.value.messages)
      return
    }
    const tags = exit.cause.reasons.map((reason) => reason._tag === "Fail" ? reason.error._tag : reason._tag)
    assert.include(["InvalidSignature", "InvalidToolApproval", "ToolCallNotFoundForApproval"], tags[0], `${tags}`)
    assert.isFalse(from.isGenuine, `a genuine history is refused: ${tags}`)
    assert.strictEqual(runs.length, ranBefore, "ran, and was refused")
    seen.rejected++
  })

  const resumeTwice = Effect.fnUntraced(function*() {
    const from = history
    const options = { tools, policy: policy(), messages: from.messages }
    resuming = from.messages
    const verdicts = expected(from.messages, yield* Clock.currentTimeMillis)
    const ranBefore = runs.length
    const exits = yield* Effect.forEach([1, 2], () => Effect.exit(Approval.resume(options)), { concurrency: 2 })
    for (const exit of exits) {
      if (Exit.isSuccess(exit)) continue
      const [reason] = exit.cause.reasons
      assert.strictEqual(reason?._tag, "Fail")
      if (from.isGenuine && reason?._tag === "Fail") {
        assert.include(reason.error, { _tag: "ApprovalAlreadyUsed", reason: "running" })
      }
    }
    remember(from, ranBefore, verdicts)
  })

  const crashed = Effect.fnUntraced(function*() {
    const from = history
    const verdicts = expected(from.messages, yield* Clock.currentTimeMillis)
    resuming = from.messages
    const ranBefore = runs.length
    crash = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkChild(
      Effect.exit(Approval.resume({ tools, policy: policy(), messages: from.messages }))
    )
    yield* Effect.raceFirst(Deferred.await(crash), Fiber.await(fiber))
    yield* Fiber.interrupt(fiber)
    crash = undefined
    remember(from, ranBefore, verdicts)
  })

  const tamper = (how: typeof tamperings[number], which: number) => {
    const messages = JSON.parse(JSON.stringify(history.messages)) as Array<any>
    const pick = (type: string, accept: (part: any) => boolean = () => true): any => {
      const parts = partsOf(messages, type).filter(accept)
      return parts.at(-1 - which % Math.max(1, parts.length))
    }
    const rename = (key: string, from: unknown, to: string) => {
      for (const type of ["tool-call", "tool-approval-request", "tool-approval-response", "tool-result"]) {
        for (const part of partsOf(messages, type)) if (part[key] === from) part[key] = to
      }
    }
    const call = pick("tool-call")
    const request = pick("tool-approval-request")
    const index = which % messages.length
    switch (how) {
      case "input":
        if (call) call.input = { n: (call.input?.n ?? 0) + 1 }
        break
      case "tool name":
        if (call) call.toolName = call.toolName === "pay" ? "repeatable" : "pay"
        break
      case "call ID of the call":
        if (call) call.toolCallId = `c${which}`
        break
      case "call ID everywhere":
        if (call) rename("toolCallId", call.toolCallId, `x${which}`)
        break
      case "approval ID everywhere":
        if (request) rename("approvalId", request.approvalId, request.approvalId.replace(/^cs1\.1?/, "cs1.2"))
        break
      case "signature":
        if (request?.signature) {
          request.signature = `${request.signature[0] === "A" ? "B" : "A"}${request.signature.slice(1)}`
        }
        break
      case "no signature":
        delete request?.signature
        break
      case "drop a result": {
        const result = pick("tool-result")
        for (const message of messages) {
          if (Array.isArray(message.content)) message.content = message.content.filter((part: any) => part !== result)
        }
        break
      }
      case "drop the input before the schema":
        delete request?.inputSchemaInput
        break
      case "change the input before the schema":
        if (request) request.inputSchemaInput = { n: `${which}` }
        break
      case "duplicate a message in place":
        messages.splice(index, 0, JSON.parse(JSON.stringify(messages[index])))
        break
      case "duplicate a message at the end":
        messages.push(JSON.parse(JSON.stringify(messages[index])))
        break
      case "isAutomatic":
        if (request) request.isAutomatic = request.isAutomatic !== true
        break
      case "providerExecuted":
        if (call) call.providerExecuted = call.providerExecuted !== true
        break
      case "approve what the policy denied": {
        // The no of a person is the client's to change: it is the person.
        const asked = new Set([...questions.values()].map(({ approvalId }) => approvalId))
        const denial = pick("tool-approval-response", ({ approvalId }) => !asked.has(approvalId))
        if (denial) denial.approved = true
        break
      }
      case "swap two questions": {
        const other = partsOf(messages, "tool-approval-request").at(0)
        if (request && other) {
          const { approvalId, signature } = request
          Object.assign(request, { approvalId: other.approvalId, signature: other.signature })
          Object.assign(other, { approvalId, signature })
        }
        break
      }
      case "another call of the same ID": {
        const message = messages.findLast(({ content }) => Array.isArray(content) && content.includes(call))
        message?.content.splice(which % 2 === 0 ? 0 : message.content.length, 0, { ...call, input: { n: 99 } })
        break
      }
      case "edit": {
        const response = pick("tool-approval-response")
        if (response) response.input = { n: "99" }
      }
    }
    if (JSON.stringify(messages) !== JSON.stringify(history.messages)) go(messages, false)
  }

  const act = Effect.fnUntraced(function*(one: Action) {
    resuming = undefined
    switch (one.do) {
      case "propose":
        yield* propose(one.calls)
        break
      case "answer":
        answer(one.which, one.approved)
        break
      case "answer all":
        answerAll()
        break
      case "tamper":
        tamper(one.how, one.which)
        break
      case "replay": {
        const earlier = past.at(-1 - one.which)
        if (earlier !== undefined) go(earlier.messages, earlier.isGenuine)
        break
      }
      case "say":
        go([...history.messages, { role: "user", content: "and?" }])
        break
      case "resume":
        yield* resume()
        break
      case "resume twice":
        yield* resumeTwice()
        break
      case "crash":
        yield* crashed()
        break
      case "wait":
        yield* TestClock.adjust(one.minutes * minute)
        break
      case "change tools":
        version++
        tools = makeTools()
        break
      case "change policy":
        denies = !denies
        break
      case "nothing":
    }
    if (broken !== undefined) throw broken
  })

  return { act }
}

/** No provider makes one ID in two steps, nor is it defined how one takes that: a client did. */
const isForged = (messages: ReadonlyArray<any>, id: string): boolean =>
  messages.filter((message) => partsOf([message], "tool-call").some(({ toolCallId }) => toolCallId === id)).length > 1

/** A provider takes a history in which each call has one result, before anybody says something else. */
/** A client has changed the ID of a call: the result that is there belonged to another, in another step. */
const isMisplaced = (messages: ReadonlyArray<any>, id: string): boolean =>
  partsOf(messages, "tool-result").some(({ toolCallId }) => toolCallId === id)

const checkForModel = (messages: ReadonlyArray<any>, awaiting: ReadonlySet<string>, isGenuine: boolean) => {
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant" || !Array.isArray(message.content)) continue
    const after = messages.slice(index + 1)
    const end = after.findIndex(({ role }) => role !== "tool")
    const results = partsOf(end === -1 ? after : after.slice(0, end), "tool-result").map(({ toolCallId }) => toolCallId)
    const ids = partsOf([message], "tool-call")
      .filter(({ providerExecuted }) => providerExecuted !== true)
      .map(({ toolCallId }) => toolCallId)
    for (const id of new Set<string>(ids)) {
      const count = results.filter((answered) => answered === id).length
      const isAwaited = awaiting.has(id) && count === 0
      assert.isTrue(
        count === 1 || isAwaited || (isForged(messages, id) || !isGenuine && isMisplaced(messages, id)) && count === 0,
        `${id} has ${count} results in ${JSON.stringify(messages)}`
      )
    }
  }
  assert.lengthOf(partsOf(messages, "tool-approval-request"), 0)
}

const show = (one: Action): string => {
  const { do: name, ...more } = one
  return [name, ...Object.values(more).map((value) => Array.isArray(value) ? value.join(" ") : String(value))].join(
    ", "
  )
}

describe("approvals", () => {
  it.effect.prop(
    "keep their laws, whatever happens",
    [Arbitrary.array(action, { minLength: 20, maxLength: 40 })],
    ([actions]) =>
      Effect.gen(function*() {
        const world = makeWorld()
        for (const [at, one] of actions.entries()) {
          yield* Effect.catchCause(Effect.suspend(() => world.act(one)), (cause) => {
            const [reason] = cause.reasons
            const what = reason?._tag === "Die" ? reason.defect : reason?._tag === "Fail" ? reason.error : reason
            const steps = actions.slice(0, at + 1).filter((done) => done.do !== "nothing").map(show).join("\n  ")
            return Effect.die(
              new Error(`${what instanceof Error ? what.message : JSON.stringify(what)} after\n  ${steps}`)
            )
          })
        }
      }).pipe(Effect.provide(approvals)),
    { arbitrary: { runs: 300 } }
  )

  it("were given something to do by it", () => {
    for (const [what, count] of Object.entries(seen)) assert.isAbove(count, 0, what)
  })
})
