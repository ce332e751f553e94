import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as DenoKvStore from "@countersign/platform-workers/DenoKvStore"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-kv-"))
  await writeFile(join(directory, "log"), "")
})
afterEach(() => rm(directory, { recursive: true }))

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

interface Racer {
  /** Resolves when it has settled an approval, or ends without. */
  readonly begun: Promise<void>
  readonly kill: () => void
  readonly ended: Promise<
    { readonly code: number | null; readonly settled: ReadonlyArray<string>; readonly log: string }
  >
}

/** A process of `racer.ts`. */
const start = (prefix: string, count: number): Racer => {
  const child = spawn(
    process.execPath,
    [
      "run",
      "-A",
      "--unstable-kv",
      "--no-remote",
      "--cached-only",
      join(import.meta.dirname, "racer.ts"),
      join(directory, "kv.db"),
      join(directory, "log"),
      prefix,
      String(count)
    ],
    { stdio: ["ignore", "pipe", "pipe"] }
  )
  let output = ""
  let log = ""
  child.stdout.setEncoding("utf8").on("data", (chunk) => output += chunk)
  child.stderr.setEncoding("utf8").on("data", (chunk) => log += chunk)
  return {
    begun: new Promise((done) => child.stdout.once("data", () => done()).once("close", done)),
    kill: () => child.kill("SIGKILL"),
    ended: new Promise((done) => child.once("close", (code) => done({ code, settled: lines(output), log })))
  }
}

const executions = async (): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>()
  for (const line of lines(await readFile(join(directory, "log"), "utf8"))) {
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return counts
}

/** What the ledger in the file knows. */
const find = (approvals: ReadonlyArray<string>): Promise<ReadonlyArray<ApprovalLedger.FindResult>> =>
  Effect.runPromise(
    Effect.flatMap(ApprovalLedger.ApprovalLedger, (ledger) =>
      Effect.forEach(approvals, (approvalId) =>
        ledger.find({ approvalId, callDigest: "the call", expiresAt: undefined, idempotent: false }))).pipe(
        Effect.provide(
          DurableLedger.layer({ lease: "1 second", clockTolerance: 0 }).pipe(
            Layer.provide([DenoKvStore.layer({ path: join(directory, "kv.db") }), WebCrypto.layer])
          )
        )
      )
  )

const settled = (approval: string): ApprovalLedger.FindResult => ({
  _tag: "Settled",
  outcome: { output: { type: "text", value: approval } }
})

describe("processes on one file of Deno KV", () => {
  it("run each of 300 approvals once", { timeout: 120_000 }, async () => {
    const racers = await Promise.all([1, 2, 3].map(() => start("race", 300).ended))
    for (const { code, log } of racers) assert.strictEqual(code, 0, log)
    const approvals = Array.from({ length: 300 }, (_, index) => `race-${index}`)
    assert.deepStrictEqual(await executions(), new Map(approvals.map((approval) => [approval, 1])))
    assert.deepStrictEqual(await find(approvals), approvals.map(settled))
  })

  it("run nothing twice and lose no outcome when they are killed", { timeout: 120_000 }, async () => {
    const answered = new Set<string>()
    const approvals: Array<string> = []
    for (let round = 0; round < 5; round++) {
      const prefix = `kill-${round}`
      approvals.push(...Array.from({ length: 300 }, (_, index) => `${prefix}-${index}`))
      const racers = [start(prefix, 300), start(prefix, 300)]
      await Promise.race(racers.map(({ begun }) => begun))
      await new Promise((done) => setTimeout(done, 30 * round))
      for (const { kill } of racers) kill()
      for (const { ended } of racers) (await ended).settled.forEach((approval) => answered.add(approval))
    }
    // The leases of the last owners run out.
    await new Promise((done) => setTimeout(done, 1_100))
    const counts = await executions()
    const found = await find(approvals)
    assert.isNotEmpty([...answered])
    for (const [index, approval] of approvals.entries()) {
      const { _tag } = found[index]!
      assert.isAtMost(counts.get(approval) ?? 0, _tag === "Unknown" ? 0 : 1, approval)
      if (answered.has(approval)) assert.deepStrictEqual(found[index], settled(approval))
      else assert.include(["Settled", "Indeterminate", "Unknown"], _tag)
    }
  })
})
