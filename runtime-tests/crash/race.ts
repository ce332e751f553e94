/** Processes race to resume one approval, round after round: one of them executes it. */
import * as ManagedRuntime from "effect/ManagedRuntime"
import { join } from "node:path"
import type { Started } from "./engines.ts"
import { readExecutions } from "./executions.ts"
import { startWorker } from "./processes.ts"
import { type Answer, ask, layer, makeTools, type Settings } from "./program.ts"

export interface RaceOptions {
  readonly processes: number
  readonly rounds: number
  /** A folder that is empty. */
  readonly directory: string
  /** What `bundleWorker` made. */
  readonly worker: string
  readonly progress?: (text: string) => void
}

export interface RaceResult {
  readonly rounds: number
  readonly executions: number
  /** How many of the losers were told that it runs, and how many got its outcome. */
  readonly running: number
  readonly replayed: number
  readonly seconds: number
  readonly violations: ReadonlyArray<string>
}

export const race = async (
  { place }: Started,
  { directory, processes, progress = () => {}, rounds, worker }: RaceOptions
): Promise<RaceResult> => {
  const settings: Settings = { place, log: join(directory, "executions"), lease: 60_000 }
  const runtime = ManagedRuntime.make(layer(settings))
  const tools = makeTools(settings)
  const workers = await Promise.all(Array.from({ length: processes }, () => startWorker(worker, settings)))
  const violations: Array<string> = []
  const answered: Array<{ readonly toolCallId: string; readonly answers: ReadonlyArray<Answer> }> = []
  const began = performance.now()
  for (let round = 0; round < rounds; round++) {
    // Most tools are over at once, so that some of the losers come after the outcome.
    const { messages, toolCallId } = await runtime.runPromise(ask(tools, "once", round % 4 === 0 ? 5 : 0))
    const resumed = workers.map((one) => one.resume(messages))
    answered.push({ toolCallId, answers: await Promise.all(resumed.map(({ answer }) => answer)) })
    if (round % 100 === 99) progress(`${round + 1} of ${rounds} rounds`)
    // Who is first to be told is first to come, so each is once.
    workers.push(workers.shift()!)
  }
  const seconds = (performance.now() - began) / 1000
  await Promise.all(workers.map((one) => one.kill()))
  await runtime.dispose()

  const count = { executions: 0, running: 0, replayed: 0 }
  const executions = readExecutions(settings.log)
  for (const [round, { answers, toolCallId }] of answered.entries()) {
    const runs = executions.get(toolCallId) ?? []
    count.executions += runs.length
    if (runs.length !== 1) violations.push(`round ${round}: ${runs.length} executions`)
    let executed = 0
    for (const answer of answers) {
      if (answer._tag === "Running") count.running++
      else if (answer._tag !== "Outcome") violations.push(`round ${round}: ${JSON.stringify(answer)}`)
      else if (answer.run !== runs[0]) violations.push(`round ${round}: another outcome`)
      else if (answer.isReplayed) count.replayed++
      else executed++
    }
    if (executed !== 1) violations.push(`round ${round}: ${executed} say that they executed it`)
  }
  return { rounds, ...count, seconds, violations }
}
