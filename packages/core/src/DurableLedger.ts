/**
 * The `ApprovalLedger` over any `RecordStore`: shared by processes and machines, and kept through their crashes.
 *
 * | | |
 * | --- | --- |
 * | claim | atomic, by compare-and-set: of all who claim at the same time, on whichever machine, one is told `Claimed` |
 * | settle | the first outcome stays; to settle again changes nothing. While the store is away it is tried again |
 * | owner | the process that claimed. It renews its lease three times in each `lease` |
 * | lost owner | when its lease has run out, and `clockTolerance` with it, the claim is `Indeterminate` |
 * | `Indeterminate` | is not run again, unless the tool is `idempotent`; a person may `resolve` it |
 * | kept | until the approval expires, and `clockTolerance` longer; `retention` where the approval does not expire |
 * | clocks | those of two machines may differ by `clockTolerance` |
 *
 * Where clocks differ by more, a machine that is behind may take an approval for good that the ledger has forgotten.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Ledger from "./ApprovalLedger.ts"
import { Crypto } from "./Crypto.ts"
import { base64Url } from "./internal/base64Url.ts"
import * as ClaimRecord from "./internal/store/claimRecord.ts"
import { finiteMillis } from "./internal/store/finiteMillis.ts"
import { recordId } from "./internal/store/recordId.ts"
import { type Key, RecordStore, type StoredRecord, StoreUnavailable } from "./RecordStore.ts"

/**
 * - `lease`: how long a claim is `Running` after its owner was heard of last: 30 seconds if not given, at least 100 ms.
 * - `clockTolerance`: by how much the clocks of two machines may differ: 10 seconds.
 * - `retention`: how long an approval is kept that does not expire: 60 days. After that it can be used again: whoever keeps questions
 *   for longer, and resumes them, gives a longer one.
 * - `settleTimeout`: how long `settle` tries while the store is away, before it fails: 10 seconds. It goes on in the background, for as
 *   long as an hour and the layer lives, which waits for it that long when it is closed.
 *
 * A time that is not finite is a defect when the layer is built.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly lease?: Duration.Input | undefined
  readonly clockTolerance?: Duration.Input | undefined
  readonly retention?: Duration.Input | undefined
  readonly settleTimeout?: Duration.Input | undefined
}

/** A claim that was given here. */
interface Owned {
  readonly key: Key
  readonly callDigest: string
  readonly keptUntil: number
  readonly owner: string
  /** The version that is in the store, as far as is known. */
  version: string
  isRunning: boolean
  readonly changing: Semaphore.Semaphore
}

/** What a claim is, wherever its record is. */
type Terms = Pick<Owned, "callDigest" | "keptUntil" | "owner">

const collection = "claims"

const unavailable = ({ reason }: { readonly reason: string }) => new Ledger.LedgerUnavailable({ reason })

/** For an hour, and then no more: whoever has gone without the store for so long looks after it. */
const untilItIsBack = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")]).pipe(
  Schedule.upTo({ duration: "1 hour" })
)

/** What stands for an outcome that is no JSON, or nests too deep for it: the call has run, and is not to be run again. */
const unkeepable: Ledger.Outcome = {
  output: { type: "error-text", value: "The tool ran, and its result could not be kept." }
}

const noJson = "the outcome is no JSON, or nests too deep to be kept"

