/** What Countersign needs, built once in each isolate. */
import * as ApprovalId from "@countersign/core/ApprovalId"
import * as Approvals from "@countersign/core/Approvals"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import { Crypto } from "@countersign/core/Crypto"
import * as DurableObjectStore from "@countersign/platform-workers/DurableObjectStore"
import * as WorkersCountersign from "@countersign/platform-workers/WorkersCountersign"
import { env } from "cloudflare:workers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"

// All isolates ask the same Durable Object: an approval counts once, wherever it is resumed.
const store = DurableObjectStore.layer({ namespace: env.COUNTERSIGN })
const platform = WorkersCountersign.layerStore(store, { lease: "10 seconds", clockTolerance: "2 seconds" })
const signer = ApprovalSigner.layer({ secrets: [Redacted.make(env.APPROVAL_SECRET)] })

/** A question is for the one person who was asked. */
const authority = Layer.effect(Approvals.ApprovalAuthority)(Effect.map(Crypto, (crypto) => ({
  maySee: (approver, { approvalRequest: { approvalId, inputSchemaInput } }) => {
    const claims = ApprovalId.parse(approvalId)
    return claims._tag === "Claims"
      ? Effect.provideService(ApprovalId.isFor(claims, approver, inputSchemaInput), Crypto, crypto)
      : Effect.succeed(false)
  },
  mayAnswer: () => Effect.succeed(true)
})))
const inbox = Layer.provide(Approvals.layer(), authority)

export const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.merge(signer, inbox), platform))
