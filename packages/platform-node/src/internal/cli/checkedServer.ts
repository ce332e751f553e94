import type { Crypto } from "@countersign/core/Crypto"
import type { ToolDefinition } from "@countersign/core/ToolDefinition"
import * as ToolLock from "@countersign/core/ToolLock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import { definitionsOf, type Unlisted } from "./definitionsOf.ts"
import type { Server } from "./sources.ts"

/** A server with what it lists now and how that compares with the lockfile, or with why it lists nothing. */
export type CheckedServer = ListedServer | UnlistedServer

export interface ListedServer extends Server {
  readonly _tag: "Listed"
  readonly definitions: ReadonlyArray<ToolDefinition>
  readonly report: ToolLock.Report
}

export interface UnlistedServer extends Server {
  readonly _tag: "Unlisted"
  readonly error: Unlisted
}

export const isListed = (server: CheckedServer): server is ListedServer => server._tag === "Listed"
export const isUnlisted = (server: CheckedServer): server is UnlistedServer => server._tag === "Unlisted"

/** Asks a server for its tools, and compares them with the lockfile. */
export const check = (
  server: Server,
  lock: ToolLock.ToolLock,
  timeout: Duration.Duration
): Effect.Effect<CheckedServer, never, FileSystem | Crypto> =>
  Effect.flatMap(definitionsOf(server, timeout), (definitions) =>
    // They have been read as definitions already.
    Effect.map(Effect.orDie(ToolLock.check(lock, server.name, definitions)), (report): CheckedServer => ({
      ...server,
      _tag: "Listed",
      definitions,
      report
    }))).pipe(Effect.catch((error) => Effect.succeed<CheckedServer>({ ...server, _tag: "Unlisted", error })))

/** The lockfile with what the servers listed. */
export const pin = (
  lock: ToolLock.ToolLock,
  servers: ReadonlyArray<ListedServer>
): Effect.Effect<ToolLock.ToolLock, never, Crypto> =>
  Effect.reduce(
    servers,
    () => lock,
    (lock, { definitions, name, source }) => Effect.orDie(ToolLock.update(lock, name, source, definitions))
  )

/** Why a server lists nothing, and what to do about it. */
export const messageOf = ({ error, source }: UnlistedServer): string => {
  const isMute = error._tag === "McpError" && source.kind === "stdio" &&
    (error.reason === "closed" || error.reason === "timeout")
  return isMute ? `${error.message}. Run its command by itself to see what it says` : error.message
}
