import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as ApprovalId from "../../ApprovalId.ts"
import {
  ApprovalLedger,
  type Claim,
  type ClaimResult,
  type LedgerUnavailable,
  type Outcome
} from "../../ApprovalLedger.ts"
import * as CanonicalJson from "../../CanonicalJson.ts"
import type { Crypto } from "../../Crypto.ts"

/** @internal */
export type Used =
  | {
    readonly _tag: "Ran"
    readonly outcome: Outcome
    readonly isReplayed: boolean
    readonly unsettled: LedgerUnavailable | undefined
  }
  | { readonly _tag: "Expired"; readonly expiredAt: number }
  | { readonly _tag: Exclude<ClaimResult["_tag"], "Claimed" | "Settled"> }

/**
 * Claims an approval, runs its call and settles the claim with the outcome; or gives what is known of an earlier run.
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
  run: Effect.Effect<Outcome, never, R>
): Effect.fn.Return<Used, LedgerUnavailable, ApprovalLedger | Crypto | R> {
  const { approvalId, idempotent, input, toolCallId, toolName } = approval
  const claims = ApprovalId.parse(approvalId)
  const claim: Claim = {
    approvalId,
    callDigest: yield* CanonicalJson.digest([toolCallId, toolName, input]),
    expiresAt: claims._tag === "Claims" ? claims.expiresAt : undefined,
    idempotent
  }
  const ledger = yield* ApprovalLedger
  // Between the end of the run and its settlement nothing may interrupt: the outcome would be lost.
  return yield* Effect.scoped(Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
    const claimed = yield* restore(ledger.claim(claim))
    if (claimed._tag === "Settled") {
      return { _tag: "Ran", outcome: claimed.outcome, isReplayed: true, unsettled: undefined } as const
    }
    if (claimed._tag !== "Claimed") return { _tag: claimed._tag }
    // It may have waited for its turn: what has expired since is not run, nor what the ledger has forgotten.
    const expiredAt = claim.expiresAt ?? Infinity
    if ((yield* Clock.currentTimeMillis) >= expiredAt) return { _tag: "Expired", expiredAt } as const
    const outcome = yield* restore(run)
    // The call has run: an outcome that the ledger cannot keep still answers it.
    const unsettled = yield* Effect.match(ledger.settle(claim, outcome), {
      onFailure: (error) => error,
      onSuccess: () => undefined
    })
    return { _tag: "Ran", outcome, isReplayed: false, unsettled } as const
  })))
})
