import type * as Tally from "./Tally.ts"

/** The part that is read here of what Vitest's `json` reporter writes. */
export interface VitestReport {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{
    readonly status: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
  }>
}

/** Counts what is no test of its own too: a file that fails as a whole, and an error outside all tests. */
export const tally = (report: VitestReport | undefined, exitCode: number | null): Tally.Tally => {
  if (report === undefined) return { passed: 0, failed: 1 }
  const failedFiles = report.testResults.filter(({ assertionResults, status }) =>
    status === "failed" && !assertionResults.some(({ status }) => status === "failed")
  )
  const failed = report.numFailedTests + failedFiles.length
  return { passed: report.numPassedTests, failed: failed === 0 && exitCode !== 0 ? 1 : failed }
}

/** What was skipped, by names that say why: they stand for whole suites where the machine lacks what these need. */
export const notRun = (report: VitestReport | undefined): ReadonlyArray<string> =>
  (report?.testResults ?? []).flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === "skipped" || status === "pending").map(({ fullName }) =>
      fullName
    )
  )
