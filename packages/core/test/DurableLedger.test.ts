import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { ApprovalLedger, type Claim, type Outcome } from "../src/ApprovalLedger.ts"
import * as DurableLedger from "../src/DurableLedger.ts"
import { agreesWithModel, ledgerContract, paid } from "../src/internal/testing/ledgerContract.ts"
import { type Key, layerMemory, RecordStore, StoreUnavailable, type Write } from "../src/RecordStore.ts"
import { testCrypto } from "./testCrypto.ts"

const layer = (options?: DurableLedger.Options) =>
  Layer.provide(DurableLedger.layer(options), [layerMemory, testCrypto])

describe("over the memory of a process", () => {
  ledgerContract(layer)
  agreesWithModel("while approvals expire", () => layer({ clockTolerance: 0 }), 1000)
})

const claim = (more: Partial<Claim> = {}): Claim => ({
  approvalId: "a1",
  callDigest: "d",
  expiresAt: undefined,
  idempotent: false,
  ...more
})

const failed: Outcome = { output: { type: "error-text", value: "no money" } }

type Ledger = ApprovalLedger["Service"]

/** A process: a ledger over a store, with a clock of its own where it has stopped or goes wrong. */
const newProcess = Effect.fnUntraced(function*(store: RecordStore["Service"], options: DurableLedger.Options = {}) {
  const built = Layer.build(
    Layer.provide(DurableLedger.layer(options), [Layer.succeed(RecordStore)(store), testCrypto])
  )
  return Context.get(yield* built, ApprovalLedger)
})

const tagOf = (ledger: Ledger, claimed: Claim) => Effect.scoped(Effect.map(ledger.claim(claimed), ({ _tag }) => _tag))

/** Stopped in the middle of an execution, as by SIGKILL: it renews nothing, and its scope is never closed. */
const claimAndDie = Effect.fnUntraced(function*(ledger: Ledger, claimed: Claim) {
  const clock = yield* Clock.Clock
  const now = yield* Clock.currentTimeMillis
  const stopped: Clock.Clock = { ...clock, currentTimeMillis: Effect.succeed(now), sleep: () => Effect.never }
  const scope = yield* Scope.make()
  const result = yield* ledger.claim(claimed).pipe(
    Effect.provideService(Scope.Scope, scope),
    Effect.provideService(Clock.Clock, stopped)
  )
  assert.deepStrictEqual(result, { _tag: "Claimed" })
  return scope
})

const away = Effect.fail(new StoreUnavailable({ reason: "connection refused" }))

/** What can be done to a store on its way. */
interface Faults {
  isAway: boolean
  /** Whether the next `set` is written and its answer lost. */
  losesAnswer: boolean
  /** Called before each `set`. */
  before: (write: Write) => Effect.Effect<void>
}

const faultyStore = Effect.gen(function*() {
  const store = Context.get(yield* Layer.build(layerMemory), RecordStore)
  const faults: Faults = { isAway: false, losesAnswer: false, before: () => Effect.void }
  const faulty: RecordStore["Service"] = {
    get: (key) => Effect.suspend(() => faults.isAway ? away : store.get(key)),
    list: (options) => Effect.suspend(() => faults.isAway ? away : store.list(options)),
    set: (key, write) =>
      Effect.suspend(() => {
        if (faults.isAway) return away
        const { losesAnswer } = faults
        faults.losesAnswer = false
        return Effect.andThen(
          faults.before(write),
          losesAnswer ? Effect.andThen(store.set(key, write), away) : store.set(key, write)
        )
      })
  }
  return { faults, faulty, store }
})

const only: Key = { collection: "claims", id: "=a1" }

