/** The engines that a ledger may be on, and how each is started. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import * as Postgres from "../engines/Postgres.ts"
import * as Redis from "../engines/Redis.ts"
import type { Server } from "../engines/Server.ts"
import type { EngineName, Place } from "./places.ts"

export interface Started {
  readonly place: Place
  /** What the engine itself finds wrong with its data. */
  readonly damage: () => string | undefined
  readonly remove: () => Promise<void>
}

export interface Engine {
  /** Why this machine cannot run it; `undefined` when it can. */
  readonly missing: string | undefined
  readonly start: () => Promise<Started>
}

export const startSqlite = async (): Promise<Started> => {
  const directory = mkdtempSync(join(tmpdir(), "countersign-crash-"))
  const address = join(directory, "approvals.db")
  return {
    place: { engine: "sqlite", address },
    damage: () => {
      const database = new DatabaseSync(address)
      const found = database.prepare("PRAGMA integrity_check").all().map(({ integrity_check: text }) => String(text))
      database.close()
      return found.join() === "ok" ? undefined : found.join("\n")
    },
    remove: async () => rmSync(directory, { recursive: true })
  }
}

/** It had no accident itself, and is not looked after. */
const onServer = (server: { readonly remove: () => Promise<void> }, place: Place): Started => ({
  place,
  damage: () => undefined,
  remove: server.remove
})

export const onPostgres = (server: Server): Started => {
  const password = encodeURIComponent(Postgres.password)
  const address = `postgres://${Postgres.username}:${password}@127.0.0.1:${server.port}/${Postgres.database}`
  return onServer(server, { engine: "postgres", address })
}

export const onRedis = (server: Server): Started =>
  onServer(server, { engine: "redis", address: `redis://:${Redis.password}@127.0.0.1:${server.port}` })

export const engines: Record<EngineName, Engine> = {
  sqlite: { missing: undefined, start: startSqlite },
  postgres: { missing: Postgres.missing, start: async () => onPostgres(await Postgres.start()) },
  redis: { missing: Redis.missing, start: async () => onRedis(await Redis.start()) }
}
