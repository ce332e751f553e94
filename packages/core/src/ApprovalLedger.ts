/**
 * The service that makes an approval count once: it is claimed before its call is executed, and settled with the outcome after. A
 * person's no is claimed and settled as well, with the outcome that nothing was run.
 *
 * ```text
 *              claim                       settle
 *   unknown ───────────▶ running ────────────────────────▶ settled, until the approval expires
 *                         │   ▲                              ▲
 *   the owner ended       │   │ claim, idempotent            │
 *   without settling      ▼   │                              │
 *                     indeterminate ─────── resolve ─────────┘
 * ```
 *
 * The owner of a claim is the scope in which it was made. A scope that closes without a settlement leaves the claim
 * `Indeterminate`: the process was interrupted, or crashed, and nobody knows whether the tool had its effect. A person who finds out
 * says so with `resolve`.
 *
 * A ledger is shared by all who may resume an approval. {@link layerMemory} is for one process; `DurableLedger` is for several, and
 * outlives them.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { copyPlain } from "./internal/copyPlain.ts"
import { printable } from "./internal/printable.ts"
import type { ToolResultOutput } from "./Message.ts"
import type * as Tool from "./Tool.ts"

/**
 * What an execution came to, as JSON: `output` is for the model; `value` is what the tool gave, for a page, absent where it
 * failed; `usage` is what it used up.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly output: ToolResultOutput
  readonly value?: unknown
  readonly usage?: Tool.Usage
}

/**
 * What is claimed.
 *
 * - `callDigest` stands for the call and the input that was approved. A claim for another call than the first is a `Mismatch`.
 * - `expiresAt`, in milliseconds since 1970: until then the claim is kept. `undefined` for an approval that does not expire, which is
 *   kept as long as the ledger says.
 * - `idempotent`: may be claimed again where it is not known how the first execution ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly approvalId: string
  readonly callDigest: string
  readonly expiresAt: number | undefined
  readonly idempotent: boolean
}

/**
 * What became of a claim.
 *
 * - `Running`: its owner is at it. `Indeterminate`: its owner ended without settling it.
 * - `Mismatch`: it was made for another call.
 * - `Settled`: what came of it.
 *
 * @category models
 * @since 0.1.0
 */
export type ClaimState =
  | { readonly _tag: "Running" | "Indeterminate" | "Mismatch" }
  | { readonly _tag: "Settled"; readonly outcome: Outcome }

/**
 * The answer to a claim. Only `Claimed` allows the execution.
 *
 * @category models
 * @since 0.1.0
 */
export type ClaimResult = { readonly _tag: "Claimed" } | ClaimState

/**
 * What is known of a claim. `Unknown`: nothing.
 *
 * @category models
 * @since 0.1.0
 */
export type FindResult = { readonly _tag: "Unknown" } | ClaimState

/**
 * The ledger cannot be reached, or cannot be written. `reason` says why. Where a claim fails with it, its call is not run. Where a
 * settlement fails with it, the call has run.
 *
 * @example
 * ```ts
 * import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
 *
 * const error = new ApprovalLedger.LedgerUnavailable({ reason: "the disk is full" })
 * error.message // => "The approval ledger is unavailable: the disk is full. What could not be claimed was not run: resume again later. What could not be settled has run: keep its result."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class LedgerUnavailable extends // Pure, so that a program whose ledger cannot fail does not bundle it.
/* @__PURE__ */ (Schema.TaggedError<LedgerUnavailable>("@countersign/core/ApprovalLedger/LedgerUnavailable")(
  "LedgerUnavailable",
  { reason: Schema.String }
)) {
  override get message(): string {
    return `The approval ledger is unavailable: ${
      printable(this.reason, 500)
    }. What could not be claimed was not run: resume again later. What could not be settled has run: keep its result.`
  }
}

