/** What the inbox has to do over every record store; each runs it, on each runtime that it is for. */
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { PendingApproval } from "../src/Approval.ts"
import * as Approval from "../src/Approval.ts"
import * as ApprovalId from "../src/ApprovalId.ts"
import * as ApprovalLedger from "../src/ApprovalLedger.ts"
import {
  type Answer,
  ApprovalAuthority,
  type ApprovalNotAdded,
  Approvals,
  type Event,
  layer,
  type Page,
  type StoredApproval,
  toResume
} from "../src/Approvals.ts"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import type { Crypto } from "../src/Crypto.ts"
import * as RecordStore from "../src/RecordStore.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { ask, platform, secret, signedBy } from "./approvals.ts"
import { jsonValue } from "./arbitraries.ts"
import { testCrypto } from "./testCrypto.ts"

/** A question says in its reason whom it is for. A guest may see and deny what is for a guest, and approve nothing. */
const authority = Layer.succeed(ApprovalAuthority)({
  maySee: (approver, { approvalRequest }) => Effect.succeed(approvalRequest.reason === `for ${approver}`),
  mayAnswer: (approver, _, { approved }) => Effect.succeed(!(approved && approver === "a guest"))
})

/** A store may outlive a test: each question is new. */
const newQuestion = (
  more: { readonly approvalId?: string; readonly input?: unknown; readonly approver?: string } = {}
): PendingApproval => ({
  approvalRequest: {
    type: "tool-approval-request",
    approvalId: more.approvalId ?? crypto.randomUUID(),
    toolCallId: "c1",
    reason: `for ${more.approver ?? "user 7"}`,
    signature: "s".repeat(43)
  },
  toolCall: {
    type: "tool-call",
    toolCallId: "c1",
    toolName: "pay",
    input: Object.hasOwn(more, "input") ? more.input : { cents: 5 }
  }
})

const newExpiringQuestion = Effect.fnUntraced(function*(inMillis: number) {
  const expiresAt = (yield* Clock.currentTimeMillis) + inMillis
  return newQuestion({ approvalId: yield* ApprovalId.make({ expiresAt, toolDigest: "R".repeat(42) + "o" }) })
})

const idOf = ({ approvalRequest }: PendingApproval): string => approvalRequest.approvalId

const idsOf = (approvals: ReadonlyArray<PendingApproval>): ReadonlyArray<string> => approvals.map(idOf).toSorted()

const listAll = Effect.fnUntraced(function*<E, R>(list: (after: string | undefined) => Effect.Effect<Page, E, R>) {
  const approvals: Array<StoredApproval> = []
  let after: string | undefined
  do {
    const page: Page = yield* list(after)
    approvals.push(...page.approvals)
    after = page.next
  } while (after !== undefined)
  return approvals
})

