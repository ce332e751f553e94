/** A private Redis, by the `redis-server` on the PATH. */
import { spawnSync } from "node:child_process"
import { type Server, startServer } from "./Server.ts"

/** Is required by the server, and looked for in whatever must not show it. */
export const password = "correct-horse-battery-staple"

/** Why this machine cannot run it; `undefined` when it can. */
export const missing: string | undefined = spawnSync("redis-server", ["--version"]).status === 0
  ? undefined
  : "no redis-server on the PATH; Debian: apt-get install redis-server"

/** Starts an empty one that keeps what it acknowledged. */
export const start = (): Promise<Server> =>
  startServer({
    name: "redis",
    stop: "SIGTERM",
    final: "SIGKILL",
    command: (directory, port) => [
      "redis-server",
      ...Object.entries({
        port: String(port),
        bind: "127.0.0.1",
        dir: directory,
        requirepass: password,
        save: "",
        appendonly: "yes",
        appendfsync: "always"
      }).flatMap(([name, value]) => [`--${name}`, value])
    ],
    prepare: () => Promise.resolve(),
    hello: { request: "PING\r\n", answer: "-NOAUTH" }
  })
