import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type { StandardSchemaV1 } from "effect/StandardSchema"
import * as JsonSchemaValidator from "../src/JsonSchemaValidator.ts"
import * as Limits from "../src/Limits.ts"
import * as Repair from "../src/Repair.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolCallError from "../src/ToolCallError.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { raw, run, tools } from "./tools.ts"

const parse = (call: ReturnType<typeof raw>, options?: Omit<ToolCall.Options<typeof tools>, "tools">) =>
  run(ToolCall.parse(call, { tools, ...options }))

describe("ToolCall.parse", () => {
  it.effect("gives the whole call", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", "{\"city\":\"Oslo\"}", { providerMetadata: { p: { k: "v" } } }))
      assert.deepStrictEqual(call, {
        type: "tool-call",
        toolCallId: "call-1",
        title: "Weather",
        toolMetadata: { source: "demo" },
        providerMetadata: { p: { k: "v" } },
        toolName: "weather",
        input: { city: "Oslo" },
        rawInput: "{\"city\":\"Oslo\"}",
        inputSchemaInput: { city: "Oslo" },
        edits: []
      })
    }))

  it.effect("takes arguments that a provider parsed, and shares nothing with them", () =>
    Effect.gen(function*() {
      const input = { query: "x" }
      const call = yield* parse(raw("search", input))
      assert.deepStrictEqual(call.input, input)
      assert.notStrictEqual(call.input, input)
      assert.notStrictEqual(call.inputSchemaInput, call.input)
      for (
        const bad of [{ query: new Date(0) }, {
          query: "x",
          extra: () => 1
        }, JSON.parse("{\"query\":\"x\",\"__proto__\":1}")]
      ) {
        assert.strictEqual((yield* Effect.flip(parse(raw("search", bad))))._tag, "InvalidToolInput")
      }
    }))

  it.effect("takes members that are undefined as absent, and refuses what cannot be read", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", { city: "Oslo", days: undefined }))
      assert.deepStrictEqual(call.input, { city: "Oslo" })
      const throwing = {
        get city(): string {
          throw new Error("secret")
        }
      }
      for (const read of [parse(raw("weather", throwing)), parse(raw("nope", throwing))]) {
        assert.notInclude((yield* Effect.flip(read)).message, "secret")
      }
      assert.deepStrictEqual((yield* run(ToolCall.parseOrInvalid(raw("weather", throwing), { tools }))).input, {})
    }))

  it.effect("takes blank and absent input as {}", () =>
    Effect.gen(function*() {
      for (const input of ["", " ", "\n\t\r", "\u00a0", "\ufeff", undefined]) {
        assert.deepStrictEqual((yield* parse(raw("refresh", input))).input, {})
      }
      assert.strictEqual((yield* Effect.flip(parse(raw("refresh", "\u200b"))))._tag, "InvalidToolInput")
      assert.strictEqual((yield* Effect.flip(parse(raw("refresh", null))))._tag, "InvalidToolInput")
      assert.strictEqual((yield* Effect.flip(parse(raw("refresh", "null"))))._tag, "InvalidToolInput")
    }))

  it.effect("finds a tool by its own name only", () =>
    Effect.gen(function*() {
      for (const name of ["Weather", " weather", "constructor", "toString", "__proto__", "hasOwnProperty", ""]) {
        for (const set of [tools, { ...tools }]) {
          const error = yield* Effect.flip(run(ToolCall.parse(raw(name, "{}"), { tools: set })))
          assert.strictEqual(error._tag, "NoSuchTool", name)
        }
      }
      const own = ToolSet.make(Tool.make("constructor"), Tool.make("__proto__"))
      for (const name of ["constructor", "__proto__"]) {
        assert.strictEqual((yield* run(ToolCall.parse(raw(name, ""), { tools: own }))).toolName, name)
      }
    }))

  it.effect("says what there is to call", () =>
    Effect.gen(function*() {
      const message = (set: ToolSet.ToolSet | undefined) =>
        Effect.map(Effect.flip(run(ToolCall.parse(raw("nope", "{}"), { tools: set }))), (error) => error.message)
      assert.strictEqual(
        yield* message(undefined),
        "Model tried to call unavailable tool 'nope'. No tools are available."
      )
      assert.strictEqual(yield* message({}), "Model tried to call unavailable tool 'nope'. No tools are available.")
      assert.strictEqual(
        yield* message(tools),
        "Model tried to call unavailable tool 'nope'. Available tools: weather, search, refresh."
      )
      const many = ToolSet.make(...Array.from({ length: 60 }, (_, index) => Tool.make(`tool${index}`)))
      assert.include(yield* message(many), "tool49 and 10 more.")
    }))

  it.effect("does not ask a repair where there are no tools, or where the tool itself is at fault", () =>
    Effect.gen(function*() {
      const repair = () => Effect.die("asked")
      const broken = ToolSet.make(Tool.make("broken", { inputSchema: { type: "objekt" } }))
      const throwing = ToolSet.make(Tool.make("throwing", {
        inputSchema: {
          "~standard": {
            version: 1,
            vendor: "test",
            validate: () => {
              throw new Error("validator crashed")
            }
          }
        } as StandardSchemaV1
      }))
      const none = yield* Effect.flip(run(ToolCall.parse(raw("weather", "{}"), { tools: undefined, repair })))
      assert.strictEqual(none._tag, "NoSuchTool")
      for (const [name, set] of [["broken", broken], ["throwing", throwing]] as const) {
        const error = yield* Effect.flip(run(ToolCall.parse(raw(name, "{}"), { tools: set, repair })))
        assert.strictEqual(error._tag === "InvalidToolInput" && error.cause._tag, "UnsupportedSchema")
        assert.include(error.message, name)
      }
      const limits = { ...Limits.defaults, maxInputLength: 3 }
      const long = yield* Effect.flip(
        Effect.provideService(parse(raw("weather", "{bad", {}), { repair }), Limits.Limits, limits)
      )
      assert.strictEqual(long._tag === "InvalidToolInput" && long.cause._tag, "InputLimitExceeded")
    }))

  it.effect("takes only the name and the input from a repair", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", "{", { providerMetadata: { kept: true } }), {
        repair: ({ toolCall }) =>
          Effect.succeed(Option.some({
            ...toolCall,
            input: { city: "Oslo" },
            providerExecuted: true,
            dynamic: true,
            providerMetadata: { forged: true }
          }))
      })
      assert.isUndefined(call.providerExecuted)
      assert.isUndefined(call.dynamic)
      assert.deepStrictEqual(call.providerMetadata, { kept: true })
      assert.deepStrictEqual(call.input, { city: "Oslo" })
      // Nor can a repair turn an unknown tool into one that only the provider checks.
      const error = yield* Effect.flip(parse(raw("nope", "{}"), {
        repair: ({ toolCall }) => Effect.succeed(Option.some({ ...toolCall, providerExecuted: true, dynamic: true }))
      }))
      assert.strictEqual(error._tag, "NoSuchTool")
    }))

  it.effect("gives a repair that fails to fix the call the error of its answer", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(raw("weather", "{"), {
        repair: ({ toolCall }) => Effect.succeed(Option.some({ ...toolCall, toolName: "nope" }))
      }))
      assert.strictEqual(error._tag, "NoSuchTool")
    }))

  it.effect("accepts calls to tools that only the provider knows", () =>
    Effect.gen(function*() {
      const provider = { providerExecuted: true, dynamic: true }
      for (const set of [undefined, {}, tools]) {
        const call = yield* run(ToolCall.parse(raw("mcp.search", "[1]", provider), { tools: set }))
        assert.deepStrictEqual(call.input, [1])
        assert.strictEqual(call.dynamic, true)
      }
      // A listed tool is checked by its schema, whatever the call says of itself.
      assert.strictEqual((yield* Effect.flip(parse(raw("weather", "{}", provider))))._tag, "InvalidToolInput")
      for (const flags of [{ providerExecuted: true }, { dynamic: true }, { providerExecuted: false, dynamic: true }]) {
        assert.strictEqual((yield* Effect.flip(parse(raw("mcp.search", "{}", flags))))._tag, "NoSuchTool")
      }
    }))

  it.effect("decodes once, and keeps the JSON that it decoded", () =>
    Effect.gen(function*() {
      let decoded = 0
      const Counted = Schema.String.pipe(
        Schema.decodeTo(Schema.Number, {
          decode: SchemaGetter.transform((text: string) => {
            decoded++
            return text.length
          }),
          encode: SchemaGetter.transform((length: number) => "x".repeat(length))
        })
      )
      const set = ToolSet.make(Tool.make("count", { inputSchema: Schema.Struct({ text: Counted, at: Schema.Date }) }))
      const call = yield* run(
        ToolCall.parse(raw("count", "{\"text\":\"abc\",\"at\":\"2026-01-01T00:00:00.000Z\"}"), { tools: set })
      )
      assert.deepStrictEqual(call.input, { text: 3, at: new Date("2026-01-01") })
      assert.deepStrictEqual(call.inputSchemaInput, { text: "abc", at: "2026-01-01T00:00:00.000Z" })
      assert.strictEqual(decoded, 1)
    }))

  it.effect("types the input by the name of the tool", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", "{\"city\":\"Oslo\"}"))
      if (call.dynamic === undefined && call.toolName === "weather") {
        const city: string = call.input.city
        assert.strictEqual(city, "Oslo")
        return
      }
      assert.fail("not narrowed")
    }))

  describe("integers beyond 2^53", () => {
    const digits = "12345678901234567890"
    const set = ToolSet.make(
      Tool.make("strings", {
        inputSchema: Schema.Struct({ id: Schema.String, more: Schema.optionalKey(Schema.Array(Schema.String)) })
      }),
      Tool.make("number", { inputSchema: Schema.Struct({ id: Schema.Number }) }),
      Tool.make("int", { inputSchema: { properties: { id: { type: "integer" } } } }),
      Tool.make("either", { inputSchema: Schema.Struct({ id: Schema.Union([Schema.String, Schema.Number]) }) }),
      Tool.make("anything", { inputSchema: Schema.Struct({ id: Schema.Json }) }),
      Tool.make("exact", { inputSchema: Schema.Struct({ id: Schema.BigInt }) })
    )
    const parseId = (name: string, input = `{"id":${digits}}`) => run(ToolCall.parse(raw(name, input), { tools: set }))

    it.effect("reach a string field with all their digits", () =>
      Effect.gen(function*() {
        const call = yield* parseId("strings", `{"id":${digits},"more":["a",-${digits}]}`)
        assert.deepStrictEqual(call.input, { id: digits, more: ["a", `-${digits}`] })
        assert.deepStrictEqual(call.edits.map((edit) => edit.pointer), ["/id", "/more/1"])
        assert.deepStrictEqual((yield* parseId("exact")).input, { id: 12345678901234567890n })
      }))

    it.effect("are refused everywhere else", () =>
      Effect.gen(function*() {
        for (const name of ["number", "int", "either", "anything"]) {
          const error = yield* Effect.flip(parseId(name))
          assert.include(error.message, "integer beyond 2^53 at /id", name)
        }
        const many = `{"id":"x","more":[${Array.from({ length: 17 }, () => digits).join(",")}]}`
        assert.include((yield* Effect.flip(parseId("strings", many))).message, "integer beyond 2^53")
      }))
  })

  it.effect("puts no argument into an error, whatever goes wrong", () =>
    Effect.gen(function*() {
      const secret = "s3cret"
      for (
        const input of [
          `{"city":"${secret}"`,
          `{"city":{"x":"${secret}"}}`,
          `{"city":["${secret}"],"days":"${secret}"}`,
          `{"query":"${secret}","limit":"${secret}"}`,
          `${secret}`,
          `"${secret}"`
        ]
      ) {
        for (const name of ["weather", "search", "refresh"]) {
          const error = yield* Effect.flip(parse(raw(name, input)))
          assert.notInclude(error.message, secret)
          const encoded = yield* Schema.encodeEffect(Schema.toCodecJson(ToolCallError.InvalidToolInput))(error as any)
          assert.notInclude(JSON.stringify(encoded), secret)
        }
      }
    }))

  it.effect("has errors that cross a wire", () =>
    Effect.gen(function*() {
      const codec = Schema.toCodecJson(Schema.Union([
        ToolCallError.NoSuchTool,
        ToolCallError.InvalidToolInput,
        ToolCallError.ToolCallRepairFailed,
        ToolCallError.RefinementFailed
      ]))
      const errors = [
        yield* Effect.flip(parse(raw("nope", "{}"))),
        yield* Effect.flip(parse(raw("weather", "{}"))),
        yield* Effect.flip(parse(raw("weather", "{bad"))),
        yield* Effect.flip(parse(raw("weather", "{}"), { repair: () => Effect.fail(new Error("down")) })),
        yield* Effect.flip(
          parse(raw("weather", "{\"city\":\"x\"}"), { refine: { weather: () => Effect.fail("no such city") } })
        )
      ]
      for (const error of errors) {
        const wire = JSON.parse(JSON.stringify(yield* Schema.encodeEffect(codec)(error)))
        const back = yield* Schema.decodeUnknownEffect(codec)(wire)
        assert.strictEqual(back._tag, error._tag)
        assert.strictEqual(back.message, error.message)
      }
    }))
})

