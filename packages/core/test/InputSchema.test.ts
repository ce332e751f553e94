import { assert, describe, it } from "@effect/vitest"
import { toJsonSchema as valibotToJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as v from "valibot"
import * as z from "zod"
import { z as z3 } from "zod3"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as InputSchema from "../src/InputSchema.ts"
import * as JsonSchemaValidator from "../src/JsonSchemaValidator.ts"

const run = <A, E>(program: Effect.Effect<A, E, JsonSchemaValidator.JsonSchemaValidator>) =>
  Effect.provide(program, CfworkerJsonSchema.layer)

// One schema in every way to write it: a city, whole days from 1, tags, and nothing else.
const trips: Record<string, () => InputSchema.InputSchema> = {
  "Effect Schema": () =>
    InputSchema.make(Schema.Struct({
      city: Schema.String.check(Schema.isMinLength(1)),
      days: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
      tags: Schema.optionalKey(Schema.Array(Schema.Literals(["sea", "snow"])))
    })),
  "Effect Schema as a Standard Schema": () =>
    InputSchema.fromStandardSchema(
      Schema.toStandardSchemaV1(
        Schema.Struct({
          city: Schema.String.check(Schema.isMinLength(1)),
          days: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
          tags: Schema.optionalKey(Schema.Array(Schema.Literals(["sea", "snow"])))
        }),
        { parseOptions: { onExcessProperty: "error" } }
      ),
      { jsonSchema: { type: "object" } }
    ),
  "zod": () =>
    InputSchema.make(z.strictObject({
      city: z.string().min(1),
      days: z.int().min(1).optional(),
      tags: z.array(z.enum(["sea", "snow"])).optional()
    })),
  "zod 3": () =>
    InputSchema.fromStandardSchema(
      z3.object({
        city: z3.string().min(1),
        days: z3.number().int().min(1).optional(),
        tags: z3.array(z3.enum(["sea", "snow"])).optional()
      }).strict(),
      { jsonSchema: { type: "object" } }
    ),
  "valibot": () => {
    const schema = v.strictObject({
      city: v.pipe(v.string(), v.minLength(1)),
      days: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
      tags: v.optional(v.array(v.picklist(["sea", "snow"])))
    })
    return InputSchema.fromStandardSchema(schema, {
      jsonSchema: valibotToJsonSchema(schema) as InputSchema.Source as {}
    })
  },
  "arktype": () =>
    InputSchema.make(type({
      "+": "reject",
      city: "string > 0",
      "days?": "number.integer >= 1",
      "tags?": "('sea' | 'snow')[]"
    }) as StandardSchemaV1),
  "JSON Schema": () =>
    InputSchema.make({
      type: "object",
      properties: {
        city: { type: "string", minLength: 1 },
        days: { type: "integer", minimum: 1 },
        tags: { type: "array", items: { enum: ["sea", "snow"] } }
      },
      required: ["city"],
      additionalProperties: false
    }),
  "a function": () =>
    InputSchema.make(() => () =>
      Schema.Struct({
        city: Schema.String.check(Schema.isMinLength(1)),
        days: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
        tags: Schema.optionalKey(Schema.Array(Schema.Literals(["sea", "snow"])))
      })
    )
}

const wrong: ReadonlyArray<readonly [value: unknown, pointer: string | undefined]> = [
  [{}, "/city"],
  [{ city: 1 }, "/city"],
  [{ city: "" }, "/city"],
  [{ city: null }, "/city"],
  [{ city: "Oslo", days: 0 }, "/days"],
  [{ city: "Oslo", days: 1.5 }, "/days"],
  [{ city: "Oslo", days: "1" }, "/days"],
  [{ city: "Oslo", tags: "sea" }, "/tags"],
  [{ city: "Oslo", tags: ["sea", "sun"] }, "/tags/1"],
  [{ city: "Oslo", town: "Oslo" }, undefined],
  ["Oslo", undefined],
  [["Oslo"], undefined],
  [null, undefined],
  [1, undefined]
]

const secret = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 25 }))), {
    minLength: 12,
    maxLength: 20
  }),
  (letters) => `Q${letters.map((letter) => String.fromCharCode(97 + letter)).join("")}Z`
)

