/**
 * Lets processes race, or kills them: `node run.ts race --engine sqlite --rounds 1000`, `node run.ts kill --engine redis --rounds 200`.
 *
 * Progress is on stderr, the result on stdout, as JSON. The exit code is 1 where something was executed twice, or was lost.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { engines } from "./engines.ts"
import { kill } from "./kill.ts"
import { bundleWorker } from "./processes.ts"
import { race } from "./race.ts"

const { positionals: [what], values } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: "string", default: "sqlite" },
    rounds: { type: "string", default: "100" },
    processes: { type: "string", default: "10" }
  }
})

const engine = new Map(Object.entries(engines)).get(values.engine)
const rounds = Number(values.rounds)
const processes = Number(values.processes)
if ((what !== "race" && what !== "kill") || engine === undefined || !(rounds > 0) || !(processes > 0)) {
  console.error("Usage: node run.ts race|kill [--engine sqlite|postgres|redis] [--rounds N] [--processes N]")
  process.exit(2)
}
if (engine.missing !== undefined) {
  console.error(engine.missing)
  process.exit(2)
}

const directory = mkdtempSync(join(tmpdir(), "countersign-crash-"))
const started = await engine.start()
try {
  const worker = await bundleWorker(directory)
  const options = { rounds, processes, directory, worker, progress: (text: string) => console.error(text) }
  const result = await (what === "race" ? race(started, options) : kill(started, options))
  console.log(JSON.stringify({ what, engine: values.engine, ...result }))
  if (result.violations.length > 0) process.exitCode = 1
} finally {
  await started.remove()
  rmSync(directory, { recursive: true })
}
