/** The messages of a page become the same messages of a history here as in the AI SDK. */
import { assert, describe, it } from "@effect/vitest"
import type { UIMessage } from "ai"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Tool from "../../src/Tool.ts"
import * as ToolSet from "../../src/ToolSet.ts"
import * as UiMessage from "../../src/UiMessage.ts"
import { stored } from "../approvalHistory.ts"
import { fragmentText, jsonValue, oneOf } from "../arbitraries.ts"
import vectors from "../fixtures/ai-sdk/approvals.json" with { type: "json" }
import { throughJson } from "../throughJson.ts"
import { partsOf, type Sdk, sdk6, sdk7, sdks } from "./sdk.ts"

const convert = ({ ai }: Sdk, messages: ReadonlyArray<unknown>, options?: object) =>
  Effect.map(
    Effect.promise(async () => await ai.convertToModelMessages(messages as Array<UIMessage>, options)),
    (converted) => throughJson(converted) as Array<any>
  )

describe("the recorded pages", () => {
  for (const vector of vectors.uiMessages as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const converted = UiMessage.toMessages(vector.uiMessages)
        assert.deepStrictEqual<unknown>(throughJson(converted), yield* convert(sdk7, vector.uiMessages))
      }))
  }
})

it("a text that is none is left out of what the system says", () => {
  const parts = [{ type: "text", text: { toString: 1 } }, { type: "text", text: "Be brief." }]
  assert.deepStrictEqual<unknown>(UiMessage.toMessages([{ role: "system", parts: parts as any }]), [
    { role: "system", content: "Be brief." }
  ])
})

const optional = <A>(key: string, values: Arbitrary.Arbitrary<A>): Arbitrary.Arbitrary<object> =>
  Arbitrary.map(Arbitrary.all([oneOf([true, false]), values]), ([isThere, value]) => isThere ? { [key]: value } : {})

const merged = (...parts: ReadonlyArray<Arbitrary.Arbitrary<object>>): Arbitrary.Arbitrary<object> =>
  Arbitrary.map(Arbitrary.all([...parts]), (objects) => Object.assign({}, ...objects))

const approval = (answer: Arbitrary.Arbitrary<object>) =>
  Arbitrary.map(
    merged(
      Arbitrary.map(fragmentText, (id) => ({ id })),
      optional("requestReason", fragmentText),
      optional("isAutomatic", oneOf([true])),
      optional("signature", fragmentText),
      optional("inputSchemaInput", jsonValue),
      optional("descriptor", jsonValue),
      answer
    ),
    (approval) => ({ approval })
  )

const no = Arbitrary.map(
  Arbitrary.all([optional("reason", fragmentText)]),
  ([reason]) => ({ approved: false, ...reason })
)
const yes = Arbitrary.map(optional("reason", fragmentText), (reason) => ({ approved: true, ...reason }))
const none = oneOf([{}])
const either = Arbitrary.flatMap(oneOf([yes, no]), (answer) => answer)
const maybe = (part: Arbitrary.Arbitrary<object>) => Arbitrary.flatMap(oneOf([part, none]), (either) => either)

const state = (name: string, ...more: ReadonlyArray<Arbitrary.Arbitrary<object>>) =>
  merged(oneOf([{ state: name }]), Arbitrary.map(jsonValue, (input) => ({ input })), ...more)

const output = Arbitrary.map(jsonValue, (output) => ({ output }))
const errorText = Arbitrary.map(fragmentText, (errorText) => ({ errorText }))

const toolPart = merged(
  oneOf([{ type: "tool-pay" }, { type: "dynamic-tool", toolName: "pay" }, { type: "tool-a-b" }]),
  Arbitrary.map(fragmentText, (toolCallId) => ({ toolCallId })),
  optional("providerExecuted", oneOf([true, false])),
  optional("callProviderMetadata", oneOf([{ p: { x: 1 } }])),
  optional("resultProviderMetadata", oneOf([{ p: { y: 1 } }])),
  Arbitrary.flatMap(
    oneOf([
      state("input-streaming"),
      state("input-available"),
      state("approval-requested", approval(none)),
      state("approval-responded", approval(either)),
      state("output-available", output, maybe(approval(yes))),
      state("output-error", errorText, maybe(approval(yes))),
      state("output-denied", approval(no))
    ]),
    (part) => part
  )
)