describe("an owner that is lost", () => {
  it.effect("leaves the claim running for as long as its lease, and then unknown", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      yield* claimAndDie(one, claim())
      yield* TestClock.adjust(39_999)
      assert.strictEqual(yield* tagOf(other, claim()), "Running")
      assert.strictEqual(yield* tagOf(other, claim({ idempotent: true })), "Running")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* tagOf(other, claim()), "Indeterminate")
      assert.deepStrictEqual(yield* other.find(claim()), { _tag: "Indeterminate" })
    }))

  it.effect("whose tool is idempotent is replaced, and cannot settle any more", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      const repeatable = claim({ idempotent: true })
      yield* claimAndDie(one, repeatable)
      yield* TestClock.adjust("1 minute")
      yield* Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* other.claim(repeatable), { _tag: "Claimed" })
        // It was not dead, only slow.
        const error = yield* Effect.flip(one.settle(repeatable, failed))
        assert.strictEqual(error._tag, "LedgerUnavailable")
        assert.include(error.message, "another owner")
        assert.strictEqual((yield* one.find(repeatable))._tag, "Running")
        yield* other.settle(repeatable, paid)
      }))
      assert.deepStrictEqual(yield* one.find(repeatable), { _tag: "Settled", outcome: paid })
    }))

  it.effect("that was only slow keeps its outcome, where nobody has replaced it", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      yield* claimAndDie(one, claim())
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* tagOf(other, claim()), "Indeterminate")
      yield* one.settle(claim(), paid)
      assert.deepStrictEqual(yield* other.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("does not settle over what a person has said", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      yield* claimAndDie(one, claim())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* other.resolve(claim(), paid), { _tag: "Settled", outcome: paid })
      assert.include((yield* Effect.flip(one.settle(claim(), failed))).message, "a person has resolved it")
      assert.deepStrictEqual(yield* one.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("gives nothing up that another one owns by now", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      const repeatable = claim({ idempotent: true })
      const scope = yield* claimAndDie(one, repeatable)
      yield* TestClock.adjust("1 minute")
      yield* Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* other.claim(repeatable), { _tag: "Claimed" })
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* one.find(repeatable))._tag, "Running")
      }))
    }))
})

describe("an owner that lives", () => {
  it.effect("renews its lease for as long as its scope is open", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.claim(claim())
        for (let minute = 0; minute < 5; minute++) {
          yield* TestClock.adjust("1 minute")
          assert.strictEqual(yield* tagOf(other, claim()), "Running")
        }
        yield* one.settle(claim(), paid)
      }))
      assert.deepStrictEqual(yield* other.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("is not taken for lost where the other clock is ahead within the tolerance", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const options = { lease: "3 seconds", clockTolerance: "5 seconds" } as const
      const [one, other] = [yield* newProcess(store, options), yield* newProcess(store, options)]
      const clock = yield* Clock.Clock
      const ahead: Clock.Clock = {
        ...clock,
        currentTimeMillis: Effect.map(Clock.currentTimeMillis, (now) => now + 5_000)
      }
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.claim(claim())
        for (let second = 0; second < 20; second++) {
          yield* TestClock.adjust("1 second")
          const tag = yield* Effect.provideService(tagOf(other, claim({ idempotent: true })), Clock.Clock, {
            ...ahead,
            currentTimeMillis: Effect.succeed((yield* Clock.currentTimeMillis) + 5_000)
          })
          assert.strictEqual(tag, "Running")
        }
      }))
    }))

  it.effect("goes on when an answer to its renewal was lost", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const [one, other] = [yield* newProcess(faulty), yield* newProcess(faulty)]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.claim(claim())
        faults.losesAnswer = true
        yield* TestClock.adjust("10 seconds")
        assert.isFalse(faults.losesAnswer)
        yield* TestClock.adjust("2 minutes")
        assert.strictEqual(yield* tagOf(other, claim()), "Running")
        yield* one.settle(claim(), paid)
      }))
      assert.deepStrictEqual(yield* other.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("keeps the claim of an approval that expires meanwhile", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const [one, other] = [yield* newProcess(store), yield* newProcess(store)]
      const short = claim({ expiresAt: 1_000 })
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.claim(short)
        yield* TestClock.adjust("5 minutes")
        assert.strictEqual(yield* tagOf(other, short), "Running")
      }))
      // Nobody asks for it any more: the approval has expired.
      assert.isUndefined(yield* store.get(only))
    }))
})

