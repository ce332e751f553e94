import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { PendingApproval } from "../src/Approval.ts"
import * as Approval from "../src/Approval.ts"
import * as ApprovalId from "../src/ApprovalId.ts"
import { ApprovalAuthority, Approvals, type Event, layer, type Page, toResume } from "../src/Approvals.ts"
import * as ApprovalSigner from "../src/ApprovalSigner.ts"
import { Crypto } from "../src/Crypto.ts"
import * as DurableLedger from "../src/DurableLedger.ts"
import * as RecordStore from "../src/RecordStore.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { platform } from "./approvals.ts"
import { approvalsContract } from "./approvalsContract.ts"
import { testCrypto } from "./testCrypto.ts"

/** The store in memory, with more to each `list`. */
const storeListing = (
  listed: (records: ReadonlyArray<RecordStore.ListedRecord>) => void
): Layer.Layer<RecordStore.RecordStore> =>
  Layer.effect(RecordStore.RecordStore)(
    Effect.map(RecordStore.RecordStore, (store) => ({
      ...store,
      // Which takes its time.
      list: (options) =>
        Effect.delay(Effect.tap(store.list(options), (records) => Effect.sync(() => listed(records))), "100 millis")
    }))
  ).pipe(Layer.provide(RecordStore.layerMemory))

/** Lets the time of the test pass until it is done. What digests has its own time, which is not that of the test. */
const passing = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.raceFirst(
    program,
    Effect.forever(Effect.andThen(TestClock.adjust("100 millis"), TestClock.withLive(Effect.sleep("1 millis"))))
  )

/** The store in memory, with more to each `set`. */
const storeWith = (
  change: (
    set: Effect.Effect<boolean, RecordStore.StoreUnavailable>,
    write: RecordStore.Write
  ) => Effect.Effect<boolean, RecordStore.StoreUnavailable>
): Layer.Layer<RecordStore.RecordStore> =>
  Layer.effect(RecordStore.RecordStore)(
    Effect.map(RecordStore.RecordStore, (store) => ({
      ...store,
      set: (key, write) => change(store.set(key, write), write)
    }))
  ).pipe(Layer.provide(RecordStore.layerMemory))

const question = (approvalId: string, approver = "user 7"): PendingApproval => ({
  approvalRequest: { type: "tool-approval-request", approvalId, toolCallId: "c1", reason: approver },
  toolCall: { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { cents: 5 } }
})

const forThemselves = Layer.succeed(ApprovalAuthority)({
  maySee: (approver, { approvalRequest }) => Effect.succeed(approvalRequest.reason === approver),
  mayAnswer: () => Effect.succeed(true)
})

const inboxOver = (store: Layer.Layer<RecordStore.RecordStore>, authority = forThemselves) =>
  Layer.provide(layer(), [authority, store, testCrypto])

describe("over the store in memory", () => {
  approvalsContract(() => RecordStore.layerMemory)
})

/** Each access takes another time, so that others come in between wherever they can. */
const unhurried = Layer.effect(RecordStore.RecordStore)(
  Effect.map(RecordStore.RecordStore, (store) => {
    let accesses = 0
    const delayed = <A>(access: Effect.Effect<A, RecordStore.StoreUnavailable>) =>
      Effect.suspend(() => {
        const yields = accesses++ * 7 % 11
        return Effect.andThen(Effect.repeat(Effect.yieldNow, { times: yields }), access)
      })
    return {
      get: (key) => delayed(store.get(key)),
      set: (key, write) => delayed(store.set(key, write)),
      list: (options) => delayed(store.list(options))
    }
  })
).pipe(Layer.provide(RecordStore.layerMemory))

describe("over a store in which others come in between", () => {
  approvalsContract(() => unhurried)
})

