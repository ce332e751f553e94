import * as Effect from "effect/Effect"
import * as ApprovalId from "../../ApprovalId.ts"
import type { Claim } from "../../ApprovalLedger.ts"
import * as CanonicalJson from "../../CanonicalJson.ts"
import type { Crypto } from "../../Crypto.ts"

/**
 * What is claimed of the ledger before an approved call runs.
 *
 * @internal
 */
export const claimOfCall = Effect.fnUntraced(function*(
  { approvalId, idempotent, input, toolCallId, toolName }: {
    readonly approvalId: string
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
    readonly idempotent: boolean
  }
): Effect.fn.Return<Claim, never, Crypto> {
  const claims = ApprovalId.parse(approvalId)
  return {
    approvalId,
    callDigest: yield* CanonicalJson.digest([toolCallId, toolName, input]),
    expiresAt: claims._tag === "Claims" ? claims.expiresAt : undefined,
    idempotent
  }
})