describe("what is kept", () => {
  it.effect("stays until the approval expires, and for the tolerance of clocks", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const ledger = yield* newProcess(store, { clockTolerance: "1 minute" })
      const short = claim({ expiresAt: 100_000 })
      yield* Effect.scoped(Effect.andThen(ledger.claim(short), ledger.settle(short, paid)))
      yield* TestClock.setTime(159_999)
      assert.strictEqual((yield* ledger.find(short))._tag, "Settled")
      yield* TestClock.setTime(160_000)
      assert.strictEqual((yield* ledger.find(short))._tag, "Unknown")
    }))

  it.effect("stays for the retention where the approval does not expire", () =>
    Effect.gen(function*() {
      for (const [options, days] of [[{}, 60], [{ retention: "7 days" }, 7]] as const) {
        const { store } = yield* faultyStore
        const ledger = yield* newProcess(store, options)
        yield* Effect.scoped(Effect.andThen(ledger.claim(claim()), ledger.settle(claim(), paid)))
        yield* TestClock.adjust(days * 86_400_000 - 1)
        assert.strictEqual((yield* ledger.find(claim()))._tag, "Settled")
        yield* TestClock.adjust(1)
        assert.strictEqual((yield* ledger.find(claim()))._tag, "Unknown")
      }
    }))
})

