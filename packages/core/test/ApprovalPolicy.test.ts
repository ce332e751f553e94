import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { raw, run } from "./tools.ts"

const inputSchema = Schema.Struct({ value: Schema.String, at: Schema.optionalKey(Schema.Date) })

const toolsWith = (needsApproval?: Tool.Tool<"tool1", typeof inputSchema.Type>["needsApproval"]) =>
  ToolSet.make(Tool.make("tool1", { inputSchema, needsApproval }), Tool.make("other"))

const resolve = (
  policy: unknown,
  tools: ToolSet.ToolSet = toolsWith(),
  options?: Omit<Parameters<typeof ApprovalPolicy.resolve>[1], "tools" | "policy">
) =>
  run(Effect.flatMap(
    ToolCall.parse(raw("tool1", "{\"value\":\"v\",\"at\":\"2026-01-01T00:00:00.000Z\"}"), { tools }),
    (call) => ApprovalPolicy.resolve(call, { tools, policy: policy as any, ...options })
  ))

const statusOf = (policy: unknown, tools?: ToolSet.ToolSet) =>
  Effect.map(resolve(policy, tools), (status) => status._tag)

describe("ApprovalPolicy", () => {
  it.effect("takes every way to write a status, in a record and from a function", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<[unknown, ApprovalPolicy.Status]> = [
        ["not-applicable", ApprovalPolicy.notApplicable],
        [{ type: "not-applicable", reason: "R" }, ApprovalPolicy.notApplicable],
        ["approved", ApprovalPolicy.approved()],
        [{ type: "approved", reason: "R" }, ApprovalPolicy.approved("R")],
        ["denied", ApprovalPolicy.denied()],
        [{ type: "denied", reason: "R" }, ApprovalPolicy.denied("R")],
        ["user-approval", ApprovalPolicy.userApproval()],
        [{ type: "user-approval", reason: "R" }, ApprovalPolicy.userApproval("R")],
        [ApprovalPolicy.approved("R"), ApprovalPolicy.approved("R")],
        [ApprovalPolicy.notApplicable, ApprovalPolicy.notApplicable]
      ]
      for (const [answer, status] of answers) {
        assert.deepStrictEqual(yield* resolve({ tool1: answer }), status)
        assert.deepStrictEqual(yield* resolve({ tool1: () => Effect.succeed(answer) }), status)
        assert.deepStrictEqual(yield* resolve(() => Effect.succeed(answer)), status)
      }
    }))

  it.effect("denies on an answer that is not known, where the AI SDK runs the tool", () =>
    Effect.gen(function*() {
      const unknown = ["deny", "Approved", "", true, false, 0, 1, null, {}, { reason: "x" }, { type: "allow" }, [], {
        type: "approved",
        reason: 5
      }, { type: "constructor" }]
      for (const answer of unknown) {
        assert.strictEqual(yield* statusOf(() => Effect.succeed(answer)), "Denied", JSON.stringify(answer))
        assert.strictEqual(yield* statusOf({ tool1: () => Effect.succeed(answer) }), "Denied", JSON.stringify(answer))
        if (answer !== null) assert.strictEqual(yield* statusOf({ tool1: answer }), "Denied", JSON.stringify(answer))
      }
      assert.strictEqual(yield* statusOf(() => Effect.succeed(undefined)), "NotApplicable")
    }))

  it.effect("denies where a function fails or crashes, with a reason that tells no more than was meant to be told", () =>
    Effect.gen(function*() {
      const failing: ReadonlyArray<[() => unknown, string]> = [
        [() => Effect.fail(new Error("policy down")), "the approval policy failed: policy down"],
        [() => Effect.die(new TypeError("secret")), "the approval policy failed: it crashed (TypeError)"],
        [() => {
          throw new TypeError("secret")
        }, "the approval policy failed: it crashed (TypeError)"],
        [() => Promise.resolve("approved"), "the approval policy failed: it crashed (TypeError)"],
        [() => "approved", "the approval policy failed: it crashed (TypeError)"]
      ]
      for (const [fails, reason] of failing) {
        assert.deepStrictEqual(yield* resolve(fails), ApprovalPolicy.denied(reason))
        assert.deepStrictEqual(yield* resolve({ tool1: fails }), ApprovalPolicy.denied(reason))
        assert.deepStrictEqual(yield* resolve(undefined, toolsWith(fails as any)), ApprovalPolicy.denied(reason))
      }
    }))

  it.effect("asks in the AI SDK's order: function, entry, tool", () =>
    Effect.gen(function*() {
      const tools = toolsWith(true)
      assert.strictEqual(yield* statusOf(undefined, tools), "UserApproval")
      assert.strictEqual(yield* statusOf({}, tools), "UserApproval")
      assert.strictEqual(yield* statusOf({ other: "approved" }, tools), "UserApproval")
      assert.strictEqual(yield* statusOf({ tool1: undefined }, tools), "UserApproval")
      assert.strictEqual(yield* statusOf({ tool1: null }, tools), "UserApproval")
      // What answers, decides, also with undefined.
      assert.strictEqual(yield* statusOf({ tool1: "approved" }, tools), "Approved")
      assert.strictEqual(yield* statusOf({ tool1: () => Effect.succeed(undefined) }, tools), "NotApplicable")
      assert.strictEqual(yield* statusOf(() => Effect.succeed(undefined), tools), "NotApplicable")
      assert.strictEqual(yield* statusOf(undefined, toolsWith(false)), "NotApplicable")
      assert.strictEqual(yield* statusOf(undefined, toolsWith()), "NotApplicable")
    }))

  it.effect("takes true and false from a tool, and nothing else", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* statusOf(undefined, toolsWith(() => Effect.succeed(true))), "UserApproval")
      assert.strictEqual(yield* statusOf(undefined, toolsWith(() => Effect.succeed(false))), "NotApplicable")
      for (const answer of [undefined, null, "", "false", 0, 1, {}]) {
        assert.strictEqual(yield* statusOf(undefined, toolsWith(() => Effect.succeed(answer as any))), "Denied")
      }
      assert.strictEqual(yield* statusOf(undefined, toolsWith("yes" as any)), "Denied")
    }))

  it.effect("does not take inherited names for entries", () =>
    Effect.gen(function*() {
      for (const name of ["constructor", "toString", "hasOwnProperty"]) {
        const tools = ToolSet.make(Tool.make(name))
        const call = yield* run(ToolCall.parse(raw(name, ""), { tools }))
        assert.strictEqual((yield* ApprovalPolicy.resolve(call, { tools, policy: {} }))._tag, "NotApplicable")
      }
    }))

  it.effect("gives functions the input, the call and the contexts", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const tools = toolsWith()
      const options = { messages: ["m"], context: { tools: { tool1: "t", other: "o" }, runtime: "r" } }
      const context = { toolCallId: "call-1", messages: ["m"], toolContext: "t", runtimeContext: "r" }
      const see = (...args: ReadonlyArray<unknown>) => Effect.sync(() => void seen.push(args))
      yield* resolve({ tool1: see }, tools, options)
      yield* resolve(undefined, toolsWith((...args) => Effect.as(see(...args), true)), options)
      const input = { value: "v", at: new Date("2026-01-01") }
      assert.deepStrictEqual(seen, [[input, context], [input, context]])
      yield* resolve((call: any, more: any) => see(call.toolName, call.input, more), tools, options)
      assert.deepStrictEqual(seen[2], ["tool1", input, { ...context, tools }])
    }))

  it.effect("gives functions copies", () =>
    Effect.gen(function*() {
      const tools = toolsWith()
      const call = yield* run(ToolCall.parse(raw("tool1", "{\"value\":\"v\"}"), { tools }))
      for (
        const policy of [
          { tool1: (input: any) => Effect.sync(() => void (input.value = "changed")) },
          (copy: any) => Effect.sync(() => void (copy.input.value = copy.toolName = "changed"))
        ]
      ) yield* ApprovalPolicy.resolve(call, { tools, policy: policy as any })
      assert.deepInclude(call, { toolName: "tool1", input: { value: "v" } })
    }))
})
