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
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Ledger from "./ApprovalLedger.ts"
import { Crypto } from "./Crypto.ts"
import { base64Url } from "./internal/base64Url.ts"
import { copyPlain } from "./internal/copyPlain.ts"
import * as ClaimRecord from "./internal/store/claimRecord.ts"
import { recordId } from "./internal/store/recordId.ts"
import { type Key, RecordStore, type StoredRecord, StoreUnavailable } from "./RecordStore.ts"

/**
 * - `lease`: how long a claim is `Running` after its owner was heard of last: 30 seconds if not given.
 * - `clockTolerance`: by how much the clocks of two machines may differ: 10 seconds.
 * - `retention`: how long an approval is kept that does not expire: 30 days.
 * - `settleTimeout`: how long `settle` tries while the store is away, before it fails: 10 seconds. It goes on in the background, for as
 *   long as an hour.
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

/** A claim that was given to this process. */
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

const collection = "claims"

const unavailable = ({ reason }: { readonly reason: string }) => new Ledger.LedgerUnavailable({ reason })

/** For an hour, and then no more: whoever has gone without the store for so long looks after it. */
const untilItIsBack = Schedule.min([Schedule.exponential("50 millis"), Schedule.spaced("2 seconds")]).pipe(
  Schedule.upTo({ duration: "1 hour" })
)

