/**
 * In which order the AI SDK (7.0.173) does what it does around one call, and what a step here does: the same, as far as it is
 * done here at all.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { z } from "zod"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { unsigned } from "./approvalHistory.ts"
import vectors from "./fixtures/ai-sdk/order.json" with { type: "json" }
import { raw } from "./tools.ts"
import { withoutUndefinedKeys } from "./wireObjects.ts"

type Event = string | { readonly [name: string]: unknown }

const nameOf = (event: Event): string => typeof event === "string" ? event : Object.keys(event)[0]!

/** What has no counterpart here, and where it belongs. */
const elsewhere: Record<string, string> = {
  "part:": "the stream of the model's answer, which the program reads itself",
  onInputStart: "the same stream",
  onInputDelta: "the same stream",
  onInputAvailable: "the parsed calls are the result of the step",
  onLanguageModelCallEnd: "the call of the model, which the program makes itself",
  onStepEnd: "the result of the step",
  "telemetry.": "the span execute_tool, by Effect's tracer"
}

const isElsewhere = (event: Event): boolean => Object.keys(elsewhere).some((name) => nameOf(event).startsWith(name))

/** The SDK's event as it is here: errors by their tags, and hooks without the input, which may be private. */
const ours = (event: Event): Event => {
  if (typeof event === "string") return event
  if (event.repair === "AI_InvalidToolInputError") return { repair: "InvalidToolInput" }
  if (Object.hasOwn(event, "onToolExecutionStart")) return "onToolExecutionStart"
  return Object.hasOwn(event, "onToolExecutionEnd") ? "onToolExecutionEnd" : event
}

/** What a refinement gives goes through the schema again. */
const withSecondReading = (events: ReadonlyArray<Event>): ReadonlyArray<Event> =>
  events.flatMap((event) =>
    typeof event === "object" && Object.hasOwn(event, "refine")
      ? [event, { "schema.transform": (event.refine as { readonly v: string }).v.trim() }]
      : [event]
  )

/** The end of an execution is told with its outcome, so what the model is to read is made before. */
const withOutputFirst = (events: ReadonlyArray<Event>): ReadonlyArray<Event> => {
  const isOutput = (event: Event) => nameOf(event) === "toModelOutput"
  const others = events.filter((event) => !isOutput(event))
  const end = others.indexOf("onToolExecutionEnd")
  return [...others.slice(0, end), ...events.filter(isOutput), ...others.slice(end)]
}

const withoutIds = (messages: unknown) =>
  JSON.parse(JSON.stringify(withoutUndefinedKeys(messages)), (key, member) => key === "approvalId" ? "id" : member)

describe("the order of the AI SDK", () => {
  for (const vector of vectors.cases as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const events: Array<Event> = []
        const on = <A>(event: Event, answer: A): Effect.Effect<A> =>
          Effect.sync(() => {
            events.push(event)
            return answer
          })
        const inputSchema = z.object({
          v: z.string().transform((text) => {
            events.push({ "schema.transform": text })
            return text
          })
        })
        const tools = ToolSet.make(Tool.make("t", {
          inputSchema,
          execute: (input) => on({ execute: input }, "ok"),
          toModelOutput: ({ input, output }) => {
            events.push({ toModelOutput: { output, input } })
            return { type: "text", value: String(output) }
          }
        }))
        const step = yield* ToolStep.run([raw("t", vector.modelInput, { toolCallId: "c1" })], {
          tools,
          repair: ({ error, toolCall }) =>
            on({ repair: error._tag }, Option.some({ ...toolCall, input: "{\"v\":\" fixed \"}" })),
          refine: { t: (input) => on({ refine: { ...input } }, { v: input.v.trim() }) },
          policy: ({ input }) => on({ toolApproval: input }, "approved" as const),
          onToolExecutionStart: () => on("onToolExecutionStart", undefined),
          onToolExecutionEnd: () => on("onToolExecutionEnd", undefined)
        })
        const expected = vector.events.filter((event: Event) => !isElsewhere(event)).map(ours)
        assert.deepStrictEqual(events, withOutputFirst(withSecondReading(expected)) as Array<Event>)
        assert.deepStrictEqual(withoutIds(step.messages), withoutIds(vector.responseMessages))
      }).pipe(Effect.provide(unsigned)))
  }

  it("every name of what is elsewhere is one of a vector", () => {
    const names = vectors.cases.flatMap(({ events }) => (events as ReadonlyArray<Event>).map(nameOf))
    for (const name of Object.keys(elsewhere)) assert.isTrue(names.some((one) => one.startsWith(name)), name)
  })
})
