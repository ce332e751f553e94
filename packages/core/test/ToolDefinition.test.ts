import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as v from "valibot"
import * as z from "zod"
import * as Fingerprint from "../src/Fingerprint.ts"
import * as InputSchema from "../src/InputSchema.ts"
import * as Limits from "../src/Limits.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolDefinition from "../src/ToolDefinition.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { choicesMade } from "./choices.ts"
import { changed, definition, reordered } from "./definitions.ts"
import { testCrypto } from "./testCrypto.ts"

const find = { name: "find", description: "Find a file", inputSchema: { type: "object" } }

const refusal = (value: unknown, limits?: Limits.LimitValues) => {
  const result = ToolDefinition.fromJson(value, limits)
  assert.isTrue(Result.isFailure(result))
  return (result as any).failure as ToolDefinition.InvalidToolDefinition
}

const text = (value: ToolDefinition.ToolDefinition) => JSON.stringify(ToolDefinition.normalize(value))
const digest = (value: ToolDefinition.ToolDefinition) => Effect.provide(ToolDefinition.digest(value), testCrypto)

describe("ToolDefinition.fromJson", () => {
  it("keeps every field, in a copy", () => {
    const listed = {
      ...find,
      title: "",
      outputSchema: true,
      annotations: { title: "t" },
      icons: [{ src: "https://a.example/i.png" }],
      _meta: { "a.example/x": [1] },
      execution: { taskSupport: "optional" },
      constructor: "own"
    }
    const taken = Result.getOrThrow(ToolDefinition.fromJson(listed))
    assert.deepStrictEqual(taken, listed as any)
    listed.annotations.title = "changed"
    assert.deepStrictEqual(taken.annotations, { title: "t" })
  })

  it("leaves out what is undefined", () => {
    const taken = Result.getOrThrow(ToolDefinition.fromJson({ ...find, title: undefined }))
    assert.isFalse(Object.hasOwn(taken, "title"))
  })

  it("refuses known fields that are something else", () => {
    const faults: ReadonlyArray<readonly [fields: object, pointer: string]> = [
      [{ name: "" }, "/name"],
      [{ name: undefined }, "/name"],
      [{ name: 1 }, "/name"],
      [{ inputSchema: undefined }, "/inputSchema"],
      [{ inputSchema: "object" }, "/inputSchema"],
      [{ inputSchema: [] }, "/inputSchema"],
      [{ inputSchema: null }, "/inputSchema"],
      [{ title: null }, "/title"],
      [{ description: {} }, "/description"],
      [{ description: { type: "string" } }, "/description"],
      [{ outputSchema: [] }, "/outputSchema"],
      [{ annotations: null }, "/annotations"],
      [{ annotations: [] }, "/annotations"],
      [{ icons: {} }, "/icons"],
      [{ _meta: "x" }, "/_meta"]
    ]
    for (const [fields, pointer] of faults) assert.strictEqual(refusal({ ...find, ...fields }).pointer, pointer)
    for (const value of [undefined, null, "find", [find], 1]) assert.strictEqual(refusal(value).pointer, "")
    assert.isTrue(Result.isSuccess(ToolDefinition.fromJson({ ...find, description: { type: "function" } })))
  })

  it("says which tool it is, in letters that can be printed", () => {
    const error = refusal({ ...find, name: "a\u202eb\n", title: 1 })
    assert.strictEqual(error.toolName, "a\u202eb\n")
    assert.strictEqual(error.message, "Invalid definition of tool \"a\\u202eb\\u000a\": /title must be a string")
    assert.strictEqual(refusal(1).message, "Invalid tool definition: must be an object")
  })

  it("refuses what is no JSON, or reaches a prototype", () => {
    const cycle: Record<string, unknown> = {}
    cycle["self"] = cycle
    const throwing = Object.defineProperty({}, "x", {
      enumerable: true,
      get: () => {
        throw new Error("hunter2")
      }
    })
    const hostile: ReadonlyArray<unknown> = [
      { ...find, x: () => 1 },
      { ...find, x: new Map() },
      { ...find, x: Number.NaN },
      { ...find, x: 1n },
      { ...find, x: cycle },
      { ...find, x: throwing },
      { ...find, inputSchema: JSON.parse("{\"properties\":{\"__proto__\":{}}}") },
      JSON.parse("{\"name\":\"x\",\"inputSchema\":{},\"__proto__\":{\"title\":1}}"),
      { ...find, constructor: { prototype: {} } },
      Object.create(find)
    ]
    for (const value of hostile) assert.notInclude(refusal(value).message, "hunter2")
  })

  it("is bounded in depth, in members and in length", () => {
    const deep = (levels: number) => JSON.parse("{\"not\":".repeat(levels) + "{}" + "}".repeat(levels)) as unknown
    assert.isTrue(Result.isSuccess(ToolDefinition.fromJson({ ...find, inputSchema: deep(254) })))
    assert.match(refusal({ ...find, inputSchema: deep(255) }).message, /maxDepth/)
    assert.match(refusal({ ...find, inputSchema: deep(100_000) }).message, /maxDepth/)
    const strict = { ...Limits.defaults, maxInputLength: 100 }
    assert.isTrue(Result.isSuccess(ToolDefinition.fromJson(find, strict)))
    assert.match(refusal({ ...find, description: "x".repeat(60) }, strict).message, /maxInputLength/)
    assert.strictEqual(refusal({ ...find, description: "x".repeat(60) }, strict).toolName, "find")
    // Few objects that hold each other many times.
    let many: unknown = {}
    for (let level = 0; level < 60; level++) many = [many, many]
    assert.match(refusal({ ...find, x: many }).message, /maxInputLength/)
  })

  it("takes a schema that refers to itself", () => {
    const inputSchema = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a", items: { $ref: "#" } } } }
    const taken = Result.getOrThrow(ToolDefinition.fromJson({ ...find, inputSchema }))
    assert.deepStrictEqual(ToolDefinition.normalize(taken), { ...find, inputSchema })
  })
})

