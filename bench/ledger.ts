/**
 * What a claim and its settlement cost on each engine: `node ledger.ts`, or `node ledger.ts --engine sqlite --claims 1000000`. With
 * `--concurrency`, how many are made at the same time, 64 if not given; the first thousand are made one after another.
 *
 * Progress is on stderr, what was measured on stdout. The outcomes are kept, so that the store grows, and the memory must not.
 */
import { ApprovalLedger, type Claim, type Outcome } from "@countersign/core/ApprovalLedger"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { argv, exit } from "node:process"
import { parseArgs } from "node:util"
import { engines, type Started } from "../runtime-tests/crash/engines.ts"
import { storeAt } from "../runtime-tests/crash/places.ts"
import { progress, progressDone } from "./progress.ts"

const alone = 1000
const outcome: Outcome = { output: { type: "text", value: "refunded 120 EUR to order 4711" } }

/** Microseconds, by the number of the claim. */
interface Times {
  readonly claim: Float64Array
  readonly settle: Float64Array
}

/** Is written once before, so that its memory is there from the start. */
const newTimes = (count: number): Times => ({
  claim: new Float64Array(count).fill(1),
  settle: new Float64Array(count).fill(1)
})

const claimAndSettle = Effect.fnUntraced(function*(times: Times, index: number) {
  const ledger = yield* ApprovalLedger
  const claim: Claim = {
    approvalId: crypto.randomUUID(),
    callDigest: "T1PNoYwrqgwDVLtfmj7L5e0Sq02OEbqHPC8RFhICuUU",
    expiresAt: undefined,
    idempotent: false
  }
  const began = performance.now()
  const { _tag } = yield* ledger.claim(claim)
  const claimed = performance.now()
  if (_tag !== "Claimed") return yield* Effect.die(new Error(`a new claim is ${_tag}`))
  yield* ledger.settle(claim, outcome)
  times.claim[index] = 1000 * (claimed - began)
  times.settle[index] = 1000 * (performance.now() - claimed)
}, Effect.scoped)

const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`

const load = Effect.fnUntraced(function*(name: string, claims: number, concurrency: number) {
  const first = newTimes(alone)
  for (let index = 0; index < alone; index++) yield* claimAndSettle(first, index)

  const times = newTimes(claims)
  const memory = [process.memoryUsage.rss()]
  const began = performance.now()
  let next = 0
  const one = Effect.suspend(() => {
    const index = next++
    if (index > 0 && index % Math.ceil(claims / 4) === 0) memory.push(process.memoryUsage.rss())
    if (index % 1000 === 0) progress(`${name}: ${index} of ${claims} claims, ${megabytes(process.memoryUsage.rss())}`)
    return claimAndSettle(times, index)
  })
  const many = Effect.whileLoop({ while: () => next < claims, body: () => one, step: () => {} })
  yield* Effect.all(Array.from({ length: concurrency }, () => many), { concurrency: "unbounded", discard: true })
  const seconds = (performance.now() - began) / 1000
  memory.push(process.memoryUsage.rss())
  progressDone()

  console.log(`\n${name}: ${claims} claims and settlements, ${Math.round(claims / seconds)} a second`)
  print("one after another", first)
  print(`${concurrency} at the same time`, times)
  console.log(`  memory at the start, at each quarter and at the end: ${memory.map(megabytes).join(", ")}`)
})

const print = (how: string, times: Times): void => {
  for (const [what, all] of Object.entries(times) as Array<[string, Float64Array]>) {
    const sorted = all.toSorted()
    const [median, high] = [0.5, 0.99].map((part) => Math.round(sorted[Math.floor(part * sorted.length)]!))
    console.log(`  a ${what}, ${how}: median ${median} µs, p99 ${high} µs`)
  }
}

const run = async (name: string, { place, remove }: Started, claims: number, concurrency: number): Promise<void> => {
  const layer = DurableLedger.layer().pipe(Layer.provide([storeAt(place), NodeCrypto.layer]))
  try {
    await Effect.runPromise(Effect.provide(load(name, claims, concurrency), layer))
  } finally {
    await remove()
  }
}

const { values } = parseArgs({
  args: argv.slice(2),
  options: {
    engine: { type: "string" },
    claims: { type: "string", default: "10000" },
    concurrency: { type: "string", default: "64" }
  }
})
const claims = Number(values.claims)
const concurrency = Number(values.concurrency)
const chosen = Object.entries(engines).filter(([name]) => values.engine === undefined || values.engine === name)
if (chosen.length === 0 || !(claims > 0) || !(concurrency > 0)) {
  console.error("Usage: node ledger.ts [--engine sqlite|postgres|redis] [--claims N] [--concurrency N]")
  exit(1)
}
for (const [name, engine] of chosen) {
  if (engine.missing === undefined) await run(name, await engine.start(), claims, concurrency)
  else console.log(`\n${name}: not measured, ${engine.missing}`)
}
