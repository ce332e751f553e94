import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as EffectJsonSchema from "../src/EffectJsonSchema.ts"
import { toDocument } from "../src/internal/schemaDocument.ts"
import { type JsonSchema, JsonSchemaValidator } from "../src/JsonSchemaValidator.ts"
import { build } from "./fixtures/json-schema/randomSchema.ts"

const compile = (schema: JsonSchema) => Effect.flatMap(JsonSchemaValidator, (_) => _.compile(schema, undefined))

const nested = (levels: number, around: (inner: unknown) => unknown, innermost: unknown): unknown => {
  let value = innermost
  for (let level = 0; level < levels; level++) value = around(value)
  return value
}

describe("CfworkerJsonSchema", () => {
  it.effect("tells every place and what was expected there", () =>
    Effect.gen(function*() {
      const validate = yield* compile({
        not: { required: ["never"] },
        type: "object",
        properties: {
          city: { type: "string" },
          days: { type: "integer", minimum: 1 },
          "a/b %": { type: "array", items: { type: ["number", "null"] } },
          choice: { oneOf: [{ const: 1 }, { const: 2 }] }
        },
        required: ["city", "a \"quoted\" key"],
        additionalProperties: false
      })
      assert.sameDeepMembers([...validate({ days: 0, "a/b %": [1, "2"], more: 1, never: 1, choice: 3 })], [
        { pointer: "", message: "expected a value that does not fit the excluded schema" },
        { pointer: "/city", message: "missing required key" },
        { pointer: "/a \"quoted\" key", message: "missing required key" },
        { pointer: "/days", message: "does not satisfy \"minimum\": 1" },
        { pointer: "/a~1b %/1", message: "expected number, null" },
        { pointer: "/choice", message: "expected a value that fits exactly one of the alternatives" },
        { pointer: "/choice", message: "expected 1" },
        { pointer: "/choice", message: "expected 2" },
        { pointer: "/more", message: "unexpected key" },
        { pointer: "/never", message: "unexpected key" }
      ])
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("names limits and choices, which are the schema's, and nothing of the value", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [JsonSchema, unknown, string]> = [
        [{ enum: ["a", 1, { b: null }] }, "x", "expected one of [\"a\",1,{\"b\":null}]"],
        [{ const: { a: 1 } }, {}, "expected {\"a\":1}"],
        [{ minimum: 1.5 }, -77, "does not satisfy \"minimum\": 1.5"],
        [{ maximum: -1e-7 }, 77, "does not satisfy \"maximum\": -1e-7"],
        [{ exclusiveMinimum: 3 }, 1, "does not satisfy \"exclusiveMinimum\": 3"],
        [{ exclusiveMaximum: 3 }, 77, "does not satisfy \"exclusiveMaximum\": 3"],
        [{ multipleOf: 0.5 }, 77.7, "does not satisfy \"multipleOf\": 0.5"],
        [{ minLength: 3 }, "xy", "does not satisfy \"minLength\": 3"],
        [{ maxLength: 3 }, "wxyz", "does not satisfy \"maxLength\": 3"],
        [{ minItems: 3 }, [], "does not satisfy \"minItems\": 3"],
        [{ maxItems: 1 }, [7, 7], "does not satisfy \"maxItems\": 1"],
        [{ minProperties: 3 }, {}, "does not satisfy \"minProperties\": 3"],
        [{ maxProperties: 0 }, { k: 1 }, "does not satisfy \"maxProperties\": 0"]
      ]
      for (const [schema, value, message] of cases) {
        assert.deepStrictEqual((yield* compile(schema))(value), [{ pointer: "", message }])
      }
      const dependent = yield* compile({ dependentRequired: { a: ["b \"c\""] } })
      assert.deepStrictEqual(dependent({ a: 1 }), [{ pointer: "/b \"c\"", message: "missing required key" }])
      const many = yield* compile({ enum: Array.from({ length: 20_000 }, (_, index) => `choice ${index}`) })
      assert.isBelow(many("x")[0]!.message.length, 600)
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  const expression: JsonSchema = {
    $defs: {
      expression: {
        oneOf: [{ $ref: "#/$defs/add" }, { $ref: "#/$defs/sub" }, { $ref: "#/$defs/mul" }, { type: "number" }]
      },
      ...Object.fromEntries(["add", "sub", "mul"].map((op) => [op, {
        type: "object",
        properties: { left: { $ref: "#/$defs/expression" }, right: { $ref: "#/$defs/expression" }, op: { const: op } },
        required: ["op", "left", "right"],
        additionalProperties: false
      }]))
    },
    $ref: "#/$defs/expression"
  }

  it.effect("checks a deep expression, each level of which has several alternatives", () =>
    Effect.gen(function*() {
      const validate = yield* compile(expression)
      const deep = (innermost: unknown) => nested(100, (left) => ({ op: "mul", left, right: 1 }), innermost)
      assert.deepStrictEqual(validate(deep(1)), [])
      assert.isNotEmpty(validate(deep("x")))
      assert.isNotEmpty(validate(nested(100, (left) => ({ op: "div", left, right: 1 }), 1)))
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("gives up on a value that would take exponential time", () =>
    Effect.gen(function*() {
      const validate = yield* compile({
        anyOf: [
          { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] },
          { type: "object", properties: { a: { $ref: "#" }, b: {} }, required: ["b"] },
          { type: "number" }
        ]
      })
      assert.deepStrictEqual(validate(nested(8, (a) => ({ a }), 1)), [])
      assert.isNotEmpty(validate(nested(8, (a) => ({ a }), "x")))
      const start = Date.now()
      for (const innermost of [1, "x"]) {
        assert.deepStrictEqual(validate(nested(100, (a) => ({ a }), innermost)), [
          { pointer: "", message: "takes too long to check: nest it less" }
        ])
      }
      assert.isBelow(Date.now() - start, 10_000)
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("refuses long arrays whose items would all be compared", () =>
    Effect.gen(function*() {
      const validate = yield* compile({ not: { uniqueItems: true } })
      const items = Array.from({ length: 100_000 }, (_, index) => index)
      assert.isNotEmpty(validate(items))
      assert.isNotEmpty(validate(items.slice(0, 1000)))
      assert.deepStrictEqual(validate([...items.slice(0, 1000), 0]), [])
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("takes large values", () =>
    Effect.gen(function*() {
      const validate = yield* compile({ items: { not: { type: "string" } } })
      const items: Array<unknown> = Array.from({ length: 200_000 }, (_, index) => index)
      assert.deepStrictEqual(validate(items), [])
      assert.isNotEmpty(validate([...items, "x"]))
      assert.isNotEmpty((yield* compile({ items: { not: { type: "number" } } }))(items))
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("refuses a key that is no Unicode, and what is no JSON", () =>
    Effect.gen(function*() {
      const validate = yield* compile({ additionalProperties: { not: { type: "null" } } })
      assert.isNotEmpty(validate({ "\ud800": 1 }))
      for (const value of [undefined, NaN, Infinity, 1n, () => 1, { a: undefined }, [Symbol("a")]]) {
        assert.isNotEmpty(validate(value))
      }
      assert.deepStrictEqual(validate({ "ü": "\ud800" }), [])
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))

  it.effect("never repeats the value", () =>
    Effect.gen(function*() {
      const secret = "hunter2-secret"
      const schemas: ReadonlyArray<JsonSchema> = [
        false,
        { type: "number" },
        { type: ["number", "null"] },
        { const: 1 },
        { enum: [1, 2] },
        { minLength: 100 },
        { maxLength: 1 },
        { pattern: "^\\d$" },
        { not: {} },
        { anyOf: [{ type: "number" }, { const: 1 }] },
        { oneOf: [true, true] },
        { allOf: [{ maxLength: 2 }] },
        { if: false, else: false },
        { if: false, else: { const: 1 } }
      ]
      for (const schema of schemas) {
        for (
          const [holder, value] of [
            [schema, secret],
            [{ not: { required: ["x"] }, properties: { a: schema } }, { a: secret }],
            [{ contains: schema }, [secret]],
            [{ items: schema }, [secret]],
            [{ unevaluatedProperties: schema }, { a: secret }]
          ] as const
        ) {
          const issues = (yield* compile(holder))(value)
          assert.isNotEmpty(issues)
          assert.notInclude(JSON.stringify(issues), secret)
        }
      }
    }).pipe(Effect.provide(CfworkerJsonSchema.layer)))
})

// Every schema and value here is made from a sequence of numbers, which a failure shrinks.
const sequence = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9999 }))), {
  minLength: 60,
  maxLength: 140
})

describe("both engines", () => {
  it.prop("give one verdict where both take a schema", [sequence], ([numbers]) => {
    const { schema, values } = build(numbers)
    const document = toDocument(schema, "draft-2020-12")
    if (Result.isFailure(document)) return assert.strictEqual(document.failure.keyword, "$ref")
    const imported = EffectJsonSchema.engine(document.success)
    const other = Result.getOrThrow(CfworkerJsonSchema.cfworkerEngine(document.success))
    for (const value of values) {
      const issues = other(value)
      if (Result.isFailure(imported) || issues[0]?.message.includes("Unicode") === true) continue
      assert.strictEqual(
        imported.success(value).length === 0,
        issues.length === 0,
        `${JSON.stringify(schema)} ${JSON.stringify(value)}`
      )
    }
  }, { arbitrary: { runs: 1500, size: 140 } })
})