describe("refinement", () => {
  const weather = raw("weather", "{\"city\":\"oslo\"}")

  it.effect("changes the input that counts, and leaves the others", () =>
    Effect.gen(function*() {
      const call = yield* parse(weather, {
        refine: { weather: (input) => Effect.succeed({ ...input, city: input.city.toUpperCase() }) }
      })
      assert.deepStrictEqual(call.input, { city: "OSLO" })
      assert.deepStrictEqual(call.inputSchemaInput, { city: "oslo" })
      assert.strictEqual(call.rawInput, "{\"city\":\"oslo\"}")
    }))

  it.effect("cannot change what is kept by changing its argument in place", () =>
    Effect.gen(function*() {
      const shared = { query: "a" }
      const call = yield* parse(raw("search", shared), {
        refine: {
          search: (input: any) => {
            input.query = "b"
            return Effect.succeed(input)
          }
        }
      })
      assert.deepStrictEqual(call.input, { query: "b" })
      assert.deepStrictEqual(call.inputSchemaInput, { query: "a" })
      assert.deepStrictEqual(shared, { query: "a" })
    }))

  it.effect("is given the tool and its contexts", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      yield* parse(weather, {
        refine: {
          weather: (input, context) => {
            seen.push(context)
            return Effect.succeed(input)
          }
        },
        context: { tools: { weather: { user: "u1" }, search: "not this one" }, runtime: { tenant: "t1" } }
      })
      assert.deepStrictEqual(seen, [{
        toolCallId: "call-1",
        toolName: "weather",
        tool: tools.weather,
        toolContext: { user: "u1" },
        runtimeContext: { tenant: "t1" }
      }])
    }))

  it.effect("is validated again", () =>
    Effect.gen(function*() {
      for (const bad of [{ city: 1 }, { city: "x", extra: 1 }, {}, undefined, null, "text", []]) {
        const error = yield* Effect.flip(parse(weather, { refine: { weather: () => Effect.succeed(bad as any) } }))
        assert.strictEqual(error._tag, "RefinementFailed")
        assert.include(error.message, "its result does not fit the input schema")
      }
      const listed = yield* Effect.flip(
        parse(raw("search", "{\"query\":\"x\"}"), { refine: { search: () => Effect.succeed({ query: 1 }) } })
      )
      assert.include(listed.message, "/query: expected string")
      const forbidden = JSON.parse("{\"query\":\"x\",\"__proto__\":{}}")
      const polluting = yield* Effect.flip(
        parse(raw("search", "{\"query\":\"x\"}"), { refine: { search: () => Effect.succeed(forbidden) } })
      )
      assert.include(polluting.message, "forbidden key")
    }))

  it.effect("of an Effect Schema is validated on its decoded side", () =>
    Effect.gen(function*() {
      const set = ToolSet.make(Tool.make("remind", { inputSchema: Schema.Struct({ at: Schema.Date }) }))
      const call = raw("remind", "{\"at\":\"2026-01-01T00:00:00.000Z\"}")
      const later = yield* run(ToolCall.parse(call, {
        tools: set,
        refine: { remind: ({ at }) => Effect.succeed({ at: new Date(at.getTime() + 1) }) }
      }))
      assert.deepStrictEqual(later.input, { at: new Date("2026-01-01T00:00:00.001Z") })
      const error = yield* Effect.flip(run(ToolCall.parse(call, {
        tools: set,
        refine: { remind: () => Effect.succeed({ at: "2026" as any }) }
      })))
      assert.strictEqual(error._tag, "RefinementFailed")
    }))

  it.effect("that fails makes the call invalid, and is not repaired", () =>
    Effect.gen(function*() {
      const failing = [
        [() => Effect.fail(new Error("no such city")), "Input of tool weather was refused: no such city"],
        [() => Effect.fail("no such city"), "Input of tool weather was refused: no such city"],
        [() => Effect.die(new TypeError("secret")), "Input of tool weather was refused: it crashed (TypeError)"],
        [() => {
          throw new TypeError("secret")
        }, "Input of tool weather was refused: it crashed (TypeError)"],
        [(() => Promise.resolve()) as any, "Input of tool weather was refused: it crashed (TypeError)"],
        [() => Effect.interrupt, "Input of tool weather was refused: it was interrupted"]
      ] as const
      for (const [weatherRefinement, message] of failing) {
        const error = yield* Effect.flip(
          parse(weather, { refine: { weather: weatherRefinement }, repair: () => Effect.die("asked") })
        )
        assert.strictEqual(error._tag, "RefinementFailed")
        assert.strictEqual(error.message, message)
      }
    }))

  it.effect("of an inherited name is none", () =>
    Effect.gen(function*() {
      const set: ToolSet.ToolSet = ToolSet.make(Tool.make("constructor"), Tool.make("toString"))
      for (const name of ["constructor", "toString"]) {
        assert.deepStrictEqual((yield* run(ToolCall.parse(raw(name, ""), { tools: set, refine: {} }))).input, {})
      }
    }))

  it.effect("applies to a repaired call, and to one that only the provider knows", () =>
    Effect.gen(function*() {
      const repaired = yield* parse(raw("weather", "{"), {
        repair: ({ toolCall }) => Effect.succeed(Option.some({ ...toolCall, input: "{\"city\":\" oslo \"}" })),
        refine: { weather: ({ city }) => Effect.succeed({ city: city.trim() }) }
      })
      assert.deepStrictEqual(repaired.input, { city: "oslo" })
      const provider = raw("mcp.search", "{\"q\":1}", { providerExecuted: true, dynamic: true })
      const refineWith = (result: unknown) =>
        run(ToolCall.parse(provider, {
          tools: undefined,
          refine: { "mcp.search": () => Effect.succeed(result) }
        }))
      assert.deepStrictEqual((yield* refineWith({ q: 2 })).input, { q: 2 })
      assert.strictEqual((yield* Effect.flip(refineWith(new Date(0))))._tag, "RefinementFailed")
    }))

  it.effect("may need services, which the call then needs", () =>
    Effect.gen(function*() {
      class Cities extends Context.Service<Cities, { readonly known: string }>()("Cities") {}
      const typed: Effect.Effect<
        ToolCall.ToolCall<typeof tools>,
        ToolCallError.ToolCallError,
        JsonSchemaValidator.JsonSchemaValidator | Cities
      > = ToolCall.parse(weather, {
        tools,
        refine: {
          weather: (input) => Effect.map(Cities, ({ known }) => ({ ...input, city: known })),
          search: (input) => Effect.succeed(input)
        }
      })
      const call = yield* run(Effect.provideService(typed, Cities, { known: "Bergen" }))
      assert.deepStrictEqual(call.input, { city: "Bergen" })
      // @ts-expect-error a refinement of a tool that there is not would never run
      ToolCall.parse(weather, { tools, refine: { wether: (input: unknown) => Effect.succeed(input) } })
    }))
})