const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Ledger.ApprovalLedger["Service"], never, RecordStore | Crypto | Scope.Scope> {
  const store = yield* RecordStore
  const crypto = yield* Crypto
  const layerScope = yield* Effect.scope
  const lease = Duration.toMillis(options.lease ?? "30 seconds")
  const tolerance = Duration.toMillis(options.clockTolerance ?? "10 seconds")
  const retention = Duration.toMillis(options.retention ?? "30 days")
  const settleTimeout = options.settleTimeout ?? "10 seconds"
  const owned = new Map<string, Owned>()
  const instance = base64Url(yield* crypto.randomBytes(16))
  let versions = 0
  const newVersion = (): string => `${instance}.${++versions}`

  const inBackground = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkIn(Effect.interruptible(effect), layerScope)

  const keyOf = (claim: Ledger.Claim): Effect.Effect<Key> =>
    Effect.map(Effect.provideService(recordId(claim.approvalId), Crypto, crypto), (id) => ({ collection, id }))

  const write = (
    key: Key,
    expected: string | undefined,
    version: string,
    record: ClaimRecord.ClaimRecord,
    now: number
  ): Effect.Effect<boolean, StoreUnavailable> => {
    // What runs is kept as well when its approval has expired.
    const keptUntil = record.state._tag === "Running"
      ? Math.max(record.keptUntil, record.state.leasedUntil + tolerance)
      : record.keptUntil
    const { _tag: tag } = record.state
    return store.set(key, { value: ClaimRecord.encode(record), expected, version, tag, ttlMillis: keptUntil - now })
  }

  const running = (
    { callDigest, keptUntil, owner }: Pick<Owned, "callDigest" | "keptUntil" | "owner">,
    now: number
  ): ClaimRecord.ClaimRecord => ({
    callDigest,
    keptUntil,
    state: { _tag: "Running", owner, leasedUntil: now + lease }
  })

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

  const take = Effect.fnUntraced(function*(claim: Ledger.Claim, key: Key, owner: string) {
    const now = yield* Clock.currentTimeMillis
    const keptUntil = claim.expiresAt === undefined ? now + retention : claim.expiresAt + tolerance
    const { callDigest } = claim
    const record = running({ callDigest, keptUntil, owner }, now)
    let expected: string | undefined
    for (let attempt = 0; attempt < 100; attempt++) {
      if (yield* write(key, expected, owner, record, now)) return { _tag: "Claimed", keptUntil } as const
      const found = yield* look(key, callDigest)
      if (found !== undefined && !(found.state._tag === "Indeterminate" && claim.idempotent)) return found.state
      expected = found?.version
    }
    return yield* new StoreUnavailable({ reason: "others change the record of this approval all the time" })
  })

  /** Where it is not known whether a claim was written: nothing ran for it, so that it has to go. */
  const release = (key: Key, owner: string) =>
    inBackground(Effect.retry(
      Effect.suspend(() =>
        store.set(key, { value: "", expected: owner, version: newVersion(), tag: "Released", ttlMillis: 0 })
      ),
      untilItIsBack
    ))

  /** Changes the record of a claim that this process owns. `false`: it is no longer the owner. */
  const change = (
    claim: Owned,
    isMeant: () => boolean,
    record: (now: number) => ClaimRecord.ClaimRecord
  ): Effect.Effect<boolean, StoreUnavailable> => claim.changing.withPermits(1)(changeAlone(claim, isMeant, record))

  const changeAlone = Effect.fnUntraced(function*(
    claim: Owned,
    isMeant: () => boolean,
    record: (now: number) => ClaimRecord.ClaimRecord
  ) {
    while (isMeant()) {
      const now = yield* Clock.currentTimeMillis
      const version = newVersion()
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
    Effect.repeat(
      Effect.ignore(
        Effect.delay(change(claim, () => claim.isRunning, (now) => running(claim, now)), lease / 3)
      ),
      { while: () => claim.isRunning }
    )

  const abandon = (claim: Owned): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!claim.isRunning) return Effect.void
      claim.isRunning = false
      const { callDigest, keptUntil } = claim
      // Where the store is away, the lease runs out.
      return Effect.ignore(change(claim, () => true, () => ({ callDigest, keptUntil, state: { _tag: "Abandoned" } })))
    })

  const claim = Effect.fnUntraced(function*(claim: Ledger.Claim) {
    const { approvalId, callDigest } = claim
    const key = yield* keyOf(claim)
    const owner = newVersion()
    const taken = yield* Effect.tapError(take(claim, key, owner), () => release(key, owner))
    if (taken._tag !== "Claimed") return taken
    const changing = Semaphore.makeUnsafe(1)
    const { keptUntil } = taken
    const given: Owned = { key, callDigest, keptUntil, owner, version: owner, isRunning: true, changing }
    owned.set(approvalId, given)
    yield* Effect.addFinalizer(() => {
      if (owned.get(approvalId) === given) owned.delete(approvalId)
      return abandon(given)
    })
    yield* Effect.forkScoped(Effect.interruptible(renew(given)))
    return { _tag: "Claimed" } as const
  })

  const settle = Effect.fnUntraced(function*({ approvalId, callDigest }: Ledger.Claim, outcome: Ledger.Outcome) {
    const given = owned.get(approvalId)
    if (given?.callDigest !== callDigest || !given.isRunning) return
    given.isRunning = false
    const record: ClaimRecord.ClaimRecord = {
      callDigest,
      keptUntil: given.keptUntil,
      state: { _tag: "Settled", outcome: copyPlain(outcome) as Ledger.Outcome }
    }
    let last = "it does not answer"
    const kept = yield* inBackground(
      change(given, () => true, () => record).pipe(
        Effect.tapError((error) => Effect.sync(() => last = error.reason)),
        Effect.retry(untilItIsBack)
      )
    )
    // Whoever settles is not interrupted, and has to be able to give up all the same.
    const isKept = yield* Effect.interruptible(Fiber.join(kept)).pipe(
      Effect.timeoutOrElse({
        duration: settleTimeout,
        orElse: () => Effect.fail(new StoreUnavailable({ reason: `${last}. It is tried again in the background` }))
      })
    )
    if (!isKept) {
      return yield* new StoreUnavailable({ reason: "the claim has another owner by now, or a person has resolved it" })
    }
  })

  const resolve = Effect.fnUntraced(function*(claim: Ledger.Claim, outcome: Ledger.Outcome) {
    const key = yield* keyOf(claim)
    const settled: ClaimRecord.ClaimRecord["state"] = { _tag: "Settled", outcome: copyPlain(outcome) as Ledger.Outcome }
    for (;;) {
      const found = yield* look(key, claim.callDigest)
      if (found === undefined) return unknown
      if (found.state._tag !== "Indeterminate") return found.state
      const now = yield* Clock.currentTimeMillis
      const record = { ...found.record, state: settled }
      if (yield* write(key, found.version, newVersion(), record, now)) return stateOf(record, claim.callDigest, now)
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