const textPart = Arbitrary.map(fragmentText, (text) => ({ type: "text", text }))

const message = Arbitrary.flatMap(oneOf(["user", "assistant", "assistant"]), (role) =>
  Arbitrary.map(
    Arbitrary.array(
      role === "user"
        ? textPart
        : Arbitrary.flatMap(oneOf([toolPart, toolPart, toolPart, textPart, oneOf([{ type: "step-start" }])]), (part) =>
          part),
      { minLength: 1, maxLength: 4 }
    ),
    (parts) => ({ id: "m", role, parts })
  ))

/** Without what version 6 does not know of: reason and mark of a question, and a result for a no that was not told yet. */
const without6 = (messages: ReadonlyArray<any>) =>
  messages.map(({ content, ...rest }) => ({
    ...rest,
    content: content.flatMap(({ isAutomatic: _isAutomatic, reason, ...part }: any) => {
      if (part.type === "tool-approval-request") return [part]
      if (part.type === "tool-result" && part.output.type === "execution-denied") return []
      return [{ ...part, ...reason === undefined ? {} : { reason } }]
    })
  }))

/** Version 6 keeps a question that the person has passed over, and then finds its call without a result. */
const withoutOvertaken = (page: ReadonlyArray<any>) => {
  const lastUser = page.findLastIndex(({ role }) => role === "user")
  return page.map(({ parts, ...message }, index) => ({
    ...message,
    parts: index < lastUser ? parts.filter(({ state }: any) => state !== "approval-requested") : parts
  }))
}

describe("any page", () => {
  it.effect.prop(
    "7.0.173: becomes the same history",
    [Arbitrary.array(message, { maxLength: 3 })],
    Effect.fnUntraced(function*([messages]) {
      const page = stored(messages)
      assert.deepStrictEqual<unknown>(throughJson(UiMessage.toMessages(page as any)), yield* convert(sdk7, page))
    }),
    { arbitrary: { runs: 300 } }
  )

  it.effect.prop(
    "6.0.326: becomes the same history, but for overtaken questions and for what version 6 does not know of",
    [Arbitrary.array(message, { maxLength: 3 })],
    Effect.fnUntraced(function*([messages]) {
      const page = stored(messages)
      const here = throughJson(UiMessage.toMessages(page as any)) as Array<any>
      assert.deepStrictEqual(without6(here), yield* convert(sdk6, withoutOvertaken(page)))
    }),
    { arbitrary: { runs: 300 } }
  )
})

describe("a tool that shows the model something else than the page", () => {
  const part = {
    type: "tool-find",
    toolCallId: "c1",
    state: "output-available",
    input: { id: 7 },
    output: { pin: 1234 }
  }
  const page = [{ id: "m1", role: "assistant", parts: [part] }]
  const toModelOutput = ({ input, toolCallId }: any) => ({
    type: "text" as const,
    value: `${toolCallId} ${input.id} found`
  })

  for (const { ai, version } of sdks) {
    it.effect(`${version}: still does when the page sends the result back`, () =>
      Effect.gen(function*() {
        const find = ai.tool({ inputSchema: ai.jsonSchema({}), execute: async () => ({ pin: 1234 }), toModelOutput })
        const there = yield* convert({ ai, version } as Sdk, page, { tools: { find } })
        const tools = ToolSet.make(
          Tool.make("find", { inputSchema: {}, execute: () => Effect.succeed({ pin: 1234 }), toModelOutput })
        )
        const here = UiMessage.toMessages(page as any, { tools })
        assert.deepStrictEqual<unknown>(throughJson(here), there)
        assert.deepStrictEqual(partsOf(here, "tool-result")[0].output, { type: "text", value: "c1 7 found" })
      }))
  }

  it("shows nothing of a result that it cannot show", () => {
    const broken = [() => {
      throw new Error("no")
    }, () => ({ type: "text", value: 1 })] as ReadonlyArray<() => any>
    for (const toModelOutput of broken) {
      const tools = ToolSet.make(Tool.make("find", { toModelOutput }))
      const [, { content }] = UiMessage.toMessages(page as any, { tools }) as any
      const value = "Tool find ran, and its result cannot be shown."
      assert.deepStrictEqual(content[0].output, { type: "error-text", value })
    }
  })
})
