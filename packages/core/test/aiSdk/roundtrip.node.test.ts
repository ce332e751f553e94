/**
 * An approval on its whole way, case by case as the AI SDK (7.0.173) has recorded it: once asked here, and once asked by the SDK
 * anew, for the secret of the recorded signatures is not known. Where Countersign does otherwise on purpose, the case stands in
 * `deviations`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { z } from "zod"
import * as Approval from "../../src/Approval.ts"
import * as ApprovalPolicy from "../../src/ApprovalPolicy.ts"
import * as Message from "../../src/Message.ts"
import type * as Refinement from "../../src/Refinement.ts"
import * as Tool from "../../src/Tool.ts"
import * as ToolSet from "../../src/ToolSet.ts"
import * as ToolStep from "../../src/ToolStep.ts"
import * as UiMessage from "../../src/UiMessage.ts"
import * as UiMessageChunk from "../../src/UiMessageChunk.ts"
import { secret, signed, stored } from "../approvalHistory.ts"
import vectors from "../fixtures/ai-sdk/roundtrip.json" with { type: "json" }
import { withoutUndefinedKeys } from "../wireObjects.ts"
import { asStep, show } from "./page.ts"
import { call, proceed, sdk7, user } from "./sdk.ts"

interface Case {
  readonly schema: z.ZodType | undefined
  readonly refine?: (input: any) => unknown
}

const v = z.object({ v: z.string() })

/** What the tool of each case was. */
const cases: Record<string, Case> = {
  plain: { schema: v },
  denied: { schema: v },
  "extra property stripped": { schema: v },
  "number transform": { schema: z.object({ n: z.string().transform(Number) }) },
  "date transform": { schema: z.object({ d: z.string().transform((text) => new Date(text)) }) },
  "undefined-valued property from refine": { schema: v, refine: (input) => ({ ...input, u: undefined }) },
  "refine non idempotent": { schema: v, refine: (input) => ({ ...input, v: `${input.v}!` }) },
  "refine in place on unvalidated schema": { schema: undefined, refine: (input) => (input.v += 1, input) }
}

/** What the SDK cannot run, and runs here: `executed`, and the request's `inputSchemaInput` where it is another one. */
const deviations: Record<string, { readonly executed: unknown; readonly inputSchemaInput?: unknown }> = {
  // The signature is of the JSON that travels, and the date is a date again.
  "date transform": { executed: { d: new Date("2024-01-01") }, inputSchemaInput: { d: "2024-01-01" } },
  // What a refinement gives is decoded again, and what is undefined is not there.
  "undefined-valued property from refine": { executed: { v: "a" } },
  // What the model sent is a copy.
  "refine in place on unvalidated schema": { executed: { v: 2 }, inputSchemaInput: { v: 1 } }
}

const question = { id: "m0", role: "user" as const, parts: [{ type: "text" as const, text: "x" }] }

const toolsOf = ({ schema }: Case) => {
  const executed: Array<unknown> = []
  const record = (input: unknown) => {
    executed.push(input)
    return "ok"
  }
  const tools: ToolSet.ToolSet = ToolSet.make(
    Tool.make("t", {
      title: "T",
      inputSchema: schema ?? { type: "object" },
      execute: (input) => Effect.sync(() => record(input))
    })
  )
  const aiTools = {
    t: sdk7.ai.tool({
      title: "T",
      inputSchema: (schema ?? sdk7.ai.jsonSchema({ type: "object" })) as z.ZodType,
      execute: async (input) => record(input)
    })
  }
  return { executed, tools, aiTools }
}

type Refinements = Refinement.Refinements<ToolSet.ToolSet>

const refinementsOf = ({ refine }: Case): Refinements =>
  refine === undefined ? {} : { t: (input: unknown) => Effect.sync(() => refine(input)) }

/** A recorded value with the ID and the signature of this run. */
const asOf = (value: unknown, { id, signature }: { readonly id: string; readonly signature: string }): any =>
  JSON.parse(JSON.stringify(withoutUndefinedKeys(value), (key, member) => {
    if (member === "id-1") return id
    return key === "signature" ? signature : member
  }))

/** The page's messages with the answer in them, as they are posted. */
const posted = (message: UiMessage.UiMessage, answer: object): ReadonlyArray<UiMessage.UiMessage> =>
  stored([question, {
    ...message,
    parts: message.parts.map((part: any) =>
      part.approval === undefined
        ? part
        : { ...part, state: "approval-responded", approval: { ...part.approval, ...answer } }
    )
  }])

const answerOf = (vector: any) => {
  const { approved, reason } = withoutUndefinedKeys(vector.modelMessages).at(-1).content[0]
  return { approved, ...reason === undefined ? {} : { reason } }
}

const toolMessages = (messages: ReadonlyArray<any>) => messages.filter(({ role }) => role === "tool")

