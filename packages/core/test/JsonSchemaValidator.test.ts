import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as EffectJsonSchema from "../src/EffectJsonSchema.ts"
import * as InputSchema from "../src/InputSchema.ts"
import * as JsonSchemaValidator from "../src/JsonSchemaValidator.ts"
import cases from "./fixtures/json-schema/cases.json" with { type: "json" }

type Case = readonly [
  name: string,
  schema: JsonSchemaValidator.JsonSchema,
  fitting: ReadonlyArray<unknown>,
  others: ReadonlyArray<unknown>
]

const { common, ...byDialect } = cases as unknown as Record<string, ReadonlyArray<Case>>

const layers = {
  cfworker: CfworkerJsonSchema.layer,
  "the importer, then cfworker": JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer)
}

const compile = (schema: JsonSchemaValidator.JsonSchema, dialect?: JsonSchemaValidator.Dialect) =>
  Effect.flatMap(JsonSchemaValidator.JsonSchemaValidator, (validator) => validator.compile(schema, dialect))

// Every case is checked by every layer, as it is and inside a property, an array and `not not`.
for (const [engine, layer] of Object.entries(layers)) {
  for (const [name, own] of Object.entries(byDialect)) {
    const dialect = name === "undeclared" ? undefined : name as JsonSchemaValidator.Dialect
    describe(`${engine}: ${name}`, () => {
      for (const [title, schema, fitting, others] of name === "openapi-3.0" ? own : [...common!, ...own]) {
        it.effect(title, () =>
          Effect.gen(function*() {
            const validate = yield* compile(schema, dialect)
            for (const value of fitting) assert.deepStrictEqual(validate(value), [], JSON.stringify(value))
            for (const value of others) assert.isNotEmpty(validate(value), JSON.stringify(value))

            const input = InputSchema.fromJsonSchema(schema, { dialect })
            for (const value of fitting) assert.strictEqual(yield* input.decode(value), value)
            for (const value of others) {
              const error = yield* Effect.flip(input.decode(value))
              assert.strictEqual(error._tag, "SchemaMismatch")
            }
          }).pipe(Effect.provide(layer)))
      }
    })
  }
}

describe("a compiled schema", () => {
  it.effect("is compiled once for each object and dialect, the refusal too", () =>
    Effect.gen(function*() {
      let reads = 0
      const schema = (type: string) =>
        Object.defineProperty({}, "type", {
          enumerable: true,
          get: () => {
            reads++
            return type
          }
        })
      const good = schema("string")
      const first = yield* compile(good)
      const before = reads
      assert.strictEqual(yield* compile(good), first)
      assert.strictEqual(reads, before)
      yield* compile(good, "draft-07")
      assert.isAbove(reads, before)

      const bad = schema("text")
      const refusal = yield* Effect.flip(compile(bad))
      const after = reads
      assert.strictEqual(yield* Effect.flip(compile(bad)), refusal)
      assert.strictEqual(reads, after)
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("stays what it was when the object is changed", () =>
    Effect.gen(function*() {
      const schema = { type: "object", properties: { a: { type: "string" } }, not: { required: ["b"] } }
      const validate = yield* compile(schema)
      schema.properties.a.type = "number"
      schema.not.required = []
      assert.deepStrictEqual(validate({ a: "x" }), [])
      assert.deepStrictEqual((yield* compile(schema))({ a: "x" }), [])
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  for (const [engine, layer] of Object.entries(layers)) {
    it.effect(`takes a frozen schema and adds nothing to one: ${engine}`, () =>
      Effect.gen(function*() {
        const properties = Object.freeze({ a: Object.freeze({ $ref: "#/$defs/b" }) })
        const schema = Object.freeze({ properties, $defs: Object.freeze({ b: Object.freeze({ type: "string" }) }) })
        const validate = yield* compile(schema)
        assert.isNotEmpty(validate({ a: 1 }))
        for (const at of [schema, properties, properties.a, schema.$defs.b]) {
          assert.deepStrictEqual(Reflect.ownKeys(at), Object.keys(at))
        }
      }).pipe(Effect.provide(layer)))
  }
})

describe("layers", () => {
  it.effect("layerRefuse refuses everything", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(compile(true))
      assert.strictEqual(error._tag, "UnsupportedSchema")
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))

  it.effect("orElse asks the second for what the first refuses, and gives the refusal of the second", () =>
    Effect.gen(function*() {
      const validate = yield* compile({ not: { type: "string" } })
      assert.isNotEmpty(validate("x"))
      const error = yield* Effect.flip(compile({ $ref: "https://example.com" }))
      assert.strictEqual(error.keyword, "$ref")
    }).pipe(Effect.provide(layers["the importer, then cfworker"])))

  it("UnsupportedSchema names the tool, the keyword and the place", () => {
    const { UnsupportedSchema } = JsonSchemaValidator
    assert.strictEqual(new UnsupportedSchema({ reason: "no" }).message, "Input schema cannot be checked: no")
    assert.strictEqual(
      new UnsupportedSchema({ toolName: "t", keyword: "if", pointer: "/if", reason: "is not supported" }).message,
      "Input schema of tool t cannot be checked: \"if\" at /if is not supported"
    )
  })
})
