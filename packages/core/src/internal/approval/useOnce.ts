import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { ApprovalExpired } from "../../ApprovalError.ts"
import {
  ApprovalLedger,
  type ClaimResult,
  type FindResult,
  type LedgerUnavailable,
  type Outcome
} from "../../ApprovalLedger.ts"
import type { Crypto } from "../../Crypto.ts"
import { claimOfCall } from "./claimOf.ts"

/** @internal */
export type Used =
  | {
    readonly _tag: "Ran"
    readonly outcome: Outcome
    readonly isReplayed: boolean
    readonly unsettled: LedgerUnavailable | undefined
  }
  | ApprovalExpired
  | { readonly _tag: "Unknown" | "Running" | "Indeterminate" | "Mismatch" }

/**
 * Claims an approval, runs its call and settles the claim with the outcome; or gives what is known of an earlier run. Where there is
 * nothing to run, it only does the latter.
 *
 * @internal
 */
export const useOnce = Effect.fnUntraced(function*<R>(
  approval: {
    readonly approvalId: string
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
    readonly idempotent: boolean
  },
  run: Effect.Effect<Outcome, never, R> | undefined
): Effect.fn.Return<Used, LedgerUnavailable, ApprovalLedger | Crypto | R> {
  const { approvalId, toolCallId } = approval
  const claim = yield* claimOfCall(approval)
  const ledger = yield* ApprovalLedger
  const asked: Effect.Effect<ClaimResult | FindResult, LedgerUnavailable, Scope.Scope> = run === undefined
    ? ledger.find(claim)
    : ledger.claim(claim)
  // Between the end of the run and its settlement nothing may interrupt: the outcome would be lost.
  return yield* Effect.scoped(Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
    const claimed = yield* restore(asked)
    if (claimed._tag === "Settled") {
      return { _tag: "Ran", outcome: claimed.outcome, isReplayed: true, unsettled: undefined } as const
    }
    if (claimed._tag !== "Claimed" || run === undefined) {
      return { _tag: claimed._tag as FindResult["_tag"] & Used["_tag"] }
    }
    // It may have waited for its turn: what has expired since is not run, nor what the ledger has forgotten.
    const expiredAt = claim.expiresAt ?? Infinity
    if ((yield* Clock.currentTimeMillis) >= expiredAt) return new ApprovalExpired({ approvalId, toolCallId, expiredAt })
    const outcome = yield* restore(run)
    // The call has run: an outcome that the ledger cannot keep still answers it.
    const unsettled = yield* Effect.match(ledger.settle(claim, outcome), {
      onFailure: (error) => error,
      onSuccess: () => undefined
    })
    return { _tag: "Ran", outcome, isReplayed: false, unsettled } as const
  })))
})