describe("Approvals", () => {
  it.effect("takes an answer again that was written, and of which the store could not say so", () => {
    let lost = 0
    const store = storeWith((set, { tag }) =>
      Effect.tap(set, () =>
        tag === "answered" && lost++ === 0
          ? Effect.fail(new RecordStore.StoreUnavailable({ reason: "the connection was lost" }))
          : Effect.void)
    )
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add([question("a1")])
      const answer = approvals.inbox("user 7").answer({ approvalId: "a1", approved: true })
      assert.strictEqual((yield* Effect.flip(answer))._tag, "StoreUnavailable")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* answer).answer?.answeredAt, 0)
      assert.strictEqual(lost, 1)
    }).pipe(Effect.provide(inboxOver(store)))
  })

  it.effect("ends a page before it has looked for ever, and finds the rest on the next", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add(Array.from({ length: 10_000 }, (_, index) => question(`a${index} of user 8`, "user 8")))
      yield* approvals.add([question("b")])
      const { list } = approvals.inbox("user 7")
      const page = yield* list()
      assert.deepStrictEqual(page.approvals, [])
      assert.isDefined(page.next)
      // Its ID is not for them to know.
      assert.notInclude(page.next, "user 8")
      const rest = yield* list({ after: page.next })
      assert.deepStrictEqual(rest.approvals.map(({ approvalRequest }) => approvalRequest.approvalId), ["b"])
      assert.isUndefined(rest.next)
    }).pipe(Effect.provide(inboxOver(RecordStore.layerMemory))))

  it.effect("tells nothing of an answer to whom the question is no longer for", () => {
    let maySee = true
    const authority = Layer.succeed(ApprovalAuthority)({
      maySee: (approver) => Effect.sync(() => maySee || approver === "user 8"),
      mayAnswer: () => Effect.succeed(true)
    })
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add([question("a1")])
      const told = yield* approvals.inbox("user 7").watch({ interval: 1 }).pipe(
        Stream.tap(() => {
          maySee = false
          return Effect.andThen(
            Effect.orDie(approvals.inbox("user 8").answer({ approvalId: "a1", approved: true })),
            Effect.forkChild(TestClock.adjust(1))
          )
        }),
        Stream.take(2),
        Stream.runCollect
      )
      assert.deepStrictEqual(told[1], { _tag: "Gone", approvalId: "a1" })
    }).pipe(Effect.provide(inboxOver(RecordStore.layerMemory, authority)))
  })

  it.effect("takes whatever is not true for a no", () => {
    const authority = Layer.succeed(ApprovalAuthority)({
      maySee: () => Effect.succeed("yes" as unknown as boolean),
      mayAnswer: () => Effect.succeed(1 as unknown as boolean)
    })
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add([question("a1")])
      const { answer, get, list } = approvals.inbox("user 7")
      assert.strictEqual((yield* Effect.flip(get("a1")))._tag, "ApprovalNotFound")
      assert.strictEqual((yield* Effect.flip(answer({ approvalId: "a1", approved: true })))._tag, "ApprovalNotFound")
      assert.deepStrictEqual(yield* list(), { approvals: [] })
    }).pipe(Effect.provide(inboxOver(RecordStore.layerMemory, authority)))
  })

  it.effect("keeps an answer that was given at the last moment", () =>
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const asked = question(yield* ApprovalId.make({ expiresAt: 1_000, toolDigest: "R".repeat(42) + "o" }))
      const { approvalId } = asked.approvalRequest
      yield* approvals.add([asked])
      yield* TestClock.adjust(999)
      yield* approvals.inbox("user 7").answer({ approvalId, approved: true })
      yield* TestClock.adjust("1 day")
      assert.strictEqual((yield* approvals.get(approvalId)).answer?.approved, true)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Effect.flip(approvals.get(approvalId)))._tag, "ApprovalNotFound")
    }).pipe(Effect.provide([inboxOver(RecordStore.layerMemory), testCrypto])))

  it.effect("writes no answer that it could not read", () => {
    const authority = Layer.succeed(ApprovalAuthority)({
      maySee: () => Effect.succeed(true),
      mayAnswer: () => Effect.succeed(true)
    })
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add([question("a1")])
      const nobody = approvals.inbox(undefined as unknown as string)
      const error = yield* Effect.flip(nobody.answer({ approvalId: "a1", approved: true }))
      assert.strictEqual(error._tag, "InvalidToolApproval")
      assert.isUndefined((yield* approvals.get("a1")).answer)
    }).pipe(Effect.provide(inboxOver(RecordStore.layerMemory, authority)))
  })

  it.effect("lists long records few at a time, and ends a page that has become long", () => {
    let largest = 0
    const store = storeListing((records) => {
      largest = Math.max(largest, records.reduce((sum, { value }) => sum + value.length, 0))
    })
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      const long = "x".repeat(800_000)
      const asked = Array.from({ length: 45 }, (_, index) => {
        const { approvalRequest, toolCall } = question(`a${index}`)
        return { approvalRequest, toolCall: { ...toolCall, input: long } }
      })
      yield* approvals.add(asked)
      const ids = new Set<string>()
      let after: string | undefined
      do {
        const page: Page = yield* passing(approvals.inbox("user 7").list({ after, limit: 1000 }))
        assert.isAtMost(page.approvals.length, 6)
        for (const { approvalRequest } of page.approvals) ids.add(approvalRequest.approvalId)
        after = page.next
      } while (after !== undefined)
      assert.strictEqual(ids.size, 45)
      const told = yield* passing(approvals.watch().pipe(Stream.take(45), Stream.runCollect))
      assert.isTrue(told.every(({ _tag }) => _tag === "Pending"))
      assert.isAtMost(largest, 8_100_000)
    }).pipe(Effect.provide(inboxOver(store)))
  })

  it.effect("looks once for all who watch, and reads no record again that it knows", () => {
    let looks = 0
    let digests = 0
    const store = storeListing(() => {
      looks++
    })
    const crypto = Layer.effect(Crypto)(Effect.map(Crypto, (crypto) => ({
      ...crypto,
      sha256: (data) => {
        digests++
        return crypto.sha256(data)
      }
    }))).pipe(Layer.provide(testCrypto))
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      // To read a record with an ID as long as this takes a digest.
      const approvalId = "a".repeat(1_000)
      yield* approvals.add([question(approvalId)])
      const told = yield* Queue.unbounded<string>()
      const watch = Stream.runForEach(approvals.inbox("user 7").watch(), ({ _tag }) => Queue.offer(told, _tag))
      yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.forkChild(watch), { discard: true })
      const next = passing(Queue.takeN(told, 50))
      assert.deepStrictEqual(yield* next, Array.from({ length: 50 }, () => "Pending"))
      const [looksBefore, digestsBefore] = [looks, digests]
      yield* TestClock.adjust("10 seconds")
      assert.isAtLeast(looks - looksBefore, 5)
      assert.isAtMost(looks - looksBefore, 10)
      assert.strictEqual(digests, digestsBefore)
      yield* approvals.inbox("user 7").answer({ approvalId, approved: true })
      assert.deepStrictEqual(yield* next, Array.from({ length: 50 }, () => "Answered"))
    }).pipe(Effect.provide(Layer.provide(layer(), [forThemselves, store, crypto])))
  })

  it.effect("watches on where the look of another never ends", () => {
    let lists = 0
    const store = Layer.effect(RecordStore.RecordStore)(
      Effect.map(RecordStore.RecordStore, (store) => ({
        ...store,
        list: (options) => lists++ === 1 ? Effect.never : store.list(options)
      }))
    ).pipe(Layer.provide(RecordStore.layerMemory))
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      yield* approvals.add([question("a1")])
      const told = yield* Queue.unbounded<Event>()
      const watch = Stream.runForEach(approvals.watch(), (event) => Queue.offer(told, event))
      yield* Effect.forEach([1, 2], () => Effect.forkChild(watch), { discard: true })
      yield* Queue.takeN(told, 2)
      yield* TestClock.adjust("1 second")
      yield* approvals.add([question("a2")])
      yield* TestClock.adjust("11 seconds")
      const event = yield* Queue.take(told)
      assert.strictEqual(event._tag === "Pending" && event.approval.approvalRequest.approvalId, "a2")
    }).pipe(Effect.provide(inboxOver(store)))
  })

  it.effect("goes on watching where a record becomes corrupt", () => {
    const store = RecordStore.layerMemory
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      const records = yield* RecordStore.RecordStore
      yield* approvals.add([question("a1")])
      const told = yield* Queue.unbounded<Event>()
      yield* Effect.forkChild(Stream.runForEach(approvals.watch(), (event) => Queue.offer(told, event)))
      yield* Queue.take(told)
      const key = { collection: "approvals", id: "=a1" }
      const expected = (yield* records.get(key))?.version
      yield* records.set(key, { value: "{", expected, version: "corrupt", tag: "pending", ttlMillis: 60_000 })
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* Queue.take(told), { _tag: "Gone", approvalId: "a1" })
      yield* approvals.add([question("a2")])
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Queue.take(told))._tag, "Pending")
    }).pipe(Effect.provide(Layer.provideMerge(layer(), [forThemselves, store, testCrypto])))
  })
})

