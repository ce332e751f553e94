/**
 * A Worker whose approvals count once by a Durable Object. `POST /<approvals>` runs for each, one after the other, a tool that calls
 * the service `TOOL`, and answers with what the ledger said; `GET /<approvals>` says what the ledger knows.
 */
import {
  ApprovalLedger,
  type Claim,
  type ClaimResult,
  type FindResult,
  type LedgerUnavailable
} from "@countersign/core/ApprovalLedger"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as DurableObjectStore from "@countersign/platform-workers/DurableObjectStore"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { env } from "cloudflare:workers"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"

export { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"

const tool = env["TOOL"] as { fetch(url: string): Promise<{ readonly text: () => Promise<string> }> }

const runtime = ManagedRuntime.make(
  DurableLedger.layer({ lease: "1 second", clockTolerance: 0 }).pipe(
    Layer.provide(
      [
        DurableObjectStore.layer({ namespace: env["COUNTERSIGN"] as DurableObjectStore.NamespaceLike }),
        WebCrypto.layer
      ]
    )
  )
)

const claimOf = (approvalId: string): Claim => ({
  approvalId,
  callDigest: "the call",
  expiresAt: undefined,
  idempotent: false
})

const run = (approval: string) =>
  Effect.scoped(Effect.gen(function*() {
    const ledger = yield* ApprovalLedger
    const claim = claimOf(approval)
    const claimed = yield* ledger.claim(claim)
    if (claimed._tag !== "Claimed") return claimed
    const value = yield* Effect.promise(async () => (await tool.fetch(`http://tool/${approval}`)).text())
    yield* ledger.settle(claim, { output: { type: "text", value } })
    return claimed
  }))

const find = (approval: string) => Effect.flatMap(ApprovalLedger, (ledger) => ledger.find(claimOf(approval)))

export default {
  async fetch({ method, url }: { readonly method: string; readonly url: string }): Promise<object> {
    const approvals = new URL(url).pathname.slice(1).split(",")
    const program: Effect.Effect<ReadonlyArray<ClaimResult | FindResult>, LedgerUnavailable, ApprovalLedger> =
      method === "POST" ? Effect.forEach(approvals, run) : Effect.forEach(approvals, find)
    return Response.json(await runtime.runPromise(program))
  }
}
