/** What a schema of any sort says about a place: never less than it takes, and as much as can be told. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as valibot from "valibot"
import * as zod from "zod"
import * as CfworkerJsonSchema from "../src/CfworkerJsonSchema.ts"
import * as InputSchema from "../src/InputSchema.ts"
import { anywhere, itemAt, memberAt, type Place, takes, Type, typeOf } from "../src/internal/recovery/place.ts"
import { placeOf } from "../src/internal/recovery/schemaPlace.ts"
import type { JsonSchema } from "../src/JsonSchemaValidator.ts"
import { jsonValue, oneOf } from "./arbitraries.ts"
import { Choices, choicesMade } from "./choices.ts"
import { schemaOfChoices } from "./randomSchema.ts"

const anyObject = { type: "object" } as const
const string = { type: "string" } as const

/** Whether a value is one that the place takes, at every depth. */
const accepts = (place: Place, value: unknown): boolean => {
  if (!takes(place, typeOf(value))) return false
  if (typeof value === "object" && value !== null) {
    return Array.isArray(value)
      ? value.every((item, index) => accepts(itemAt(place, index), item))
      : [...place.required].every((name) => Object.hasOwn(value, name)) &&
        Object.entries(value).every(([key, member]) =>
          !(place.isClosed && place.members?.has(key) !== true) && accepts(memberAt(place, key), member)
        )
  }
  return (place.values === undefined || place.values.includes(value)) &&
    !(place.isInteger && typeof value === "number" && !Number.isInteger(value)) &&
    !(typeof value === "string" && place.pattern?.test(value) === false)
}

const member = (schema: JsonSchema | InputSchema.InputSchema, ...names: ReadonlyArray<string>): Place =>
  names.reduce(memberAt, placeOf(schema))

const object = (properties: Record<string, unknown>, more?: object): Record<string, unknown> => ({
  type: "object",
  properties,
  ...more
})

