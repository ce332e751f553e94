/** Processes that resume are killed at random moments; then it is looked what became of what they ran. */
import * as Approval from "@countersign/core/Approval"
import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Started } from "./engines.ts"
import { readExecutions } from "./executions.ts"
import { startWorker, type Worker } from "./processes.ts"
import { type Answer, ask, type Asked, layer, makeTools, resume, type Settings } from "./program.ts"

export interface KillOptions {
  /** How many kills have to hit between claim and settlement. */
  readonly rounds: number
  /** A folder that is empty. */
  readonly directory: string
  /** What `bundleWorker` made. */
  readonly worker: string
  readonly progress?: (text: string) => void
}

export interface KillResult {
  /** By what the ledger had when the process had ended. */
  readonly before: number
  readonly between: number
  readonly after: number
  /** Of those between: how many had begun to execute. */
  readonly begun: number
  readonly seconds: number
  readonly violations: ReadonlyArray<string>
}

interface Killed extends Asked {
  readonly toolName: "once" | "repeatable"
  /** What the process said before it was killed. */
  readonly answer: Answer | undefined
}

/** Long enough for a busy machine to keep what is alive, in milliseconds. */
const lease = 1000

const resolved = "looked after by a person"

export const kill = async (
  { damage, place }: Started,
  { directory, progress = () => {}, rounds, worker: file }: KillOptions
): Promise<KillResult> => {
  const settings: Settings = { place, log: join(directory, "executions"), lease }
  const runtime = ManagedRuntime.make(layer(settings))
  const tools = makeTools(settings)
  const violations: Array<string> = []
  const count = { before: 0, between: 0, after: 0, begun: 0 }
  const killed: Array<Killed> = []
  const began = performance.now()

  const hitOf = ({ approval }: Asked) =>
    runtime.runPromise(Effect.gen(function*() {
      const ledger = yield* ApprovalLedger
      const { _tag } = yield* ledger.find(yield* Approval.claimOf(approval))
      return _tag === "Unknown" ? "before" : _tag === "Settled" ? "after" : "between"
    }))

  // The next ones start while one works.
  const waiting: Array<Promise<Worker>> = [
    startWorker(file, settings),
    startWorker(file, settings),
    startWorker(file, settings)
  ]
  let hits = 0
  for (let round = 0; hits < rounds && round < 10 * rounds + 50; round++) {
    const toolName = round % 2 === 0 ? "once" : "repeatable"
    const asked = await runtime.runPromise(ask(tools, toolName, Math.floor(Math.random() * 6)))
    const worker = await waiting.shift()!
    const resumed = worker.resume(asked.messages)
    let answer: Answer | undefined
    void resumed.answer.then((given) => answer = given)
    // Some at any moment, most when the tool runs, and some when they have told what came of it.
    if (round % 5 > 0) await resumed.runs
    if (round % 5 === 4) await resumed.answer
    else await sleep(Math.random() * 10)
    await worker.kill()
    waiting.push(startWorker(file, settings))
    killed.push({ ...asked, toolName, answer })
    if (await hitOf(asked) === "between") hits++
    if (round % 20 === 19) progress(`${hits} of ${rounds} kills`)
  }
  await Promise.all(waiting.map(async (worker) => (await worker).kill()))
  if (hits < rounds) violations.push(`${hits} kills between claim and settlement`)

  await sleep(2 * lease)
  for (const { answer, toolName, ...asked } of killed) {
    const { approval, messages, toolCallId } = asked
    // Only now: an engine may have received more from a process than it had done when that was killed.
    const found = await hitOf(asked)
    count[found]++
    const complain = (text: string) => violations.push(`${toolName}, killed ${found}: ${text}`)
    const runsOf = () => readExecutions(settings.log).get(toolCallId) ?? []
    const before = runsOf()
    if (before.length > 1) complain(`${before.length} executions`)
    if (found === "between") count.begun += before.length
    if (found === "before" && before.length > 0) complain("executed without a claim")
    if (answer?._tag === "Outcome" && found !== "after") complain("an outcome was given that was not kept")
    const first = await runtime.runPromise(resume(tools, messages))
    const runs = runsOf()
    if (found === "after") {
      if (first._tag !== "Outcome" || !first.isReplayed || first.run !== before[0]) complain(JSON.stringify(first))
      if (runs.length !== 1) complain(`${runs.length} executions, after a resume`)
    } else if (found === "before" || toolName === "repeatable") {
      if (first._tag !== "Outcome" || first.isReplayed || first.run !== runs.at(-1)) complain(JSON.stringify(first))
      if (runs.length !== before.length + 1) complain(`${runs.length} executions, after ${before.length}`)
    } else {
      if (first._tag !== "Indeterminate") complain(JSON.stringify(first))
      if (runs.length !== before.length) complain("executed again")
      await runtime.runPromise(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        yield* ledger.resolve(yield* Approval.claimOf(approval), { output: { type: "text", value: resolved } })
      }))
    }
    // Whatever it was, it has an outcome now, which stays.
    const expected = first._tag === "Outcome" ? first.run : resolved
    const second = await runtime.runPromise(resume(tools, messages))
    if (second._tag !== "Outcome" || !second.isReplayed || second.run !== expected) complain(JSON.stringify(second))
    if (runsOf().length !== runs.length) complain("executed again, although it was settled")
  }
  await runtime.dispose()
  const seconds = (performance.now() - began) / 1000
  const damaged = damage()
  if (damaged !== undefined) violations.push(damaged)
  return { ...count, seconds, violations }
}
