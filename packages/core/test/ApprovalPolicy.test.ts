import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Approval from "../src/Approval.ts"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import type { Edit } from "../src/Edit.ts"
import * as Repair from "../src/Repair.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { approvals } from "./approvals.ts"
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

describe("ApprovalPolicy.escalateRepaired", () => {
  const risky: ReadonlyArray<Edit> = [
    { kind: "quotes", before: "s3cret" },
    { kind: "inner-quotes", before: "s3cret", risk: "ambiguous" },
    { kind: "closed", after: "s3cret", risk: "lossy" },
    { kind: "ambiguous", risk: "ambiguous" },
    { kind: "inner-quotes", risk: "ambiguous" }
  ]
  const harmless: ReadonlyArray<Edit> = [{ kind: "tool-name" }, { kind: "quotes" }, { kind: "quotes" }]

  /** A call whose repair says that it made these edits. */
  const statusAfter = (
    edits: ReadonlyArray<Edit>,
    policy: unknown,
    options?: Parameters<typeof ApprovalPolicy.escalateRepaired>[1],
    tools: ToolSet.ToolSet = toolsWith()
  ) =>
    Effect.gen(function*() {
      const repair: Repair.Repair = ({ toolCall }) =>
        Effect.succeed(Option.some({ ...toolCall, input: "{\"value\":\"v\"}", edits }))
      const input = edits.length === 0 ? "{\"value\":\"v\"}" : "{bad"
      const call = yield* ToolCall.parse(raw("tool1", input), { tools, repair })
      const escalated = ApprovalPolicy.escalateRepaired(policy as any, options)
      return yield* ApprovalPolicy.resolve(call, { tools, policy: escalated as any })
    }).pipe(run)

  const reason = "the call was repaired: inner-quotes (ambiguous), closed (lossy), ambiguous"

  it.effect("asks a person about a call with a risk, whatever the policy says but no", () =>
    Effect.gen(function*() {
      const statuses: ReadonlyArray<[answer: unknown, status: ApprovalPolicy.Status]> = [
        ["not-applicable", ApprovalPolicy.userApproval(reason)],
        ["approved", ApprovalPolicy.userApproval(reason)],
        [ApprovalPolicy.approved("reads only"), ApprovalPolicy.userApproval(reason)],
        ["user-approval", ApprovalPolicy.userApproval(reason)],
        [ApprovalPolicy.userApproval("at night"), ApprovalPolicy.userApproval(`at night; ${reason}`)],
        [ApprovalPolicy.denied("at night"), ApprovalPolicy.denied("at night")],
        [{ type: "unknown" }, ApprovalPolicy.denied("the approval policy gave an answer that is not known")]
      ]
      for (const [answer, status] of statuses) {
        for (
          const policy of [{ tool1: answer }, {
            tool1: () => Effect.succeed(answer)
          }, () => Effect.succeed(answer)]
        ) {
          assert.deepStrictEqual(yield* statusAfter(risky, policy), status)
        }
      }
      assert.deepStrictEqual(
        yield* statusAfter(risky, () => Effect.fail("down")),
        ApprovalPolicy.denied("the approval policy failed: down")
      )
    }))

  it.effect("leaves all other calls to the policy", () =>
    Effect.gen(function*() {
      for (const edits of [[], harmless]) {
        for (
          const status of [
            ApprovalPolicy.notApplicable,
            ApprovalPolicy.approved("R"),
            ApprovalPolicy.userApproval("R"),
            ApprovalPolicy.denied("R")
          ]
        ) assert.deepStrictEqual(yield* statusAfter(edits, { tool1: status }), status)
      }
    }))

  it.effect("asks about every repaired call where that is wanted", () =>
    Effect.gen(function*() {
      const all = { edits: "all" } as const
      assert.deepStrictEqual(yield* statusAfter([], {}, all), ApprovalPolicy.notApplicable)
      assert.deepStrictEqual(
        yield* statusAfter(harmless, {}, all),
        ApprovalPolicy.userApproval("the call was repaired: tool-name, quotes")
      )
      assert.deepStrictEqual(
        yield* statusAfter(risky, {}, all),
        ApprovalPolicy.userApproval(reason.replace("inner", "quotes, inner"))
      )
      assert.deepStrictEqual(yield* statusAfter(harmless, { tool1: "denied" }, all), ApprovalPolicy.denied())
    }))

  it.effect("asks the tool where the policy says nothing about it", () =>
    Effect.gen(function*() {
      for (const policy of [undefined, {}, { other: "denied" }]) {
        const own = (needs: boolean) => toolsWith(() => Effect.succeed(needs))
        assert.deepStrictEqual(yield* statusAfter(harmless, policy, {}, own(true)), ApprovalPolicy.userApproval())
        assert.deepStrictEqual(yield* statusAfter(harmless, policy, {}, own(false)), ApprovalPolicy.notApplicable)
        assert.deepStrictEqual(yield* statusAfter(risky, policy, {}, own(false)), ApprovalPolicy.userApproval(reason))
        const broken = toolsWith((() => Effect.fail("down")) as any)
        assert.strictEqual((yield* statusAfter(risky, policy, {}, broken))._tag, "Denied")
      }
    }))

  it.effect("gives the policy what it would get by itself, and copies", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const see = (...args: ReadonlyArray<any>) =>
        Effect.sync(() => {
          seen.push(structuredClone(args.slice(0, 1)), args.slice(1))
          const [input] = args
          if (input.input === undefined) input.value = "changed"
          else input.input.value = input.edits.length = 0
        })
      const options = { messages: ["m"], context: { tools: { tool1: "t", other: "o" }, runtime: "r" } }
      const tools = toolsWith()
      for (const policy of [{ tool1: see }, see] as ReadonlyArray<any>) {
        seen.length = 0
        yield* resolve(policy, tools, options)
        const bare = [...seen]
        seen.length = 0
        yield* resolve(ApprovalPolicy.escalateRepaired(policy), tools, options)
        assert.deepStrictEqual(seen, bare)
        assert.strictEqual((yield* statusAfter(risky, policy))._tag, "UserApproval")
      }
    }))

  it.effect("names few kinds of a repair that names many, and nothing that could pass for another text", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 50 }, (_, index): Edit => ({ kind: `kind${index}`, risk: "lossy" }))
      const status = yield* statusAfter([{ kind: `\u202eevil\n${"x".repeat(500)}`, risk: "lossy" }, ...many], {})
      assert.match(
        (status as any).reason,
        /^the call was repaired: \\u202eevil\\u000ax+…, kind0 \(lossy\), .* and others$/
      )
      assert.isBelow((status as any).reason.length, 300)
    }))

  it.effect("sends a risky call of a step to a person, with its edits, and their answer stands", () =>
    Effect.gen(function*() {
      let ran = 0
      const tools = ToolSet.make(
        Tool.make("tool1", { inputSchema, execute: ({ value }) => Effect.sync(() => (ran++, value)) })
      )
      const policy: ApprovalPolicy.ApprovalPolicy<typeof tools> = ApprovalPolicy.escalateRepaired({
        tool1: ({ value }) => Effect.succeed(value === "no" ? "denied" : "approved")
      })
      const repair = Repair.recovery({ truncated: "close" })
      const step = (input: string) => ToolStep.run([raw("tool1", input)], { tools, policy, repair, audience: "user 7" })
      const resume = (messages: ReadonlyArray<unknown>, approved: boolean, now = policy) =>
        Approval.resume({
          messages: [...messages, {
            role: "tool",
            content: [{
              type: "tool-approval-response",
              approvalId: (messages as any)[0].content[1].approvalId,
              approved
            }]
          }],
          tools,
          policy: now,
          audience: "user 7"
        })

      const harmless = yield* step("{value: 'v'}")
      assert.deepStrictEqual([harmless.pending.length, harmless.results.length, ran], [0, 1, 1])

      const cut = yield* step("{\"value\": \"v")
      const [{ approvalRequest }] = cut.pending as [Approval.PendingApproval]
      assert.match(approvalRequest.reason!, /^the call was repaired: .*\(lossy\)/)
      const { edits } = approvalRequest.approvalDescriptor as { readonly edits: ReadonlyArray<Edit> }
      assert.isTrue(edits.some(({ risk }) => risk === "lossy"))
      assert.deepStrictEqual([cut.results.length, ran], [0, 1])

      // What comes back from a client has no edits; the policy is asked again, and cannot turn the person's yes into a question.
      const resumed = yield* resume(JSON.parse(JSON.stringify(cut.messages)), true)
      assert.deepStrictEqual([resumed.results[0]?.output, resumed.awaiting, ran], [{ type: "text", value: "v" }, [], 2])

      const refused = yield* step("{\"value\": \"w")
      assert.strictEqual((yield* resume(refused.messages, false)).denied.length, 1)
      const forbidden = yield* step("{\"value\": \"x")
      const denying = ApprovalPolicy.escalateRepaired<typeof tools>({ tool1: "denied" })
      assert.strictEqual((yield* resume(forbidden.messages, true, denying)).denied.length, 1)
      const denied = yield* step("{\"value\": \"no")
      assert.deepStrictEqual([denied.pending.length, denied.approvals[0]?._tag], [0, "Denied"])
      assert.strictEqual(ran, 2)
    }).pipe(Effect.provide(approvals)))
})