describe("a store that is away", () => {
  it.effect("gives no claim, and says why", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      faults.isAway = true
      for (const ask of [tagOf(ledger, claim()), ledger.find(claim()), ledger.resolve(claim(), paid)]) {
        const error = yield* Effect.flip(Effect.asVoid<unknown, any, never>(ask))
        assert.strictEqual(error._tag, "LedgerUnavailable")
        assert.include(error.message, "connection refused")
      }
      faults.isAway = false
      assert.strictEqual(yield* tagOf(ledger, claim()), "Claimed")
    }))

  it.effect("which took a claim and lost the answer gives it up again when it is back", () =>
    Effect.gen(function*() {
      const { faults, faulty, store } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      faults.losesAnswer = true
      faults.before = () => Effect.sync(() => faults.isAway = true)
      assert.strictEqual((yield* Effect.flip(tagOf(ledger, claim())))._tag, "LedgerUnavailable")
      assert.isDefined(yield* store.get(only))
      yield* TestClock.adjust("5 seconds")
      assert.isDefined(yield* store.get(only))
      faults.isAway = false
      faults.before = () => Effect.void
      yield* TestClock.adjust("5 seconds")
      // Nothing ran for it: it can be claimed.
      assert.strictEqual(yield* tagOf(ledger, claim()), "Claimed")
    }))

  it.effect("keeps the outcome when it comes back in time", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* ledger.claim(claim())
        faults.isAway = true
        const settling = yield* Effect.forkChild(ledger.settle(claim(), paid))
        yield* TestClock.adjust("5 seconds")
        faults.isAway = false
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(settling)
      }))
      assert.deepStrictEqual(yield* ledger.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("keeps the outcome when it comes back late, and who settles does not wait so long", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const [one, other] = [yield* newProcess(faulty), yield* newProcess(faulty)]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.claim(claim())
        faults.isAway = true
        // As a resume does it.
        const settling = yield* Effect.forkChild(Effect.uninterruptible(Effect.flip(one.settle(claim(), paid))))
        yield* TestClock.adjust("10 seconds")
        const error = yield* Fiber.join(settling)
        assert.include(error.message, "connection refused. It is tried again in the background")
      }))
      yield* TestClock.adjust("20 minutes")
      faults.isAway = false
      assert.strictEqual(yield* tagOf(other, claim()), "Indeterminate")
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* other.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("which never answers does not hold who settles", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty, { settleTimeout: "3 seconds" })
      const scope = yield* Scope.make()
      yield* Effect.provideService(ledger.claim(claim()), Scope.Scope, scope)
      const answers = yield* Deferred.make<void>()
      faults.before = () => Deferred.await(answers)
      const settling = yield* Effect.forkChild(Effect.uninterruptible(Effect.flip(ledger.settle(claim(), paid))))
      yield* TestClock.adjust("3 seconds")
      assert.include((yield* Fiber.join(settling)).message, "it does not answer")
      yield* Deferred.succeed(answers, undefined)
    }))

  it.effect("which loses the answer to a settlement keeps the outcome, and who settles is told so", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* ledger.claim(claim())
        faults.losesAnswer = true
        const settling = yield* Effect.forkChild(ledger.settle(claim(), paid))
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(settling)
        assert.isFalse(faults.losesAnswer)
      }))
      assert.deepStrictEqual(yield* ledger.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("which took the claim of one that was broken off, and lost the answer, has it broken off again", () =>
    Effect.gen(function*() {
      const { faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      yield* tagOf(ledger, claim())
      assert.strictEqual(yield* tagOf(ledger, claim()), "Indeterminate")
      const repeatable = claim({ idempotent: true })
      const store: RecordStore["Service"] = {
        ...faulty,
        set: (key, write) =>
          write.tag === "Running" && write.expected !== undefined
            ? Effect.andThen(faulty.set(key, write), away)
            : faulty.set(key, write)
      }
      const other = yield* newProcess(store)
      assert.strictEqual((yield* Effect.flip(tagOf(other, repeatable)))._tag, "LedgerUnavailable")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* tagOf(ledger, claim()), "Indeterminate")
      assert.strictEqual(yield* tagOf(ledger, claim({ callDigest: "another" })), "Mismatch")
    }))

  it.effect("is waited for when the layer is closed, for as long as a settlement may take", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const layerScope = yield* Scope.make()
      const ledger = yield* Effect.provideService(newProcess(faulty), Scope.Scope, layerScope)
      const claimScope = yield* Scope.make()
      yield* Effect.provideService(ledger.claim(claim()), Scope.Scope, claimScope)
      faults.isAway = true
      const settling = yield* Effect.forkChild(ledger.settle(claim(), paid))
      yield* TestClock.adjust("1 second")
      yield* Effect.forkChild(Scope.close(claimScope, Exit.void))
      const closing = yield* Effect.forkChild(Scope.close(layerScope, Exit.void))
      yield* TestClock.adjust("1 second")
      faults.isAway = false
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(settling)
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* (yield* newProcess(faulty)).find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("is not waited for longer: who settles is told that the ledger was closed", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const layerScope = yield* Scope.make()
      const options = { settleTimeout: "20 seconds" } as const
      const ledger = yield* Effect.provideService(newProcess(faulty, options), Scope.Scope, layerScope)
      const [first, second, third] = [claim(), claim({ approvalId: "a2" }), claim({ approvalId: "a3" })]
      for (const one of [first, second, third]) {
        yield* Effect.provideService(ledger.claim(one), Scope.Scope, yield* Scope.make())
      }
      faults.isAway = true
      const settling = yield* Effect.forkChild(Effect.flip(ledger.settle(first, paid)))
      const closing = yield* Effect.forkChild(Scope.close(layerScope, Exit.void))
      yield* TestClock.adjust("20 seconds")
      yield* Fiber.join(closing)
      assert.include((yield* Fiber.join(settling)).message, "connection refused")
      // What still runs then is settled by whoever waits for it, and nothing new begins.
      const late = yield* Effect.forkChild(Effect.flip(ledger.settle(second, paid)))
      yield* TestClock.adjust("20 seconds")
      assert.include((yield* Fiber.join(late)).message, "connection refused")
      faults.isAway = false
      yield* ledger.settle(third, paid)
      assert.deepStrictEqual(yield* ledger.find(third), { _tag: "Settled", outcome: paid })
      const next = claim({ approvalId: "a4" })
      assert.include((yield* Effect.flip(tagOf(ledger, next))).message, "it has been closed")
      assert.deepStrictEqual(yield* ledger.find(next), { _tag: "Unknown" })
    }))
})