describe("ToolDefinition.fromListing", () => {
  const refused = (value: unknown) => (ToolDefinition.fromListing(value) as any).failure

  it("takes what a server lists, and tools by name", () => {
    const other = { name: "constructor", inputSchema: {} }
    assert.deepStrictEqual(
      ToolDefinition.fromListing({ tools: [find, other] }),
      Result.succeed([find, other] as ReadonlyArray<ToolDefinition.ToolDefinition>)
    )
    const byName = JSON.parse("{\"__proto__\":{\"title\":\"t\"},\"find\":{\"name\":\"find\",\"inputSchema\":true}}")
    const noArguments = { type: "object", properties: {}, additionalProperties: false }
    assert.deepStrictEqual(
      ToolDefinition.fromListing(byName),
      Result.succeed<ReadonlyArray<ToolDefinition.ToolDefinition>>([
        { name: "__proto__", title: "t", inputSchema: noArguments },
        { name: "find", inputSchema: true }
      ])
    )
  })

  it("refuses two tools of one name, and says where a fault is", () => {
    assert.include(refused({ tools: [find, { ...find, title: "other" }] }), {
      toolName: "find",
      pointer: "/tools/1/name",
      reason: "is the name of another tool too"
    })
    assert.strictEqual(refused({ tools: [find, 1] }).pointer, "/tools/1")
    assert.strictEqual(refused({ tools: [{ name: "find" }] }).pointer, "/tools/0/inputSchema")
    assert.strictEqual(refused({ "a/b": { title: 1 } }).pointer, "/a~1b/title")
    assert.strictEqual(refused({ read: { name: "write" } }).pointer, "/read/name")
    assert.strictEqual(refused({ read: null }).pointer, "/read")
    assert.strictEqual(refused([find]).pointer, "")
  })
})

