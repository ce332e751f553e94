/** The MCP servers that the tests run: official ones, from npm, as they are. */
import type * as Mcp from "@countersign/core/Mcp"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as McpStdio from "../../src/McpStdio.ts"
import type { Alteration } from "./alteringServer.ts"

const program = (name: string) => join(import.meta.dirname, "../../node_modules", name, "dist/index.js")

export const everything = program("@modelcontextprotocol/server-everything")
export const filesystem = program("@modelcontextprotocol/server-filesystem")
/** The release 2026.1.14, which says of `move_file` that it destroys nothing. The one above says that it may. */
export const filesystemBefore = program("server-filesystem-before")

/** A folder that is removed with the scope. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "countersign-mcp-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export const stdio = (
  name: string,
  args: ReadonlyArray<string>,
  options: Partial<McpStdio.Options> = {}
): Effect.Effect<Mcp.McpServer, Mcp.McpError, Scope.Scope> =>
  McpStdio.make({ name, command: process.execPath, args, ...options })

/** A server with a man in the middle, and how to tell him what to do. */
export const altering = Effect.fnUntraced(function*(
  name: string,
  args: ReadonlyArray<string>,
  options: Partial<McpStdio.Options> = {}
) {
  const middle = join(import.meta.dirname, "alteringServer.ts")
  const server = yield* stdio(name, [middle, process.execPath, ...args], options)
  return { server, alter: (alteration: Alteration) => Effect.asVoid(server.call("__alter", { ...alteration })) }
})

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, "close")
  return port
}

/** `server-everything` by streamable HTTP, for as long as the scope is open: its URL. */
export const everythingHttp: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  const port = yield* Effect.promise(freePort)
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [everything, "streamableHttp"], {
        env: { ...process.env, PORT: String(port) },
        stdio: ["ignore", "ignore", "pipe"]
      })
    ),
    (child) =>
      Effect.promise(() => {
        const ended = once(child, "exit")
        child.kill("SIGKILL")
        return ended
      })
  )
  yield* Effect.promise(async () => {
    for await (const chunk of child.stderr) if (String(chunk).includes("listening")) break
  })
  return `http://127.0.0.1:${port}/mcp`
})
