import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { toDocument } from "../src/internal/schemaDocument.ts"
import type { Dialect, JsonSchema } from "../src/JsonSchemaValidator.ts"

const refusal = (schema: unknown, dialect?: Dialect) => {
  const result = toDocument(schema as JsonSchema, dialect)
  return Result.isFailure(result) ? result.failure : assert.fail("expected a refusal")
}
const document = (schema: unknown, dialect?: Dialect) => {
  const { definitions, schema: root } = Result.getOrThrow(toDocument(schema as JsonSchema, dialect))
  return Object.keys(definitions).length === 0 ? root : { root, definitions }
}

const json = [null, true, 1, -1, 0.5, "x", [], [1], ["x"], [{}], {}, { a: 1 }, { a: [] }, { a: "x" }, { a: {} }, [[]]]
const isSchema = (value: unknown) =>
  typeof value === "boolean" || typeof value === "object" && value !== null && !Array.isArray(value)
const isSchemas = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema)
const isMapOf = (is: (value: unknown) => boolean) => (value: unknown) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(is)
const isStrings = (value: unknown) => Array.isArray(value) && value.every((item) => typeof item === "string")
const isCount = (value: unknown) => value === 1
const isNumber = (value: unknown) => typeof value === "number"

const applied = "additionalItems additionalProperties contains else if not propertyNames then unevaluatedItems " +
  "unevaluatedProperties"

const wellShaped: Record<string, (value: unknown) => boolean> = {
  ...Object.fromEntries(applied.split(" ").map((keyword) => [keyword, isSchema])),
  $defs: isMapOf(isSchema),
  $id: (value) => value === "x",
  $schema: () => false,
  $ref: () => false,
  allOf: isSchemas,
  anyOf: isSchemas,
  const: () => true,
  definitions: isMapOf(isSchema),
  dependencies: isMapOf((value) => isSchema(value) || isStrings(value)),
  dependentRequired: isMapOf(isStrings),
  dependentSchemas: isMapOf(isSchema),
  enum: Array.isArray,
  exclusiveMaximum: isNumber,
  exclusiveMinimum: isNumber,
  format: () => true,
  items: (value) => isSchema(value) || Array.isArray(value) && value.every(isSchema),
  maxContains: isCount,
  maxItems: isCount,
  maxLength: isCount,
  maxProperties: isCount,
  maximum: isNumber,
  minContains: isCount,
  minItems: isCount,
  minLength: isCount,
  minProperties: isCount,
  minimum: isNumber,
  multipleOf: (value) => value === 1 || value === 0.5,
  nullable: (value) => typeof value === "boolean",
  oneOf: isSchemas,
  pattern: (value) => value === "x",
  patternProperties: isMapOf(isSchema),
  prefixItems: isSchemas,
  properties: isMapOf(isSchema),
  required: isStrings,
  title: () => true,
  type: () => false,
  uniqueItems: (value) => typeof value === "boolean"
}

