/** Runs every test on every runtime: `pnpm test`. */
import { run as workerd } from "../runtime-tests/workerd/run.ts"
import * as Tally from "./Tally.ts"
import { type Result, vitest } from "./vitest.ts"

const runtimes: ReadonlyArray<readonly [name: string, run: () => Promise<Result>]> = [
  ["Node", () => vitest("node")],
  ["workerd", async () => ({ tally: await workerd(), notRun: [] })],
  ["Deno", () => vitest("deno")]
]

/** A run that could not start, such as a bundle that does not build, counts as one failure. */
const broken = (error: unknown): Result => {
  console.error(error)
  return { tally: { passed: 0, failed: 1 }, notRun: [] }
}

const results: Array<readonly [name: string, result: Result]> = []
for (const [name, run] of runtimes) {
  console.log(`\n== ${name}\n`)
  results.push([name, await run().catch(broken)])
}

console.log("")
for (const [name, { notRun }] of results) {
  for (const suite of notRun) console.log(`not run on ${name}: ${suite}`)
}
for (const [name, { tally }] of results) {
  console.log(`${name}: ${Tally.format(tally)}${tally.passed === 0 ? " (no test passed)" : ""}`)
}
console.log(Tally.format(results.map(([, { tally }]) => tally).reduce(Tally.add)))
process.exitCode = results.every(([, { tally }]) => Tally.isSuccess(tally)) ? 0 : 1