describe("settling", () => {
  it.effect("waits for a renewal that is on its way", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      const [begun, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      yield* Effect.scoped(Effect.gen(function*() {
        yield* ledger.claim(claim())
        faults.before = ({ tag }) =>
          tag === "Running" ? Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)) : Effect.void
        yield* TestClock.adjust("10 seconds")
        yield* Deferred.await(begun)
        const settling = yield* Effect.forkChild(ledger.settle(claim(), paid))
        yield* Effect.yieldNow
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(settling)
      }))
      assert.deepStrictEqual(yield* ledger.find(claim()), { _tag: "Settled", outcome: paid })
    }))

  it.effect("keeps the outcome as it was when it was given", () =>
    Effect.gen(function*() {
      const { faults, faulty } = yield* faultyStore
      const ledger = yield* newProcess(faulty)
      const outcome: any = { output: { type: "json", value: { cents: 1 } } }
      yield* Effect.scoped(Effect.gen(function*() {
        yield* ledger.claim(claim())
        faults.isAway = true
        const settling = yield* Effect.forkChild(ledger.settle(claim(), outcome))
        yield* TestClock.adjust("1 second")
        outcome.output.value.cents = 2
        faults.isAway = false
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(settling)
      }))
      const found: any = yield* ledger.find(claim())
      assert.deepStrictEqual(found.outcome.output, { type: "json", value: { cents: 1 } })
    }))
})

describe("an outcome", () => {
  const deep = (levels: number): unknown => {
    let value: unknown = null
    for (let level = 0; level < levels; level++) value = [value]
    return value
  }
  const isJson = (value: unknown): boolean => {
    try {
      return JSON.stringify(value) !== undefined
    } catch {
      return false
    }
  }
  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  const unkeepable: ReadonlyArray<readonly [string, any]> = [
    // Some runtimes write JSON of any depth.
    ...isJson(deep(100_000))
      ? []
      : [["that nests too deep", { output: { type: "json", value: deep(100_000) } }]] as const,
    ["with a cycle", { output: { type: "json", value: cycle } }],
    ["with a BigInt", { output: { type: "json", value: 1n } }],
    ["whose toJSON throws", { output: { type: "json", value: { toJSON: () => assert.fail("no JSON") } } }],
    ["with a usage that is no number", { output: { type: "text", value: "" }, usage: { cents: Infinity } }],
    ["without an output", { value: 1 }]
  ]
  for (const [name, outcome] of unkeepable) {
    it.effect(`${name} cannot be kept: that is said, and the call is not run again`, () =>
      Effect.gen(function*() {
        const { store } = yield* faultyStore
        const ledger = yield* newProcess(store)
        yield* Effect.scoped(Effect.gen(function*() {
          yield* ledger.claim(claim())
          assert.include((yield* Effect.flip(ledger.settle(claim(), outcome))).message, "the outcome is no JSON")
        }))
        const found: any = yield* ledger.find(claim({ idempotent: true }))
        assert.strictEqual(found._tag, "Settled")
        assert.include(found.outcome.output.value, "its result could not be kept")
        const begun = claim({ approvalId: "a2" })
        yield* tagOf(ledger, begun)
        assert.include((yield* Effect.flip(ledger.resolve(begun, outcome))).message, "the outcome is no JSON")
        assert.strictEqual(yield* tagOf(ledger, begun), "Indeterminate")
      }))
  }

  it.effect("of whatever type the tool shows is kept", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const ledger = yield* newProcess(store)
      const outcome: any = { output: { type: "rich", parts: [1], providerOptions: "x" } }
      yield* Effect.scoped(Effect.andThen(ledger.claim(claim()), ledger.settle(claim(), outcome)))
      assert.deepStrictEqual(yield* ledger.find(claim()), { _tag: "Settled", outcome })
    }))

  it.effect("of one whose scope is closed is not taken for that of the next owner", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const ledger = yield* newProcess(store)
      const [first, next] = [claim({ idempotent: true }), claim({ idempotent: true })]
      yield* tagOf(ledger, first)
      yield* Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* ledger.claim(next), { _tag: "Claimed" })
        yield* ledger.settle(first, failed)
        yield* ledger.settle(next, paid)
      }))
      assert.deepStrictEqual(yield* ledger.find(next), { _tag: "Settled", outcome: paid })
    }))

  it.effect("is the owner's, also where the same process has claimed the approval again", () =>
    Effect.gen(function*() {
      const { store } = yield* faultyStore
      const ledger = yield* newProcess(store)
      const [slow, next] = [claim({ idempotent: true }), claim({ idempotent: true })]
      yield* claimAndDie(ledger, slow)
      yield* TestClock.adjust("1 minute")
      yield* Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* ledger.claim(next), { _tag: "Claimed" })
        assert.include((yield* Effect.flip(ledger.settle(slow, failed))).message, "another owner")
        yield* ledger.settle(next, paid)
      }))
      assert.deepStrictEqual(yield* ledger.find(next), { _tag: "Settled", outcome: paid })
    }))
})