describe("a JSON Schema", () => {
  it("of a type takes that type", () => {
    const types = Object.entries(Type).filter(([name]) => name !== "any")
    for (const [name, bit] of types) assert.strictEqual(placeOf({ type: name }).types, bit)
    assert.strictEqual(placeOf({ type: ["string", "null"] }).types, Type.string | Type.null)
    assert.strictEqual(placeOf({}).types, Type.any)
    assert.strictEqual(placeOf(true).types, Type.any)
    assert.strictEqual(placeOf(false).types, 0)
  })

  it("of whole numbers says so, unless others are taken as well", () => {
    assert.isTrue(placeOf({ type: "integer" }).isInteger)
    assert.isTrue(placeOf({ anyOf: [{ type: "integer" }, { type: "null" }] }).isInteger)
    assert.isFalse(placeOf({ type: ["integer", "number"] }).isInteger)
    assert.isFalse(placeOf({ anyOf: [{ type: "integer" }, { type: "number" }] }).isInteger)
  })

  it("of a type that no dialect has allows everything", () => {
    assert.strictEqual(placeOf({ type: "str" }).types, Type.any)
    assert.strictEqual(placeOf({ type: ["str", "null"] }).types, Type.any)
    assert.strictEqual(placeOf({ type: "toString" }).types, Type.any)
    assert.strictEqual(placeOf({ type: 7 }).types, Type.any)
  })

  it("of few values takes their types only", () => {
    const place = placeOf({ enum: ["a", "b", null] })
    assert.strictEqual(place.types, Type.string | Type.null)
    assert.deepStrictEqual(place.values, ["a", "b", null])
    assert.deepStrictEqual(placeOf({ const: 7 }).values, [7])
    assert.deepStrictEqual(placeOf({ anyOf: [{ enum: ["a"] }, { const: "b" }, { type: "null" }] }).values, [
      "a",
      "b",
      null
    ])
    assert.isUndefined(placeOf({ anyOf: [{ enum: ["a"] }, { type: "string" }] }).values)
  })

  it("that is nullable takes null, whatever else it says", () => {
    assert.strictEqual(placeOf({ type: "string", nullable: true }).types, Type.string | Type.null)
    assert.deepStrictEqual(placeOf({ type: "string", enum: ["a"], nullable: true }).values, ["a", null])
    const referring = placeOf({ $defs: { a: { type: "integer" } }, allOf: [{ $ref: "#/$defs/a" }], nullable: true })
    assert.strictEqual(referring.types, Type.number | Type.null)
  })

  it("knows its members, which are required, and whether there are others", () => {
    const place = placeOf(object({ a: { type: "string" }, b: {} }, { required: ["a"], additionalProperties: false }))
    assert.deepStrictEqual([...place.members!.keys()], ["a", "b"])
    assert.strictEqual(place.members!.get("a")!.types, Type.string)
    assert.deepStrictEqual([...place.required], ["a"])
    assert.isTrue(place.isClosed)
    assert.isFalse(placeOf(object({ a: {} })).isClosed)
    assert.isUndefined(placeOf(anyObject).members)
  })

  it("describes its other members", () => {
    assert.strictEqual(member({ ...anyObject, additionalProperties: { type: "number" } }, "x").types, Type.number)
    const patterned = { ...anyObject, patternProperties: { "^x-": {} }, additionalProperties: false }
    assert.isFalse(placeOf(patterned).isClosed)
    assert.strictEqual(member(patterned, "x-1").types, Type.any)
  })

  it("describes the items of a list and of a tuple in both spellings", () => {
    assert.strictEqual(placeOf({ items: { type: "string" } }).items.types, Type.string)
    for (
      const tuple of [
        { prefixItems: [{ type: "string" }, { type: "integer" }], items: { type: "boolean" } },
        { items: [{ type: "string" }, { type: "integer" }], additionalItems: { type: "boolean" } }
      ]
    ) {
      const place = placeOf(tuple)
      assert.deepStrictEqual(place.prefix.map(({ types }) => types), [Type.string, Type.number])
      assert.strictEqual(place.items.types, Type.string | Type.number | Type.boolean)
    }
  })

  it("keeps a pattern unless it may take exponential time or is none", () => {
    assert.isTrue(placeOf({ pattern: "^\\p{L}+$" }).pattern?.test("é"))
    assert.isUndefined(placeOf({ pattern: "^(a+)+$" }).pattern)
    const broken = placeOf({ type: "string", pattern: "[" })
    assert.isUndefined(broken.pattern)
    assert.strictEqual(broken.types, Type.string)
    assert.isTrue(placeOf({ type: "string", format: "regex" }).isRegex)
  })

  it("follows references inside the document", () => {
    const $defs = { "a/b": { type: "string" }, "Page<A>": { type: "array" } }
    assert.strictEqual(placeOf({ $defs, $ref: "#/$defs/a~1b" }).types, Type.string)
    assert.strictEqual(placeOf({ $defs, $ref: "#/$defs/Page%3CA%3E" }).types, Type.array)
    assert.strictEqual(
      member({ definitions: $defs, ...object({ x: { $ref: "#/definitions/a~1b" } }) }, "x").types,
      Type.string
    )
    const tree = object({ name: { type: "string" }, child: { $ref: "#" } })
    assert.strictEqual(member(tree, "child", "child", "child", "name").types, Type.string)
  })

  it("knows nothing where a reference leads nowhere, outside, or around in a circle", () => {
    for (
      const $ref of [
        "#/$defs/none",
        "#/toString",
        "#anchor",
        "https://example.org/schema",
        "other.json#/a",
        "#/%E0%A4%A",
        "#"
      ]
    ) {
      assert.strictEqual(placeOf({ $ref }).types, Type.any)
    }
    const circle = { $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" }
    assert.strictEqual(placeOf(circle).types, Type.any)
  })

  it("lets a reference stand alone, as older dialects do", () => {
    const place = placeOf({ $defs: { a: { type: "string" } }, $ref: "#/$defs/a", type: "number" })
    assert.strictEqual(place.types, Type.string)
  })

  it("takes what all of its parts take", () => {
    const place = placeOf({
      allOf: [
        object({ a: { type: ["string", "null"] }, b: { type: "integer" } }, { required: ["a"] }),
        object({ a: { type: ["string", "number"] } }, { required: ["b"], additionalProperties: false })
      ]
    })
    assert.strictEqual(place.types, Type.object)
    assert.strictEqual(place.members!.get("a")!.types, Type.string)
    assert.strictEqual(place.members!.get("b")!.types, Type.number)
    assert.deepStrictEqual([...place.required], ["a", "b"])
    assert.isTrue(place.isClosed)
    const described = placeOf({
      allOf: [{ items: string }, { additionalProperties: string }, { items: { type: ["string", "null"] } }]
    })
    assert.strictEqual(described.items.types, Type.string)
    assert.strictEqual(memberAt(described, "a").types, Type.string)
  })

  for (const keyword of ["anyOf", "oneOf"]) {
    it(`takes what one of its alternatives takes (${keyword})`, () => {
      const closed = { additionalProperties: false }
      const place = placeOf({
        [keyword]: [
          object({ kind: { const: "a" }, x: { type: "string" } }, { required: ["kind", "x"], ...closed }),
          object({ kind: { const: "b" }, x: { type: "integer" }, y: {} }, { required: ["kind"], ...closed }),
          { type: "null" }
        ]
      })
      assert.strictEqual(place.types, Type.object | Type.null)
      assert.deepStrictEqual([...place.members!.keys()], ["kind", "x", "y"])
      assert.deepStrictEqual(place.members!.get("kind")!.values, ["a", "b"])
      assert.strictEqual(place.members!.get("x")!.types, Type.string | Type.number)
      assert.deepStrictEqual([...place.required], ["kind"])
      assert.isTrue(place.isClosed)
    })
  }

  it("is open if one of its alternatives is", () => {
    const place = placeOf({ anyOf: [object({ a: {} }, { additionalProperties: false }), object({ b: {} })] })
    assert.isFalse(place.isClosed)
  })

  it("knows nothing of a member that another alternative takes with any content", () => {
    const count = object({ count: { type: "integer" } })
    assert.strictEqual(member({ anyOf: [count, anyObject] }, "count").types, Type.any)
    const texts = { ...anyObject, additionalProperties: { type: "string" } }
    assert.strictEqual(member({ anyOf: [count, texts] }, "count").types, Type.number | Type.string)
    assert.strictEqual(member({ anyOf: [count, object({ other: {} })] }, "count").types, Type.any)
  })

  it("is not narrowed by what may not apply", () => {
    const conditional = {
      ...JSON.parse("{\"then\":{\"type\":\"null\",\"required\":[\"b\"],\"additionalProperties\":false}}"),
      if: object({ a: { const: 1 } }),
      else: { type: "string" },
      not: { type: "number" },
      dependentSchemas: { a: { type: "null" } },
      unevaluatedProperties: false,
      "x-unknown": { type: "null" }
    }
    const place = placeOf(conditional)
    assert.strictEqual(place.types, Type.any)
    assert.isUndefined(place.members)
    assert.isFalse(place.isClosed)
    assert.strictEqual(place.required.size, 0)
  })

  it("reads own keys only, whatever they are called", () => {
    const schema = JSON.parse(
      "{\"type\":\"object\",\"properties\":{\"__proto__\":{\"type\":\"string\"},\"constructor\":{\"type\":\"null\"}}}"
    )
    assert.strictEqual(member(schema, "__proto__").types, Type.string)
    assert.strictEqual(member(schema, "constructor").types, Type.null)
    assert.strictEqual(member(schema, "toString").types, Type.any)
    assert.strictEqual(placeOf(Object.create({ type: "string" }) as JsonSchema).types, Type.any)
  })

  it("of any shape at all is no error", () => {
    const throwing = {
      get type(): never {
        throw new Error("no")
      }
    }
    const proxy = new Proxy({}, {
      getOwnPropertyDescriptor: () => {
        throw new Error("no")
      }
    })
    const broken = {
      type: {},
      properties: [],
      required: 7,
      items: "x",
      anyOf: {},
      allOf: [null, 3],
      enum: "no",
      pattern: {}
    }
    for (const schema of [throwing, proxy, broken, null, undefined, 7, "x", []]) {
      const place = placeOf(schema as unknown as JsonSchema)
      assert.isNumber(place.types)
      assert.isNumber(place.items.types)
      assert.isNumber(memberAt(place, "a").types)
    }
  })

  it("of any depth takes neither the stack nor the time", () => {
    let nested: Record<string, unknown> = { type: "string" }
    for (let level = 0; level < 100_000; level++) nested = { anyOf: [nested, { type: "null" }] }
    assert.strictEqual(placeOf(nested).types, Type.any)
    // Each refers twice to the next: without memory, 2^60 places.
    const $defs: Record<string, unknown> = { d60: { type: "string" } }
    for (let level = 0; level < 60; level++) {
      const $ref = `#/$defs/d${level + 1}`
      $defs[`d${level}`] = { allOf: [{ $ref }, { $ref, title: "again" }] }
    }
    assert.isNumber(placeOf({ $defs, $ref: "#/$defs/d0" }).types)
  })

  it.prop("of any JSON is no error", [jsonValue], ([schema]) => {
    const place = placeOf(schema as unknown as JsonSchema)
    return place.types <= Type.any && place.items.types <= Type.any && memberAt(place, "a").types <= Type.any
  })
})

describe("an Effect Schema", () => {
  const effect = (schema: Schema.Codec<any, any>): Place => placeOf(InputSchema.make(schema))

  it("is read on its encoded side", () => {
    assert.strictEqual(effect(Schema.Date).types, Type.string)
    assert.strictEqual(effect(Schema.NumberFromString).types, Type.string)
    assert.strictEqual(effect(Schema.BigInt).types, Type.string)
    assert.strictEqual(effect(Schema.Boolean).types, Type.boolean)
    assert.strictEqual(effect(Schema.Unknown).types, Type.any)
    assert.strictEqual(effect(Schema.Array(Schema.Date)).items.types, Type.string)
  })

  it("takes no text for a number", () => {
    assert.strictEqual(effect(Schema.Number).types, Type.number)
    assert.strictEqual(effect(Schema.Finite).types, Type.number)
    assert.strictEqual(effect(Schema.Number.check(Schema.isGreaterThan(1))).types, Type.number)
    assert.isTrue(effect(Schema.Int).isInteger)
    assert.isTrue(effect(Schema.Int.check(Schema.isGreaterThan(1))).isInteger)
    assert.isFalse(effect(Schema.Number).isInteger)
    assert.strictEqual(effect(Schema.Union([Schema.Finite, Schema.Literal("NaN")])).types, Type.number | Type.string)
  })

  it("knows its members, which are required, and that there are no others", () => {
    const place = effect(Schema.Struct({
      path: Schema.String,
      limit: Schema.optionalKey(Schema.Int),
      depth: Schema.optional(Schema.Number),
      since: Schema.Date.pipe(Schema.optionalKey),
      retries: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(3)))
    }))
    assert.deepStrictEqual([...place.members!.keys()], ["path", "limit", "depth", "since", "retries"])
    assert.deepStrictEqual([...place.required], ["path"])
    assert.strictEqual(place.members!.get("limit")!.types, Type.number)
    // Its codec takes null for undefined.
    assert.strictEqual(place.members!.get("depth")!.types, Type.number | Type.null)
    assert.strictEqual(place.members!.get("since")!.types, Type.string)
    assert.isTrue(place.isClosed)
  })

  it("describes records", () => {
    const place = effect(Schema.Record(Schema.String, Schema.Int))
    assert.isFalse(place.isClosed)
    assert.isTrue(memberAt(place, "any").isInteger)
    assert.isTrue(effect(Schema.Struct({})).isClosed)
    const templated = Schema.Record(Schema.TemplateLiteral(["x-", Schema.String]), Schema.Int)
    assert.strictEqual(memberAt(effect(templated), "x-1").types, Type.number)
    const either = effect(Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Record(Schema.String, Schema.Int)]))
    assert.strictEqual(memberAt(either, "a").types, Type.string | Type.number)
    assert.strictEqual(memberAt(either, "b").types, Type.number)
    // Inside of another, and to Effect, any value but null.
    assert.strictEqual(effect(Schema.Array(Schema.Struct({}))).items.types, Type.any - Type.null)
    const withRest = Schema.StructWithRest(Schema.Struct({ a: Schema.String }), [
      Schema.Record(Schema.String, Schema.Json)
    ])
    assert.strictEqual(memberAt(effect(withRest), "a").types, Type.string)
    assert.isFalse(effect(withRest).isClosed)
  })

  it("describes lists and tuples", () => {
    assert.strictEqual(effect(Schema.Array(Schema.Int)).items.types, Type.number)
    assert.strictEqual(effect(Schema.NonEmptyArray(Schema.Int)).items.types, Type.number)
    const tuple = effect(Schema.Tuple([Schema.String, Schema.Boolean]))
    assert.strictEqual(itemAt(tuple, 1).types, Type.boolean)
    assert.strictEqual(tuple.items.types, Type.string | Type.boolean)
  })

  it("knows few values, and a pattern", () => {
    assert.deepStrictEqual(effect(Schema.Literals(["a", "b"])).values, ["a", "b"])
    assert.deepStrictEqual(effect(Schema.NullOr(Schema.Literal("a"))).values, ["a", null])
    assert.strictEqual(effect(Schema.Literal(1n)).types, Type.string)
    assert.deepStrictEqual(effect(Schema.Enum({ small: "s", large: "l" })).values, ["s", "l"])
    const patterned = Schema.String.check(Schema.isMinLength(1), Schema.isPattern(/^a/))
    assert.isFalse(effect(patterned).pattern?.test("b"))
    assert.isUndefined(effect(Schema.String.check(Schema.isPattern(/^(a+)+$/))).pattern)
    assert.isUndefined(effect(Schema.String.check(Schema.isPattern(/^a/gi))).pattern)
    assert.isTrue(effect(Schema.String.annotate({ format: "regex" })).isRegex)
  })

  it("may refer to itself", () => {
    interface Tree {
      readonly name: string
      readonly children: ReadonlyArray<Tree>
    }
    const Tree = Schema.Struct({
      name: Schema.String,
      children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
    })
    const place = effect(Tree)
    const leaf = memberAt(memberAt(memberAt(place, "children").items, "children").items, "name")
    assert.strictEqual(leaf.types, Type.string)
    const circle: Schema.Codec<unknown> = Schema.suspend(() => Schema.Union([circle, Schema.String]))
    assert.strictEqual(effect(circle).types, Type.any)
  })

  it("that turns what it refuses into a value takes anything", () => {
    const caught = Schema.Int.pipe(Schema.catchDecoding(() => Effect.succeed(Option.some(0))))
    assert.strictEqual(effect(caught).types, Type.any)
  })

  it("that has no JSON form says nothing", () => {
    assert.strictEqual(effect(Schema.Struct({ [Symbol.iterator]: Schema.String })).types, Type.any)
  })
})