describe("a broken schema", () => {
  for (const [keyword, fits] of Object.entries(wellShaped)) {
    it(`${keyword} of every wrong shape`, () => {
      for (const value of json) {
        const holder = { properties: { "a/b": { [keyword]: value } } }
        if (keyword === "$id" || keyword === "$schema") {
          assert.deepInclude(refusal(holder), { keyword, pointer: `/properties/a~1b/${keyword}` })
        } else if (keyword !== "nullable" && fits(value)) {
          assert.isTrue(Result.isSuccess(toDocument(holder, undefined)), JSON.stringify(holder))
        } else if (!fits(value)) {
          const error = refusal(holder)
          assert.strictEqual(error.keyword, keyword)
          assert.strictEqual(error.pointer, `/properties/a~1b/${keyword}`)
          assert.match(error.reason, /^(must|is|refers)/)
        }
      }
    })
  }

  const places: ReadonlyArray<readonly [string, unknown, string, string, Dialect?]> = [
    ["an unknown type", { items: { type: "text" } }, "type", "/items/type"],
    ["no type at all", { type: [] }, "type", "/type"],
    ["a pattern that is none", { pattern: "(" }, "pattern", "/pattern"],
    ["a pattern that Unicode mode refuses", { pattern: "\\-" }, "pattern", "/pattern"],
    ["a slow pattern", { properties: { a: { pattern: "^(a+)+$" } } }, "pattern", "/properties/a/pattern"],
    ["a slow pattern for keys", { patternProperties: { "(a|a)*b": {} } }, "patternProperties", "/patternProperties"],
    ["a pattern for keys that is none", { patternProperties: { "[": {} } }, "patternProperties", "/patternProperties"],
    ["an unresolvable $ref", { items: { $ref: "#/$defs/a" } }, "$ref", "/items/$ref"],
    [
      "a $ref to a place that holds no schema",
      { properties: { a: {} }, not: { $ref: "#/properties" } },
      "$ref",
      "/not/$ref"
    ],
    ["a $ref into a value", { const: { a: {} }, not: { $ref: "#/const/a" } }, "$ref", "/not/$ref"],
    ["a $ref into an unknown keyword", { "x-a": {}, not: { $ref: "#/x-a" } }, "$ref", "/not/$ref"],
    ["a $ref through a prototype", { not: { $ref: "#/constructor" } }, "$ref", "/not/$ref"],
    ["a $ref to an unknown anchor", { not: { $ref: "#a" } }, "$ref", "/not/$ref"],
    ["a $ref with a broken escape", { not: { $ref: "#/$defs/%E0%A4%A" } }, "$ref", "/not/$ref"],
    ["a remote $ref", { $ref: "https://example.com/a.json" }, "$ref", "/$ref"],
    ["a $ref to another document's namesake", { $id: "https://e.com/a", $ref: "https://e.com/ab#/x" }, "$ref", "/$ref"],
    ["a relative $ref", { $ref: "other.json#/$defs/a" }, "$ref", "/$ref"],
    ["an anchor twice", { $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } }, "$anchor", "/$defs/a/$anchor"],
    ["an embedded document", { $defs: { a: { $id: "https://e.com/a" } } }, "$id", "/$defs/a/$id"],
    ["$dynamicRef", { items: { $dynamicRef: "#a" } }, "$dynamicRef", "/items/$dynamicRef"],
    ["$recursiveRef", { items: { $recursiveRef: "#" } }, "$recursiveRef", "/items/$recursiveRef"],
    ["draft-04", { $schema: "http://json-schema.org/draft-04/schema#" }, "$schema", "/$schema"],
    ["an unknown dialect", { $schema: "https://example.com/my" }, "$schema", "/$schema"],
    ["a dialect that is no string", { $schema: {} }, "$schema", "/$schema"],
    ["a boolean exclusiveMinimum", { minimum: 1, exclusiveMinimum: true }, "exclusiveMinimum", "/exclusiveMinimum"],
    ["draft-03's required", { properties: { a: { required: true } } }, "required", "/properties/a/required"],
    ["an array of items beside prefixItems", { prefixItems: [{}], items: [{}] }, "items", "/items"],
    ["prefixItems in draft-07", { prefixItems: [{}] }, "prefixItems", "/prefixItems", "draft-07"],
    [
      "unevaluatedProperties in draft-07",
      { unevaluatedProperties: false },
      "unevaluatedProperties",
      "/unevaluatedProperties",
      "draft-07"
    ],
    ["an array of items in 2020-12", { items: [{}] }, "items", "/items", "draft-2020-12"],
    ["additionalItems in 2020-12", { additionalItems: false }, "additionalItems", "/additionalItems", "draft-2020-12"],
    ["dependencies in OpenAPI 3.1", { dependencies: {} }, "dependencies", "/dependencies", "openapi-3.1"],
    ["const in OpenAPI 3.0", { const: 1 }, "const", "/const", "openapi-3.0"],
    [
      "patternProperties in OpenAPI 3.0",
      { patternProperties: {} },
      "patternProperties",
      "/patternProperties",
      "openapi-3.0"
    ],
    ["a broken definition that nothing refers to", { $defs: { a: { type: "x" } } }, "type", "/$defs/a/type"],
    ["a broken component", { components: { schemas: { a: { type: "x" } } } }, "type", "/components/schemas/a/type"],
    ["a $ref to itself", { $defs: { a: { $ref: "#/$defs/a" } }, items: { $ref: "#/$defs/a" } }, "$ref", "/items/$ref"],
    ["a $ref to the root at the root", { $ref: "#" }, "$ref", "/$ref"],
    [
      "a circle of $refs",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } } },
      "$ref",
      "/$ref"
    ],
    ["a circle through not and if", { not: { if: { anyOf: [{ $ref: "#" }] } } }, "$ref", "/$ref"]
  ]
  for (const [name, schema, keyword, pointer, dialect] of places) {
    it(name, () => {
      const error = refusal(schema, dialect)
      assert.strictEqual(error._tag, "UnsupportedSchema")
      assert.strictEqual(error.keyword, keyword)
      if (!name.startsWith("a circle") && keyword !== "$anchor" && name !== "a $ref to itself") {
        assert.strictEqual(error.pointer, pointer)
      }
    })
  }

  it("what is no JSON at all", () => {
    class Odd {
      readonly type = "string"
    }
    const throwing = Object.defineProperty({}, "type", {
      enumerable: true,
      get: () => {
        throw new Error("no")
      }
    })
    const circular: Record<string, unknown> = {}
    circular["not"] = circular
    for (
      const schema of [
        undefined,
        null,
        1,
        "x",
        [],
        () => true,
        { default: new Date(0) },
        { const: () => 1 },
        { enum: [NaN] },
        { minimum: Infinity },
        { minimum: 1n },
        { properties: new Map() },
        { type: Symbol("string") },
        new Date(0),
        new Odd(),
        throwing,
        circular,
        JSON.parse("{\"properties\":{\"__proto__\":{\"type\":\"string\"}}}"),
        JSON.parse("{\"__proto__\":{\"type\":\"string\"}}"),
        JSON.parse("{\"$defs\":{\"__proto__\":true}}")
      ]
    ) {
      const error = refusal(schema)
      assert.strictEqual(error._tag, "UnsupportedSchema")
      assert.isAbove(error.reason.length, 5)
    }
  })

  it("levels without end", () => {
    let deep: JsonSchema = { type: "string" }
    for (let level = 0; level < 10_000; level++) deep = { items: deep }
    assert.match(refusal(deep).reason, /maxDepth/)
  })

  it("references that multiply", () => {
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const $defs: Record<string, unknown> = { d40: { type: "string" } }
      for (let level = 0; level < 40; level++) {
        $defs[`d${level}`] = { [keyword]: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] }
      }
      assert.match(refusal({ $defs, $ref: "#/$defs/d0" }).reason, /multiply/)
    }
  })

  it("a chain of references that is longer than the stack", () => {
    const $defs: Record<string, unknown> = { d9999: { type: "string" } }
    for (let level = 0; level < 9999; level++) $defs[`d${level}`] = { $ref: `#/$defs/d${level + 1}` }
    assert.match(refusal({ $defs, $ref: "#/$defs/d0" }).reason, /multiply/)
  })
})

