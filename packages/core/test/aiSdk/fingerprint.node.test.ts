/** Countersign and the AI SDK know a tool by the same fingerprint, however its input schema was made. */
import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import * as ai from "ai"
import { type } from "arktype"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import { z as z3 } from "zod3"
import * as Fingerprint from "../../src/Fingerprint.ts"
import * as Tool from "../../src/Tool.ts"
import { jsonValue, oneOf } from "../arbitraries.ts"
import { Choices, choicesMade } from "../choices.ts"
import { jsInputs } from "../jsInputs.ts"
import { schemaOfChoices } from "../randomSchema.ts"
import { zod3OfChoices } from "../randomZod3.ts"
import { zod4OfChoices } from "../randomZod4.ts"

/** What the AI SDK calls it; nothing where it has no fingerprint. */
const theirs = (tool: object) =>
  Effect.promise(() => ai.fingerprintTools({ tool: tool as ai.Tool }).then(({ tool }) => tool, () => undefined))

const ours = (tool: object) =>
  Effect.map(
    Fingerprint.fingerprintEach({ tool: Tool.make("tool", tool as { readonly inputSchema?: {} }) }),
    ({ tool }) => Result.getOrUndefined(tool!)
  )

const same = Effect.fnUntraced(function*(own: object, other: object = own) {
  const fingerprint = yield* ours(own)
  assert.strictEqual(fingerprint, yield* theirs(other))
  return fingerprint
})

const isRefused = Effect.fnUntraced(function*(own: object, other: object = own) {
  assert.isUndefined(yield* same(own, other))
})

const isTaken = Effect.fnUntraced(function*(own: object, other: object = own) {
  assert.isDefined(yield* same(own, other))
})

const runs = { arbitrary: { runs: 500 } }

describe("the same fingerprint", () => {
  // The SDK says so on the console, wherever a zod 3 schema is inside itself.
  const { warn } = console
  beforeAll(() => {
    console.warn = () => {}
  })
  afterAll(() => {
    console.warn = warn
  })

  it.effect.prop("of JSON Schemas, descriptions and titles", [
    jsonValue,
    oneOf([undefined, null, "", "d", "\u2028\ud800", () => "said", 5, {}]),
    oneOf([undefined, null, "", "T", "\u202e"])
  ], ([value, description, title]) =>
    Effect.gen(function*() {
      const inputSchema = { type: "object", default: value }
      yield* isTaken({ description, title, inputSchema }, {
        description,
        title,
        inputSchema: ai.jsonSchema(inputSchema as {})
      })
    }).pipe(Effect.provide(NodeCrypto.layer)), runs)

  for (const [source, make] of Object.entries(jsInputs)) {
    it.effect(`of a JSON Schema that holds ${source}`, () =>
      Effect.gen(function*() {
        const inputSchema: any = { default: make() }
        yield* same({ inputSchema }, { inputSchema: ai.jsonSchema(inputSchema) })
      }).pipe(Effect.provide(NodeCrypto.layer)))
  }

  it.effect.prop(
    "of zod 3 schemas",
    [choicesMade],
    ([made]) => same({ inputSchema: zod3OfChoices(new Choices(made)) }).pipe(Effect.provide(NodeCrypto.layer)),
    runs
  )

  it.effect.prop(
    "of zod 4 schemas",
    [choicesMade],
    ([made]) => same({ inputSchema: zod4OfChoices(new Choices(made)) }).pipe(Effect.provide(NodeCrypto.layer)),
    runs
  )

  it.effect.prop("of Effect Schemas", [choicesMade], ([made]) =>
    Effect.gen(function*() {
      const schema = schemaOfChoices(new Choices(made))
      const standard = Schema.toStandardJSONSchemaV1(Schema.toStandardSchemaV1(schema))
      yield* isTaken({ inputSchema: schema }, { inputSchema: standard })
      yield* isTaken({ inputSchema: standard })
    }).pipe(Effect.provide(NodeCrypto.layer)), runs)

  it.effect("of arktype and valibot schemas", () =>
    Effect.gen(function*() {
      const nested = type({ a: { b: "string[]", "c?": "'x'|'y'" }, d: [["number", "boolean"], "|", "null"] } as any)
      for (
        const inputSchema of [type({ query: "string > 1" }), nested, type("string"), type({ "[string]": "number" })]
      ) {
        yield* isTaken({ inputSchema })
        // The SDK changes the JSON Schema that the library gives.
        yield* isTaken({ inputSchema })
      }
      const valibot = v.object({
        a: v.looseObject({ b: v.pipe(v.string(), v.minLength(1)) }),
        c: v.variant("k", [v.strictObject({ k: v.literal(1) }), v.object({ k: v.literal(2) })]),
        d: v.tuple([v.object({}), v.number()]),
        e: v.nullish(v.record(v.string(), v.object({})))
      })
      yield* isTaken({ inputSchema: toStandardJsonSchema(valibot) })
      yield* isRefused({ inputSchema: valibot })
      yield* isRefused({ inputSchema: toStandardJsonSchema(v.object({ at: v.date() })) })
    }).pipe(Effect.provide(NodeCrypto.layer)))

  it.effect("of recursive zod 3 schemas, as far as there is an end", () =>
    Effect.gen(function*() {
      const json: z3.ZodTypeAny = z3.lazy(() => z3.union([z3.string(), z3.array(json), z3.record(json)]))
      yield* isTaken({ inputSchema: json })
      yield* isTaken({ inputSchema: z3.object({ json, again: json.optional() }) })
      const endless: z3.ZodTypeAny = z3.lazy(() => endless)
      yield* isRefused({ inputSchema: endless })
      yield* isRefused({ inputSchema: z3.bigint().min(1n) })
    }).pipe(Effect.provide(NodeCrypto.layer)))
})

describe("the same drift", () => {
  const names = ["z", "a", "constructor", "__proto__", "toString", "10", "9"]
  const fingerprints = Arbitrary.map(
    Arbitrary.array(Arbitrary.all([oneOf(names), oneOf(["h1", "h2"])]), { maxLength: 7 }),
    (entries): Record<string, string> => Object.fromEntries(entries)
  )

  it.prop("in sorted order", [fingerprints, fingerprints], ([current, baseline]) => {
    const { added, changed, removed } = ai.detectToolDrift(current, baseline)
    const sorted = { added: added.sort(), removed: removed.sort(), changed: changed.sort() }
    assert.deepStrictEqual(Fingerprint.drift(current, baseline), sorted)
  }, runs)
})

describe("ten thousand tools", () => {
  it("are fingerprinted at once where the platform hashes at once", () => {
    const inputSchema = { type: "object" }
    const tools = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`tool${index}`, Tool.make("t", { title: `${index}`, inputSchema })])
    )
    const fingerprints = Effect.runSync(Effect.provide(Fingerprint.fingerprint(tools), NodeCrypto.layer))
    assert.strictEqual(new Set(Object.values(fingerprints)).size, 10_000)
  })
})
