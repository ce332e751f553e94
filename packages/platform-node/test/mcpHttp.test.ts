import * as Mcp from "@countersign/core/Mcp"
import { assert, describe, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { setTimeout } from "node:timers/promises"
import * as McpHttp from "../src/McpHttp.ts"
import { alteringHttp } from "./mcp/alteringHttp.ts"
import { everythingHttp } from "./mcp/servers.ts"

const failure = <A, R>(effect: Effect.Effect<A, Mcp.McpError, R>) =>
  Effect.map(Effect.flip(effect), ({ detail, operation, reason }) => [operation, reason, detail])

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    while (!condition()) await setTimeout(20)
  })

/** How something fails when so much time has gone by. */
const afterTime = Effect.fnUntraced(function*<A, R>(time: Duration.Input, effect: Effect.Effect<A, Mcp.McpError, R>) {
  const fiber = yield* Effect.forkChild(failure(effect), { startImmediately: true })
  yield* TestClock.adjust(time)
  return yield* Fiber.join(fiber)
})

/** `server-everything`, through a man in the middle. */
const connected = Effect.fnUntraced(function*(options: Partial<McpHttp.Options> = {}) {
  const middle = yield* alteringHttp(yield* everythingHttp)
  const server = yield* McpHttp.make({ name: "everything", url: middle.url, ...options })
  return { middle, server }
})

const nextChange = (server: Mcp.McpServer) =>
  Effect.forkChild(Stream.runHead(server.listChanged), { startImmediately: true })