describe("ToolDefinition.fromTool", () => {
  const definitionOf = (tool: unknown) => ToolDefinition.fromTool(tool as Tool.Any)

  const tools: ReadonlyArray<Tool.Any> = [
    Tool.make("none"),
    Tool.make("effect", { title: "t", inputSchema: Schema.Struct({ q: Schema.optionalKey(Schema.String) }) }),
    Tool.make("zod", { description: "d", inputSchema: z.object({ q: z.string().optional(), n: z.int() }) }),
    Tool.make("raw", { inputSchema: { type: "object", required: ["b", "a"] } }),
    Tool.make("boolean", { inputSchema: true }),
    Tool.make("function", { description: () => "now" })
  ] as ReadonlyArray<any>

  for (const tool of tools) {
    it.effect(`has the fingerprint of the tool: ${tool.name}`, () =>
      Effect.gen(function*() {
        const made = yield* definitionOf(tool)
        const fingerprints = yield* Fingerprint.fingerprint({ [tool.name]: tool })
        assert.strictEqual(yield* Fingerprint.ofDefinition(made), fingerprints[tool.name])
        assert.deepStrictEqual(ToolDefinition.fromJson(made), Result.succeed(made))
      }).pipe(Effect.provide(testCrypto)))
  }

  it.effect("pins of a description that is a function that there is one, and the kind and metadata beside", () =>
    Effect.gen(function*() {
      const made = (description: () => string) =>
        definitionOf(Tool.make("now", { description, kind: "provider", metadata: { id: "a.now" } }))
      const one = yield* made(() => "one")
      assert.deepStrictEqual(one, yield* made(() => "two"))
      assert.include(one, { type: "provider" })
      assert.deepStrictEqual(one.description, { type: "function" })
      assert.deepStrictEqual(one["metadata"], { id: "a.now" })
    }))

  it.effect("is the definition that a tool was read from", () =>
    Effect.gen(function*() {
      const listed = { ...find, title: "t", type: "dynamic", metadata: [1] }
      const tool = Result.getOrThrow(ToolSet.fromJson({ tools: [listed] }))["find"]
      assert.deepStrictEqual(yield* definitionOf(tool), listed)
    }))

  it.effect("fails where there is no JSON Schema, or the metadata is no JSON", () =>
    Effect.gen(function*() {
      const seal = Tool.make("seal", { inputSchema: v.object({ key: v.string() }) })
      assert.include(yield* Effect.flip(definitionOf(seal)), { _tag: "UnsupportedSchema", toolName: "seal" })
      const mapped = yield* Effect.flip(definitionOf(Tool.make("map", { metadata: { at: new Map() } })))
      assert.include(mapped, { toolName: "map", reason: "not a JSON value at /metadata/at" })
      const broken = InputSchema.make(() => {
        throw new Error("broken\u202e")
      })
      const error = yield* Effect.flip(definitionOf(Tool.make("broken", { inputSchema: broken })))
      assert.strictEqual(error.reason, "no JSON Schema can be written: broken\\u202e")
    }))
})

