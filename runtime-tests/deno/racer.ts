/**
 * A process that runs a tool for each of many approvals, by a ledger in a Deno KV file: `racer.ts <file> <log> <prefix> <count>`. What
 * the tool did is a line of the log: the approval. Prints the approvals that it has settled, a line for each.
 */
import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as DenoKvStore from "@countersign/platform-workers/DenoKvStore"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { appendFileSync, writeSync } from "node:fs"

const [path, log, prefix, count] = process.argv.slice(2) as [string, string, string, string]

const layer = DurableLedger.layer({ lease: "1 second", clockTolerance: 0 }).pipe(
  Layer.provide([DenoKvStore.layer({ path }), WebCrypto.layer])
)

const run = (approvalId: string) =>
  Effect.scoped(Effect.gen(function*() {
    const ledger = yield* ApprovalLedger
    const claim = { approvalId, callDigest: "the call", expiresAt: undefined, idempotent: false }
    // Where the file was locked for too long, nothing has run: it is asked again.
    if ((yield* Effect.retry(ledger.claim(claim), { times: 5 }))._tag !== "Claimed") return
    appendFileSync(log, `${approvalId}\n`)
    yield* ledger.settle(claim, { output: { type: "text", value: approvalId } })
    writeSync(1, `${approvalId}\n`)
  }))

const approvals = Array.from({ length: Number(count) }, (_, index) => `${prefix}-${index}`)

await Effect.runPromise(Effect.provide(Effect.forEach(approvals, run, { concurrency: 10, discard: true }), layer))
