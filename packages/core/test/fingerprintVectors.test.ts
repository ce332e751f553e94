/** The fingerprints of the AI SDK (7.0.173) and the Go AI SDK, case by case. */
import { assert, describe, it } from "@effect/vitest"
import { type } from "arktype"
import * as Effect from "effect/Effect"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as v from "valibot"
import { z } from "zod"
import { z as z3 } from "zod3"
import * as Fingerprint from "../src/Fingerprint.ts"
import * as Tool from "../src/Tool.ts"
import vectors from "./fixtures/ai-sdk/fingerprints.json" with { type: "json" }
import goVectors from "./fixtures/go-ai-sdk/fingerprints.json" with { type: "json" }
import { testCrypto } from "./testCrypto.ts"

/** A tool as untyped code makes it: a title may be null. */
const make = (options: object): Tool.Any => Tool.make("tool", options as { readonly inputSchema?: {} })

const fingerprintOf = (tool: Tool.Any) =>
  Effect.map(Fingerprint.fingerprint({ tool }), (fingerprints) => fingerprints["tool"]!)

describe("tools with raw JSON Schemas, of the AI SDK", () => {
  for (const { fingerprints, keyOrder, name, tools } of vectors.cases) {
    const definitions = Object.entries<object>(tools)

    it.effect(`${name}: as tools`, () =>
      Effect.gen(function*() {
        const set = Object.fromEntries(definitions.map(([name, definition]) => [name, make(definition)]))
        const own = yield* Fingerprint.fingerprint(set)
        assert.deepStrictEqual(Object.entries(own), keyOrder.map((name) => [name, (fingerprints as any)[name]]))
      }).pipe(Effect.provide(testCrypto)))

    it.effect(`${name}: as definitions`, () =>
      Effect.gen(function*() {
        for (const [name, definition] of definitions) {
          assert.strictEqual(yield* Fingerprint.ofDefinition(definition), (fingerprints as any)[name])
        }
      }).pipe(Effect.provide(testCrypto)))
  }
})

const query = { type: "object", properties: { query: { type: "string" } }, required: ["query"] }

/** The tool that each vector makes, with what the constructors of the AI SDK are here. */
const toolsOfKinds: Readonly<Record<string, () => object>> = {
  "function description": () => ({ description: () => "x", inputSchema: query }),
  "non-string description (number)": () => ({ description: 5, inputSchema: query }),
  "zod with describe/optional/default": () => ({
    description: "d",
    inputSchema: z.object({ q: z.string().describe("Q"), n: z.number().optional(), d: z.string().default("x") })
  }),
  "zod passthrough": () => ({ description: "d", inputSchema: z.looseObject({ a: z.string() }) }),
  "zod record / array / union": () => ({
    description: "d",
    inputSchema: z.object({
      r: z.record(z.string(), z.number()),
      a: z.array(z.object({ x: z.boolean() })),
      u: z.union([z.string(), z.null()])
    })
  }),
  "zodSchema() wrapper same digest": () => ({ description: "d", inputSchema: z.object({ query: z.string() }) }),
  "zod v3": () => ({ description: "d", inputSchema: z3.object({ query: z3.string() }) }),
  "jsonSchema with promise": () => ({ description: "d", inputSchema: query }),
  "jsonSchema plain": () => ({ description: "d", inputSchema: query }),
  "plain function returning schema": () => ({ description: "d", inputSchema: () => query }),
  "arktype standard schema": () => ({
    description: "d",
    inputSchema: type({ query: "string" }) as StandardSchemaV1
  }),
  "valibot without json schema": () => ({ description: "d", inputSchema: v.object({ query: v.string() }) }),
  "dynamicTool": () => ({ kind: "dynamic", description: "d", inputSchema: query }),
  "jsonSchema with undefined value": () => ({ description: "d", inputSchema: { type: "object", title: undefined } }),
  "same without undefined (different digest!)": () => ({ description: "d", inputSchema: { type: "object" } }),
  "provider tool other id/args: same digest": () => ({
    kind: "provider",
    metadata: { id: "other" },
    inputSchema: query
  })
}

/** There a JSON Schema has to be wrapped; here it is one way to write a schema. */
const takenHere = "raw JSON schema object (not wrapped) is called as function -> throws"

describe("tools of every kind, of the AI SDK", () => {
  for (const vector of vectors.schemaKinds.filter(({ name }) => name !== takenHere)) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const tool = make(toolsOfKinds[vector.name]!())
        if (vector.throws === undefined) {
          assert.strictEqual(yield* fingerprintOf(tool), vector.fingerprint)
        } else {
          const error = yield* Effect.flip(fingerprintOf(tool))
          assert.strictEqual(error._tag, "UnsupportedSchema")
          assert.strictEqual(error.toolName, "tool")
        }
      }).pipe(Effect.provide(testCrypto)))
  }

  it("every kind is a vector", () => {
    assert.sameMembers([...Object.keys(toolsOfKinds), takenHere], vectors.schemaKinds.map(({ name }) => name))
  })
})

describe("tools of the Go AI SDK", () => {
  for (const { description, descriptionIsFunction, digest, inputSchema, name, title } of goVectors.vectors) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const said = descriptionIsFunction === true ? () => "said" : description
        assert.strictEqual(yield* fingerprintOf(make({ description: said, inputSchema, title })), digest)
        assert.strictEqual(yield* Fingerprint.ofDefinition({ description: said, inputSchema, title }), digest)
      }).pipe(Effect.provide(testCrypto)))
  }
})

const sorted = ({ added, changed, removed }: Fingerprint.Drift): Fingerprint.Drift => ({
  added: added.toSorted(),
  removed: removed.toSorted(),
  changed: changed.toSorted()
})

describe("drift", () => {
  for (const { baselineEntries, currentEntries, name, result } of vectors.drift) {
    it(`of the AI SDK, in our order: ${name}`, () => {
      const drift = Fingerprint.drift(Object.fromEntries(currentEntries), Object.fromEntries(baselineEntries))
      assert.deepStrictEqual(drift, sorted(result as Fingerprint.Drift))
    })
  }

  for (const { baseline, current, result } of goVectors.drift) {
    it(`of the Go AI SDK: ${JSON.stringify(current)} after ${JSON.stringify(baseline)}`, () => {
      assert.deepStrictEqual(Fingerprint.drift(current as {}, baseline as {}), result)
    })
  }
})
