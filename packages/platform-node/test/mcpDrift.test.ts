import * as Fingerprint from "@countersign/core/Fingerprint"
import * as Mcp from "@countersign/core/Mcp"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolExecution from "@countersign/core/ToolExecution"
import * as ToolLock from "@countersign/core/ToolLock"
import type * as ToolSet from "@countersign/core/ToolSet"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as McpHttp from "../src/McpHttp.ts"
import * as NodeCountersign from "../src/NodeCountersign.ts"
import { alteringHttp } from "./mcp/alteringHttp.ts"
import type { Alteration } from "./mcp/alteringServer.ts"
import { altering, everything, everythingHttp, filesystem, filesystemBefore, folder, stdio } from "./mcp/servers.ts"

/** Reviews what the servers list: a lockfile, written to a folder and read again. */
const review = Effect.fnUntraced(function*(...servers: ReadonlyArray<Mcp.McpServer>) {
  let lock = ToolLock.empty
  for (const server of servers) {
    const source = { kind: "stdio", command: "node", args: [server.name] } as const
    lock = yield* ToolLock.update(lock, server.name, source, yield* server.list)
  }
  const path = join(yield* folder, "tools.lock.json")
  writeFileSync(path, ToolLock.stringify(lock))
  return yield* ToolLock.parse(readFileSync(path, "utf8"))
})

/** What is not as it was reviewed: of each tool what happened to it, and to which fields. */
const drift = Effect.fnUntraced(function*(lock: ToolLock.ToolLock, server: Mcp.McpServer) {
  const { tools } = yield* ToolLock.check(lock, server.name, yield* server.list)
  return tools.filter(({ status }) => status !== "same").map(({ changes, name, status }) => [
    name,
    status,
    status === "changed" ? changes.map(({ pointer }) => pointer) : []
  ])
})

const guarded = (server: Mcp.McpServer, options: Mcp.GuardOptions) =>
  Layer.provide(Mcp.guard(options), Mcp.layer(server))

const names = (options: Mcp.GuardOptions, server: Mcp.McpServer) =>
  Effect.provide(Effect.flatMap(Mcp.Mcp, (mcp) => Effect.map(mcp.tools, Object.keys)), guarded(server, options))

const call = Effect.fnUntraced(function*(tools: ToolSet.ToolSet, toolName: string, input: unknown) {
  const parsed = yield* ToolCall.parse({ toolCallId: "c", toolName, input }, { tools })
  return (yield* ToolExecution.execute(parsed, { tools })).output
})

const run = Effect.provide(NodeCountersign.layer)

describe("server-filesystem", () => {
  it.live("is the same with other folders", () =>
    Effect.gen(function*() {
      const reviewed = yield* stdio("files", [filesystem, yield* folder])
      const lock = yield* review(reviewed)
      assert.isAbove(Object.keys(lock.servers["files"]!.tools).length, 10)
      const now = yield* stdio("files", [filesystem, yield* folder, yield* folder])
      assert.deepStrictEqual(yield* drift(lock, now), [])
      assert.include(yield* names({ lock }, now), "move_file")
    }).pipe(run))

  it.live("is caught in another version, most of which differs where the AI SDK's fingerprint does not look", () =>
    Effect.gen(function*() {
      const path = yield* folder
      const lock = yield* review(yield* stdio("files", [filesystem, path]))
      const before = yield* stdio("files", [filesystemBefore, path])
      const drifted = new Map((yield* drift(lock, before)).map(([name, ...rest]) => [name, rest]))
      assert.strictEqual(drifted.size, Object.keys(lock.servers["files"]!.tools).length)
      assert.deepStrictEqual(drifted.get("read_text_file"), ["changed", ["/annotations/openWorldHint"]])
      const fields = ["/annotations/destructiveHint", "/annotations/openWorldHint"]
      assert.deepStrictEqual(drifted.get("move_file"), ["changed", fields])
      assert.include(drifted.get("read_media_file")![1], "/description")
      const { tools } = yield* ToolLock.check(lock, "files", yield* before.list)
      assert.deepStrictEqual(tools.find(({ name }) => name === "move_file")!.changes[0], {
        pointer: "/annotations/destructiveHint",
        change: "changed",
        before: "true",
        after: "false",
        warnings: ["claims-less-risk"]
      })
      const differs = yield* Effect.filter(yield* before.list, (definition) =>
        Effect.map(
          Fingerprint.ofDefinition(definition),
          (fingerprint) => fingerprint !== lock.servers["files"]!.tools[definition.name]!.fingerprint
        ))
      assert.deepStrictEqual(differs.map(({ name }) => name), ["read_media_file"])
      const { message } = yield* Effect.flip(names({ lock }, before))
      assert.include(message, "changed create_directory of files (/annotations/openWorldHint), ")
      assert.match(message, / and 4 more\. Review them, and update the lockfile\.$/)
      assert.deepStrictEqual(yield* names({ lock, onDrift: "hide", report: () => Effect.void }, before), [])
    }).pipe(run))
})

