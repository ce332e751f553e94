import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { runFiles } from "./runFiles.ts"

const fixture = (name: string) => join(import.meta.dirname, "fixtures", name)

const runFixtures = (
  tests: ReadonlyArray<string>,
  { modules = [], timeout = 15_000 }: { modules?: ReadonlyArray<string>; timeout?: number } = {}
) => runFiles({ modules: modules.map(fixture), tests: tests.map(fixture), timeout, verbose: false })

describe("runFiles", () => {
  it("tells what passed, failed and was skipped, and why", async () => {
    const { crash, files } = await runFixtures(["outcomes.ts", "rejects.ts", "needsNode.ts", "empty.ts", "only.ts"])
    assert.isUndefined(crash)
    const [outcomes, rejects, needsNode, empty, only] = files
    assert.deepStrictEqual(
      outcomes!.failures.map(({ path }) => path.join(" > ")),
      [
        "fails > assertion",
        "fails > matcher",
        "fails > effect",
        "fails > property",
        "fails > hangs",
        "fails > never ends",
        "fails > passes, as it should not",
        "fails > unknown matcher",
        "fails > snapshot file"
      ]
    )
    assert.deepStrictEqual([outcomes!.passed, outcomes!.skipped], [11, 4])
    assert.match(outcomes!.failures[0]!.message, /runtime-tests\/workerd\/fixtures\/outcomes\.ts:\d+:/)
    assert.match(outcomes!.failures[4]!.message, /timed out in 50ms/)
    assert.match(outcomes!.failures[7]!.message, /toBeWonderful/)

    assert.match(rejects!.failures[0]!.message, /nobody listens/)
    assert.match(needsNode!.failures[0]!.message, /no such module in this Worker: node:fs/)
    assert.match(empty!.failures[0]!.message, /No test suite found/)
    if (process.env["CI"] === undefined) assert.deepStrictEqual([only!.passed, only!.failures.length], [1, 0])
    else assert.match(only!.failures[0]!.message, /Unexpected \.only/)
  })

  it("ends a test that never yields", async () => {
    const { crash } = await runFixtures(["loops.ts"], { timeout: 3_000 })
    assert.match(crash!, /workerd ended with SIGKILL/)
  })

  it("refuses a module that sets a timer while it loads", async () => {
    const { crash } = await runFixtures(["only.ts"], { modules: ["timerAtGlobalScope.ts"] })
    assert.match(crash!, /Disallowed operation called within global scope/)
  })
})