describe("options", () => {
  const wrong: ReadonlyArray<DurableLedger.Options> = [
    { lease: 0 },
    { lease: "Infinity" },
    { clockTolerance: "Infinity" },
    { retention: 0 },
    { retention: "Infinity" },
    { settleTimeout: "Infinity" }
  ]
  for (const options of wrong) {
    it.effect(`${JSON.stringify(options)} is a defect`, () =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(layer(options))))
        assert.isTrue(Exit.hasDies(exit))
      }))
  }
})

describe("a record that is corrupt", () => {
  const settled = { callDigest: "d", keptUntil: 1e15, state: { _tag: "Settled", outcome: paid } }
  const corrupt: ReadonlyArray<readonly [string, string]> = [
    ["no text", ""],
    ["cut off", JSON.stringify(settled).slice(0, -1)],
    ["null", "null"],
    ["a list", "[]"],
    ["another object", "{}"],
    ["without a call", JSON.stringify({ ...settled, callDigest: undefined })],
    ["of no time", JSON.stringify({ ...settled, keptUntil: null })],
    ["in no state", JSON.stringify({ ...settled, state: { _tag: "Unknown" } })],
    ["settled with nothing", JSON.stringify({ ...settled, state: { _tag: "Settled" } })],
    ["settled with no output", JSON.stringify({ ...settled, state: { _tag: "Settled", outcome: { output: 1 } } })],
    ["running for nobody", JSON.stringify({ ...settled, state: { _tag: "Running", leasedUntil: 0 } })],
    ["running for ever", JSON.stringify({ ...settled, state: { _tag: "Running", owner: "o", leasedUntil: "9" } })]
  ]
  for (const [name, value] of corrupt) {
    it.effect(`${name}: nothing runs, and nothing is overwritten`, () =>
      Effect.gen(function*() {
        const { store } = yield* faultyStore
        const ledger = yield* newProcess(store)
        yield* store.set(only, { value, version: "v", expected: undefined, tag: "Settled", ttlMillis: 1e9 })
        const idempotent = claim({ idempotent: true })
        for (
          const ask of [
            tagOf(ledger, claim()),
            tagOf(ledger, idempotent),
            ledger.find(claim()),
            ledger.resolve(claim(), paid)
          ]
        ) {
          const error = yield* Effect.flip(Effect.asVoid<unknown, any, never>(ask))
          assert.strictEqual(error._tag, "LedgerUnavailable")
          assert.include(error.message, "corrupt")
        }
        assert.deepStrictEqual(yield* store.get(only), { value, version: "v" })
      }))
  }
})
