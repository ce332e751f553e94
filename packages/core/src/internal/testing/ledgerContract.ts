import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import {
  ApprovalLedger,
  type Claim,
  type ClaimResult,
  type FindResult,
  type LedgerUnavailable,
  type Outcome
} from "../../ApprovalLedger.ts"
import { below, oneOf } from "./choice.ts"
import { newId } from "./newId.ts"

const day = 86_400_000

/** A ledger may outlive a test: each claim is of an approval of its own. */
const newClaim = (more: Partial<Claim> = {}): Claim => ({
  approvalId: newId(),
  callDigest: "the call",
  expiresAt: 10 * day,
  idempotent: false,
  ...more
})

/** @internal */
export const paid: Outcome = {
  output: { type: "text", value: "paid" },
  value: { receipt: [7, null] },
  usage: { cents: 3 }
}
const failed: Outcome = { output: { type: "error-text", value: "no money" } }

/** Claims, and gives the claim up at once where it was given. */
const claimOnce = (claim: Claim) => Effect.scoped(Effect.flatMap(ApprovalLedger, (ledger) => ledger.claim(claim)))

const settle = (claim: Claim, outcome: Outcome) =>
  Effect.flatMap(ApprovalLedger, (ledger) => ledger.settle(claim, outcome))

const runOnce = (claim: Claim, outcome: Outcome) =>
  Effect.scoped(Effect.gen(function*() {
    const ledger = yield* ApprovalLedger
    assert.deepStrictEqual(yield* ledger.claim(claim), { _tag: "Claimed" })
    yield* ledger.settle(claim, outcome)
  }))

/** As many claims as are given, all made before any is given up. */
const claimTogether = Effect.fnUntraced(function*(claims: ReadonlyArray<Claim>) {
  const all = yield* Deferred.make<void>()
  const results: Array<ClaimResult> = []
  yield* Effect.forEach(claims, (claim) =>
    Effect.scoped(Effect.gen(function*() {
      results.push(yield* Effect.flatMap(ApprovalLedger, (ledger) => ledger.claim(claim)))
      if (results.length === claims.length) yield* Deferred.succeed(all, undefined)
      yield* Deferred.await(all)
    })), { concurrency: "unbounded", discard: true })
  return results.map(({ _tag }) => _tag).toSorted()
})

