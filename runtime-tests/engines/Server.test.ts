import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { assert, describe, it } from "vitest"
import * as Postgres from "./Postgres.ts"
import * as Redis from "./Redis.ts"
import type { Server } from "./Server.ts"
import { suite } from "./suite.ts"

const isListening = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1")
    const finish = (listening: boolean) => {
      socket.destroy()
      done(listening)
    }
    socket.once("connect", () => finish(true))
    socket.once("error", () => finish(false))
  })

const isGone = async ({ directory, port }: Pick<Server, "directory" | "port">): Promise<boolean> =>
  !existsSync(directory) && !(await isListening(port))

for (const [name, engine] of Object.entries({ Postgres, Redis })) {
  suite(`A server of ${name}`, engine, (server) => {
    it("is there again after an end and after a kill", async () => {
      for (const end of [server().stop, server().kill]) {
        await end()
        assert.isFalse(await isListening(server().port))
        await server().start()
        assert.isTrue(await isListening(server().port))
      }
    })

    it("is gone when it is removed", async () => {
      const other = await engine.start()
      assert.notStrictEqual(other.port, server().port)
      await other.remove()
      assert.isTrue(await isGone(other))
    })

    it("is gone when the process that started it is killed", async () => {
      const script = join(import.meta.dirname, "startAndDie.ts")
      const { signal, stdout } = spawnSync(process.execPath, [script, name], { encoding: "utf8" })
      assert.strictEqual(signal, "SIGKILL")
      const orphan = JSON.parse(stdout)
      while (!(await isGone(orphan))) await sleep(20)
    })
  })
}

describe("A machine that cannot run an engine", () => {
  it("says what is missing", () => {
    const program = `console.log((await import(${JSON.stringify(join(import.meta.dirname, "Redis.ts"))})).missing)`
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
      env: { PATH: import.meta.dirname }
    })
    assert.strictEqual(stdout.trim(), "no redis-server on the PATH; Debian: apt-get install redis-server")
  })
})
