import { afterAll, beforeAll, describe, it } from "vitest"
import type { Server } from "./Server.ts"

interface Engine {
  readonly missing: string | undefined
  readonly start: () => Promise<Server>
}

/** Whatever is written waits for a disk, which others may use as well. In milliseconds. */
const timeout = 120_000

/**
 * Tests that share one server of their own. On a machine without the engine they are skipped under a name that says why,
 * which `scripts/test.ts` prints; with `COUNTERSIGN_ENGINES=required` that is a failure.
 */
export const suite = (name: string, engine: Engine, tests: (server: () => Server) => void): void => {
  if (engine.missing !== undefined) return notRun(`${name} (${engine.missing})`)
  describe(name, { timeout }, () => {
    let server: Server | undefined
    beforeAll(async () => {
      server = await engine.start()
    }, timeout)
    afterAll(() => server?.remove(), timeout)
    tests(() => {
      if (server === undefined) throw new Error("a server runs while the tests do")
      return server
    })
  })
}

const notRun = (name: string): void =>
  it.skipIf(process.env.COUNTERSIGN_ENGINES !== "required")(name, () => {
    throw new Error("COUNTERSIGN_ENGINES=required: all suites have to run")
  })