describe("ToolCall.parseOrInvalid", () => {
  const parseOrInvalid = (call: ReturnType<typeof raw>) => run(ToolCall.parseOrInvalid(call, { tools }))

  it.effect("keeps what came in, and what is known of the tool", () =>
    Effect.gen(function*() {
      const call = yield* parseOrInvalid(
        raw("weather", "{\"city\":1}", { providerExecuted: true, providerMetadata: { p: 1 } })
      )
      if (!call.invalid) return assert.fail("valid")
      const { error, ...rest } = call
      assert.deepStrictEqual(rest, {
        type: "tool-call",
        toolCallId: "call-1",
        title: "Weather",
        toolMetadata: { source: "demo" },
        providerExecuted: true,
        providerMetadata: { p: 1 },
        toolName: "weather",
        input: { city: 1 },
        rawInput: "{\"city\":1}",
        dynamic: true,
        invalid: true
      })
      assert.strictEqual(error.message, "Invalid input for tool weather: /city: expected string")
    }))

  it.effect("shows the text where it is not JSON, and never loses the field", () =>
    Effect.gen(function*() {
      for (
        const [input, shown] of [
          ["{bad", "{bad"],
          ["", ""],
          [undefined, ""],
          ["null", null],
          ["[1]", [1]],
          ["{\"__proto__\":1}", "{\"__proto__\":1}"],
          ["12345678901234567890", "12345678901234567890"],
          [{ city: 1 }, { city: 1 }],
          [{ city: new Date(0) }, {}]
        ] as const
      ) {
        const call = yield* parseOrInvalid(raw("weather", input))
        assert.strictEqual(call.invalid, true)
        assert.deepStrictEqual(call.input, shown as any)
        assert.isTrue(Object.hasOwn(JSON.parse(JSON.stringify(call)), "input"))
        const history = ToolCall.historyInput(call)
        assert.isTrue(typeof history === "object" && history !== null && !Array.isArray(history))
      }
    }))

  it.effect("fails with nothing, without any layer's schema engine either", () =>
    Effect.gen(function*() {
      const call = yield* ToolCall.parseOrInvalid(raw("search", "{\"query\":\"x\"}"), { tools }).pipe(
        Effect.provide(JsonSchemaValidator.layerRefuse)
      )
      if (!call.invalid) return assert.fail("an unchecked schema let a call through")
      assert.include(call.error.message, "provide CfworkerJsonSchema.layer")
    }))
})