describe("server-everything", () => {
  it.live("is caught in whatever field it alters", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("everything", [everything])
      const lock = yield* review(server)
      assert.deepStrictEqual(yield* drift(lock, server), [])
      const changes: ReadonlyArray<readonly [path: ReadonlyArray<string>, value: unknown]> = [
        [["description"], "Echoes back the input string\u200b"],
        [["title"], "Echo"],
        [["inputSchema", "properties", "note"], { type: "string" }],
        [["inputSchema", "required"], ["message", "note"]],
        [["inputSchema", "properties", "message", "description"], undefined],
        [["annotations", "readOnlyHint"], undefined],
        [["outputSchema"], { type: "object" }],
        [["_meta"], { a: 1 }],
        [["icons"], [{ src: "https://evil.example/a.png" }]],
        [["execution", "taskSupport"], "optional"],
        [["x-unknown"], true]
      ]
      const seen: Array<string> = []
      for (const [path, value] of changes) {
        yield* alter({ set: { tool: "echo", path, value } })
        const [tool, ...others] = yield* drift(lock, server)
        assert.deepStrictEqual(others, [])
        const [name, status, pointers] = tool!
        assert.deepStrictEqual([name, status], ["echo", "changed"])
        const found = (pointers as Array<string>).filter((pointer) => !seen.includes(pointer))
        assert.strictEqual(found.length, 1, `/${path.join("/")} in ${pointers}`)
        assert.isTrue(found[0]!.startsWith(`/${path.join("/")}`), found[0])
        seen.push(found[0]!)
      }
    }).pipe(run))

  it.live("is not caught in how it writes the same", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("everything", [everything])
      const definitions = yield* server.list
      const lock = yield* review(server)
      const reversed = (value: unknown): unknown =>
        typeof value !== "object" || value === null || Array.isArray(value)
          ? value
          : Object.fromEntries(Object.entries(value).reverse().map(([key, member]) => [key, reversed(member)]))
      yield* alter({ replace: definitions.toReversed().map(reversed), pageSize: 3 })
      assert.deepStrictEqual(yield* drift(lock, server), [])
    }).pipe(run))

  it.live("is caught when a tool is added, and when one was gone and is back another", () =>
    Effect.gen(function*() {
      const { alter, server } = yield* altering("everything", [everything])
      const original = yield* server.list
      const lock = yield* review(server)
      const list = (replace: ReadonlyArray<unknown>) => alter({ replace })
      const without = original.filter(({ name }) => name !== "echo")

      yield* list([...original, { name: "exec", inputSchema: { type: "object" } }])
      assert.deepStrictEqual(yield* drift(lock, server), [["exec", "added", []]])
      yield* list(without)
      assert.deepStrictEqual(yield* drift(lock, server), [["echo", "removed", []]])
      const source = { kind: "stdio", command: "node", args: [] } as const
      const updated = yield* ToolLock.update(lock, "everything", source, yield* server.list)
      assert.deepStrictEqual(yield* drift(updated, server), [])
      yield* list(original)
      assert.deepStrictEqual(yield* drift(updated, server), [])
      yield* list([...without, { ...original.find(({ name }) => name === "echo"), description: "Echoes" }])
      assert.deepStrictEqual(yield* drift(updated, server), [["echo", "changed", ["/description"]]])
    }).pipe(run))

  it.live("is the same by HTTP as by stdio, and is caught there as well", () =>
    Effect.gen(function*() {
      const lock = yield* review(yield* stdio("everything", [everything]))
      const middle = yield* alteringHttp(yield* everythingHttp)
      const server = yield* McpHttp.make({ name: "everything", url: middle.url })
      assert.deepStrictEqual(yield* drift(lock, server), [])
      assert.include(yield* names({ lock }, server), "echo")
      middle.replacements.set("Echoes back the input string", "Echoes back the input string, and your keys")
      assert.deepStrictEqual(yield* drift(lock, server), [["echo", "changed", ["/description"]]])
      assert.strictEqual((yield* Effect.flip(names({ lock }, server)))._tag, "McpToolsDrifted")
    }).pipe(run))
})

describe("both, guarded by one lockfile", () => {
  it.live("are used while they are what was reviewed, and not after the announcement of another list", () =>
    Effect.gen(function*() {
      const path = yield* folder
      writeFileSync(join(path, "a.txt"), "hello")
      const files = yield* stdio("files", [filesystem, path])
      const { alter, server } = yield* altering("everything", [everything])
      const lock = yield* review(files, server)
      const layer = Mcp.guard({ lock }).pipe(
        Layer.provide(Mcp.cached({ timeToLive: "1 hour" })),
        Layer.provide(Mcp.layer(files, server))
      )
      yield* Effect.provide(
        Effect.gen(function*() {
          const mcp = yield* Mcp.Mcp
          const tools = yield* mcp.tools
          const sum = { type: "text", value: "The sum of 1 and 2 is 3." }
          assert.deepStrictEqual(yield* call(tools, "get-sum", { a: 1, b: 2 }), sum as any)
          assert.deepStrictEqual(yield* call(tools, "read_text_file", { path: join(path, "a.txt") }), {
            type: "text",
            value: "hello"
          })
          const outside: any = yield* call(tools, "read_text_file", { path: "/etc/passwd" })
          assert.strictEqual(outside.type, "error-text")
          assert.match(outside.value, /^McpToolFailed: Access denied/)

          const poison: Alteration = { set: { tool: "echo", path: ["description"], value: "Echoes. <IMPORTANT>" } }
          yield* alter(poison)
          assert.include(Object.keys(yield* mcp.tools), "echo")
          const change = yield* Effect.forkChild(Stream.runHead(mcp.changes), { startImmediately: true })
          yield* alter({ announce: true })
          yield* Fiber.join(change)
          const drifted: any = yield* call(tools, "echo", { message: "hi" })
          assert.strictEqual(drifted.type, "error-text")
          assert.match(
            drifted.value,
            /^McpToolsDrifted: MCP tools are not as the lockfile has them: changed echo of everything/
          )
          assert.strictEqual((yield* Effect.flip(mcp.tools))._tag, "McpToolsDrifted")
        }),
        layer
      )
    }).pipe(run))
})
