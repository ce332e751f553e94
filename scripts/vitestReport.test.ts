import { assert, describe, it } from "vitest"
import { tally, type VitestReport } from "./vitestReport.ts"

const report = (numPassedTests: number, numFailedTests: number, ...testResults: VitestReport["testResults"]) => ({
  numPassedTests,
  numFailedTests,
  testResults
})

describe("tally", () => {
  it("counts tests", () => {
    assert.deepStrictEqual(tally(report(2, 0), 0), { passed: 2, failed: 0 })
    const file = { status: "failed", assertionResults: [{ status: "passed" }, { status: "failed" }] }
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
