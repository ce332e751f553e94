/**
 * Runs the tests of core and of the Workers platform inside workerd: `node runtime-tests/workerd/run.ts [filter...]`. Those that
 * end in `.workerd.ts` run nowhere else, since they need the runtime's own modules.
 * A filter is a part of a test file's path.
 */
import { globSync } from "node:fs"
import { join } from "node:path"
import { generateDoctests } from "../../scripts/doctest.ts"
import { root } from "../../scripts/packages.ts"
import * as Tally from "../../scripts/Tally.ts"
import { isNodeOnly } from "../isNodeOnly.ts"
import { runFiles } from "./runFiles.ts"

export const run = async (filters: ReadonlyArray<string> = []): Promise<Tally.Tally> => {
  generateDoctests()
  // `testing.ts` loads Vitest, which sets a timer.
  const modules = files("packages/{core,platform-workers}/src/*.ts").filter((file) => !file.endsWith("/testing.ts"))
  const tests = files("packages/{core,platform-workers}/{test/**/*.test.ts,test/**/*.workerd.ts,.doctest/*.workerd.ts}")
    .filter((file) => !isNodeOnly(file) && (filters.length === 0 || filters.some((filter) => file.includes(filter))))
  if (tests.length === 0) {
    console.error("workerd: no test file was found")
    return Tally.zero
  }
  const { crash, files: reports } = await runFiles({ modules, tests, timeout: 480_000, verbose: true })
  if (crash !== undefined) console.error(crash)
  let tally = crash === undefined ? Tally.zero : { passed: 0, failed: 1 }
  for (const { failures, file, passed } of reports) {
    tally = Tally.add(tally, { passed, failed: failures.length })
    for (const { message, path } of failures) console.error(`\nFAIL ${[file, ...path].join(" > ")}\n${message}`)
  }
  return tally
}

const files = (pattern: string): ReadonlyArray<string> =>
  globSync(pattern, { cwd: root }).sort().map((file) => join(root, file))

if (import.meta.main) {
  const tally = await run(process.argv.slice(2))
  console.log(`\nworkerd: ${Tally.format(tally)}`)
  process.exitCode = Tally.isSuccess(tally) ? 0 : 1
}
