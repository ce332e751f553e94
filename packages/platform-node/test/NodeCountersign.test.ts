import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeCountersign from "../src/NodeCountersign.ts"

/** Whatever a test leaves in the folder is removed with it. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "countersign-platform-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const claim = { approvalId: "a1", callDigest: "d", expiresAt: undefined, idempotent: false }

const claimAndSettle = Effect.scoped(Effect.gen(function*() {
  const ledger = yield* ApprovalLedger
  const { _tag } = yield* ledger.claim(claim)
  if (_tag === "Claimed") yield* ledger.settle(claim, { output: { type: "text", value: "paid" } })
  return _tag
}))

const withSettings = (env: Record<string, string>) =>
  Effect.provide(claimAndSettle, NodeCountersign.layer).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )

describe("NodeCountersign", () => {
  it.effect("checks raw JSON Schemas", () =>
    Effect.gen(function*() {
      const tools = ToolSet.make(Tool.make("weather", { inputSchema: { type: "object", not: { required: ["town"] } } }))
      const parse = (input: string) => ToolCall.parse({ toolCallId: "1", toolName: "weather", input }, { tools })
      assert.deepStrictEqual((yield* parse("{\"city\":\"Oslo\"}")).input, { city: "Oslo" })
      assert.strictEqual((yield* Effect.flip(parse("{\"town\":\"Oslo\"}")))._tag, "InvalidToolInput")
    }).pipe(Effect.provide(NodeCountersign.layer)))

  it.effect("keeps approvals in the file that is named, also in a test", () =>
    Effect.gen(function*() {
      const database = join(yield* folder, "approvals.sqlite")
      for (const NODE_ENV of ["production", "test", ""]) {
        const path = `${database}-${NODE_ENV}`
        assert.strictEqual(yield* withSettings({ COUNTERSIGN_DATABASE: path, NODE_ENV }), "Claimed")
        assert.strictEqual(yield* withSettings({ COUNTERSIGN_DATABASE: path, NODE_ENV }), "Settled")
      }
    }))

  it.effect("keeps them in memory in a test that names none", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* withSettings({ NODE_ENV: "test", COUNTERSIGN_DATABASE: "" }), "Claimed")
      assert.strictEqual(yield* withSettings({ NODE_ENV: "test" }), "Claimed")
      assert.isFalse(existsSync("countersign.sqlite"))
    }))

  describe("as a program", () => {
    const layer = JSON.stringify(new URL("../src/NodeCountersign.ts", import.meta.url).href)
    const resolved = (name: string) => JSON.stringify(import.meta.resolve(name))
    const claiming = `
      import * as Effect from ${resolved("effect/Effect")}
      import { ApprovalLedger } from ${resolved("@countersign/core/ApprovalLedger")}
      import * as NodeCountersign from ${layer}
      const claim = ${JSON.stringify({ ...claim, expiresAt: null })}
      claim.expiresAt = undefined
      const program = Effect.scoped(Effect.gen(function*() {
        const ledger = yield* ApprovalLedger
        const { _tag } = yield* ledger.claim(claim)
        if (_tag === "Claimed") yield* ledger.settle(claim, { output: { type: "text", value: "paid" } })
        return _tag
      }))
      console.log(await Effect.runPromise(Effect.provide(program, NodeCountersign.layer)))`
    const idle = `
      import * as Effect from ${resolved("effect/Effect")}
      import * as NodeCountersign from ${layer}
      console.log(Effect.runSync(Effect.provide(Effect.succeed("built"), NodeCountersign.layer)))`

    const run = (cwd: string, program: string): string => {
      const { COUNTERSIGN_DATABASE: _, NODE_ENV: __, VITEST: ___, ...env } = process.env
      return execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd, env, encoding: "utf8" })
        .trim()
    }

    it.effect("keeps them in the working directory, for every process that comes later", () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        assert.strictEqual(run(cwd, claiming), "Claimed")
        assert.include(readdirSync(cwd), "countersign.sqlite")
        assert.strictEqual(run(cwd, claiming), "Settled")
      }))

    it.effect("makes no file before anything is claimed", () =>
      Effect.gen(function*() {
        const cwd = yield* folder
        assert.strictEqual(run(cwd, idle), "built")
        assert.deepStrictEqual(readdirSync(cwd), [])
      }))
  })
})
