/** A few rounds of what `run.ts` does a thousand times. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Postgres from "../engines/Postgres.ts"
import * as Redis from "../engines/Redis.ts"
import { suite } from "../engines/suite.ts"
import { onPostgres, onRedis, type Started, startSqlite } from "./engines.ts"
import { kill } from "./kill.ts"
import { bundleWorker } from "./processes.ts"
import { race } from "./race.ts"

const timeout = 60_000

const bundled = mkdtempSync(join(tmpdir(), "countersign-worker-"))
let worker = ""
beforeAll(async () => {
  worker = await bundleWorker(bundled)
})
afterAll(() => rmSync(bundled, { recursive: true }))

const accidents = (started: () => Started): void => {
  const inNewFolder = async <A>(run: (directory: string) => Promise<A>): Promise<A> => {
    const directory = mkdtempSync(join(tmpdir(), "countersign-crash-"))
    try {
      return await run(directory)
    } finally {
      rmSync(directory, { recursive: true })
    }
  }

  it("of ten processes that race, one executes", async () => {
    const result = await inNewFolder((directory) => race(started(), { processes: 10, rounds: 10, directory, worker }))
    assert.deepStrictEqual(result.violations, [])
    assert.strictEqual(result.executions, 10)
    assert.strictEqual(result.running + result.replayed, 10 * 9)
  }, timeout)

  it("what is killed is not executed twice, and loses nothing", async () => {
    const result = await inNewFolder((directory) => kill(started(), { rounds: 4, directory, worker }))
    assert.deepStrictEqual(result.violations, [])
    assert.isAtLeast(result.between, 1)
  }, timeout)
}

describe("SQLite", () => {
  let started: Started | undefined
  beforeAll(async () => {
    started = await startSqlite()
  })
  afterAll(() => started?.remove())
  accidents(() => started!)
})

suite("Postgres", Postgres, (server) => accidents(() => onPostgres(server())))
suite("Redis", Redis, (server) => accidents(() => onRedis(server())))
