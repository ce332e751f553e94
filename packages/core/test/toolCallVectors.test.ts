/**
 * What `parseToolCall` of the AI SDK (7.0.173) answers, case by case. Where Countersign answers otherwise on purpose, the case
 * stands in `deviations` with the answer it gets here; the reasons are in `docs/differences.md`.
 */
import { assert, describe, it } from "@effect/vitest"
import { type } from "arktype"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { z } from "zod"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import type { Refinement } from "../src/Refinement.ts"
import type { Repair } from "../src/Repair.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import vectors from "./fixtures/ai-sdk/parse.json" with { type: "json" }

const standard = (validate: (value: any) => StandardSchemaV1.Result<unknown>): StandardSchemaV1 => ({
  "~standard": { version: 1, vendor: "test", validate }
})

const tools = ToolSet.make(
  Tool.make("weather", {
    title: "Weather",
    metadata: { source: "demo" },
    inputSchema: z.object({ city: z.string() })
  }),
  Tool.make("any", { inputSchema: {} }),
  Tool.make("typed", { inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } }),
  Tool.make("opt", { inputSchema: z.object({ a: z.string().optional(), n: z.number().default(5) }) }),
  Tool.make("noArgs", { inputSchema: z.object({}) }),
  Tool.make("strictObj", { inputSchema: z.strictObject({ x: z.number() }) }),
  Tool.make("coerce", { inputSchema: z.object({ n: z.coerce.number() }) }),
  Tool.make("transform", { inputSchema: z.object({ s: z.string().transform((s) => s.length) }) }),
  Tool.make("str", { inputSchema: z.string() }),
  Tool.make("arr", { inputSchema: z.array(z.number()) }),
  Tool.make("asyncRefine", {
    inputSchema: z.object({ x: z.string() }).refine(async (v) => v.x !== "bad", "async bad")
  }),
  Tool.make("validated", {
    inputSchema: standard((value) =>
      value?.ok ? { value: { ...value, checked: true } } : { issues: [{ message: "not ok" }] }
    )
  }),
  Tool.make("throwing", {
    inputSchema: standard(() => {
      throw new Error("validator crashed")
    })
  }),
  Tool.make("lazy", { inputSchema: () => z.object({ q: z.string() }) }),
  Tool.make("ark", { inputSchema: type({ q: "string" }) }),
  Tool.make("noSchema"),
  Tool.make("dyn", {
    kind: "dynamic",
    title: "Dyn",
    metadata: { server: "s1" },
    inputSchema: z.object({ v: z.number() })
  })
)

const answer = (change: Partial<RawToolCall>): Repair => ({ toolCall }) =>
  Effect.succeed(Option.some({ ...toolCall, ...change }))

const repairs: Record<string, Repair<unknown>> = {
  "returns null": () => Effect.succeedNone,
  "null": () => Effect.succeedNone,
  "undefined": () => Effect.succeedNone,
  "throws Error": () => Effect.fail(new Error("repair boom")),
  "throws \"str\"": () => Effect.fail("str"),
  "still invalid": answer({ input: "{\"city\":2}" }),
  "unknown tool": answer({ toolName: "nope" }),
  "other id": answer({ toolCallId: "other", input: "{\"city\":\"x\"}" }),
  "input \"\"": answer({ input: "" }),
  "input {}": answer({ input: "{}" }),
  "input {\"city\":\"c\"}": answer({ input: "{\"city\":\"c\"}" }),
  "input {\"city\":\" x \"}": answer({ input: "{\"city\":\" x \"}" }),
  "no providerMetadata": ({ toolCall: { providerMetadata: _, ...toolCall } }) =>
    Effect.succeed(Option.some({ ...toolCall, input: "{\"city\":\"x\"}" }))
}

type Refine = Record<string, Refinement<any, unknown>>