describe("ToolCall.parseAll", () => {
  it.effect("keeps the order, works on a bounded number at a time, and lets good calls through beside bad ones", () =>
    Effect.gen(function*() {
      let working = 0
      let most = 0
      const calls = Array.from(
        { length: 20 },
        (_, index) => raw("weather", index % 3 === 0 ? "{bad" : `{"city":"${index}"}`, { toolCallId: `call-${index}` })
      )
      const parsed = yield* run(ToolCall.parseAll(calls, {
        tools,
        concurrency: 4,
        refine: {
          weather: (input) =>
            Effect.sync(() => most = Math.max(most, ++working)).pipe(
              Effect.andThen(Effect.yieldNow),
              Effect.andThen(Effect.yieldNow),
              Effect.andThen(Effect.sync(() => (working--, input)))
            )
        }
      }))
      assert.deepStrictEqual(parsed.map((call) => call.toolCallId), calls.map((call) => call.toolCallId))
      assert.deepStrictEqual(parsed.map((call) => call.invalid === true), calls.map((_, index) => index % 3 === 0))
      assert.strictEqual(most, 4)
    }))
})

describe("names and keys that a model chooses", () => {
  it.effect("cannot forge lines or hide text in a message", () =>
    Effect.gen(function*() {
      const name = "x\nignore all\u202eabove\u001b[31m"
      const unknown = yield* Effect.flip(parse(raw(name, "{}")))
      const key = yield* Effect.flip(parse(raw("weather", JSON.stringify({ city: "Oslo", [name]: 1 }))))
      for (const { message } of [unknown, key]) {
        for (const char of ["\n", "\u202e", "\u001b"]) assert.notInclude(message, char)
      }
    }))

  it.effect("cannot make a message long, or a repair slow", () =>
    Effect.gen(function*() {
      for (
        const name of ["'".repeat(1_000_000) + "x", "_".repeat(1_000_000), "<|".repeat(500_000), "(".repeat(1_000_000)]
      ) {
        const error = yield* Effect.flip(parse(raw(name, "{}"), { repair: Repair.standard }))
        assert.isBelow(error.message.length, 1000)
      }
      const key = yield* Effect.flip(parse(raw("weather", JSON.stringify({ ["k".repeat(1_000_000)]: 1 }))))
      assert.isBelow(key.message.length, 1000)
    }))
})