export const approvalsContract = (makeStore: () => Layer.Layer<RecordStore.RecordStore, unknown>): void => {
  /** Each inbox is empty: its name is new. */
  const withInbox = <A, E>(
    use: (name: string) => Effect.Effect<A, E, Approvals | RecordStore.RecordStore | Crypto>
  ): Effect.Effect<A, unknown> => {
    const name = `approvals ${crypto.randomUUID()}`
    const services = layer({ name }).pipe(Layer.provideMerge([authority, makeStore(), testCrypto]))
    return Effect.provide(use(name), services)
  }
  const test = (
    name: string,
    program: (name: string) => Effect.Effect<void, unknown, Approvals | RecordStore.RecordStore | Crypto>
  ) => it.effect(name, () => withInbox(program))

  test("keeps a question until it is answered, and the answer with it", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const added = yield* approvals.get(approvalId)
      assert.deepStrictEqual(added, { ...question, addedAt: 0, keptUntil: 2_592_000_000 })
      assert.deepStrictEqual(yield* approvals.list(), { approvals: [added], corrupt: [] })
      yield* TestClock.adjust("1 minute")
      yield* approvals.inbox("user 7").answer({ approvalId, approved: true, reason: "fine", input: { cents: 4 } })
      const answered = {
        ...added,
        answer: { approved: true, reason: "fine", input: { cents: 4 }, answeredBy: "user 7", answeredAt: 60_000 }
      }
      assert.deepStrictEqual(yield* approvals.get(approvalId), answered)
      assert.deepStrictEqual(yield* approvals.list(), { approvals: [], corrupt: [] })
      assert.deepStrictEqual(yield* approvals.list({ status: "answered" }), { approvals: [answered], corrupt: [] })
    }))

  it.effect.prop("gives every input back as it was", [jsonValue], ([input]) =>
    withInbox(() =>
      Effect.gen(function*() {
        const approvals = yield* Approvals
        const question = newQuestion({ input })
        yield* approvals.add([question])
        const approvalId = idOf(question)
        const answered = yield* approvals.inbox("user 7").answer({ approvalId, approved: true, input })
        const written = CanonicalJson.stringify(input)
        assert.strictEqual(CanonicalJson.stringify((yield* approvals.get(approvalId)).toolCall.input), written)
        assert.strictEqual(CanonicalJson.stringify(answered.answer?.input), written)
      })
    ), { arbitrary: { runs: 50 } })

  test("gives hostile keys and numbers back as they were", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const input = JSON.parse(
        "{\"__proto__\":{\"a\":1},\"constructor\":{\"prototype\":1},\"10\":1,\"9\":2,\"\":[],\"n\":12345678901234567000,\"s\":\"\\u0000\\ud800\"}"
      )
      const question = newQuestion({ input })
      yield* approvals.add([question])
      const { toolCall } = yield* approvals.inbox("user 7").get(idOf(question))
      assert.strictEqual(CanonicalJson.stringify(toolCall.input), CanonicalJson.stringify(input))
      assert.strictEqual(Object.getPrototypeOf(toolCall.input), Object.prototype)
    }))

  test("adds a question once, whether it has been answered or not, and no other under its ID", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      const other = newQuestion({ approvalId, input: { cents: 6 } })
      const addOther = Effect.flip(approvals.add([other]))
      yield* approvals.add([question])
      const added = yield* approvals.get(approvalId)
      yield* TestClock.adjust("1 minute")
      yield* approvals.add([question, question])
      assert.deepStrictEqual(yield* approvals.get(approvalId), added)
      assert.strictEqual((yield* addOther as Effect.Effect<ApprovalNotAdded>).reason, "other-request")
      const answered = yield* approvals.inbox("user 7").answer({ approvalId, approved: false })
      yield* approvals.add([question])
      assert.strictEqual((yield* addOther as Effect.Effect<ApprovalNotAdded>).reason, "other-request")
      assert.deepStrictEqual((yield* approvals.get(approvalId)).answer, answered.answer)
    }))

  test("adds nothing that nobody can answer", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const { approvalRequest, toolCall } = question
      yield* TestClock.adjust("1 minute")
      const refused: ReadonlyArray<readonly [ApprovalNotAdded["reason"], PendingApproval]> = [
        ["no-question", { toolCall, approvalRequest: { ...approvalRequest, isAutomatic: true } }],
        ["no-question", { approvalRequest, toolCall: { ...toolCall, toolCallId: "c2" } }],
        ["no-question", newQuestion({ approvalId: "cs1.soon" })],
        ["no-question", newQuestion({ approvalId: "" })],
        ["no-question", undefined as unknown as PendingApproval],
        ["no-question", { approvalRequest } as PendingApproval],
        ["not-json", newQuestion({ input: { at: 1n } })],
        ["not-json", { approvalRequest, toolCall: { ...toolCall, toolName: 7 as unknown as string } }],
        ["expired", yield* newExpiringQuestion(0)]
      ]
      for (const [reason, one] of refused) {
        const error = yield* Effect.flip(approvals.add([one]))
        assert.strictEqual(error._tag === "ApprovalNotAdded" && error.reason, reason)
      }
      assert.deepStrictEqual(yield* approvals.list(), { approvals: [], corrupt: [] })
    }))

  test("lists all questions, page by page, and to each person those that are for them", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const mine = Array.from({ length: 125 }, () => newQuestion())
      const others = Array.from({ length: 130 }, () => newQuestion({ approver: "user 8" }))
      yield* approvals.add([...mine, ...others])
      for (const limit of [1, 7, 100, 1000]) {
        const all = yield* listAll((after) => approvals.list({ after, limit }))
        assert.deepStrictEqual(all.map(idOf), idsOf([...mine, ...others]))
        const shown = yield* listAll((after) => approvals.inbox("user 7").list({ after, limit }))
        assert.deepStrictEqual(shown.map(idOf), idsOf(mine))
      }
      const page = yield* approvals.list({ limit: 7 })
      assert.strictEqual(page.approvals.length, 7)
      // The ID of a question is taken for a place in the list as well, and so is whatever somebody sends.
      const behind = yield* approvals.list({ after: idOf(page.approvals[6]!), limit: 1 })
      assert.deepStrictEqual(behind.approvals.map(idOf), idsOf([...mine, ...others]).slice(7, 8))
      for (const after of ["", "\u0000", "\ud800", "=\u0000", "x".repeat(5000)]) yield* approvals.list({ after })
      for (const limit of [0, -1, Number.NaN]) {
        assert.strictEqual((yield* approvals.list({ limit })).approvals.length, 1)
      }
    }))

  test("shows a person no signature, and nothing of what is for others", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const inbox = approvals.inbox("user 7")
      const answered = yield* inbox.answer({ approvalId, approved: true })
      for (
        const shown of [
          answered,
          yield* inbox.get(approvalId),
          (yield* inbox.list({ status: "answered" })).approvals[0]
        ]
      ) {
        assert.notInclude(JSON.stringify(shown), "sss")
      }
      assert.include(JSON.stringify(yield* approvals.get(approvalId)), "sss")
      const stranger = approvals.inbox("user 8")
      assert.strictEqual((yield* Effect.flip(stranger.get(approvalId)))._tag, "ApprovalNotFound")
      // Whether there is one, and has another answer, is not for them to know.
      for (const approved of [true, false]) {
        assert.strictEqual((yield* Effect.flip(stranger.answer({ approvalId, approved })))._tag, "ApprovalNotFound")
      }
      assert.deepStrictEqual(yield* stranger.list({ status: "answered" }), { approvals: [] })
    }))

  test("takes an answer from whoever may give it", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion({ approver: "a guest" })
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const guest = approvals.inbox("a guest")
      assert.strictEqual((yield* Effect.flip(guest.answer({ approvalId, approved: true })))._tag, "NotAllowed")
      assert.strictEqual((yield* approvals.get(approvalId)).answer, undefined)
      assert.strictEqual((yield* guest.answer({ approvalId, approved: false })).answer?.approved, false)
    }))

  test("counts the first answer, also where it comes again, and no other", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const inbox = approvals.inbox("user 7")
      const first = { approvalId, approved: true, reason: "fine", input: { a: 1, b: [2] } }
      const answered = yield* inbox.answer(first)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* inbox.answer({ ...first, input: { b: [2], a: 1 } }), answered)
      const others = [
        { approvalId, approved: false },
        { ...first, approved: false },
        { ...first, reason: "very fine" },
        { ...first, input: { a: 1 } },
        { approvalId, approved: true, reason: "fine" }
      ]
      for (const other of others) {
        const { _tag, ...error } = yield* Effect.flip(inbox.answer(other))
        assert.strictEqual(_tag, "ApprovalAlreadyAnswered")
        assert.include(error, { approvalId, approved: true, answeredBy: "user 7", answeredAt: 0 })
      }
      assert.deepStrictEqual(yield* inbox.get(approvalId), answered)
    }))

  test("refuses what is no answer, and an answer to nothing", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const inbox = approvals.inbox("user 7")
      const tagOf = (answer: object) =>
        Effect.map(Effect.flip(inbox.answer({ approvalId, approved: true, ...answer })), ({ _tag }) => _tag)
      assert.strictEqual(yield* tagOf({ approved: "true" }), "InvalidToolApproval")
      assert.strictEqual(yield* tagOf({ input: { at: 1n } }), "NotJson")
      assert.strictEqual(yield* tagOf({ approvalId: crypto.randomUUID() }), "ApprovalNotFound")
      const answerOfNothing = inbox.answer(null as unknown as Answer)
      assert.strictEqual((yield* Effect.flip(answerOfNothing))._tag, "InvalidToolApproval")
      assert.strictEqual((yield* approvals.get(approvalId)).answer, undefined)
    }))

  test("counts one of a hundred answers at the same time", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const inbox = approvals.inbox("user 7")
      const results = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => index),
        (index) => Effect.result(inbox.answer({ approvalId, approved: index % 2 === 0, reason: `${index}` })),
        { concurrency: "unbounded" }
      )
      const counted = results.flatMap((result) => result._tag === "Success" ? [result.success.answer] : [])
      assert.strictEqual(counted.length, 1)
      assert.deepStrictEqual((yield* approvals.get(approvalId)).answer, counted[0])
      for (const result of results) {
        if (result._tag === "Success") continue
        assert.strictEqual(result.failure._tag, "ApprovalAlreadyAnswered")
      }
    }))

  test("takes no answer when the approval has expired", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const [early, late] = [yield* newExpiringQuestion(1000), yield* newExpiringQuestion(1000)]
      yield* approvals.add([early, late])
      const inbox = approvals.inbox("user 7")
      yield* TestClock.adjust(999)
      assert.strictEqual((yield* approvals.list()).approvals.length, 2)
      const first = { approvalId: idOf(early), approved: true }
      const answered = yield* inbox.answer(first)
      yield* TestClock.adjust(1)
      assert.strictEqual(
        (yield* Effect.flip(inbox.answer({ approvalId: idOf(late), approved: true })))._tag,
        "ApprovalExpired"
      )
      assert.deepStrictEqual(yield* approvals.list(), { approvals: [], corrupt: [] })
      // What was answered in time stays answered.
      assert.deepStrictEqual(yield* inbox.answer(first), answered)
      assert.deepStrictEqual(
        (yield* Effect.flip(inbox.answer({ ...first, approved: false })))._tag,
        "ApprovalAlreadyAnswered"
      )
    }))

  test("shows the other questions where a record is corrupt, and answers nothing with it", (name) =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const store = yield* RecordStore.RecordStore
      const [good, swapped] = [newQuestion(), newQuestion()]
      yield* approvals.add([good, swapped])
      const found = (yield* store.get({ collection: `approvals:${name}`, id: `=${idOf(good)}` }))!
      const values = ["", "null", "{}", "{", found.value.slice(1), ` ${found.value}`, found.value]
      const ids = values.map((_, index) => `corrupt ${index}`)
      const records = [...ids.map((id, index) => [id, values[index]!] as const), [idOf(swapped), found.value] as const]
      for (const [id, value] of records) {
        const key = { collection: `approvals:${name}`, id: `=${id}` }
        const expected = (yield* store.get(key))?.version
        yield* store.set(key, { value, expected, version: crypto.randomUUID(), tag: "pending", ttlMillis: 3_600_000 })
      }
      const page = yield* approvals.list()
      assert.deepStrictEqual(page.approvals.map(idOf), [idOf(good)])
      assert.deepStrictEqual(page.corrupt.toSorted(), records.map(([id]) => `=${id}`).toSorted())
      const inbox = approvals.inbox("user 7")
      assert.deepStrictEqual((yield* inbox.list()).approvals.map(idOf), [idOf(good)])
      for (const [id] of records) {
        assert.strictEqual((yield* Effect.flip(approvals.get(id)))._tag, "StoreUnavailable")
        const error = yield* Effect.flip(inbox.answer({ approvalId: id, approved: true }))
        assert.strictEqual(error._tag, "StoreUnavailable")
      }
    }))

  test("gives no question with the answer to another", (name) =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const store = yield* RecordStore.RecordStore
      const question = newQuestion()
      const approvalId = idOf(question)
      yield* approvals.add([question])
      const inbox = approvals.inbox("user 7")
      yield* inbox.answer({ approvalId, approved: true })
      const key = { collection: `approvals:${name}`, id: `=${approvalId}` }
      const found = (yield* store.get(key))!
      const [changed, undone] = [found.value.replace("\"cents\":5", "\"cents\":6"), found.value]
      assert.notStrictEqual(changed, undone)
      let expected = found.version
      const restore = (value: string, version: string) => {
        const write = { value, expected, version, tag: "answered", ttlMillis: 3_600_000 }
        expected = version
        return store.set(key, write)
      }
      assert.isTrue(yield* restore(changed, "changed"))
      assert.strictEqual((yield* Effect.flip(approvals.get(approvalId)))._tag, "StoreUnavailable")
      assert.strictEqual((yield* Effect.flip(inbox.answer({ approvalId, approved: true })))._tag, "StoreUnavailable")
      const listed = yield* approvals.list({ status: "answered" })
      assert.deepStrictEqual(listed, { approvals: [], corrupt: [`=${approvalId}`] })
      assert.isTrue(yield* restore(undone, "undone"))
      assert.strictEqual((yield* approvals.get(approvalId)).answer?.approved, true)
    }))

  test("tells IDs apart that are nearly the same", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const near = [
        " ",
        "a",
        "A",
        "a ",
        "a\n",
        "a\u0000",
        "á",
        "a\u0301",
        "日本",
        "😀",
        "\ud800",
        "\ufffd",
        "%",
        "*"
      ]
      const ids = [...near, "__proto__", "constructor", "watch", "x".repeat(1000), "x".repeat(999)]
      yield* approvals.add(ids.map((approvalId, index) => newQuestion({ approvalId, input: index })))
      for (const [index, approvalId] of ids.entries()) {
        assert.strictEqual((yield* approvals.get(approvalId)).toolCall.input, index)
      }
      assert.strictEqual((yield* approvals.list()).approvals.length, ids.length)
    }))

  test("tells what waits, and then what happens, to each person what they may see", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const told = (events: Queue.Queue<Event>) =>
        Effect.gen(function*() {
          // A store may answer in its own time, which is not that of the test.
          while ((yield* Queue.size(events)) === 0) {
            yield* TestClock.adjust("1 second")
            yield* TestClock.withLive(Effect.sleep("1 millis"))
          }
          const event = yield* Queue.take(events)
          return [event._tag, event._tag === "Gone" ? event.approvalId : idOf(event.approval)] as const
        })
      const [first, second, other] = [newQuestion(), newQuestion(), newQuestion({ approver: "user 8" })]
      yield* approvals.add([first])
      const all = yield* Queue.unbounded<Event>()
      const mine = yield* Queue.unbounded<Event>()
      yield* Effect.forkChild(Stream.runForEach(approvals.watch(), (event) => Queue.offer(all, event)))
      yield* Effect.forkChild(
        Stream.runForEach(approvals.inbox("user 7").watch(), (event) => Queue.offer(mine, event))
      )
      assert.deepStrictEqual(yield* told(all), ["Pending", idOf(first)])
      assert.deepStrictEqual(yield* told(mine), ["Pending", idOf(first)])
      yield* approvals.add([other])
      assert.deepStrictEqual(yield* told(all), ["Pending", idOf(other)])
      yield* approvals.inbox("user 7").answer({ approvalId: idOf(first), approved: true })
      assert.deepStrictEqual(yield* told(all), ["Answered", idOf(first)])
      assert.deepStrictEqual(yield* told(mine), ["Answered", idOf(first)])
      yield* approvals.inbox("user 8").answer({ approvalId: idOf(other), approved: true })
      assert.deepStrictEqual(yield* told(all), ["Answered", idOf(other)])
      yield* approvals.add([second])
      assert.deepStrictEqual(yield* told(mine), ["Pending", idOf(second)])
      const expiring = yield* newExpiringQuestion(10_000)
      yield* approvals.add([expiring])
      assert.deepStrictEqual(yield* told(mine), ["Pending", idOf(expiring)])
      assert.deepStrictEqual(yield* told(mine), ["Gone", idOf(expiring)])
      assert.strictEqual(yield* Queue.size(mine), 0)
    }))

  test("gives a resume what it needs, and that verifies it", (name) =>
    Effect.gen(function*() {
      let runs = 0
      const tools = ToolSet.make(
        Tool.make("restart", { needsApproval: true, execute: () => Effect.sync(() => ++runs) })
      )
      const services = Layer.mergeAll(signedBy(secret), platform, ApprovalLedger.layerMemory())
      yield* Effect.gen(function*() {
        const approvals = yield* Approvals
        const policy = { restart: { type: "user-approval", reason: "for user 7" } } as const
        const question = yield* ask(tools, { toolCallId: "c1", toolName: "restart", input: "{}" }, { policy })
        const waiting = yield* ask(tools, { toolCallId: "c2", toolName: "restart", input: "{}" }, { policy })
        yield* approvals.add([question, waiting])
        yield* approvals.inbox("user 7").answer({ approvalId: idOf(question), approved: true })
        const stored = [yield* approvals.get(idOf(question)), yield* approvals.get(idOf(waiting))]
        const messages = [{
          role: "assistant",
          content: [question.toolCall, question.approvalRequest, waiting.toolCall, waiting.approvalRequest]
        }]
        for (let count = 0; count < 2; count++) {
          const resumed = yield* Approval.resume({ messages, tools, ...toResume(stored) })
          assert.deepStrictEqual(resumed.results.map(({ output }) => output), [{ type: "json", value: 1 }])
          assert.deepStrictEqual(resumed.awaiting.map(({ toolCall }) => toolCall.toolCallId), ["c2"])
        }

        const store = yield* RecordStore.RecordStore
        const key = { collection: `approvals:${name}`, id: `=${idOf(waiting)}` }
        const { value, version } = (yield* store.get(key))!
        const changed = value.replace("\"input\":{}", "\"input\":{\"now\":true}")
        assert.notStrictEqual(changed, value)
        const write = { value: changed, expected: version, version: "changed", tag: "pending", ttlMillis: 3_600_000 }
        assert.isTrue(yield* store.set(key, write))
        yield* approvals.inbox("user 7").answer({ approvalId: idOf(waiting), approved: true })
        const tampered = toResume([yield* approvals.get(idOf(waiting))])
        const error = yield* Effect.flip(Approval.resume({ messages, tools, ...tampered }))
        assert.strictEqual(error._tag, "InvalidSignature")
        assert.strictEqual(runs, 1)
      }).pipe(Effect.provide(services))
    }))
}