/** @internal */
export const ledgerContract = (
  make: (options?: { readonly retention?: Duration.Input }) => Layer.Layer<ApprovalLedger, unknown>
): void => {
  const test = (name: string, program: () => Effect.Effect<void, LedgerUnavailable, ApprovalLedger>) =>
    it.effect(name, () => Effect.provide(program(), make()))

  test("gives a claim to one, for as long as its scope is open", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        assert.deepStrictEqual(yield* ledger.claim(claim), { _tag: "Claimed" })
        // The owner as well as another.
        assert.deepStrictEqual(yield* ledger.claim(claim), { _tag: "Running" })
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Running" })
        assert.deepStrictEqual(yield* claimOnce({ ...claim, idempotent: true }), { _tag: "Running" })
        // To be told that it runs is no claim, and gives nothing up.
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Running" })
        assert.deepStrictEqual(yield* claimOnce(newClaim()), { _tag: "Claimed" })
      }))
      assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Indeterminate" })
    }))

  test("says what a claim would find, and claims nothing", () =>
    Effect.gen(function*() {
      const ledger = yield* ApprovalLedger
      const claim = newClaim({ idempotent: true })
      assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Unknown" })
      assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Unknown" })
      yield* Effect.scoped(Effect.gen(function*() {
        assert.deepStrictEqual(yield* ledger.claim(claim), { _tag: "Claimed" })
        assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Running" })
        assert.deepStrictEqual(yield* ledger.find({ ...claim, callDigest: "another" }), { _tag: "Mismatch" })
      }))
      assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Indeterminate" })
      yield* runOnce(claim, paid)
      assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Settled", outcome: paid })
    }))

  test("gives one of a hundred claims at the same time", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      const expected = ["Claimed", ...Array.from({ length: 99 }, () => "Running")]
      assert.deepStrictEqual(yield* claimTogether(Array.from({ length: 100 }, () => claim)), expected)
      // And again one of a hundred, where it may be repeated.
      const again = Array.from({ length: 100 }, () => ({ ...claim, idempotent: true }))
      assert.deepStrictEqual(yield* claimTogether(again), expected)
    }))

  test("gives a hundred claims of different approvals at the same time", () =>
    Effect.gen(function*() {
      const results = yield* claimTogether(Array.from({ length: 100 }, () => newClaim()))
      assert.deepStrictEqual(results, results.map(() => "Claimed"))
    }))

  test("gives the outcome to who claims later", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        yield* ledger.claim(claim)
        yield* ledger.settle(claim, paid)
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Settled", outcome: paid })
      }))
      for (const idempotent of [false, true, false]) {
        assert.deepStrictEqual(yield* claimOnce({ ...claim, idempotent }), { _tag: "Settled", outcome: paid })
      }
    }))

  test("keeps every kind of outcome", () =>
    Effect.gen(function*() {
      const hostile = JSON.parse("{\"__proto__\":{\"a\":1},\"constructor\":null,\"10\":1,\"9\":2,\"\":[]}")
      const outcomes: ReadonlyArray<Outcome> = [
        failed,
        { output: { type: "text", value: "" }, value: "" },
        { output: { type: "json", value: null }, value: null },
        { output: { type: "json", value: hostile }, value: hostile },
        { output: { type: "error-json", value: [0.1, -1e-7, 1e21, true] }, usage: { "": 0 } },
        { output: { type: "execution-denied", reason: "日本 \u0000\n\"'\\ 😀 \u2028" } },
        {
          output: {
            type: "content",
            value: [{ type: "text", text: "x".repeat(100_000) }],
            providerOptions: { a: { b: 1 } }
          }
        }
      ]
      for (const outcome of outcomes) {
        const claim = newClaim()
        yield* runOnce(claim, outcome)
        const again = yield* claimOnce(claim)
        assert.strictEqual(again._tag, "Settled")
        if (again._tag === "Settled") assert.deepStrictEqual(JSON.stringify(again.outcome), JSON.stringify(outcome))
      }
    }))

  test("keeps the first outcome, whatever comes after", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        yield* ledger.claim(claim)
        yield* ledger.settle(claim, paid)
        yield* ledger.settle(claim, failed)
        yield* ledger.settle(claim, paid)
      }))
      yield* settle(claim, failed)
      assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Settled", outcome: paid })
    }))

  test("settles nothing that is not claimed", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      yield* settle(claim, paid)
      assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Claimed" })
      // Its owner is gone.
      yield* settle(claim, paid)
      assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Indeterminate" })
    }))

  test("keeps what it is given, and gives copies", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      const outcome: any = { output: { type: "json", value: { list: [1] } }, value: { list: [1] }, usage: { cents: 1 } }
      const before = JSON.stringify(outcome)
      const change = (changed: any) => {
        changed.output.value.list.push(2)
        changed.value.list[0] = 3
        changed.usage.cents = 4
        changed.output.type = "text"
      }
      yield* runOnce(claim, outcome)
      change(outcome)
      for (let count = 0; count < 2; count++) {
        const again = yield* claimOnce(claim)
        assert.strictEqual(again._tag, "Settled")
        if (again._tag !== "Settled") return
        assert.strictEqual(JSON.stringify(again.outcome), before)
        change(again.outcome)
      }
    }))

  describe("a scope that closes without an outcome", () => {
    const endings: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown>]> = [
      ["done", Effect.void],
      ["failed", Effect.fail("failed")],
      ["crashed", Effect.die("crashed")],
      ["interrupted", Effect.interrupt]
    ]
    for (const [how, ending] of endings) {
      test(`because it is ${how}, leaves it unknown how the call ended`, () =>
        Effect.gen(function*() {
          const claim = newClaim()
          yield* Effect.exit(
            Effect.scoped(Effect.flatMap(ApprovalLedger, (ledger) => Effect.andThen(ledger.claim(claim), ending)))
          )
          for (let count = 0; count < 3; count++) {
            assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Indeterminate" })
          }
        }))
    }

    test("can be claimed again where running twice does no harm", () =>
      Effect.gen(function*() {
        const claim = newClaim()
        const repeatable = { ...claim, idempotent: true }
        yield* claimOnce(claim)
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* ApprovalLedger
          assert.deepStrictEqual(yield* ledger.claim(repeatable), { _tag: "Claimed" })
          assert.deepStrictEqual(yield* claimOnce(repeatable), { _tag: "Running" })
          assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Running" })
          yield* ledger.settle(repeatable, paid)
        }))
        assert.deepStrictEqual(yield* claimOnce(repeatable), { _tag: "Settled", outcome: paid })
      }))
  })

  describe("a person who has found out how a claim ended", () => {
    const resolve = (claim: Claim, outcome: Outcome) =>
      Effect.flatMap(ApprovalLedger, (ledger) => ledger.resolve(claim, outcome))

    test("says so, once and for all", () =>
      Effect.gen(function*() {
        const claim = newClaim()
        yield* claimOnce(claim)
        assert.deepStrictEqual(yield* resolve(claim, paid), { _tag: "Settled", outcome: paid })
        assert.deepStrictEqual(yield* resolve(claim, failed), { _tag: "Settled", outcome: paid })
        for (const idempotent of [false, true]) {
          assert.deepStrictEqual(yield* claimOnce({ ...claim, idempotent }), { _tag: "Settled", outcome: paid })
        }
      }))

    test("changes nothing of what was never begun, runs, has ended, or is another call", () =>
      Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        const claim = newClaim()
        assert.deepStrictEqual(yield* resolve(claim, failed), { _tag: "Unknown" })
        assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Unknown" })
        yield* Effect.scoped(Effect.gen(function*() {
          assert.deepStrictEqual(yield* ledger.claim(claim), { _tag: "Claimed" })
          assert.deepStrictEqual(yield* resolve(claim, failed), { _tag: "Running" })
          yield* ledger.settle(claim, paid)
          assert.deepStrictEqual(yield* resolve(claim, failed), { _tag: "Settled", outcome: paid })
        }))
        assert.deepStrictEqual(yield* ledger.find(claim), { _tag: "Settled", outcome: paid })
        const begun = newClaim()
        yield* claimOnce(begun)
        assert.deepStrictEqual(yield* resolve({ ...begun, callDigest: "another" }, failed), { _tag: "Mismatch" })
        assert.deepStrictEqual(yield* ledger.find(begun), { _tag: "Indeterminate" })
      }))

    test("says one thing, where many say many", () =>
      Effect.gen(function*() {
        const claim = newClaim()
        yield* claimOnce(claim)
        const said = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => outcomeOf(index)),
          (outcome) => resolve(claim, outcome),
          { concurrency: "unbounded" }
        )
        const first = yield* claimOnce(claim)
        assert.strictEqual(first._tag, "Settled")
        for (const one of said) assert.deepStrictEqual<ClaimResult | FindResult>(one, first)
      }))
  })

  test("knows another call by its digest, in every state, and is not changed by it", () =>
    Effect.gen(function*() {
      const claim = newClaim()
      const other = { ...claim, callDigest: "The call" }
      const mismatch = Effect.gen(function*() {
        for (const idempotent of [false, true]) {
          assert.deepStrictEqual(yield* claimOnce({ ...other, idempotent }), { _tag: "Mismatch" })
        }
        yield* settle(other, failed)
      })
      yield* Effect.scoped(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        yield* ledger.claim(claim)
        yield* mismatch
        yield* ledger.settle(claim, paid)
        yield* mismatch
      }))
      yield* mismatch
      assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Settled", outcome: paid })
      const begun = newClaim()
      yield* claimOnce(begun)
      assert.deepStrictEqual(yield* claimOnce({ ...begun, callDigest: "", idempotent: true }), { _tag: "Mismatch" })
      assert.deepStrictEqual(yield* claimOnce(begun), { _tag: "Indeterminate" })
    }))

  test("tells IDs apart that are nearly the same", () =>
    Effect.gen(function*() {
      const run = newId()
      const near = [
        "",
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
        "\udc00",
        "\ufffd"
      ]
      const ids = [...near, "%", "_", "'", "\"", "\\", "*", ":", "__proto__", "x".repeat(1000), "x".repeat(999)]
      for (const [index, id] of ids.entries()) {
        yield* runOnce(newClaim({ approvalId: run + id }), { output: { type: "json", value: index } })
      }
      for (const [index, id] of ids.entries()) {
        assert.deepStrictEqual(yield* claimOnce(newClaim({ approvalId: run + id })), {
          _tag: "Settled",
          outcome: { output: { type: "json", value: index } }
        })
      }
    }))

  for (const approvalId of ["__proto__", "constructor", "hasOwnProperty"]) {
    test(`takes ${approvalId} for an ID like any other`, () =>
      Effect.gen(function*() {
        // Such an ID cannot be new in a ledger that outlives the test.
        const claim = newClaim({ approvalId })
        assert.include(["Claimed", "Indeterminate"], (yield* claimOnce(claim))._tag)
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Indeterminate" })
      }))
  }

  describe("time", () => {
    test("does not touch a claim before its approval expires", () =>
      Effect.gen(function*() {
        const expiresAt = (yield* Clock.currentTimeMillis) + day
        const [settled, begun] = [newClaim({ expiresAt }), newClaim({ expiresAt })]
        yield* runOnce(settled, paid)
        yield* claimOnce(begun)
        yield* TestClock.adjust(day - 1)
        assert.deepStrictEqual(yield* claimOnce(settled), { _tag: "Settled", outcome: paid })
        assert.deepStrictEqual(yield* claimOnce({ ...settled, callDigest: "x" }), { _tag: "Mismatch" })
        assert.deepStrictEqual(yield* claimOnce(begun), { _tag: "Indeterminate" })
      }))

    test("does not end what runs", () =>
      Effect.gen(function*() {
        const claim = newClaim({ expiresAt: (yield* Clock.currentTimeMillis) + day })
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* ApprovalLedger
          yield* ledger.claim(claim)
          yield* TestClock.adjust(3 * day)
          for (const idempotent of [false, true]) {
            assert.deepStrictEqual(yield* claimOnce({ ...claim, idempotent }), { _tag: "Running" })
          }
          yield* ledger.settle(claim, paid)
        }))
      }))

    it.effect("does not touch a claim of an approval that does not expire before the retention ends", () =>
      Effect.gen(function*() {
        const claim = newClaim({ expiresAt: undefined })
        yield* runOnce(claim, paid)
        yield* TestClock.adjust(7 * day - 1)
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Settled", outcome: paid })
      }).pipe(Effect.provide(make({ retention: "7 days" }))))
  })

  describe("interruption", () => {
    test("while the call runs leaves it unknown how it ended", () =>
      Effect.gen(function*() {
        const claim = newClaim()
        const begun = yield* Deferred.make<void>()
        const fiber = yield* Effect.forkChild(Effect.scoped(Effect.gen(function*() {
          yield* (yield* ApprovalLedger).claim(claim)
          yield* Deferred.succeed(begun, undefined)
          return yield* Effect.never
        })))
        yield* Deferred.await(begun)
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Running" })
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual(yield* claimOnce(claim), { _tag: "Indeterminate" })
      }))

    test("at any point of a claim leaves nothing that seems to run", () =>
      Effect.gen(function*() {
        for (let steps = 0; steps < 8; steps++) {
          const claim = newClaim()
          const fiber = yield* Effect.forkChild(
            Effect.scoped(Effect.flatMap(ApprovalLedger, (ledger) => Effect.andThen(ledger.claim(claim), Effect.never)))
          )
          for (let step = 0; step < steps; step++) yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
          assert.include(["Claimed", "Indeterminate"], (yield* claimOnce(claim))._tag)
        }
      }))
  })

  agreesWithModel("before anything expires", make, 0)
}

