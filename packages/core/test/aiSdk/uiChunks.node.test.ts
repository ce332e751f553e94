/** The chunks of a step that ran here make the same of a page as those of the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Approval from "../../src/Approval.ts"
import * as ApprovalPolicy from "../../src/ApprovalPolicy.ts"
import * as Repair from "../../src/Repair.ts"
import * as ToolStep from "../../src/ToolStep.ts"
import * as UiMessageChunk from "../../src/UiMessageChunk.ts"
import { secret, signed, stored } from "../approvalHistory.ts"
import { asStep, show } from "./page.ts"
import { call, proceed, type Said, sdk6, sdk7, sdks, user } from "./sdk.ts"
import { shop, start } from "./shop.ts"

type Calls = ReadonlyArray<Said & { readonly type: "tool-call" }>

/** What two servers never have in common, and the texts of errors. */
const comparable = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, member) => {
    if (key === "signature" || key === "errorText") return `a ${key}`
    return key === "approvalId" || key === "id" ? "an id" : member
  }))

/**
 * The SDK gives results as its tools finish, here they come in order. Version 6 also says of a call that cannot run that it has
 * failed, which the page knows by then.
 */
const settled = (chunks: ReadonlyArray<any>): ReadonlyArray<any> => {
  const isOutput = ({ type }: any) => type === "tool-output-available" || type === "tool-output-error"
  const invalid = chunks.filter(({ type }) => type === "tool-input-error").map(({ toolCallId }) => toolCallId)
  return [
    ...chunks.filter((chunk) => !isOutput(chunk)),
    ...chunks.filter((chunk) => isOutput(chunk) && !invalid.includes(chunk.toolCallId))
      .sort((left, right) => left.toolCallId < right.toolCallId ? -1 : 1)
  ]
}

const calls: Calls = [
  call("c1", "pay", { cents: "500", note: "?" }),
  call("c2", "look", {}),
  call("c3", "nothing", {}),
  call("c4", "pay", { cents: 5 }),
  call("c5", "refund", {}),
  call("c6", "break", {})
] as Calls

describe("a step", () => {
  it.effect("7.0.173: with everything that can become of a call", () =>
    Effect.gen(function*() {
      const { aiTools, tools } = shop(sdk7)
      const toolApproval = {
        pay: { type: "user-approval", reason: "It is your money." },
        refund: { type: "denied", reason: "never" },
        break: "approved"
      }
      const options = { tools: aiTools, secret, messages: [user()], toolApproval }
      const there = yield* proceed(sdk7, "streamText", options, calls)
      const policy = {
        pay: ApprovalPolicy.userApproval("It is your money."),
        refund: ApprovalPolicy.denied("never"),
        break: ApprovalPolicy.approved()
      }
      const { step } = yield* start(tools, calls, { policy })
      const chunks = asStep(UiMessageChunk.fromStep(step, { tools }))

      // A denial is not signed here, so that nobody can turn it into an approval.
      const sent = there.chunks.map(({ signature, ...chunk }) =>
        signature === undefined || chunk.toolCallId === "c5" ? chunk : { ...chunk, signature }
      )
      assert.deepStrictEqual(comparable(settled(chunks)), comparable(settled(sent)))

      const message = yield* show(sdk7, chunks)
      assert.deepStrictEqual(comparable(message.parts), comparable((yield* show(sdk7, sent)).parts))
      const [, pay, , unknown, invalid] = message.parts as ReadonlyArray<any>
      const [asked] = step.pending
      assert.deepStrictEqual(stored(pay), {
        type: "tool-pay",
        toolCallId: "c1",
        state: "approval-requested",
        title: "Pay",
        toolMetadata: { shop: 1 },
        input: { cents: 500, currency: "EUR" },
        approval: {
          id: asked!.approvalRequest.approvalId,
          inputSchemaInput: { cents: "500", note: "?" },
          requestReason: "It is your money.",
          signature: asked!.approvalRequest.signature
        }
      })
      assert.include(unknown, { type: "dynamic-tool", toolName: "nothing", state: "output-error" })
      assert.include(invalid, { type: "tool-pay", state: "output-error" })
      assert.include(invalid.errorText, "/cents")
    }).pipe(Effect.provide(signed)))

  for (const sdk of sdks) {
    it.effect(`${sdk.version}: with questions, results and errors, but nothing automatic`, () =>
      Effect.gen(function*() {
        const { aiTools, tools } = shop(sdk)
        const some = calls.slice(0, 4)
        const there = yield* proceed(sdk, "streamText", { tools: aiTools, secret, messages: [user()] }, some)
        const { step } = yield* start(tools, some)
        const chunks = asStep(UiMessageChunk.fromStep(step, { tools }))
        assert.deepStrictEqual(comparable(settled(chunks)), comparable(settled(there.chunks)))
        const parts = (yield* show(sdk, chunks)).parts
        assert.deepStrictEqual(comparable(parts), comparable((yield* show(sdk, there.chunks)).parts))
      }).pipe(Effect.provide(signed)))

    it.effect(`${sdk.version}: shows what a repair has changed`, () =>
      Effect.gen(function*() {
        const { tools } = shop(sdk)
        const broken = [call("c1", "pay", "{\"cents\":\"5\",}")] as Calls
        const step = yield* ToolStep.run(broken, { tools, repair: Repair.jsonrepair })
        const { parts } = yield* show(sdk, asStep(UiMessageChunk.fromStep(step, { tools })))
        const { edits } = (parts as ReadonlyArray<any>)[1].approval.descriptor
        assert.deepStrictEqual(edits, (step.calls[0] as any).edits)
        assert.isNotEmpty(edits)
      }).pipe(Effect.provide(signed)))
  }

  it.effect("6.0.326: has no reason for the page to show, and no chunk for what a policy has decided", () =>
    Effect.gen(function*() {
      const { tools } = shop(sdk6)
      const reason = { pay: ApprovalPolicy.userApproval("It is your money.") }
      const asked = yield* start(tools, calls.slice(0, 1), { policy: reason })
      const { parts } = yield* show(sdk6, asStep(UiMessageChunk.fromStep(asked.step, { tools })))
      assert.doesNotHaveAnyKeys((parts as ReadonlyArray<any>)[1].approval, ["requestReason", "reason"])

      const automatic = yield* start(tools, calls.slice(0, 1), { policy: { pay: ApprovalPolicy.approved() } })
      const chunks = asStep(UiMessageChunk.fromStep(automatic.step, { tools }))
      assert.strictEqual((yield* Effect.flip(show(sdk6, chunks))).name, "AI_TypeValidationError")
      // Without the chunks about it, the page shows what became of the call.
      const known = asStep(UiMessageChunk.fromStep(automatic.step, { tools, sdk: 6 }))
      const shown = (yield* show(sdk6, known)).parts as ReadonlyArray<any>
      assert.lengthOf(known, chunks.length - 2)
      assert.include(shown[1], { state: "output-available", output: "paid 500 EUR" })

      const denied = yield* start(tools, calls.slice(0, 1), { policy: { pay: ApprovalPolicy.denied("never") } })
      const told = yield* show(sdk6, asStep(UiMessageChunk.fromStep(denied.step, { tools, sdk: 6 })))
      assert.include((told.parts as ReadonlyArray<any>)[1], { state: "output-error", errorText: "never" })
      yield* Effect.promise(() => sdk6.ai.validateUIMessages({ messages: [{ ...told, id: "m1" }] }))
    }).pipe(Effect.provide(signed)))
})

