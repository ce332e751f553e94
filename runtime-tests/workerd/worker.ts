/**
 * Runs test files inside workerd with Vitest's own runner, matchers and hooks, so that a test means there what it
 * means on Node. Nothing here may be imported at global scope: Vitest sets a timer while it loads.
 */
import { TestRunner } from "vitest"
import { setSafeTimers, startTests } from "vitest/internal/browser"
import { type Failure, type FileReport, type Report, reportFile } from "./report.ts"
import { runnerConfig, workerState } from "./runnerConfig.ts"

export type TestFiles = Record<string, () => Promise<unknown>>

export interface Env {
  readonly REPORT: { fetch(url: string, init: { method: "PUT"; body: string }): Promise<{ readonly ok: boolean }> }
}

type RunnerFile = Awaited<ReturnType<typeof startTests>>[number]
type RunnerTask = RunnerFile | RunnerFile["tasks"][number]

/** The Workers runtime's global; the types of this project are no runtime's. */
declare const addEventListener: (type: "unhandledrejection", listen: (event: { reason: Error }) => void) => void

class WorkerdRunner extends TestRunner {
  readonly files: TestFiles

  constructor(files: TestFiles) {
    super(runnerConfig)
    this.files = files
    this.__setTraces({
      $: (_name: string, options: unknown, run?: (span: object) => unknown) =>
        (run ?? (options as (span: object) => unknown))({})
    } as never)
  }

  override importFile(file: string) {
    return this.files[file]!()
  }
}

export const run = async (files: TestFiles, env: Env): Promise<void> => {
  setSafeTimers()
  Object.assign(globalThis, { __vitest_worker__: workerState })
  const unhandled: Array<Failure> = []
  addEventListener("unhandledrejection", ({ reason }) => {
    unhandled.push({ path: ["unhandled rejection"], message: formatError(reason) })
  })
  const reports: Array<FileReport> = []
  for (const filepath of Object.keys(files)) {
    const [suite] = await startTests([{ filepath }], new WorkerdRunner(files))
    const report = fileReport(filepath, suite!, unhandled.splice(0))
    console.log(progress(report))
    reports.push(report)
  }
  const report: Report = { files: reports }
  const stored = await env.REPORT.fetch(`http://report/${reportFile}`, { method: "PUT", body: JSON.stringify(report) })
  if (!stored.ok) throw new Error("the report could not be stored")
}

const progress = ({ failures, file, passed, skipped }: FileReport): string =>
  `${failures.length === 0 ? "✓" : "✗"} ${file} (${passed} passed, ${failures.length} failed, ${skipped} skipped)`

const fileReport = (file: string, suite: RunnerFile, unhandled: ReadonlyArray<Failure>): FileReport => {
  const failures = [...unhandled]
  let passed = 0
  let skipped = 0
  const visit = (task: RunnerTask, path: ReadonlyArray<string>) => {
    const errors = task.result?.errors ?? []
    const children = "tasks" in task ? task.tasks : []
    if (task.result?.state === "fail" && (task.type === "test" || errors.length > 0)) {
      failures.push({ path, message: errors.map(formatError).join("\n") || "failed" })
    } else if (task.type === "test") {
      task.result?.state === "pass" ? passed++ : skipped++
    }
    for (const child of children) visit(child, [...path, child.name])
  }
  visit(suite, [])
  return { file, passed, skipped, failures }
}

const formatError = (error: { name?: string; message?: string; stack?: string; diff?: string }): string =>
  [error?.stack || `${error?.name}: ${error?.message}`, error?.diff].filter(Boolean).join("\n")
