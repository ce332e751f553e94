import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { root } from "./packages.ts"
import type * as Tally from "./Tally.ts"
import { notRun, tally, type VitestReport } from "./vitestReport.ts"

const { resolve: find } = createRequire(import.meta.url)
const entry = join(dirname(find("vitest/package.json")), "vitest.mjs")

/** What a run came to, and what the machine lacks something for. */
export interface Result {
  readonly tally: Tally.Tally
  readonly notRun: ReadonlyArray<string>
}

/** The arguments for Node that make each runtime run a script; Deno comes as a package and is kept off the network. */
const runtimes = {
  node: [],
  deno: [
    join(dirname(find("deno/package.json")), "bin.cjs"),
    "run",
    "-A",
    "--unstable-kv",
    "--no-remote",
    "--cached-only"
  ]
}

/** Runs every Vitest project that exists on the runtime. */
export const vitest = async (runtime: keyof typeof runtimes): Promise<Result> => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-test-"))
  const report = join(directory, "report.json")
  try {
    const code = await execute([
      ...runtimes[runtime],
      entry,
      "run",
      "--pool=forks",
      "--config=vitest.workspace.ts",
      "--reporter=default",
      "--reporter=json",
      `--outputFile.json=${report}`
    ])
    const read = await readReport(report)
    return { tally: tally(read, code), notRun: notRun(read) }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

const execute = (args: ReadonlyArray<string>): Promise<number | null> =>
  new Promise((done, fail) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" },
      stdio: ["ignore", "inherit", "inherit"]
    })
    child.on("error", fail)
    child.on("close", done)
  })

const readReport = (file: string): Promise<VitestReport | undefined> =>
  readFile(file, "utf8").then((text) => JSON.parse(text), () => undefined)
