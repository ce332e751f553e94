import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createRequire, SourceMap } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../scripts/packages.ts"
import { bundle } from "./bundle.ts"
import { type FileReport, type Report, reportFile } from "./report.ts"
import { sourceStack } from "./sourceStack.ts"

/** The path of the executable, from a CommonJS package without types. */
const workerd: string = createRequire(import.meta.url)("workerd").default

export interface Options {
  /** Modules that have to load at global scope. */
  readonly modules: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
  /** For the whole run, in milliseconds: a test that never yields cannot be timed out from within. */
  readonly timeout: number
  /** Whether to show what the tests print, and a line per file. */
  readonly verbose: boolean
}

export interface Outcome {
  readonly files: ReadonlyArray<FileReport>
  /** Why the run did not end well, if it did not, with workerd's own log. */
  readonly crash: string | undefined
}

/** Runs test files inside workerd. */
export const runFiles = async ({ modules, tests, timeout, verbose }: Options): Promise<Outcome> => {
  const outdir = await mkdtemp(join(tmpdir(), "countersign-workerd-"))
  try {
    const config = await bundle({ root, modules, tests, outdir })
    const crash = await execute(config, { timeout, verbose })
    const readable = sourceStack(new SourceMap(await readJson(outdir, "worker.js.map")), { outdir, root })
    const { files }: Report = crash === undefined ? await readJson(outdir, reportFile) : { files: [] }
    return {
      crash,
      files: files.map((file) => ({
        ...file,
        failures: file.failures.map(({ message, path }) => ({ path, message: readable(message) }))
      }))
    }
  } finally {
    await rm(outdir, { recursive: true })
  }
}

const execute = async (
  config: string,
  { timeout, verbose }: Pick<Options, "timeout" | "verbose">
): Promise<string | undefined> => {
  const child = spawn(workerd, ["test", config], {
    stdio: ["ignore", verbose ? "inherit" : "ignore", "pipe"],
    timeout,
    killSignal: "SIGKILL"
  })
  let log = ""
  child.stderr!.setEncoding("utf8").on("data", (chunk) => log += chunk)
  const [code, signal] = await new Promise<[number | null, string | null]>((done, fail) => {
    child.on("error", fail)
    child.on("close", (code, signal) => done([code, signal]))
  })
  return code === 0 ? undefined : `${log}workerd ended with ${signal ?? `code ${code}`}`
}

const readJson = async (outdir: string, file: string) => JSON.parse(await readFile(join(outdir, file), "utf8"))