describe("an approval of another SDK, which does not expire", () => {
  it.effect("is resumed as long as the inbox has it, and runs once", () => {
    let runs = 0
    const tools = ToolSet.make(
      Tool.make("pay", { inputSchema: Schema.Struct({ cents: Schema.Int }), execute: () => Effect.sync(() => ++runs) })
    )
    const ledger = Layer.provide(DurableLedger.layer(), [RecordStore.layerMemory, testCrypto])
    return Effect.gen(function*() {
      const approvals = yield* Approvals
      const asked = question("aitxt-1")
      yield* approvals.add([asked])
      yield* approvals.inbox("user 7").answer({ approvalId: "aitxt-1", approved: true })
      const messages = [{ role: "assistant", content: [asked.toolCall, asked.approvalRequest] }]
      let resumes = 0
      for (let day = 0; day < 70; day++) {
        const answered = (yield* approvals.list({ status: "answered" })).approvals
        if (answered.length > 0) {
          yield* Approval.resume({ messages, tools, ...toResume(answered) })
          resumes++
        }
        yield* TestClock.adjust("1 day")
      }
      assert.isAbove(resumes, 0)
      assert.strictEqual(runs, 1)
    }).pipe(
      Effect.provide(Layer.mergeAll(inboxOver(RecordStore.layerMemory), ledger, platform, ApprovalSigner.layerUnsigned))
    )
  })

  for (const options of [{ retention: 0 }, { retention: "Infinity" }, { answerRetention: "Infinity" }] as const) {
    it.effect(`${JSON.stringify(options)} is a defect`, () =>
      Effect.gen(function*() {
        const built = Layer.build(Layer.provide(layer(options), [forThemselves, RecordStore.layerMemory, testCrypto]))
        assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(built))))
      }))
  }
})
