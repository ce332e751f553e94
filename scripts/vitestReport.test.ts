import { assert, describe, it } from "vitest"
import { notRun, tally, type VitestReport } from "./vitestReport.ts"

const report = (numPassedTests: number, numFailedTests: number, ...testResults: VitestReport["testResults"]) => ({
  numPassedTests,
  numFailedTests,
  testResults
})

const result = (status: string, fullName = "a test") => ({ status, fullName })

describe("tally", () => {
  it("counts tests", () => {
    assert.deepStrictEqual(tally(report(2, 0), 0), { passed: 2, failed: 0 })
    const file = { status: "failed", assertionResults: [result("passed"), result("failed")] }
    assert.deepStrictEqual(tally(report(1, 1, file), 1), { passed: 1, failed: 1 })
  })

  it("counts a file that failed as a whole", () => {
    const file = { status: "failed", assertionResults: [] }
    assert.deepStrictEqual(tally(report(2, 0, file), 1), { passed: 2, failed: 1 })
  })

  it("counts an error outside all tests, and a run that ended before its report", () => {
    assert.deepStrictEqual(tally(report(2, 0), 1), { passed: 2, failed: 1 })
    assert.deepStrictEqual(tally(report(2, 0), null), { passed: 2, failed: 1 })
    assert.deepStrictEqual(tally(undefined, 0), { passed: 0, failed: 1 })
  })
})

describe("notRun", () => {
  it("names what was skipped", () => {
    const results = [result("passed"), result("skipped", "a suite (no engine)"), result("pending", "another")]
    assert.deepStrictEqual(notRun(report(1, 0, { status: "passed", assertionResults: results })), [
      "a suite (no engine)",
      "another"
    ])
    assert.deepStrictEqual(notRun(undefined), [])
  })
})