/**
 * The service.
 *
 * A ledger ends each of its functions in bounded time, `settle` above all: it is not interrupted. One that several machines share keeps
 * an entry longer than its approval stands, by as much as their clocks may disagree.
 *
 * - `claim` is atomic: of all who claim an approval at the same time, one is told `Claimed`. The claim is owned until the scope
 *   closes.
 * - `find` says what a claim would find, and claims nothing.
 * - `settle` keeps the outcome of a claim. The first outcome stays; to settle again changes nothing. It is for the owner, while
 *   its scope is open.
 * - `resolve` is for a person who has found out how an `Indeterminate` claim ended: it keeps the outcome, and every later claim is
 *   answered with it. It changes nothing else, and says what is known then. `Approval.claimOf` gives the claim.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
 * import * as Ledger from "@countersign/core/ApprovalLedger"
 *
 * const claim = { approvalId: "a1", callDigest: "d", expiresAt: undefined, idempotent: false }
 * const program = Effect.gen(function*() {
 *   const ledger = yield* ApprovalLedger
 *   const pay = Effect.scoped(Effect.gen(function*() {
 *     const claimed = yield* ledger.claim(claim)
 *     if (claimed._tag === "Claimed") yield* ledger.settle(claim, { output: { type: "text", value: "paid" } })
 *     return claimed._tag
 *   }))
 *   return [yield* pay, yield* pay]
 * })
 * Effect.runSync(Effect.provide(program, Ledger.layerMemory())) // => ["Claimed", "Settled"]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class ApprovalLedger extends Context.Service<ApprovalLedger, {
  readonly claim: (claim: Claim) => Effect.Effect<ClaimResult, LedgerUnavailable, Scope.Scope>
  readonly find: (claim: Claim) => Effect.Effect<FindResult, LedgerUnavailable>
  readonly settle: (claim: Claim, outcome: Outcome) => Effect.Effect<void, LedgerUnavailable>
  readonly resolve: (claim: Claim, outcome: Outcome) => Effect.Effect<FindResult, LedgerUnavailable>
}>()("@countersign/core/ApprovalLedger") {}

/**
 * A ledger in the memory of this process. It is lost with the process, and knows nothing of another one: use it for one server
 * process, or in tests.
 *
 * An entry is kept until its approval expires, and one of an approval that does not expire for `retention`: 30 days if not given.
 *
 * @example
 * ```ts
 * import * as Layer from "effect/Layer"
 * import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
 *
 * const layer = ApprovalLedger.layerMemory({ retention: "7 days" })
 * Layer.isLayer(layer) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (
  options: { readonly retention?: Duration.Input | undefined } = {}
): Layer.Layer<ApprovalLedger> => {
  const retention = Duration.toMillis(options.retention ?? "30 days")
  return Layer.effect(ApprovalLedger)(Effect.sync(() => {
    const entries = new Map<string, { callDigest: string; keptUntil: number; state: ClaimState }>()
    // Entries of approvals that have expired are looked for when there are twice as many as after the last look.
    let sweepAt = 0

    const isOver = (entry: { readonly keptUntil: number; readonly state: ClaimState }, now: number): boolean =>
      entry.keptUntil <= now && entry.state._tag !== "Running"

    const sweep = (now: number): void => {
      if (entries.size < sweepAt) return
      for (const [approvalId, entry] of entries) if (isOver(entry, now)) entries.delete(approvalId)
      sweepAt = 2 * entries.size
    }

    const find = ({ approvalId, callDigest }: Claim, now: number): FindResult => {
      const entry = entries.get(approvalId)
      if (entry === undefined || isOver(entry, now)) return { _tag: "Unknown" }
      return entry.callDigest === callDigest ? copyPlain(entry.state) as ClaimState : { _tag: "Mismatch" }
    }

    const take = (claim: Claim, now: number): ClaimResult => {
      const found = find(claim, now)
      if (found._tag !== "Unknown" && !(found._tag === "Indeterminate" && claim.idempotent)) return found
      sweep(now)
      entries.set(claim.approvalId, {
        callDigest: claim.callDigest,
        keptUntil: claim.expiresAt ?? now + retention,
        state: { _tag: "Running" }
      })
      return { _tag: "Claimed" }
    }

    const settled = (outcome: Outcome): ClaimState => ({ _tag: "Settled", outcome: copyPlain(outcome) as Outcome })

    const abandon = (entry: { state: ClaimState } | undefined): void => {
      if (entry?.state._tag === "Running") entry.state = { _tag: "Indeterminate" }
    }

    return {
      claim: (claim) =>
        Effect.uninterruptible(
          Effect.flatMap(Clock.currentTimeMillis, (now): Effect.Effect<ClaimResult, never, Scope.Scope> => {
            const result = take(claim, now)
            if (result._tag !== "Claimed") return Effect.succeed(result)
            // The entry itself: by the time the scope closes, another may have the ID.
            const owned = entries.get(claim.approvalId)
            return Effect.as(Effect.addFinalizer(() => Effect.sync(() => abandon(owned))), result)
          })
        ),
      find: (claim) => Effect.map(Clock.currentTimeMillis, (now) => find(claim, now)),
      settle: ({ approvalId, callDigest }, outcome) =>
        Effect.sync(() => {
          const entry = entries.get(approvalId)
          if (entry?.state._tag === "Running" && entry.callDigest === callDigest) {
            entry.state = settled(outcome)
          }
        }),
      resolve: (claim, outcome) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (find(claim, now)._tag === "Indeterminate") entries.get(claim.approvalId)!.state = settled(outcome)
          return find(claim, now)
        })
    }
  }))
}
