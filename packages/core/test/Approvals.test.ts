import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { PendingApproval } from "../src/Approval.ts"
import { ApprovalAuthority, Approvals, layer } from "../src/Approvals.ts"
import * as RecordStore from "../src/RecordStore.ts"
import { approvalsContract } from "./approvalsContract.ts"
import { testCrypto } from "./testCrypto.ts"

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
      yield* approvals.add(Array.from({ length: 10_000 }, (_, index) => question(`a${index}`, "user 8")))
      yield* approvals.add([question("b")])
      const { list } = approvals.inbox("user 7")
      const page = yield* list()
      assert.deepStrictEqual(page.approvals, [])
      assert.isDefined(page.next)
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
      assert.strictEqual((yield* Effect.flip(get("a1")))._tag, "NotAllowed")
      assert.strictEqual((yield* Effect.flip(answer({ approvalId: "a1", approved: true })))._tag, "NotAllowed")
      assert.deepStrictEqual(yield* list(), { approvals: [] })
    }).pipe(Effect.provide(inboxOver(RecordStore.layerMemory, authority)))
  })
})
