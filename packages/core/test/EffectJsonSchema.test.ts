import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as EffectJsonSchema from "../src/EffectJsonSchema.ts"
import { type JsonSchema, JsonSchemaValidator } from "../src/JsonSchemaValidator.ts"

const compile = (schema: JsonSchema) => Effect.flatMap(JsonSchemaValidator, (_) => _.compile(schema, undefined))

const refused: Record<string, JsonSchema> = {
  not: { not: { type: "string" } },
  if: { if: { type: "string" }, else: { minimum: 1 } },
  contains: { contains: {} },
  dependentRequired: { dependentRequired: { a: ["b"] } },
  dependentSchemas: { dependentSchemas: { a: {} } },
  unevaluatedProperties: { unevaluatedProperties: false },
  "objects in enum": { enum: [{ a: 1 }] },
  "open patterns": { patternProperties: { "^a": { type: "string" } } },
  "a key that every object inherits": { properties: { constructor: { type: "string" } } },
  "a required key that every object inherits": { required: ["toString"] },
  "a recursive tuple": { prefixItems: [true, { $ref: "#" }] },
  "recursion that multiplies": {
    anyOf: [
      { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
      { type: "object", properties: { a: { $ref: "#" }, b: {} }, required: ["b"] },
      { type: "number" }
    ]
  },
  "alternatives that multiply": {
    $defs: Object.fromEntries(Array.from({ length: 20 }, (_, level) => [
      `d${level}`,
      level === 19 ? { type: "string" } : {
        allOf: [
          { type: "object", properties: { a: { $ref: `#/$defs/d${level + 1}` } } },
          { type: "object", properties: { a: { $ref: `#/$defs/d${level + 1}` } } }
        ]
      }
    ])),
    $ref: "#/$defs/d0"
  }
}

describe("EffectJsonSchema", () => {
  for (const [name, schema] of Object.entries(refused)) {
    it.effect(`refuses ${name}`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(compile(schema))
        assert.strictEqual(error._tag, "UnsupportedSchema")
        assert.isNotEmpty(error.reason)
      }).pipe(Effect.provide(EffectJsonSchema.layer)))
  }

  it.effect("takes recursion that does not multiply", () =>
    Effect.gen(function*() {
      const json = yield* compile({
        anyOf: [
          { type: ["string", "number", "boolean", "null"] },
          { type: "array", items: { $ref: "#" } },
          { type: "object", additionalProperties: { $ref: "#" } }
        ]
      })
      assert.deepStrictEqual(json({ a: [1, { b: null }] }), [])
      const tree = yield* compile({
        type: "object",
        properties: { left: { $ref: "#" }, right: { $ref: "#" }, value: { type: "number" } },
        required: ["value"],
        additionalProperties: false
      })
      assert.deepStrictEqual(tree({ value: 1, left: { value: 2 }, right: { value: 3, left: { value: 4 } } }), [])
      assert.deepStrictEqual(tree({ value: 1, left: { value: 2, right: {} } }), [
        { pointer: "/left/right/value", message: "missing required key" }
      ])
    }).pipe(Effect.provide(EffectJsonSchema.layer)))

  it.effect("tells every place and what was expected there", () =>
    Effect.gen(function*() {
      const validate = yield* compile({
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer", minimum: 1 },
          unit: { enum: ["C", "F"] },
          "a/b": { type: "array", items: { type: "number" } }
        },
        required: ["city"],
        additionalProperties: false
      })
      assert.sameDeepMembers([...validate({ days: 0, unit: "K", "a/b": [1, "2"], more: 1 })], [
        { pointer: "/city", message: "missing required key" },
        { pointer: "/days", message: "expected a value greater than or equal to 1" },
        { pointer: "/unit", message: "expected \"C\" | \"F\"" },
        { pointer: "/a~1b/1", message: "expected number" },
        { pointer: "/more", message: "unexpected key" }
      ])
    }).pipe(Effect.provide(EffectJsonSchema.layer)))

  it.effect("does not list thousands of choices", () =>
    Effect.gen(function*() {
      const validate = yield* compile({ enum: Array.from({ length: 20_000 }, (_, index) => `choice ${index}`) })
      assert.deepStrictEqual(validate("choice 19999"), [])
      const [issue] = validate("another")
      assert.isBelow(issue!.message.length, 600)
    }).pipe(Effect.provide(EffectJsonSchema.layer)))
})