describe("a resume", () => {
  for (const sdk of sdks) {
    it.effect(`${sdk.version}: makes of a page what the AI SDK makes of it`, () =>
      Effect.gen(function*() {
        const { aiTools, tools } = shop(sdk)
        const options = { tools: aiTools, secret }
        const proposed = [
          call("c1", "pay", { cents: "5" }),
          call("c2", "refund", {}),
          call("c3", "break", {}),
          call("c4", "pay", { cents: "7" })
        ]
        const asked = yield* proceed(sdk, "streamText", { ...options, messages: [user()] }, proposed)
        const page = yield* show(sdk, asked.chunks)
        const answered: any = {
          ...page,
          parts: page.parts.map((part: any) =>
            part.approval === undefined ? part : {
              ...part,
              state: "approval-responded",
              approval: { ...part.approval, approved: part.toolCallId !== "c2" }
            }
          )
        }
        // Signed, but not what comes out of the schema.
        answered.parts.find((part: any) => part.toolCallId === "c4").approval.inputSchemaInput = { cents: "8" }
        const question = { id: "m0", role: "user" as const, parts: [{ type: "text" as const, text: "please" }] }
        const messages = yield* Effect.promise(async () => await sdk.ai.convertToModelMessages([question, answered]))

        const there = yield* proceed(sdk, "streamText", { ...options, messages }, [{ type: "text", text: "done" }])
        const resumed = yield* Approval.resume({ messages, tools })
        const events = [
          ...resumed.denied.map((denied) => ({ _tag: "Denied", denied }) as const),
          ...resumed.invalid.map((invalid) => ({ _tag: "Invalid", invalid }) as const),
          ...resumed.results.map((result) => ({ _tag: "Finished", result }) as const)
        ]
        const outputsThere = there.chunks.filter(({ type }) => type.startsWith("tool-output"))
        const outputsHere = events.flatMap(UiMessageChunk.fromResumeEvent)
        const end = (parts: ReadonlyArray<any>) => parts.map((part) => [part.toolCallId, part.state, part.output])
        const shownHere = yield* show(sdk, outputsHere, answered)
        const shownThere = yield* show(sdk, outputsThere, answered)
        assert.deepStrictEqual(comparable(shownHere.parts), comparable(shownThere.parts))
        assert.deepStrictEqual(end(shownHere.parts.slice(1)), [
          ["c1", "output-available", "paid 5 EUR"],
          ["c2", "output-denied", undefined],
          ["c3", "output-error", undefined],
          ["c4", "output-error", undefined]
        ])
      }).pipe(Effect.provide(signed)))
  }
})