type Action =
  | { readonly _tag: "claim"; readonly approval: number; readonly call: number; readonly idempotent: boolean }
  | { readonly _tag: "settle" | "close"; readonly ago: number; readonly outcome: number }
  | { readonly _tag: "wait"; readonly millis: number }

/** What is known of one approval; `owner` is the index of the claim that it was given to. */
interface Entry {
  readonly call: number
  readonly owner: number
  readonly state: "Running" | "Indeterminate" | { readonly outcome: number }
}

const action = (millis: number): Arbitrary.Arbitrary<Action> =>
  Arbitrary.map(
    Arbitrary.all([
      below(millis === 0 ? 6 : 8),
      below(2),
      below(4),
      oneOf([true, false]),
      oneOf([1, millis - 1, millis])
    ]),
    ([kind, approval, ago, idempotent, wait]): Action =>
      kind < 3
        ? { _tag: "claim", approval, call: ago === 0 ? 1 : 0, idempotent }
        : kind < 6
        ? { _tag: kind === 3 ? "settle" : "close", ago, outcome: approval }
        : { _tag: "wait", millis: wait }
  )

/**
 * Whatever is claimed, settled and given up in whatever order, the answers are those of a model that fits on a page. With
 * `lifetime` the approvals expire after so many milliseconds, and the ledger has to forget them then.
 *
 * @internal
 */