describe("the normal form", () => {
  it("keeps what decides on values, and nothing else", () => {
    assert.deepStrictEqual(
      document({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        title: "t",
        format: "email",
        type: "string",
        foo: 1
      }),
      { type: "string" }
    )
    assert.deepStrictEqual(document({ type: undefined, minLength: 1 }), { minLength: 1 })
  })

  it("has references to definitions alone", () => {
    assert.deepStrictEqual(
      document({
        type: "object",
        properties: { a: { $ref: "#" }, b: { $ref: "#/properties/c" }, c: { $ref: "#/$defs/X%20y" } },
        $defs: { "X y": { type: "string" }, unused: { type: "string" } }
      }),
      {
        root: {
          type: "object",
          properties: { a: { $ref: "#/$defs/root" }, b: { $ref: "#/$defs/c" }, c: { $ref: "#/$defs/X_y" } }
        },
        definitions: {
          root: {
            type: "object",
            properties: { a: { $ref: "#/$defs/root" }, b: { $ref: "#/$defs/c" }, c: { $ref: "#/$defs/X_y" } }
          },
          c: { $ref: "#/$defs/X_y" },
          X_y: { type: "string" }
        }
      }
    )
  })

  it("tells definitions of one name apart", () => {
    assert.deepStrictEqual(
      document({
        properties: {
          a: { $ref: "#/$defs/x" },
          b: { $ref: "#/properties/c/$defs/x" },
          c: { $defs: { x: { type: "null" } } }
        },
        $defs: { x: { type: "string" } }
      }),
      {
        root: { properties: { a: { $ref: "#/$defs/x" }, b: { $ref: "#/$defs/x_" }, c: {} } },
        definitions: { x: { type: "string" }, x_: { type: "null" } }
      }
    )
  })

  it("of draft-07", () => {
    assert.deepStrictEqual(
      document({
        items: [{ type: "string" }],
        additionalItems: false,
        dependencies: { a: ["b"], c: { minProperties: 2 } },
        properties: { d: { $ref: "#/definitions/e", minLength: 2 } },
        definitions: { e: { type: "string" } }
      }, "draft-07"),
      {
        root: {
          prefixItems: [{ type: "string" }],
          items: false,
          properties: { d: { $ref: "#/$defs/e" } },
          allOf: [{ dependentRequired: { a: ["b"] }, dependentSchemas: { c: { minProperties: 2 } } }]
        },
        definitions: { e: { type: "string" } }
      }
    )
  })

  it("of OpenAPI 3.0", () => {
    assert.deepStrictEqual(
      document({
        type: "number",
        nullable: true,
        minimum: 1,
        exclusiveMinimum: true,
        maximum: 2,
        exclusiveMaximum: false
      }, "openapi-3.0"),
      { type: ["number", "null"], exclusiveMinimum: 1, maximum: 2 }
    )
  })

  it("bounds integers and multiples by what a double holds", () => {
    const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    assert.deepStrictEqual(document({ type: "integer" }), { type: "integer", ...bounds })
    assert.deepStrictEqual(document({ multipleOf: 3, minimum: 1 }), { multipleOf: 3, ...bounds, minimum: 1 })
    assert.deepStrictEqual(document({ type: ["integer", "number"] }), { type: ["integer", "number"] })
  })

  it("shares nothing with the schema, and changes nothing in it", () => {
    const schema = {
      properties: { a: { $ref: "#/$defs/b", minLength: 1 } },
      dependencies: { a: ["b"] },
      $defs: { b: { enum: [{ c: 1 }] } }
    }
    const before = JSON.stringify(schema)
    const deepFreeze = (value: unknown): void => {
      if (typeof value !== "object" || value === null) return
      Object.freeze(value)
      Object.values(value).forEach(deepFreeze)
    }
    deepFreeze(schema)
    assert.isTrue(Result.isSuccess(toDocument(schema, undefined)))
    assert.strictEqual(JSON.stringify(schema), before)
    const mutable = { enum: [{ c: 1 }] }
    const made = document(mutable)
    mutable.enum[0]!.c = 2
    assert.deepStrictEqual(made, { enum: [{ c: 1 }] })
  })
})