/** A request in the message of the page or of the history, as it is here. */
const withRequest = (deviation: (typeof deviations)[string] | undefined, request: any) => {
  if (deviation === undefined) return
  if (deviation.inputSchemaInput === undefined) delete request.inputSchemaInput
  else request.inputSchemaInput = deviation.inputSchemaInput
}

describe("asked here", () => {
  for (const vector of vectors.cases as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const tested = cases[vector.name]!
        const deviation = deviations[vector.name]
        const { executed, tools } = toolsOf(tested)
        const refine = refinementsOf(tested)
        const policy = { t: ApprovalPolicy.userApproval("why") }
        const raw = { toolCallId: "c1", toolName: "t", input: vector.modelInput }
        const step = yield* ToolStep.run([raw], { tools, policy, refine })
        const { approvalId: id, signature } = step.pending[0]!.approvalRequest
        const ids = { id, signature: signature! }

        const expected = asOf(vector, ids)
        const [start, delta, ...complete] = expected.uiChunks
        const chunks = UiMessageChunk.fromStep(step, { tools })
        withRequest(deviation, complete[1])
        assert.deepStrictEqual(stored(chunks), complete)

        const message = yield* show(sdk7, asStep([start, delta, ...chunks]))
        withRequest(deviation, expected.uiPartRequested.approval)
        assert.deepStrictEqual(stored(message.parts.slice(1)), [expected.uiPartRequested])

        const messages = UiMessage.toMessages(posted(message as any, answerOf(vector)))
        withRequest(deviation, expected.modelMessages[1].content[1])
        assert.deepStrictEqual<unknown>(messages, expected.modelMessages)

        const resumed = yield* Approval.resume({ messages, tools, policy, refine })
        if (deviation !== undefined) {
          assert.deepStrictEqual(executed, [deviation.executed])
          assert.deepStrictEqual(resumed.results.map(({ output }) => output), [{ type: "text", value: "ok" }])
          return
        }
        assert.deepStrictEqual(executed, vector.continuation.executed)
        const { prompt, responseMessages } = withoutUndefinedKeys(vector.continuation)
        assert.deepStrictEqual<unknown>(resumed.responseMessages, toolMessages(responseMessages))
        assert.deepStrictEqual<unknown>(Message.forModel(resumed.messages), prompt)
      }).pipe(Effect.provide(signed)))
  }
})

describe("asked by the AI SDK", () => {
  for (const vector of vectors.cases as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const tested = cases[vector.name]!
        const { aiTools, executed, tools } = toolsOf(tested)
        const options = {
          tools: aiTools,
          secret,
          messages: [user("x")],
          toolApproval: () => ({ type: "user-approval", reason: "why" }),
          experimental_refineToolInput: tested.refine === undefined ? {} : { t: tested.refine },
          _internal: { generateId: () => "id-1" }
        }
        const { chunks } = yield* proceed(sdk7, "streamText", options, [call("c1", "t", vector.modelInput)])
        const { signature } = chunks.find(({ type }) => type === "tool-approval-request")
        const expected = asOf(vector, { id: "id-1", signature })
        const [start, delta, ...complete] = expected.uiChunks
        const ofTools = chunks.filter(({ type }) => type.startsWith("tool-"))
        assert.deepStrictEqual(ofTools, complete)

        const message = yield* show(sdk7, asStep([start, delta, ...ofTools]))
        assert.deepStrictEqual(stored(message.parts.slice(1)), [expected.uiPartRequested])

        const messages = UiMessage.toMessages(posted(message as any, answerOf(vector)))
        const refine = refinementsOf(tested)
        const resuming = Approval.resume({ messages, tools, refine })
        if (vector.continuation.throws !== undefined) {
          const refused = yield* Effect.flip(resuming)
          assert.include(refused, { _tag: "InvalidSignature", reason: "mismatch", approvalId: "id-1" })
          assert.deepStrictEqual(executed, [])
          return
        }
        const resumed = yield* resuming
        assert.deepStrictEqual(executed, vector.continuation.executed)
        const { responseMessages } = withoutUndefinedKeys(vector.continuation)
        const [result] = toolMessages(responseMessages).flatMap(({ content }) => content)
        // Errors have texts of their own.
        const comparable = ({ output, ...part }: any) =>
          output.type === "error-text" ? { ...part, output: output.type } : { ...part, output }
        assert.deepStrictEqual(
          resumed.responseMessages.flatMap(({ content }) => content).map(comparable),
          result === undefined ? [] : [comparable(result)]
        )
      }).pipe(Effect.provide(signed)))
  }
})

it("every deviation and every tool names a case", () => {
  const names = vectors.cases.map(({ name }) => name)
  assert.sameMembers(Object.keys(cases), names)
  for (const name of Object.keys(deviations)) assert.include(names, name)
})