export const agreesWithModel = (
  name: string,
  make: () => Layer.Layer<ApprovalLedger, unknown>,
  lifetime: number
): void =>
  it.effect.prop(
    `agrees with a model, ${name}`,
    [Arbitrary.array(action(lifetime), { minLength: 5, maxLength: 40 })],
    ([actions]) =>
      Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        const began = yield* Clock.currentTimeMillis
        const ids = [0, 1].map(() => newId())
        const entries = new Map<number, Entry & { readonly expiresAt: number }>()
        const claims: Array<{ readonly claim: Claim; readonly approval: number; scope: Scope.Closeable | undefined }> =
          []
        let now = began

        for (const [at, one] of actions.entries()) {
          const where = () => `action ${at}: ${JSON.stringify(one)}`
          switch (one._tag) {
            case "wait":
              yield* TestClock.adjust(one.millis)
              now += one.millis
              break
            case "claim": {
              const { approval, call, idempotent } = one
              const expiresAt = lifetime === 0 ? undefined : now + lifetime
              const claim: Claim = { approvalId: ids[approval]!, callDigest: `call ${call}`, expiresAt, idempotent }
              const scope = yield* Scope.make()
              const found = entries.get(approval)
              const entry = found !== undefined && found.state !== "Running" && found.expiresAt <= now
                ? undefined
                : found
              const expected: ClaimResult["_tag"] = entry === undefined
                ? "Claimed"
                : entry.call !== call
                ? "Mismatch"
                : typeof entry.state === "object"
                ? "Settled"
                : entry.state === "Indeterminate" && idempotent
                ? "Claimed"
                : entry.state
              const result = yield* Effect.provideService(ledger.claim(claim), Scope.Scope, scope)
              assert.strictEqual(result._tag, expected, where())
              if (result._tag === "Settled") {
                assert.deepStrictEqual(
                  result.outcome,
                  outcomeOf((entry!.state as { outcome: number }).outcome),
                  where()
                )
              }
              if (expected === "Claimed") {
                entries.set(approval, {
                  call,
                  owner: claims.length,
                  state: "Running",
                  expiresAt: expiresAt ?? Number.POSITIVE_INFINITY
                })
              }
              claims.push({ claim, approval, scope })
              break
            }
            default: {
              const index = claims.length - 1 - one.ago
              const made = claims[index]
              if (made?.scope === undefined) break
              const entry = entries.get(made.approval)
              const isOwner = entry?.owner === index && entry.state === "Running"
              if (one._tag === "close") {
                yield* Scope.close(made.scope, Exit.void)
                made.scope = undefined
                if (isOwner) entries.set(made.approval, { ...entry, state: "Indeterminate" })
              } else if (isOwner) {
                yield* ledger.settle(made.claim, outcomeOf(one.outcome))
                entries.set(made.approval, { ...entry, state: { outcome: one.outcome } })
              }
            }
          }
        }
        for (const { scope } of claims) if (scope !== undefined) yield* Scope.close(scope, Exit.void)
      }).pipe(Effect.provide(make())),
    { arbitrary: { runs: 300 } }
  )

const outcomeOf = (value: number): Outcome => ({ output: { type: "json", value }, value })