const refinements: Record<string, Refine> = {
  "async upper-case": { weather: (input) => Effect.promise(async () => ({ city: input.city.toUpperCase() })) },
  "other tool": { any: () => Effect.die("not reached") },
  "throws Error": { weather: () => Effect.fail(new Error("refine boom")) },
  "throws InvalidToolInputError for city b": { weather: () => Effect.fail(new Error("AI_InvalidToolInputError")) },
  "i.n++; return i (in place)": {
    any: (input) => {
      input.n++
      return Effect.succeed(input)
    }
  },
  "adds refined": { "mcp.search": (input) => Effect.succeed({ ...input, refined: true }) },
  "trim": { weather: (input) => Effect.succeed({ city: input.city.trim() }) }
}

/** What the SDK's error becomes here. */
const tags: Record<string, string> = {
  AI_NoSuchToolError: "NoSuchTool",
  AI_InvalidToolInputError: "InvalidToolInput",
  AI_ToolCallRepairError: "ToolCallRepairFailed",
  Error: "RefinementFailed"
}

/** The answer here, by case name, where it is not the SDK's: a tag of a refusal. */
const deviations: Record<string, string> = {
  // A JSON Schema is checked here; `jsonSchema()` of the SDK lets everything pass.
  "typed: \"{\\\"a\\\":5}\"": "InvalidToolInput",
  "typed: \"{}\"": "InvalidToolInput",
  "typed: \"[]\"": "InvalidToolInput",
  // A tool without a schema takes no arguments.
  "noSchema: \"{\\\"anything\\\":1}\"": "InvalidToolInput",
  // Numbers that a double does not hold are not changed in silence.
  "any: \"1e400\"": "InvalidToolInput",
  "any: \"9007199254740993\"": "InvalidToolInput",
  // A refinement has the last word; its refusal is not repaired.
  "refine throws InvalidToolInputError -> repair called": "RefinementFailed",
  // A repair that answers for another call, or with nothing, has not repaired this one.
  "repair changes toolCallId": "ToolCallRepairFailed",
  "repair returns empty input": "InvalidToolInput"
}

/** Cases that pass in both, with another detail. */
const keptMetadata = "repair drops providerMetadata"
const keptRawInput = "refine mutating in place on schema without validate"

const plain = (value: unknown): any =>
  JSON.parse(JSON.stringify(value), (_, member) => {
    if (typeof member !== "object" || member === null) return member
    if (Object.hasOwn(member, "$undefined")) return undefined
    if (Object.hasOwn(member, "$number")) return Number(member.$number)
    return member
  })

describe("the AI SDK's parseToolCall, case by case", () => {
  for (const vector of vectors.cases as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const set: ToolSet.ToolSet | undefined = { all: tools, "{}": {}, undefined: undefined }[vector.tools as "all"]
        const call: any = yield* ToolCall.parseOrInvalid(vector.toolCall as RawToolCall, {
          tools: set,
          repair: vector.repair === undefined ? undefined : repairs[vector.repair]!,
          refine: vector.refine === undefined ? undefined : refinements[vector.refine]!
        })
        const expected = plain(vector.result)

        const refusal = deviations[vector.name]
        if (refusal !== undefined) {
          assert.strictEqual(call.error?._tag, refusal)
          return
        }
        assert.strictEqual(call.invalid ?? false, expected.invalid ?? false)
        for (const field of ["type", "toolCallId", "toolName", "input", "title", "toolMetadata", "dynamic"]) {
          assert.deepStrictEqual(call[field], expected[field], field)
        }
        assert.strictEqual(call.providerExecuted, expected.providerExecuted)
        assert.deepStrictEqual(
          call.providerMetadata,
          vector.name === keptMetadata ? vector.toolCall.providerMetadata : expected.providerMetadata
        )
        if (vector.error !== undefined) assert.strictEqual(call.error._tag, tags[vector.error.$error])
        if (!call.invalid && !Object.hasOwn(vector.hiddenInputSchemaInput, "$none")) {
          assert.deepStrictEqual(
            call.inputSchemaInput,
            vector.name === keptRawInput ? { n: 1 } : plain(vector.hiddenInputSchemaInput)
          )
        }
      }).pipe(Effect.provide(CfworkerJsonSchema.layer)))
  }

  it("every deviation names a case", () => {
    const names = new Set(vectors.cases.map((vector) => vector.name))
    for (const name of [...Object.keys(deviations), keptMetadata, keptRawInput]) assert.isTrue(names.has(name), name)
  })
})