describe("a Standard Schema", () => {
  it("is read by the JSON Schema that its library gives", () => {
    const place = placeOf(InputSchema.make(zod.object({ a: zod.int(), b: zod.array(zod.string()).optional() })))
    assert.isTrue(place.members?.get("a")?.isInteger)
    assert.deepStrictEqual([...place.required], ["a"])
    assert.strictEqual(place.members?.get("b")?.items.types, Type.string)
  })

  it("is read by the JSON Schema beside it", () => {
    const schema = valibot.object({ a: valibot.string() })
    const jsonSchema = object({ a: { type: "string" } })
    assert.strictEqual(placeOf(InputSchema.make(schema)).types, Type.any)
    assert.strictEqual(member(InputSchema.fromStandardSchema(schema, { jsonSchema }), "a").types, Type.string)
  })
})

describe("a place", () => {
  it("is made once for each schema", () => {
    const schema = object({})
    const input = InputSchema.fromJsonSchema(schema)
    assert.strictEqual(placeOf(schema), placeOf(schema))
    assert.strictEqual(placeOf(input), placeOf(input))
    assert.strictEqual(placeOf(InputSchema.make(() => schema)).types, Type.object)
    assert.strictEqual(placeOf(InputSchema.make((): never => assert.fail("no schema"))).types, Type.any)
  })

  it("of which nothing is known is the same at every depth", () => {
    assert.strictEqual(anywhere.items, anywhere)
    assert.strictEqual(memberAt(anywhere, "a"), anywhere)
    assert.strictEqual(anywhere.types, Type.any)
  })

  const random = Arbitrary.map(choicesMade, (made) => schemaOfChoices(new Choices(made)))

  const encodedValue = Arbitrary.flatMap(random, (schema) => {
    const encode = Schema.encodeUnknownSync(Schema.toCodecJson(schema))
    return Arbitrary.map(Arbitrary.schema(schema), (value) => ({ schema, json: encode(value) }))
  })

  /** The Effect Schema, and the JSON Schema of it. */
  const inputsOf = (schema: Schema.Codec<any, any>): ReadonlyArray<InputSchema.InputSchema> => {
    const input = InputSchema.make(schema)
    return [input, InputSchema.make(Effect.runSync(InputSchema.toJsonSchema(input)))]
  }

  it.prop(
    "takes what the Effect Schema encodes to",
    [encodedValue],
    ([{ json, schema }]) => inputsOf(schema).every((input) => accepts(placeOf(input), json)),
    { arbitrary: { runs: 500 } }
  )

  const anyValue = Arbitrary.flatMap(
    encodedValue,
    ({ json, schema }) =>
      Arbitrary.map(
        Arbitrary.all([jsonValue, oneOf([0, 1, 2])]),
        ([other, how]) => ({ schema, value: damaged(json, other, how) })
      )
  )

  it.prop("takes whatever the decoder takes", [anyValue], ([{ schema, value }]) =>
    inputsOf(schema).every((input) => {
      const exit = Effect.runSyncExit(Effect.provide(input.decode(value), CfworkerJsonSchema.layer))
      return Exit.isFailure(exit) || accepts(placeOf(input), value)
    }), { arbitrary: { runs: 500 } })
})

/** Another value in the place of some member, of all, or nowhere. */
const damaged = (value: unknown, other: unknown, how: number): unknown => {
  if (how === 0) return other
  if (Array.isArray(value)) return how === 1 ? [...value.slice(1), other] : value.map((item) => damaged(item, other, 1))
  if (typeof value !== "object" || value === null) return other
  const [first, ...others] = Object.entries(value)
  if (first === undefined) return other
  return Object.fromEntries(how === 1 ? [...others, [first[0], damaged(first[1], other, 1)]] : others)
}