const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Ledger.ApprovalLedger["Service"], never, RecordStore | Crypto | Scope.Scope> {
  const store = yield* RecordStore
  const crypto = yield* Crypto
  const lease = finiteMillis("lease", options.lease ?? "30 seconds", 100)
  const tolerance = finiteMillis("clockTolerance", options.clockTolerance ?? "10 seconds", 0)
  const retention = finiteMillis("retention", options.retention ?? "60 days", 1_000)
  const settleTimeout = finiteMillis("settleTimeout", options.settleTimeout ?? "10 seconds", 0)
  // By what was asked, so that two claims of one approval in this process are told apart.
  const owned = new WeakMap<Ledger.Claim, Owned>()
  const latest = new Map<string, Owned>()
  /** What has to be written before the layer is closed. */
  const pending = new Set<Fiber.Fiber<unknown, unknown>>()
  let isClosed = false
  let versions = 0
  const versionOf = (owner: string): string => `${owner}.${++versions}`

  const background = yield* Scope.make()
  yield* Effect.addFinalizer((exit) =>
    Effect.suspend(() => {
      isClosed = true
      return Effect.forEach(pending, Fiber.await, { concurrency: "unbounded", discard: true })
    }).pipe(
      Effect.timeoutOption(settleTimeout),
      Effect.andThen(Scope.close(background, exit))
    )
  )
  const inBackground = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Fiber.Fiber<A, E>> =>
    Effect.tap(Effect.forkIn(Effect.interruptible(effect), background), (fiber) =>
      Effect.sync(() => {
        pending.add(fiber)
        fiber.addObserver(() => pending.delete(fiber))
      }))

  const keyOf = (claim: Ledger.Claim): Effect.Effect<Key> =>
    Effect.map(Effect.provideService(recordId(claim.approvalId), Crypto, crypto), (id) => ({ collection, id }))

  const write = (
    key: Key,
    expected: string | undefined,
    version: string,
    record: ClaimRecord.ClaimRecord,
    now: number
  ): Effect.Effect<boolean, StoreUnavailable> => {
    const value = ClaimRecord.encode(record)
    if (Option.isNone(value)) {
      return Effect.fail(new StoreUnavailable({ reason: "the outcome, or the time of the claim, is no JSON" }))
    }
    // What runs is kept as well when its approval has expired.
    const keptUntil = record.state._tag === "Running"
      ? Math.max(record.keptUntil, record.state.leasedUntil + tolerance)
      : record.keptUntil
    return store.set(key, { value: value.value, expected, version, tag: record.state._tag, ttlMillis: keptUntil - now })
  }

  const recordOf = ({ callDigest, keptUntil }: Terms, state: ClaimRecord.ClaimRecord["state"]) => ({
    callDigest,
    keptUntil,
    state
  })

  const running = (terms: Terms, now: number): ClaimRecord.ClaimRecord =>
    recordOf(terms, { _tag: "Running", owner: terms.owner, leasedUntil: now + lease })

  const abandoned = (terms: Terms): ClaimRecord.ClaimRecord => recordOf(terms, { _tag: "Abandoned" })

  const settledWith = (terms: Terms, outcome: Ledger.Outcome): ClaimRecord.ClaimRecord =>
    recordOf(terms, { _tag: "Settled", outcome })

  const decode = (found: StoredRecord): Effect.Effect<ClaimRecord.ClaimRecord, StoreUnavailable> =>
    Option.match(ClaimRecord.decode(found.value), {
      onNone: () => Effect.fail(new StoreUnavailable({ reason: "the record of this approval is corrupt, restore it" })),
      onSome: Effect.succeed
    })

  const stateOf = (record: ClaimRecord.ClaimRecord, callDigest: string, now: number): Ledger.ClaimState => {
    if (record.callDigest !== callDigest) return { _tag: "Mismatch" }
    if (record.state._tag === "Settled") return record.state
    const isRunning = record.state._tag === "Running" && record.state.leasedUntil + tolerance > now
    return { _tag: isRunning ? "Running" : "Indeterminate" }
  }

  const look = Effect.fnUntraced(function*(key: Key, callDigest: string) {
    const found = yield* store.get(key)
    if (found === undefined) return undefined
    const record = yield* decode(found)
    return { record, version: found.version, state: stateOf(record, callDigest, yield* Clock.currentTimeMillis) }
  })

  /** `true` where the claim is given. */
  const take = Effect.fnUntraced(function*(claim: Ledger.Claim, key: Key, wanted: Terms) {
    let expected: string | undefined
    for (let attempt = 0; attempt < 100; attempt++) {
      const now = yield* Clock.currentTimeMillis
      const taken = write(key, expected, wanted.owner, running(wanted, now), now)
      if (yield* Effect.tapError(taken, () => giveUp(key, wanted, expected))) return true
      const found = yield* look(key, claim.callDigest)
      if (found !== undefined && !(found.state._tag === "Indeterminate" && claim.idempotent)) return found.state
      expected = found?.version
    }
    return yield* new StoreUnavailable({ reason: "others change the record of this approval all the time" })
  })

  /** Where it is not known whether a claim was written. Nothing ran for it: what was there before it is there again. */
  const giveUp = (key: Key, claim: Terms, replaced: string | undefined) =>
    inBackground(Effect.retry(
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        write(
          key,
          claim.owner,
          versionOf(claim.owner),
          replaced === undefined ? { ...abandoned(claim), keptUntil: now } : abandoned(claim),
          now
        )),
      untilItIsBack
    ))

  /**
   * Changes the record of a claim that this process owns. `false`: it is no longer the owner. Sent again with the same version after an
   * answer was lost, it finds that it has been done.
   */
  const change = (
    claim: Owned,
    version: string,
    isMeant: () => boolean,
    record: (now: number) => ClaimRecord.ClaimRecord
  ): Effect.Effect<boolean, StoreUnavailable> =>
    claim.changing.withPermits(1)(changeAlone(claim, version, isMeant, record))

  const changeAlone = Effect.fnUntraced(function*(
    claim: Owned,
    version: string,
    isMeant: () => boolean,
    record: (now: number) => ClaimRecord.ClaimRecord
  ) {
    while (isMeant()) {
      const now = yield* Clock.currentTimeMillis
      if (yield* write(claim.key, claim.version, version, record(now), now)) {
        claim.version = version
        return true
      }
      // An earlier change may have been made of which the answer was lost, or not awaited.
      const found = yield* look(claim.key, claim.callDigest)
      const state = found?.record.state
      if (state?._tag !== "Running" || state.owner !== claim.owner || found!.version === claim.version) return false
      claim.version = found!.version
    }
    return false
  })

  const renew = (claim: Owned) =>
    Effect.suspend(() => change(claim, versionOf(claim.owner), () => claim.isRunning, (now) => running(claim, now)))
      .pipe(
        Effect.delay(lease / 3),
        Effect.ignore,
        Effect.repeat({ while: () => claim.isRunning })
      )

  const abandon = (claim: Owned): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!claim.isRunning) return Effect.void
      claim.isRunning = false
      // Where the store is away, the lease runs out.
      return Effect.ignore(change(claim, versionOf(claim.owner), () => true, () => abandoned(claim)))
    })

  const claim = Effect.fnUntraced(function*(claim: Ledger.Claim) {
    if (isClosed) return yield* new StoreUnavailable({ reason: "it has been closed" })
    const { approvalId, callDigest, expiresAt } = claim
    const key = yield* keyOf(claim)
    const keptUntil = expiresAt === undefined
      ? (yield* Clock.currentTimeMillis) + retention
      : expiresAt + tolerance
    const wanted: Terms = { callDigest, keptUntil, owner: base64Url(yield* crypto.randomBytes(16)) }
    const taken = yield* take(claim, key, wanted)
    if (taken !== true) return taken
    const changing = Semaphore.makeUnsafe(1)
    const given: Owned = { ...wanted, key, version: wanted.owner, isRunning: true, changing }
    owned.set(claim, given)
    latest.set(approvalId, given)
    yield* Effect.addFinalizer(() => {
      if (latest.get(approvalId) === given) latest.delete(approvalId)
      return abandon(given)
    })
    yield* Effect.forkScoped(Effect.interruptible(renew(given)))
    return { _tag: "Claimed" } as const
  })

  const settle = Effect.fnUntraced(function*(claim: Ledger.Claim, outcome: Ledger.Outcome) {
    const given = owned.get(claim) ?? latest.get(claim.approvalId)
    if (given?.callDigest !== claim.callDigest || !given.isRunning) return
    given.isRunning = false
    const settled = settledAs(given, outcome)
    const isKeepable = Option.isSome(settled)
    const record = isKeepable ? settled.value : settledWith(given, unkeepable)
    const version = versionOf(given.owner)
    let last = "it does not answer"
    const keep = change(given, version, () => true, () => record).pipe(
      Effect.tapError((error) => Effect.sync(() => last = error.reason)),
      Effect.retry(untilItIsBack)
    )
    // Whoever settles is not interrupted, and has to be able to give up all the same.
    const keeping = isClosed ? Effect.exit(keep) : Effect.flatMap(inBackground(keep), Fiber.await)
    const kept = yield* Effect.timeoutOption(Effect.interruptible(keeping), settleTimeout)
    if (Option.isNone(kept)) {
      const goesOn = isClosed ? "" : ". It is tried again in the background"
      return yield* new StoreUnavailable({ reason: `${last}${goesOn}` })
    }
    const exit = kept.value
    if (Exit.isFailure(exit)) return yield* new StoreUnavailable({ reason: last })
    if (!exit.value) {
      return yield* new StoreUnavailable({ reason: "the claim has another owner by now, or a person has resolved it" })
    }
    if (!isKeepable) {
      return yield* new StoreUnavailable({ reason: noJson })
    }
  })

  /** A copy, which its giver cannot change. None where it cannot be kept. */
  const settledAs = (claim: Terms, outcome: Ledger.Outcome): Option.Option<ClaimRecord.ClaimRecord> =>
    Option.flatMap(ClaimRecord.encode(settledWith(claim, outcome)), ClaimRecord.decode)

  const resolve = Effect.fnUntraced(function*(claim: Ledger.Claim, outcome: Ledger.Outcome) {
    const key = yield* keyOf(claim)
    const version = base64Url(yield* crypto.randomBytes(16))
    for (;;) {
      const found = yield* look(key, claim.callDigest)
      if (found === undefined) return unknown
      if (found.state._tag !== "Indeterminate") return found.state
      const now = yield* Clock.currentTimeMillis
      const settled = settledAs({ ...found.record, owner: "" }, outcome)
      if (Option.isNone(settled)) return yield* new StoreUnavailable({ reason: noJson })
      const record = settled.value
      if (yield* write(key, found.version, version, record, now)) return stateOf(record, claim.callDigest, now)
    }
  })

  return {
    claim: (asked) => Effect.uninterruptible(Effect.mapError(claim(asked), unavailable)),
    find: (asked) =>
      Effect.mapError(
        Effect.flatMap(keyOf(asked), (key) =>
          Effect.map(look(key, asked.callDigest), (found) => found?.state ?? unknown)),
        unavailable
      ),
    settle: (asked, outcome) => Effect.mapError(settle(asked, outcome), unavailable),
    resolve: (asked, outcome) => Effect.mapError(resolve(asked, outcome), unavailable)
  }
})

const unknown: Ledger.FindResult = { _tag: "Unknown" }

/**
 * The ledger.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
 * import * as Layer from "effect/Layer"
 * import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
 * import * as DurableLedger from "@countersign/core/DurableLedger"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const layer = DurableLedger.layer({ lease: "1 minute" }).pipe(
 *   Layer.provide([RecordStore.layerMemory, NodeCrypto.layer])
 * )
 * const claim = { approvalId: "a1", callDigest: "d", expiresAt: undefined, idempotent: false }
 * const program = Effect.flatMap(ApprovalLedger, (ledger) => Effect.scoped(ledger.claim(claim)))
 * await Effect.runPromise(Effect.provide(program, layer)) // => { _tag: "Claimed" }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<Ledger.ApprovalLedger, never, RecordStore | Crypto> =>
  Layer.effect(Ledger.ApprovalLedger)(make(options))