for (const [library, trip] of Object.entries(trips)) {
  describe(library, () => {
    const schema = trip()

    it.effect("decodes and validates what fits", () =>
      run(Effect.gen(function*() {
        for (
          const value of [{ city: "Oslo" }, { city: "Oslo", days: 3, tags: ["sea", "snow"] }, { city: "x", tags: [] }]
        ) {
          assert.deepStrictEqual(yield* schema.decode(value), value)
          assert.deepStrictEqual(yield* schema.validate(value), value)
        }
      })))

    it.effect("names the place of what does not", () =>
      run(Effect.gen(function*() {
        for (const [value, pointer] of wrong) {
          for (const check of [schema.decode, schema.validate]) {
            const error = yield* Effect.flip(check(value))
            assert.strictEqual(error._tag, "SchemaMismatch", JSON.stringify(value))
            if (error._tag === "SchemaMismatch" && pointer !== undefined) {
              assert.include(error.issues.map((issue) => issue.pointer), pointer)
            }
          }
        }
      })))

    it.effect.prop("never repeats the input", [secret], ([text]) =>
      run(Effect.gen(function*() {
        for (
          const value of [
            text,
            [text],
            { city: { text } },
            { city: [text] },
            { city: "Oslo", days: text },
            { city: "Oslo", tags: text },
            { city: "Oslo", tags: [text, "sea"] },
            { city: "Oslo", tags: [{ text }] },
            { city: "", more: text }
          ]
        ) {
          const error = yield* Effect.flip(schema.decode(value))
          assert.strictEqual(error._tag, "SchemaMismatch")
          assert.notInclude(error.message, text)
          assert.notInclude(JSON.stringify(error), text)
        }
      })), { arbitrary: { runs: 20 } })

    it.effect("shows a model an object schema", () =>
      Effect.gen(function*() {
        const shown = yield* InputSchema.toJsonSchema(schema)
        assert.deepInclude(shown as object, { type: "object" })
      }))
  })
}

