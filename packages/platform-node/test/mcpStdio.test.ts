import * as Mcp from "@countersign/core/Mcp"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as McpStdio from "../src/McpStdio.ts"
import { altering, everything, filesystem, folder, stdio } from "./mcp/servers.ts"

const names = (definitions: ReadonlyArray<{ readonly name: string }>) => definitions.map(({ name }) => name)

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A program that is no MCP server: it writes its process ID to a file, and then does as told. */
const programThat = (pidFile: string, body: string) => [
  "-e",
  `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); ${body}`
]

const failure = <A, R>(effect: Effect.Effect<A, Mcp.McpError, R>) =>
  Effect.map(Effect.flip(effect), ({ detail, operation, reason }) => [operation, reason, detail])

/** How something fails when so much time has gone by. */
const afterTime = Effect.fnUntraced(function*<A, R>(time: Duration.Input, effect: Effect.Effect<A, Mcp.McpError, R>) {
  const fiber = yield* Effect.forkChild(failure(effect), { startImmediately: true })
  yield* TestClock.adjust(time)
  return yield* Fiber.join(fiber)
})

describe("McpStdio", () => {
  it.live("lists the tools of server-filesystem with every field, and calls them", () =>
    Effect.gen(function*() {
      const path = yield* folder
      writeFileSync(join(path, "a.txt"), "hello")
      const server = yield* stdio("files", [filesystem, path])
      const definitions = yield* server.list
      assert.includeMembers(names(definitions), ["read_text_file", "write_file", "move_file"])
      const { description, inputSchema, ...rest } = definitions.find(({ name }) => name === "read_text_file")!
      assert.include(description, "Read the complete contents of a file")
      assert.deepStrictEqual(Object.keys((inputSchema as any).properties), ["path", "tail", "head"])
      assert.hasAllKeys(rest, ["name", "title", "annotations", "execution", "outputSchema"])
      assert.deepStrictEqual(rest["execution"], { taskSupport: "forbidden" })

      const result: any = yield* server.call("read_text_file", { path: join(path, "a.txt") })
      assert.deepStrictEqual(result.content, [{ type: "text", text: "hello" }])
      const refused: any = yield* server.call("read_text_file", { path: "/etc/passwd" })
      assert.isTrue(refused.isError)
    }))

  it.live("keeps what the client does not know", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [everything])
      const strange = {
        name: "strange",
        inputSchema: { type: "object", "x-unknown": [1] },
        annotations: { readOnlyHint: true, vendorHint: { deep: 1 } },
        icons: [{ src: "data:image/png;base64,", more: true }],
        execution: { taskSupport: "required" },
        "x-vendor": { b: 1, a: [null] },
        _meta: { "com.example/v": 2 }
      }
      yield* alter({ replace: [strange] })
      assert.deepStrictEqual(yield* server.list, [strange])
    }))

  it.live("lists all pages", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      const whole = yield* server.list
      yield* alter({ pageSize: 4 })
      assert.deepStrictEqual(yield* server.list, whole)
    }))

  it.live("ends a listing that has no end", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      yield* alter({ pageSize: 4, endless: true })
      assert.deepStrictEqual(yield* failure(server.list), ["tools/list", "protocol", "the pages have no end"])
      yield* alter({ pageSize: 1, loop: true })
      assert.deepStrictEqual(yield* failure(server.list), ["tools/list", "limit", "more than 100 pages"])
    }))

  it.live("refuses what is no listing", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      const tool = (fields: object = {}) => ({ name: "a", inputSchema: { type: "object" }, ...fields })
      const listed = (replace: unknown) => Effect.andThen(alter({ replace }), failure(server.list))
      assert.deepStrictEqual(yield* listed("none"), ["tools/list", "protocol", "there is no list of tools"])
      assert.deepStrictEqual(yield* listed([tool(), tool()]), ["tools/list", "name-taken", "two tools are called a"])
      assert.deepStrictEqual((yield* listed([tool(), 1])).slice(0, 2), ["tools/list", "protocol"])
      assert.deepStrictEqual((yield* listed([tool({ inputSchema: "x" })])).slice(0, 2), ["tools/list", "protocol"])
      const many = Array.from({ length: Mcp.maxTools + 1 }, (_, index) => tool({ name: `t${index}` }))
      assert.deepStrictEqual((yield* listed(many)).slice(0, 2), ["tools/list", "limit"])
      assert.deepStrictEqual(yield* Effect.andThen(alter({ replace: [tool()] }), server.list), [tool()])
    }))

  it.live("says when the server announces another list", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      const changed = yield* Effect.forkChild(Stream.runHead(server.listChanged), { startImmediately: true })
      yield* alter({ announce: true })
      yield* Fiber.join(changed)
    }))

  it.live("is not put off by lines that are no messages", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      yield* alter({ noise: true })
      assert.include(names(yield* server.list), "read_file")
    }))

  it.live("gives up on a server that ends, and says so from then on", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      yield* alter({ exit: true })
      assert.deepStrictEqual(yield* failure(server.list), ["tools/list", "closed", undefined])
      assert.deepStrictEqual(yield* failure(server.list), ["tools/list", "closed", undefined])
      assert.deepStrictEqual(yield* failure(server.call("read_file", {})), ["tools/call", "closed", undefined])
    }))

  it.live("gives the server's own error for what it refuses", () =>
    Effect.gen(function*() {
      const { server } = yield* altering("s", [filesystem, yield* folder])
      const error = yield* Effect.flip(server.call("read_file", [] as any))
      assert.deepStrictEqual([error.operation, error.reason], ["tools/call", "refused"])
    }))

  it.live("cannot reach a program that is none, ends at once, or says nothing", () =>
    Effect.gen(function*() {
      const connect = (options: Partial<McpStdio.Options>) =>
        failure(Effect.scoped(McpStdio.make({ name: "s", command: process.execPath, ...options })))
      assert.deepStrictEqual(yield* connect({ command: "no-such-program" }), ["connect", "unreachable", "ENOENT"])
      assert.deepStrictEqual(yield* connect({ args: ["-e", "0"] }), ["connect", "closed", undefined])
      const silent = { args: ["-e", "process.stdin.resume()"], timeout: "500 millis" } as const
      assert.deepStrictEqual(yield* connect(silent), ["connect", "timeout", "after 500 ms"])
    }))

  it.live("gives the server only the variables that it is meant to have", () =>
    Effect.gen(function*() {
      process.env["COUNTERSIGN_TEST_SECRET"] = "hunter2"
      const env = { GREETING: "hello", TOKEN: Redacted.make("hidden") }
      const server = yield* stdio("s", [everything], { env })
      const result: any = yield* server.call("get-env", {})
      const seen = JSON.parse(result.content[0].text)
      assert.deepInclude(seen, { GREETING: "hello", TOKEN: "hidden" })
      assert.notProperty(seen, "COUNTERSIGN_TEST_SECRET")
    }))

  it.live("gives a layer of one server", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const layer = McpStdio.layer({ name: "files", command: process.execPath, args: [filesystem, path] })
      const tools = yield* Effect.provide(Effect.flatMap(Mcp.Mcp, (mcp) => mcp.tools), layer)
      assert.include(Object.keys(tools), "read_file")
    }))
})