describe("ToolDefinition.normalize", () => {
  const runs = { arbitrary: { runs: 1000 } }

  it.prop("knows no order of keys and of sets", [definition], ([value]) => {
    assert.strictEqual(text(reordered(value)), text(value))
  }, runs)

  it.prop("is its own normal form", [definition], ([value]) => {
    assert.strictEqual(text(ToolDefinition.normalize(value)), text(value))
  }, runs)

  it.prop("sees every other change of any field", [definition, choicesMade], ([value, made]) => {
    assert.notStrictEqual(text(changed(value, made)), text(value))
  }, runs)

  const withInput = (inputSchema: ToolDefinition.ToolDefinition["inputSchema"]) => text({ ...find, inputSchema })

  it("sorts only what is a set in a schema", () => {
    const same = (left: {}, right: {}) => assert.strictEqual(withInput(left), withInput(right))
    const other = (left: {}, right: {}) => assert.notStrictEqual(withInput(left), withInput(right))
    const [ab, ba] = [["a", "b"], ["b", "a"]]
    same({ items: [{ anyOf: [{ required: ab }] }] }, { items: [{ anyOf: [{ required: ba }] }] })
    same({ dependencies: { x: ab } }, { dependencies: { x: ba } })
    for (const keyword of ["enum", "examples", "prefixItems", "anyOf", "x-list"]) {
      other({ [keyword]: ab }, { [keyword]: ba })
    }
    // Data that looks like a schema.
    for (const keyword of ["default", "const", "x-own", "examples"]) {
      other({ [keyword]: { required: ab } }, { [keyword]: { required: ba } })
    }
    // A property of that name, and a schema that is none.
    other({ properties: { required: ab } }, { properties: { required: ba } })
    other({ properties: { x: ab } }, { properties: { x: ba } })
    other({ anyOf: [ab] }, { anyOf: [ba] })
    other({ anyOf: { x: { required: ab } } }, { anyOf: { x: { required: ba } } })
    other({ properties: [{ required: ab }] }, { properties: [{ required: ba }] })
    other({ dependentRequired: [ab] }, { dependentRequired: [ba] })
    other({ dependencies: [ab] }, { dependencies: [ba] })
    other({ required: ["a", 1] }, { required: [1, "a"] })
    other({ required: ["a"] }, { required: ["a", "a"] })
    assert.notStrictEqual(
      text({ ...find, annotations: { required: ab } }),
      text({ ...find, annotations: { required: ba } })
    )
    assert.notStrictEqual(text({ ...find, required: ab }), text({ ...find, required: ba }))
  })

  it("leaves out the dialect where it says nothing", () => {
    const draft07 = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"]
    const draft202012 = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft/2020-12/schema#"]
    const isLeftOut = ($schema: unknown, rest: {}) => withInput({ $schema, ...rest }) === withInput(rest)
    for (const dialect of [...draft07, ...draft202012]) {
      assert.isTrue(isLeftOut(dialect, { type: "object", properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: {} } }))
      assert.isTrue(isLeftOut(dialect, { $ref: "#/definitions/a", definitions: { a: {} }, description: "d" }))
      const output = { $schema: dialect, type: "object" }
      assert.strictEqual(text({ ...find, outputSchema: output }), text({ ...find, outputSchema: { type: "object" } }))
      // Further down, and outside of a schema, it is a field like others.
      assert.isFalse(withInput({ not: { $schema: dialect } }) === withInput({ not: {} }))
      assert.notStrictEqual(text({ ...find, _meta: { $schema: dialect } }), text({ ...find, _meta: {} }))
    }
    for (const dialect of draft07) {
      // What draft-07 ignores, or does not have.
      assert.isFalse(isLeftOut(dialect, { properties: { a: { $ref: "#/$defs/a", maxLength: 3 } }, $defs: { a: {} } }))
      assert.isFalse(isLeftOut(dialect, { items: { prefixItems: [true] } }))
      assert.isTrue(isLeftOut(dialect, { items: [true], additionalItems: false, dependencies: {} }))
    }
    for (const dialect of draft202012) {
      assert.isFalse(isLeftOut(dialect, { anyOf: [{ items: [true] }] }))
      assert.isFalse(isLeftOut(dialect, { dependencies: {} }))
      assert.isTrue(isLeftOut(dialect, { prefixItems: [true], $ref: "#/$defs/a", maxLength: 3 }))
    }
    for (
      const dialect of ["http://json-schema.org/draft-04/schema#", "https://evil.example/schema", 1, null, draft07]
    ) {
      assert.isFalse(isLeftOut(dialect, { type: "object" }))
    }
  })
})

describe("ToolDefinition.digest", () => {
  it.effect("is that of the normal form", () =>
    Effect.gen(function*() {
      const one = yield* digest({ ...find, inputSchema: { required: ["a", "b"], type: "object" } })
      assert.match(one, /^[\w-]{43}$/)
      assert.strictEqual(yield* digest({ ...find, inputSchema: { type: "object", required: ["b", "a"] } }), one)
      assert.notStrictEqual(yield* digest(find), one)
    }))

  it.effect("dies for what is no definition", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(digest({ ...find, x: 1n }))
      assert.isTrue(exit._tag === "Failure")
    }))
})
