/** The inbox of a small company: who is who, who may see which question, and who may answer it. */
import * as ApprovalId from "@countersign/core/ApprovalId"
import * as Approvals from "@countersign/core/Approvals"
import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import { Crypto } from "@countersign/core/Crypto"
import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** In your program: the sessions of your sign-in. */
const sessions = new Map([
  ["token-of-the-manager", "manager"],
  ["token-of-the-clerk", "clerk"]
])

export const authentication = ApprovalsApi.layerAuthentication((token) =>
  Effect.succeed(sessions.get(Redacted.value(token)))
)

/** The clerk sees what the manager is asked. Only who was asked may say yes or no. */
const authority = Layer.effect(Approvals.ApprovalAuthority)(Effect.map(Crypto, (crypto) => ({
  maySee: (approver) => Effect.succeed(approver === "manager" || approver === "clerk"),
  mayAnswer: (approver, { approvalRequest: { approvalId, inputSchemaInput } }) => {
    const claims = ApprovalId.parse(approvalId)
    return claims._tag === "Claims"
      ? Effect.provideService(ApprovalId.isFor(claims, approver, inputSchemaInput), Crypto, crypto)
      : Effect.succeed(false)
  }
})))

const signer = ApprovalSigner.layer({ secrets: [Redacted.make("use 32 random bytes from your configuration")] })

/** Inbox and ledger are in one SQLite file. */
export const services = Layer.mergeAll(signer, Layer.provide(Approvals.layer(), authority)).pipe(
  Layer.provideMerge(NodeCountersign.layer)
)