// Most of the time of these is waiting.
describe.concurrent("McpStdio, when a server does not end", () => {
  it.effect("limits the time of a listing and of a call", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [everything])
      const slow = server.call("trigger-long-running-operation", { duration: 100, steps: 1 })
      assert.deepStrictEqual(yield* afterTime("60 seconds", slow), ["tools/call", "timeout", "after 60000 ms"])
      yield* alter({ mute: "tools/list" })
      assert.deepStrictEqual(yield* afterTime("30 seconds", server.list), ["tools/list", "timeout", "after 30000 ms"])
    }))

  it.live("gives up on a server that sends too much", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("s", [filesystem, yield* folder])
      yield* alter({ padding: 17 * 1024 * 1024 })
      const limit = ["tools/list", "limit", "a message of more than 16777216 bytes"]
      assert.deepStrictEqual(yield* failure(server.list), limit)
      assert.deepStrictEqual(yield* failure(server.list), limit)
    }))

  it.live("leaves no process behind when the scope closes", () =>
    Effect.gen(function*() {
      const pidFile = join(yield* folder, "pid")
      const server = join(pidFile, "../server.mjs")
      writeFileSync(
        server,
        `import { writeFileSync } from "node:fs"
        writeFileSync(${JSON.stringify(pidFile)}, String(process.pid))
        process.on("SIGTERM", () => {})
        setInterval(() => {}, 1000)
        await import(${JSON.stringify(everything)})`
      )
      const pid = yield* Effect.scoped(Effect.gen(function*() {
        yield* Effect.flatMap(stdio("s", [server]), ({ list }) => list)
        const pid = Number(readFileSync(pidFile, "utf8"))
        assert.isTrue(isRunning(pid))
        return pid
      }))
      assert.isFalse(isRunning(pid))
    }))

  it.effect("leaves no process behind that never answered and does not want to end", () =>
    Effect.gen(function*() {
      const pidFile = join(yield* folder, "pid")
      const args = programThat(pidFile, "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)")
      const connecting = yield* Effect.forkChild(failure(Effect.scoped(stdio("s", args))), { startImmediately: true })
      const pid = yield* Effect.promise(async () => {
        while (!existsSync(pidFile) || readFileSync(pidFile, "utf8") === "") await setTimeout(20)
        return Number(readFileSync(pidFile, "utf8"))
      })
      assert.isTrue(isRunning(pid))
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* Fiber.join(connecting), ["connect", "timeout", "after 30000 ms"])
      assert.isFalse(isRunning(pid))
    }))
})