describe("Effect Schema", () => {
  const both = (schema: Schema.Codec<any, any>) => InputSchema.fromEffectSchema(schema)

  it.effect("Class, Date, brand, filters, optional keys, tagged unions and recursion", () =>
    run(Effect.gen(function*() {
      class Person extends Schema.Class<Person>("Person")({ name: Schema.String }) {}
      const person = yield* both(Person).decode({ name: "Ada" })
      assert.instanceOf(person, Person)
      assert.strictEqual(yield* both(Person).validate(person), person)
      assert.strictEqual((yield* Effect.flip(both(Person).validate({ name: "Ada" })))._tag, "SchemaMismatch")
      assert.strictEqual((yield* Effect.flip(both(Person).decode({ name: "Ada", age: 1 })))._tag, "SchemaMismatch")

      const at = both(Schema.Struct({ at: Schema.Date }))
      const decoded = yield* at.decode({ at: "2026-01-02T03:04:05.000Z" })
      assert.deepStrictEqual(decoded, { at: new Date("2026-01-02T03:04:05.000Z") })
      assert.deepStrictEqual(yield* at.validate(decoded), decoded)
      assert.strictEqual((yield* Effect.flip(at.validate({ at: "2026-01-02T03:04:05.000Z" })))._tag, "SchemaMismatch")
      assert.strictEqual((yield* Effect.flip(at.decode({ at: 5 })))._tag, "SchemaMismatch")

      const even = both(Schema.Int.check(Schema.isMultipleOf(2)).pipe(Schema.brand("Even")))
      assert.strictEqual(yield* even.decode(4), 4)
      for (const check of [even.decode, even.validate]) {
        assert.strictEqual((yield* Effect.flip(check(3)))._tag, "SchemaMismatch")
      }

      const shape = both(Schema.Union([
        Schema.TaggedStruct("circle", { radius: Schema.Number }),
        Schema.TaggedStruct("square", { side: Schema.Number })
      ]))
      assert.deepStrictEqual(yield* shape.decode({ _tag: "square", side: 1 }), { _tag: "square", side: 1 })
      for (
        const value of [{ _tag: "square", radius: 1 }, { _tag: "oval" }, { side: 1 }, { _tag: "circle", radius: "1" }]
      ) {
        assert.strictEqual((yield* Effect.flip(shape.decode(value)))._tag, "SchemaMismatch")
      }

      interface Tree {
        readonly value: number
        readonly children: ReadonlyArray<Tree>
      }
      const Tree = Schema.Struct({
        value: Schema.Number,
        children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
      })
      const tree = both(Tree)
      const value = { value: 1, children: [{ value: 2, children: [] }] }
      assert.deepStrictEqual(yield* tree.decode(value), value)
      const error = yield* Effect.flip(tree.decode({ value: 1, children: [{ value: 2, children: [{ value: 3 }] }] }))
      assert.include(error.message, "/children/0/children/0/children")
      assert.isDefined(((yield* InputSchema.toJsonSchema(tree)) as { readonly $defs?: object }).$defs)
    })))

  it.effect("asynchronous, failing and crashing decoders", () =>
    run(Effect.gen(function*() {
      const decodeWith = (decode: (text: string) => Effect.Effect<string, never>) =>
        both(Schema.String.pipe(Schema.decodeTo(Schema.String, {
          decode: SchemaGetter.transformEffect(decode),
          encode: SchemaGetter.passthrough()
        })))
      const slow = decodeWith((text) => Effect.as(Effect.promise(() => Promise.resolve()), text.toUpperCase()))
      assert.strictEqual(yield* slow.decode("a"), "A")
      const crashing = decodeWith(() => Effect.die(new TypeError("secret")))
      const error = yield* Effect.flip(crashing.decode("a"))
      assert.strictEqual(error._tag, "UnsupportedSchema")
      assert.notInclude(error.message, "secret")
    })))
})