describe("McpHttp", () => {
  it.live("lists the tools of server-everything with every field, and calls them", () =>
    Effect.gen(function*() {
      const { server } = yield* connected()
      const definitions = yield* server.list
      const echo = definitions.find(({ name }) => name === "echo")!
      assert.strictEqual(echo.description, "Echoes back the input string")
      assert.hasAllKeys(echo, ["name", "title", "description", "inputSchema", "annotations", "execution"])
      const result: any = yield* server.call("get-sum", { a: 2, b: 3 })
      assert.deepStrictEqual(result.content, [{ type: "text", text: "The sum of 2 and 3 is 5." }])
    }))

  it.live("lists what the server says now, not what it said before", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      yield* server.list
      middle.replacements.set("Echoes back the input string", "Echoes back the input string. <IMPORTANT>")
      const echo = (yield* server.list).find(({ name }) => name === "echo")
      assert.strictEqual(echo?.description, "Echoes back the input string. <IMPORTANT>")
    }))

  it.live("says when the server announces another list", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      yield* until(middle.isListening)
      const changed = yield* nextChange(server)
      middle.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      yield* Fiber.join(changed)
    }))

  it.live("takes the list for changed where it may not have heard", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      yield* until(middle.isListening)
      const changed = yield* nextChange(server)
      middle.breakStream()
      yield* Fiber.join(changed)
      assert.isTrue(middle.isListening())
    }))

  it.live("sends the headers each time, ends the session, and shows neither in an error", () =>
    Effect.gen(function*() {
      const middle = yield* alteringHttp(yield* everythingHttp)
      const headers = { authorization: Redacted.make("Bearer hunter2"), "x-team": "a" }
      const texts = yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* McpHttp.make({ name: "everything", url: middle.url, headers })
        yield* server.list
        const before = middle.answer
        middle.answer = ({ headers }, response) => response.writeHead(500).end(`Bad ${headers.authorization}`)
        const error = yield* Effect.flip(server.list)
        middle.answer = before
        return [error.message, JSON.stringify(error), String(error.stack)]
      }))
      assert.strictEqual(texts[0], "MCP server everything, tools/list: it answered with an error: HTTP 500")
      for (const text of texts) assert.notInclude(text, "hunter2")
      assert.isAbove(middle.seen.length, 3)
      for (const { headers } of middle.seen) {
        assert.deepInclude(headers, { authorization: "Bearer hunter2", "x-team": "a" })
      }
      assert.strictEqual(middle.seen.at(-1)!.method, "DELETE")
    }))

  it.live("says that the connection has ended when the server does not know the session any more", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      middle.answer = (_, response) => response.writeHead(404).end()
      assert.deepStrictEqual(yield* failure(server.list), ["tools/list", "closed", "HTTP 404"])
    }))

  it.live("cannot reach what refuses it, answers something else, or is not there", () =>
    Effect.gen(function*() {
      const middle = yield* alteringHttp("http://127.0.0.1:9")
      const connect = (options: Partial<McpHttp.Options> = {}) =>
        failure(Effect.scoped(McpHttp.make({ name: "s", url: middle.url, ...options })))
      middle.answer = (_, response) => response.writeHead(401, { "www-authenticate": "Bearer" }).end("<html>")
      assert.deepStrictEqual(yield* connect(), ["connect", "unreachable", "HTTP 401"])
      middle.answer = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")
      assert.deepStrictEqual(yield* connect(), ["connect", "protocol", "Unexpected content type: text/html"])
      middle.answer = (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{")
      assert.deepStrictEqual((yield* connect()).slice(0, 2), ["connect", "protocol"])
      middle.answer = (_, response) => response.writeHead(302, { location: "http://127.0.0.2/" }).end()
      assert.deepStrictEqual(yield* connect(), ["connect", "unreachable", "HTTP 302"])
      middle.answer = (_, response) => response.destroy()
      assert.deepStrictEqual((yield* connect()).slice(0, 2), ["connect", "unreachable"])
      const refused = "http://127.0.0.1:1/mcp"
      assert.deepStrictEqual((yield* connect({ url: refused })).slice(0, 2), ["connect", "unreachable"])
      const expected = "expected a URL of http or https, without a user name or password"
      for (const url of ["no url", "file:///etc/passwd", "http://me:hunter2@127.0.0.1/mcp"]) {
        assert.deepStrictEqual(yield* connect({ url }), ["connect", "unreachable", expected])
      }
    }))

  it.effect("limits the time of connecting, of a listing and of a call", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      middle.answer = ({ method }, response) => method === "DELETE" && response.end()
      assert.deepStrictEqual(yield* afterTime("30 seconds", server.list), ["tools/list", "timeout", "after 30000 ms"])
      const call = server.call("echo", {})
      assert.deepStrictEqual(yield* afterTime("60 seconds", call), ["tools/call", "timeout", "after 60000 ms"])
      const silent = Effect.scoped(McpHttp.make({ name: "s", url: middle.url, timeout: "300 millis" }))
      assert.deepStrictEqual(yield* afterTime("300 millis", silent), ["connect", "timeout", "after 300 ms"])
    }))

  it.live("gives up on a server that sends too much, as JSON or as an event without end", () =>
    Effect.gen(function*() {
      const megabyte = "x".repeat(1024 * 1024)
      for (const type of ["application/json", "text/event-stream"]) {
        yield* Effect.scoped(Effect.gen(function*() {
          const { middle, server } = yield* connected()
          middle.answer = async ({ method }, response) => {
            if (method === "DELETE") return response.end()
            response.writeHead(200, { "content-type": type }).write("data: \"")
            let isOpen = true
            response.on("close", () => isOpen = false)
            while (isOpen) {
              response.write(megabyte)
              await setTimeout(1)
            }
          }
          const limit = ["tools/list", "limit", "a message of more than 16777216 bytes"]
          assert.deepStrictEqual(yield* failure(server.list), limit)
          assert.deepStrictEqual(yield* failure(server.list), limit)
        }))
      }
    }))

  it.live("does not count the events of a stream together", () =>
    Effect.gen(function*() {
      const { middle, server } = yield* connected()
      yield* until(middle.isListening)
      const data = "x".repeat(1024 * 1024)
      for (let index = 0; index < 20; index++) {
        middle.say({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data } })
      }
      const changed = yield* nextChange(server)
      middle.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
      yield* Fiber.join(changed)
      assert.isAbove((yield* server.list).length, 10)
    }))

  it.live("gives a layer of one server", () =>
    Effect.gen(function*() {
      const layer = McpHttp.layer({ name: "everything", url: yield* everythingHttp })
      const tools = yield* Effect.provide(Effect.flatMap(Mcp.Mcp, (mcp) => mcp.tools), layer)
      assert.include(Object.keys(tools), "echo")
    }))
})
