import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Ledger from "../src/ApprovalLedger.ts"
import { agreesWithModel, ledgerContract, paid } from "../src/internal/testing/ledgerContract.ts"

const { ApprovalLedger } = Ledger

describe("layerMemory", () => {
  ledgerContract(Ledger.layerMemory)
  agreesWithModel("while approvals expire", Ledger.layerMemory, 1000)

  const claim = (approvalId: string, more: Partial<Ledger.Claim> = {}): Ledger.Claim => ({
    approvalId,
    callDigest: "d",
    expiresAt: undefined,
    idempotent: false,
    ...more
  })
  const tagOf = (claimed: Ledger.Claim) =>
    Effect.scoped(Effect.flatMap(ApprovalLedger, (ledger) => Effect.map(ledger.claim(claimed), ({ _tag }) => _tag)))
  const run = (claimed: Ledger.Claim) =>
    Effect.scoped(Effect.gen(function*() {
      const ledger = yield* ApprovalLedger
      assert.strictEqual((yield* ledger.claim(claimed))._tag, "Claimed")
      yield* ledger.settle(claimed, paid)
    }))

  it.effect("forgets an approval when it has expired, in every state but running", () =>
    Effect.gen(function*() {
      const settled = claim("settled", { expiresAt: 1000 })
      const begun = claim("begun", { expiresAt: 1000 })
      yield* run(settled)
      yield* tagOf(begun)
      yield* TestClock.setTime(999)
      assert.strictEqual(yield* tagOf(settled), "Settled")
      assert.strictEqual(yield* tagOf(begun), "Indeterminate")
      yield* TestClock.setTime(1000)
      assert.strictEqual(yield* tagOf({ ...settled, callDigest: "another" }), "Claimed")
      assert.strictEqual(yield* tagOf(begun), "Claimed")
    }).pipe(Effect.provide(Ledger.layerMemory())))

  it.effect("keeps one that does not expire for 30 days, or as long as it is told", () =>
    Effect.gen(function*() {
      for (
        const [layer, days] of [[Ledger.layerMemory(), 30], [Ledger.layerMemory({ retention: "7 days" }), 7]] as const
      ) {
        yield* Effect.gen(function*() {
          const one = claim(`for ${days} days`)
          yield* run(one)
          yield* TestClock.adjust(days * 86_400_000 - 1)
          assert.strictEqual(yield* tagOf(one), "Settled")
          yield* TestClock.adjust(1)
          assert.strictEqual(yield* tagOf(one), "Claimed")
        }).pipe(Effect.provide(layer))
      }
    }))

  it.effect("gives nothing up for a claim that has been made anew since", () =>
    Effect.gen(function*() {
      const ledger = yield* ApprovalLedger
      const first = claim("slow to close", { expiresAt: 1000 })
      const next = { ...first, expiresAt: 9000 }
      const [firstScope, nextScope] = [yield* Scope.make(), yield* Scope.make()]
      const claimIn = (scope: Scope.Scope, claimed: Ledger.Claim) =>
        Effect.provideService(ledger.claim(claimed), Scope.Scope, scope)
      yield* claimIn(firstScope, first)
      yield* ledger.settle(first, paid)
      yield* TestClock.setTime(1000)
      assert.strictEqual((yield* claimIn(nextScope, next))._tag, "Claimed")
      yield* Scope.close(firstScope, Exit.void)
      assert.strictEqual(yield* tagOf({ ...next, idempotent: true }), "Running")
      yield* ledger.settle(next, paid)
      yield* Scope.close(nextScope, Exit.void)
      assert.strictEqual(yield* tagOf(next), "Settled")
    }).pipe(Effect.provide(Ledger.layerMemory())))

  it.effect("each layer that is built is a ledger of its own", () =>
    Effect.gen(function*() {
      const one = claim("a1")
      for (let count = 0; count < 2; count++) {
        assert.strictEqual(yield* Effect.provide(tagOf(one), Ledger.layerMemory()), "Claimed")
      }
    }))

  /** How many entries the largest map had that was given such a key. */
  const largestMap = <A, E, R>(prefix: string, program: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      const { set } = Map.prototype
      let largest = 0
      Map.prototype.set = function(key, value) {
        const map = set.call(this, key, value)
        if (typeof key === "string" && key.startsWith(prefix)) largest = Math.max(largest, this.size)
        return map
      }
      return Effect.map(program, () => largest).pipe(
        Effect.ensuring(Effect.sync(() => {
          Map.prototype.set = set
        }))
      )
    })

  it.effect("does not grow with approvals that have expired", () =>
    Effect.gen(function*() {
      const many = (prefix: string, lifetime: number) =>
        Effect.gen(function*() {
          for (let index = 0; index < 10_000; index++) {
            yield* TestClock.adjust(1)
            const one = claim(prefix + index, { expiresAt: (yield* Clock.currentTimeMillis) + lifetime })
            yield* index % 2 === 0 ? run(one) : tagOf(one)
          }
        }).pipe(Effect.provide(Ledger.layerMemory()))
      assert.isAtMost(yield* largestMap("expired ", many("expired ", 0)), 2048)
      // A thousand are alive at a time.
      assert.isAtMost(yield* largestMap("short ", many("short ", 1000)), 4096)
      // What has not expired is kept, however many there are.
      assert.strictEqual(yield* largestMap("alive ", many("alive ", 1_000_000)), 10_000)
    }))
})

it("LedgerUnavailable crosses a wire, and shows nothing that is not printable", () => {
  const error = new Ledger.LedgerUnavailable({ reason: `no\nroute ${"x".repeat(9999)}` })
  const codec = Schema.toCodecJson(Ledger.LedgerUnavailable)
  const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
  assert.strictEqual(back.message, error.message)
  assert.notInclude(error.message, "\n")
  assert.isBelow(error.message.length, 700)
})