describe("Standard Schema", () => {
  const standard = (validate: (value: unknown) => unknown): StandardSchemaV1 => ({
    "~standard": { version: 1, vendor: "test", validate: validate as StandardSchemaV1["~standard"]["validate"] }
  })

  it.effect("awaits a validator, and runs it once a decode", () =>
    run(Effect.gen(function*() {
      let calls = 0
      const schema = InputSchema.make(standard((value) => {
        calls++
        return Promise.resolve({ value })
      }))
      assert.strictEqual(yield* schema.decode(1), 1)
      assert.strictEqual(calls, 1)
      const refined = InputSchema.make(z.string().refine((text) => Promise.resolve(text === "good")))
      assert.strictEqual(yield* refined.decode("good"), "good")
      assert.strictEqual((yield* Effect.flip(refined.decode("bad")))._tag, "SchemaMismatch")
      const checked = InputSchema.make(
        v.pipeAsync(v.string(), v.checkAsync((text) => Promise.resolve(text === "good")))
      )
      assert.strictEqual(yield* checked.decode("good"), "good")
      assert.strictEqual((yield* Effect.flip(checked.decode("bad")))._tag, "SchemaMismatch")
    })))

  it.effect("a validator that throws, rejects or gives no result is the schema's fault", () =>
    run(Effect.gen(function*() {
      const validators: ReadonlyArray<(value: unknown) => unknown> = [
        () => {
          throw new Error("secret")
        },
        () => {
          throw "secret"
        },
        () => Promise.reject(new Error("secret")),
        () => undefined,
        () => null,
        () => 1,
        () => Promise.resolve(undefined),
        () => "text",
        () => ({}),
        () => ({ issues: null }),
        () => ({ issues: [null] }),
        () => ({ issues: [{ message: 5 }] })
      ]
      for (const validate of validators) {
        for (
          const check of [InputSchema.make(standard(validate)).decode, InputSchema.make(standard(validate)).validate]
        ) {
          const error = yield* Effect.flip(check({}))
          assert.strictEqual(error._tag, "UnsupportedSchema")
          assert.notInclude(error.message, "secret")
        }
      }
    })))

  it.effect("takes paths of keys and of steps, and messages without the value", () =>
    run(Effect.gen(function*() {
      const schema = InputSchema.make(standard(() => ({
        issues: [{ message: "first", path: ["a", 0, "b/c"] }, { message: "second", path: [{ key: "d" }] }, {
          message: "third"
        }]
      })))
      const error = yield* Effect.flip(schema.decode({}))
      assert.strictEqual(error.message, "/a/0/b~1c: first; /d: second; third")
      const email = InputSchema.make(v.object({ mail: v.pipe(v.string(), v.email()) }))
      assert.notInclude((yield* Effect.flip(email.decode({ mail: "hunter2-secret" }))).message, "hunter2")
    })))

  it.effect("decodes to what the library makes of it, and validates that again", () =>
    run(Effect.gen(function*() {
      const schema = InputSchema.make(z.object({ n: z.coerce.number() }))
      const input = yield* schema.decode({ n: "5" })
      assert.deepStrictEqual(input, { n: 5 })
      assert.deepStrictEqual(yield* schema.validate(input), { n: 5 })
    })))

  it.effect("zod and arktype give their JSON Schema, zod 3 and valibot none", () =>
    Effect.gen(function*() {
      const shown = yield* InputSchema.toJsonSchema(InputSchema.make(z.object({ a: z.string() })))
      assert.deepInclude(shown as object, { type: "object", required: ["a"] })
      const ark = yield* InputSchema.toJsonSchema(InputSchema.make(type({ a: "string" }) as StandardSchemaV1))
      assert.deepInclude(ark as object, { type: "object", required: ["a"] })
      for (const schema of [z3.object({ a: z3.string() }), v.object({ a: v.string() })]) {
        const error = yield* Effect.flip(InputSchema.toJsonSchema(InputSchema.make(schema)))
        assert.match(error.message, /gives no JSON Schema/)
      }
    }))

  it.effect("what the libraries show a model is checked alike", () =>
    run(Effect.gen(function*() {
      for (const library of ["Effect Schema", "zod", "valibot", "arktype"]) {
        const shown = yield* InputSchema.toJsonSchema(trips[library]!())
        const schema = InputSchema.fromJsonSchema(shown)
        assert.deepStrictEqual(yield* schema.decode({ city: "Oslo", days: 1, tags: ["sea"] }), {
          city: "Oslo",
          days: 1,
          tags: ["sea"]
        })
        for (const [value] of wrong) {
          assert.strictEqual((yield* Effect.flip(schema.decode(value)))._tag, "SchemaMismatch", library)
        }
      }
    })))
})

describe("a lazy schema", () => {
  it.effect("is built once, on first use", () =>
    run(Effect.gen(function*() {
      let built = 0
      const schema = InputSchema.make(() => {
        built++
        return Schema.Struct({ a: Schema.String })
      })
      assert.strictEqual(built, 0)
      yield* schema.decode({ a: "x" })
      yield* schema.validate({ a: "x" })
      yield* InputSchema.toJsonSchema(schema)
      yield* Effect.flip(schema.decode({}))
      assert.strictEqual(built, 1)
    })))
})

describe("compiling", () => {
  it.effect("an Effect Schema compiles its decoder once", () =>
    run(Effect.gen(function*() {
      let reads = 0
      const schema = Schema.Struct({
        a: Schema.suspend(() => {
          reads++
          return Schema.String
        })
      })
      const input = InputSchema.make(schema)
      assert.strictEqual(reads, 0)
      yield* input.decode({ a: "x" })
      const first = reads
      for (let count = 0; count < 10; count++) yield* input.decode({ a: "x" })
      assert.strictEqual(reads, first)
    })))

  it.effect("a JSON Schema asks the service, which keeps what it compiled", () =>
    Effect.gen(function*() {
      const compiled: Array<unknown> = []
      const schema = { type: "string" }
      const input = InputSchema.make(schema)
      const service = JsonSchemaValidator.JsonSchemaValidator.of({
        compile: (of) =>
          Effect.sync(() => {
            compiled.push(of)
            return () => []
          })
      })
      yield* Effect.provideService(input.decode("x"), JsonSchemaValidator.JsonSchemaValidator, service)
      assert.deepStrictEqual(compiled, [schema])
      assert.strictEqual(compiled[0], schema)
    }))

  it.effect("a check that crashes is the schema's fault", () =>
    Effect.gen(function*() {
      const service = JsonSchemaValidator.JsonSchemaValidator.of({
        compile: () =>
          Effect.succeed(() => {
            throw new Error("secret")
          })
      })
      const decode = InputSchema.make({ type: "string" }).decode("x")
      const error = yield* Effect.flip(Effect.provideService(decode, JsonSchemaValidator.JsonSchemaValidator, service))
      assert.strictEqual(error._tag, "UnsupportedSchema")
      assert.notInclude(error.message, "secret")
    }))
})

describe("what a schema would let through in silence", () => {
  it.effect("an empty struct takes no arguments, and nothing else", () =>
    Effect.gen(function*() {
      const schema = InputSchema.make(Schema.Struct({}))
      assert.deepStrictEqual(yield* schema.decode({}), {})
      for (const value of [5, "x", [1], true, null, { a: 1 }]) {
        assert.strictEqual((yield* Effect.flip(schema.decode(value)))._tag, "SchemaMismatch", JSON.stringify(value))
        assert.strictEqual((yield* Effect.flip(schema.validate(value)))._tag, "SchemaMismatch", JSON.stringify(value))
      }
      assert.deepStrictEqual(yield* InputSchema.toJsonSchema(schema), { type: "object", additionalProperties: false })
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))

  it.effect("a number is finite, also where Effect reads \"NaN\" and \"Infinity\"", () =>
    Effect.gen(function*() {
      const schema = InputSchema.make(Schema.Struct({ amounts: Schema.Array(Schema.Number) }))
      for (const text of ["NaN", "Infinity", "-Infinity"]) {
        const error = yield* Effect.flip(schema.decode({ amounts: [1, text] }))
        assert.strictEqual(error.message, "/amounts/1: expected a finite number")
      }
      assert.strictEqual((yield* Effect.flip(schema.validate({ amounts: [Infinity] })))._tag, "SchemaMismatch")
      assert.deepStrictEqual(yield* schema.decode({ amounts: [1.5] }), { amounts: [1.5] })
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))

  it.effect("is told in full for a small input, and in part for one with a hundred thousand faults", () =>
    Effect.gen(function*() {
      const schema = InputSchema.make(Schema.Struct({ a: Schema.String, b: Schema.String }))
      const small = yield* Effect.flip(schema.decode({ a: 1, c: 2 }))
      assert.strictEqual(small.message, "/c: unexpected key; /a: expected string; /b: missing required key")
      const large = yield* Effect.flip(
        schema.decode(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key${index}`, index])))
      )
      assert.strictEqual(large.message, "/key0: unexpected key")
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))

  it.effect("a lazy schema that cannot be built is the schema's fault", () =>
    Effect.gen(function*() {
      const schema = InputSchema.make((): {} => {
        throw new TypeError("secret")
      })
      for (const run of [schema.decode({}), schema.validate({}), InputSchema.toJsonSchema(schema)]) {
        assert.strictEqual((yield* Effect.flip(run))._tag, "UnsupportedSchema")
      }
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))
})
