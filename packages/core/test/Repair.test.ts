import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Tracer from "effect/Tracer"
import * as InputSchema from "../src/InputSchema.ts"
import * as Limits from "../src/Limits.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import * as Repair from "../src/Repair.ts"
import * as RepairText from "../src/RepairText.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolSet from "../src/ToolSet.ts"
import { raw, run, tools } from "./tools.ts"

const none: Repair.Repair = () => Effect.succeedNone
const answer = (change: Partial<RawToolCall>): Repair.Repair => ({ toolCall }) =>
  Effect.succeed(Option.some({ ...toolCall, ...change }))

const parse = (call: RawToolCall, repair: Repair.Repair<unknown>) => ToolCall.parse(call, { tools, repair })

/** Repairs in order, and remembers what each was given. */
const scripted = (...changes: ReadonlyArray<Partial<RawToolCall> | undefined>) => {
  const seen: Array<Repair.RepairContext> = []
  const repair: Repair.Repair = (context) => {
    const change = changes[seen.length]
    seen.push(context)
    return Effect.succeed(change === undefined ? Option.none() : Option.some({ ...context.toolCall, ...change }))
  }
  return { seen, repair }
}

describe("the context of a repair", () => {
  it.effect("holds the call, the error, the schemas, the instructions and the messages", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted(undefined)
      const call = raw("weather", "{\"city\":1}", { providerMetadata: { p: 1 } })
      const messages = [{ role: "user", content: "Weather in Oslo?" }]
      for (const instructions of ["be nice", [{ role: "system", content: "be nice" }], undefined]) {
        yield* Effect.flip(ToolCall.parse(call, { tools, repair, messages, instructions }))
        assert.deepStrictEqual(seen.at(-1)!.instructions, instructions)
      }
      const context = seen[0]!
      assert.deepStrictEqual(context.toolCall, call)
      assert.strictEqual(context.error._tag, "InvalidToolInput")
      assert.strictEqual(context.messages, messages)
      assert.deepStrictEqual(context.tools["weather"], {
        name: "weather",
        kind: "function",
        title: "Weather",
        description: "The weather in a city"
      })
      const schema = yield* Effect.flatMap(context.inputSchema("search"), InputSchema.toJsonSchema)
      assert.strictEqual((schema as any).type, "object")
      for (const name of ["nope", "constructor", "__proto__"]) {
        assert.strictEqual((yield* Effect.flip(context.inputSchema(name)))._tag, "NoSuchTool")
        assert.isUndefined(context.tools[name])
      }
    }).pipe(run))

  it.effect("checks a candidate without running or refining anything", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted(undefined)
      yield* Effect.flip(
        ToolCall.parse(raw("weather", "{"), { tools, repair, refine: { weather: () => Effect.die("no") } })
      )
      const { check } = seen[0]!
      assert.isTrue(Option.isNone(yield* check(raw("weather", "{\"city\":\"Oslo\"}"))))
      assert.strictEqual(Option.getOrThrow(yield* check(raw("weather", "{}")))._tag, "InvalidToolInput")
      assert.strictEqual(Option.getOrThrow(yield* check(raw("nope", "{}")))._tag, "NoSuchTool")
      // A candidate cannot make itself a call that only the provider checks.
      assert.isTrue(Option.isSome(yield* check(raw("nope", "{}", { providerExecuted: true, dynamic: true }))))
    }).pipe(run))
})

describe("Repair.orElse", () => {
  it.effect("asks the second only where the first has no answer", () =>
    Effect.gen(function*() {
      const second = scripted({ input: "{\"city\":\"B\"}" })
      const first = answer({ input: "{\"city\":\"A\"}" })
      assert.strictEqual(
        ((yield* parse(raw("weather", "{"), Repair.orElse(first, second.repair))).input as any).city,
        "A"
      )
      assert.lengthOf(second.seen, 0)
      assert.strictEqual(
        ((yield* parse(raw("weather", "{"), Repair.orElse(none, second.repair))).input as any).city,
        "B"
      )
      assert.lengthOf(second.seen, 1)
    }).pipe(run))

  it.effect("asks the second where the first fails, but not where it crashes", () =>
    Effect.gen(function*() {
      const second = answer({ input: "{\"city\":\"B\"}" })
      const call = yield* parse(raw("weather", "{"), Repair.orElse(() => Effect.fail("down"), second))
      assert.deepStrictEqual(call.input, { city: "B" })
      const crashed = yield* Effect.flip(parse(raw("weather", "{"), Repair.orElse(() => Effect.die("bug"), second)))
      assert.strictEqual(crashed._tag, "ToolCallRepairFailed")
    }).pipe(run))

  it.effect("asks the second with the answer of the first, and its error, where that does not parse", () =>
    Effect.gen(function*() {
      const first: Repair.Repair = ({ toolCall }) =>
        Effect.succeed(Option.some({ ...toolCall, toolName: "weather", edits: [{ kind: "a" }] }))
      const seen: Array<Repair.RepairContext> = []
      const second: Repair.Repair = (context) => {
        seen.push(context)
        const call = { ...context.toolCall, input: "{\"city\":\"Oslo\"}" }
        return Effect.succeed(Option.some({ ...call, edits: [{ kind: "b" }] }))
      }
      const call = yield* parse(raw("Wetter", "{\"city\":1}"), Repair.orElse(first, second))
      assert.deepStrictEqual([call.toolName, call.input, call.edits], ["weather", { city: "Oslo" }, [
        { kind: "a" },
        { kind: "b" }
      ]])
      const [{ error, toolCall }] = seen as [Repair.RepairContext]
      assert.deepStrictEqual(toolCall, raw("weather", "{\"city\":1}"))
      assert.include(error.message, "/city: expected string")
    }).pipe(run))

  it.effect("records an answer that names no edits, where another goes on from it", () =>
    Effect.gen(function*() {
      const second: Repair.Repair = ({ toolCall }) =>
        Effect.succeed(Option.some({ ...toolCall, input: "{\"city\":\"Oslo\"}", edits: [{ kind: "b" }] }))
      for (const edits of [undefined, []]) {
        const first: Repair.Repair = ({ toolCall }) => Effect.succeed(Option.some({ ...toolCall, input: "{}", edits }))
        const call = yield* parse(raw("weather", "{"), Repair.orElse(first, second))
        assert.deepStrictEqual(call.edits, [{ kind: "custom" }, { kind: "b" }])
      }
    }).pipe(run))

  it.effect("leaves the answer of the first, where the second has none", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        parse(raw("Wetter", "{\"city\":1}"), Repair.orElse(answer({ toolName: "weather" }), none))
      )
      assert.include(error.message, "/city: expected string")
    }).pipe(run))

  it.effect("does not go on where a limit is crossed, or the tool's schema is at fault", () =>
    Effect.gen(function*() {
      const broken = ToolSet.make(Tool.make("broken", { inputSchema: { type: "objekt" } }), Tool.make("refresh"))
      for (
        const change of [{ toolName: "broken" }, { toolName: "refresh", input: "[".repeat(300) + "]".repeat(300) }]
      ) {
        const second = scripted(undefined)
        for (const repair of [Repair.orElse(answer(change), second.repair), Repair.attempts(answer(change), 2)]) {
          const error = yield* Effect.flip(ToolCall.parse(raw("brocken", "{}"), { tools: broken, repair }))
          assert.strictEqual(error._tag, "InvalidToolInput")
        }
        assert.lengthOf(second.seen, 0)
      }
    }).pipe(run))

  it.effect("is data-last as well", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", "{"), Repair.orElse(answer({ input: "{\"city\":\"B\"}" }))(none))
      assert.deepStrictEqual(call.input, { city: "B" })
    }).pipe(run))
})

describe("Repair.attempts", () => {
  it.effect("asks again with its answer and the new error, and keeps all edits", () =>
    Effect.gen(function*() {
      const seen: Array<[string, string]> = []
      const repair: Repair.Repair = ({ error, toolCall }) => {
        seen.push([toolCall.toolName, error._tag])
        return Effect.succeed(Option.some(
          toolCall.toolName === "weather"
            ? { ...toolCall, input: "{\"city\":\"Oslo\"}", edits: [{ kind: "b" }] }
            : { ...toolCall, toolName: "weather", edits: [{ kind: "a" }] }
        ))
      }
      const call = yield* parse(raw("Wetter", "{bad"), Repair.attempts(repair, 5))
      assert.deepStrictEqual(call.edits, [{ kind: "a" }, { kind: "b" }])
      assert.deepStrictEqual(seen, [["Wetter", "NoSuchTool"], ["weather", "InvalidToolInput"]])
    }).pipe(run))

  it.effect("stops after n, with the error of the last answer", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted({ input: "{\"city\":1}" }, { input: "{\"city\":2}" }, { input: "{\"days\":1}" })
      const error = yield* Effect.flip(parse(raw("weather", "{"), Repair.attempts(repair, 3)))
      assert.lengthOf(seen, 3)
      assert.include(error.message, "/city: missing required key")
    }).pipe(run))

  it.effect("gives up with the error of the last answer, and with the first where there is none", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted({ input: "{\"city\":1}" }, undefined)
      const error = yield* Effect.flip(parse(raw("weather", "{"), Repair.attempts(repair, 9)))
      assert.lengthOf(seen, 2)
      assert.include(error.message, "/city: expected string")
      const unanswered = yield* Effect.flip(parse(raw("weather", "{"), Repair.attempts(none, 9)))
      assert.include(unanswered.message, "not valid JSON")
    }).pipe(run))

  it.effect("shows a repair the call without the edits that were made to it", () =>
    Effect.gen(function*() {
      // It repeats what it was given, as repairs do that name no edits.
      const answers = [{ input: "{}", edits: [{ kind: "a" }] }, { input: "{\"city\":\"Oslo\"}" }]
      const repair: Repair.Repair = ({ toolCall }) =>
        Effect.sync(() => Option.some({ ...toolCall, ...answers.shift() }))
      const call = yield* parse(raw("weather", "{"), Repair.attempts(repair, 2))
      assert.deepStrictEqual(call.edits, [{ kind: "a" }, { kind: "custom" }])
    }).pipe(run))

  it("takes whole numbers from 1 up", () => {
    for (const n of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => Repair.attempts(none, n), RangeError)
    }
  })
})

describe("Repair.toolName", () => {
  const named = (toolName: string, names: ReadonlyArray<string>) => {
    const context = {
      toolCall: raw(toolName, "{}"),
      error: { _tag: "NoSuchTool" },
      tools: Object.fromEntries(names.map((name) => [name, { name }]))
    } as any
    return Effect.map(Repair.toolName(context), (call) => Option.getOrUndefined(call)?.toolName)
  }

  it.effect("finds the one tool that was meant", () =>
    Effect.gen(function*() {
      const names = ["get_weather", "list-files", "read file", "search"]
      for (
        const [toolName, expected] of [
          ["GET_WEATHER", "get_weather"],
          ["getWeather", "get_weather"],
          ["get-weather", "get_weather"],
          [" get weather ", "get_weather"],
          ["functions.get_weather", "get_weather"],
          ["function.get_weather:0", "get_weather"],
          ["default_api:get_weather", "get_weather"],
          ["get_weather()", "get_weather"],
          ["get_weather<|channel|>commentary", "get_weather"],
          ["`search`", "search"],
          ["\"search\"", "search"],
          ["ListFiles", "list-files"],
          ["search\n", "search"],
          ["search:", "search"],
          ["to=functions.search", "search"],
          ["tools/search", "search"],
          ["get.weather", "get_weather"],
          ["list/files", "list-files"]
        ] as const
      ) assert.strictEqual(yield* named(toolName, names), expected, toolName)
    }))

  it.effect("guesses nothing", () =>
    Effect.gen(function*() {
      for (
        const [toolName, names] of [
          ["GET_ITEM", ["get_item", "get-item"]],
          ["delete", ["admin.delete"]],
          ["admin.delete", ["delete"]],
          ["a.b", ["a-b", "a_b"]],
          ["Tools/Search", ["search", "tools/search"]],
          ["Step:2", ["step", "step:2"]],
          ["tools.list", ["list", "tools_list"]],
          ["function.delete", ["delete", "function_delete"]],
          ["port:8080", ["port", "port:80", "port:443"]],
          ["serach", ["search"]],
          ["", ["search"]],
          ["---", ["-", "_"]],
          ["<|call|>", ["search"]],
          ["constructor", ["read_file"]],
          ["__proto__", ["read_file"]]
        ] as const
      ) assert.isUndefined(yield* named(toolName, names), toolName)
    }))

  it.effect("prefers the exact name to a similar one", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* named("functions.get_item", ["get_item", "get-item"]), "get_item")
    }))

  it.effect("leaves invalid input alone", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(raw("weather", "{bad"), Repair.toolName))
      assert.strictEqual(error._tag, "InvalidToolInput")
    }).pipe(run))
})

describe("Repair.recovery", () => {
  const recover = (call: RawToolCall, options?: Parameters<typeof Repair.recovery>[0]) =>
    parse(call, Repair.recovery(options))
  const tool = (inputSchema: Schema.Codec<any, any> | { readonly [keyword: string]: unknown }) =>
    ToolSet.make(Tool.make("tool", { inputSchema }))

  it.effect("proposes the value that was meant, guided by the tool's schema", () =>
    Effect.gen(function*() {
      const call = yield* recover(raw("weather", "{city: 'Oslo', days: 3,}"))
      assert.deepStrictEqual([call.input, call.inputSchemaInput], [{ city: "Oslo", days: 3 }, {
        city: "Oslo",
        days: 3
      }])
      assert.strictEqual(call.rawInput, "{city: 'Oslo', days: 3,}")
      assert.isAbove(call.edits.length, 2)
      // What is a number by itself is the text of one where the schema takes only that, of an Effect Schema and of a JSON Schema.
      assert.deepStrictEqual((yield* recover(raw("weather", "{city: 02134}"))).input, { city: "02134" })
      assert.deepStrictEqual((yield* recover(raw("search", "{query: 02134}"))).input, { query: "02134" })
    }).pipe(run))

  it.effect("brings JSON to the schema, and leaves alone what fits", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* recover(raw("search", "{\"query\":\"x\",\"limit\":\"3\"}"))).input, {
        query: "x",
        limit: 3
      })
      // The tool's own name is known.
      assert.deepStrictEqual(
        (yield* recover(raw("search", "{\"name\":\"search\",\"arguments\":{\"query\":\"x\"}}"))).input,
        { query: "x" }
      )
      const call = yield* recover(raw("weather", "{\"city\":\"Oslo\"}"))
      assert.deepStrictEqual(call.edits, [])
    }).pipe(run))

  it.effect("does not get around the schema, and fails with the error of what was recovered", () =>
    Effect.gen(function*() {
      for (
        const [input, message] of [
          ["{city: null}", "/city: expected string"],
          ["{town: 'Oslo',}", "/city: missing required key"],
          ["{city: 'Oslo', extra: 1}", "/extra: unexpected key"],
          ["{days: 1,}", "/city: missing required key"]
        ] as const
      ) {
        const error = yield* Effect.flip(recover(raw("weather", input)))
        assert.strictEqual(error._tag, "InvalidToolInput", input)
        assert.include(error.message, message)
      }
    }).pipe(run))

  it.effect("has no answer where it would have to guess: the first error stands", () =>
    Effect.gen(function*() {
      for (
        const input of [
          "",
          "not JSON at all",
          "{\"city\":\"Oslo\"}{\"city\":\"Rome\"}",
          "{\"city\": ,\"days\":5}",
          "{\"city\":\"Os",
          "{\"city\":\"Oslo\",\"days\": 1",
          "{\"city\":\"Oslo\",\"__pr\\u006fto__\":{\"a\":1},}"
        ]
      ) {
        const error = yield* Effect.flip(recover(raw("weather", input)))
        const bare = yield* Effect.flip(ToolCall.parse(raw("weather", input), { tools }))
        assert.deepStrictEqual(error, bare, input)
      }
    }).pipe(run))

  it.effect("closes a text that was cut off where that is asked for, and says that something may be lost", () =>
    Effect.gen(function*() {
      const call = yield* recover(raw("weather", "{\"city\":\"Os"), { truncated: "close" })
      assert.deepStrictEqual(call.input, { city: "Os" })
      assert.include(call.edits.map((edit) => edit.risk), "lossy")
      // Also where there are more edits than are kept one by one.
      const members = Array.from({ length: 1100 }, (_, index) => `k${index}: 1`)
      const many = yield* ToolCall.parse(raw("tool", `{${members.join(", ")}, z: "cut of`), {
        tools: tool({}),
        repair: Repair.recovery({ truncated: "close" })
      })
      assert.isTrue(many.edits.some((edit) => edit.risk !== undefined))
    }).pipe(run))

  it.effect("never makes garbage an empty input", () =>
    Effect.gen(function*() {
      for (const input of ["not JSON", "{", "}", "{,}", "[1 2]", "undefined", "\"\"\"", ",", "```json\n```", "{:}"]) {
        for (const truncated of ["refuse", "close"] as const) {
          const error = yield* Effect.flip(recover(raw("refresh", input), { truncated }))
          assert.strictEqual(error._tag, "InvalidToolInput", input)
        }
      }
      for (const input of ["```json\n{}\n```", "{}\"\"", "{ }}", "null"]) {
        assert.deepStrictEqual((yield* recover(raw("refresh", input))).input, {}, input)
      }
    }).pipe(run))

  it.effect("proposes what is no object only where the tool takes it", () =>
    Effect.gen(function*() {
      const parseAs = (inputSchema: Parameters<typeof tool>[0], input: string) =>
        ToolCall.parse(raw("tool", input), { tools: tool(inputSchema), repair: Repair.recovery() })
      const list = { type: "array", items: { type: "integer" } }
      assert.deepStrictEqual((yield* parseAs(list, "[1, 2,]")).input, [1, 2])
      assert.deepStrictEqual((yield* parseAs(Schema.Array(Schema.Int), "[1, 2,]")).input, [1, 2])
      const strict = { type: "object", required: ["a"] }
      const error = yield* Effect.flip(parseAs(strict, "[1, 2,]"))
      assert.include(error.message, "not valid JSON")
    }).pipe(run))

  it.effect("works on a call that only the provider can check", () =>
    Effect.gen(function*() {
      const call = yield* recover(raw("web_search", "{q: 'x'}", { providerExecuted: true, dynamic: true }))
      assert.deepStrictEqual(call.input, { q: "x" })
    }).pipe(run))

  it.effect("is not asked about an unknown tool, and leaves values alone", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(recover(raw("Weather", "{city: 'Oslo'}"))))._tag, "NoSuchTool")
      const error = yield* Effect.flip(recover(raw("search", { query: "x", limit: "3" })))
      assert.include(error.message, "/limit")
    }).pipe(run))

  it.effect("keeps the bounds", () =>
    Effect.gen(function*() {
      const deep = `{a: ${"[".repeat(300)}${"]".repeat(300)}}`
      const parseDeep = (repair: Repair.Repair<unknown>) =>
        Effect.flip(ToolCall.parse(raw("tool", deep), { tools: tool({}), repair }))
      const error = yield* parseDeep(Repair.recovery())
      assert.strictEqual(error._tag, "ToolCallRepairFailed")
      assert.include(error.message, "maxDepth")
      // Where another repair comes after it, that one is asked.
      assert.strictEqual((yield* parseDeep(Repair.standard))._tag, "InvalidToolInput")
    }).pipe(run))

  it.effect("says where another reading is as good, unless the second engine reads the text as recovery does", () =>
    Effect.gen(function*() {
      const doubt = (inputSchema: Parameters<typeof tool>[0], input: string, maxRepairLength = 16_384) =>
        ToolCall.parse(raw("tool", input), { tools: tool(inputSchema), repair: Repair.recovery() }).pipe(
          Effect.provideService(Limits.Limits, { ...Limits.defaults, maxRepairLength }),
          Effect.map(({ edits }) => edits.filter(({ kind }) => kind === "ambiguous"))
        )
      const text = "{\"n\": 007}"
      assert.deepStrictEqual(yield* doubt({}, text), [])
      // What is too long for that engine, or none of its texts, nobody confirms.
      const edit = { kind: "ambiguous", before: "{\"n\":7}", after: "{\"n\":\"007\"}", risk: "ambiguous" } as const
      assert.deepStrictEqual(yield* doubt({}, text, 5), [edit])
      assert.deepStrictEqual(yield* doubt({}, "{\"n\": 007, \"m\": +2}"), [
        { ...edit, before: "{\"m\":2,\"n\":7}", after: "{\"m\":2,\"n\":\"007\"}" }
      ])
      // The schema tells which it is.
      for (const type of ["integer", "string"]) {
        assert.deepStrictEqual(yield* doubt({ properties: { n: { type } } }, text, 5), [])
      }
    }).pipe(run))

  it.effect("shows of two long readings the place where they differ", () =>
    Effect.gen(function*() {
      const text = "x".repeat(1000)
      const call = yield* ToolCall.parse(raw("tool", `{"a":"${text}","n": 007,"z":"${text}"}`), {
        tools: tool({}),
        repair: Repair.recovery()
      }).pipe(Effect.provideService(Limits.Limits, { ...Limits.defaults, maxRepairLength: 5 }))
      const { after, before } = call.edits.at(-1)!
      assert.match(before!, /^…x+","n":7,"z":"x+…$/)
      assert.match(after!, /^…x+","n":"007","z":"x+…$/)
      assert.isBelow(before!.length, 250)
    }).pipe(run))
})

describe("Repair.coerce", () => {
  const coerce = (call: RawToolCall) => parse(call, Repair.coerce)

  it.effect("brings a value to the schema, and changes nothing of what it was given", () =>
    Effect.gen(function*() {
      const input = { query: "x", limit: "3" }
      const call = yield* coerce(raw("search", input))
      assert.deepStrictEqual(call.input, { query: "x", limit: 3 })
      assert.isNotEmpty(call.edits)
      assert.deepStrictEqual([call.rawInput, input], [{ query: "x", limit: "3" }, { query: "x", limit: "3" }])
      const wrapped = yield* coerce(raw("weather", { weather: { city: "Oslo" } }))
      assert.deepStrictEqual(wrapped.input, { city: "Oslo" })
    }).pipe(run))

  it.effect("makes nothing up, and takes nothing away", () =>
    Effect.gen(function*() {
      for (
        const [input, message] of [
          [{}, "/query: missing required key"],
          [{ limit: 1 }, "/query: missing required key"],
          [{ query: "x", extra: 1 }, "/extra: unexpected key"],
          [{ query: "x", limit: "many" }, "/limit"],
          [{ query: null }, "/query"]
        ] as const
      ) {
        const error = yield* Effect.flip(coerce(raw("search", input)))
        assert.strictEqual(error._tag, "InvalidToolInput")
        assert.include(error.message, message)
      }
    }).pipe(run))

  it.effect("is not asked about text, and not about what is no JSON value", () =>
    Effect.gen(function*() {
      const forbidden = JSON.parse("{\"query\":\"x\",\"limit\":\"3\",\"__proto__\":{}}")
      for (
        const input of ["{\"query\":\"x\",\"limit\":\"3\"}", "{query: 'x'}", undefined, forbidden, { query: () => 1 }]
      ) {
        const error = yield* Effect.flip(coerce(raw("search", input)))
        const bare = yield* Effect.flip(ToolCall.parse(raw("search", input), { tools }))
        assert.deepStrictEqual(error, bare)
      }
    }).pipe(run))
})

describe("Repair.standard", () => {
  it.effect("gives a call its name and its arguments, whether they came as text or as a value", () =>
    Effect.gen(function*() {
      for (
        const [toolName, input] of [
          ["Search", "{query: 'x', limit: 3,}"],
          ["Search", { query: "x", limit: "3" }],
          ["search", "{\"query\":\"x\",\"limit\":\"3\"}"],
          ["functions.search", "{\"query\":\"x\",\"limit\":3}"]
        ] as const
      ) {
        const call = yield* parse(raw(toolName, input), Repair.standard)
        assert.deepStrictEqual([call.toolName, call.input], ["search", { query: "x", limit: 3 }])
        assert.strictEqual(call.edits[0]!.kind === "tool-name", toolName !== "search")
        assert.isAbove(call.edits.length, toolName.startsWith("functions") ? 0 : toolName === "Search" ? 1 : 0)
      }
    }).pipe(run))

  it.effect("leaves alone what fits", () =>
    Effect.gen(function*() {
      for (const input of ["{\"city\":\"3\"}", { city: "3" }]) {
        assert.deepInclude(yield* parse(raw("weather", input), Repair.standard), { input: { city: "3" }, edits: [] })
      }
    }).pipe(run))

  for (
    const [how, combine] of [
      ["orElse", (mine: Repair.Repair) => Repair.orElse(Repair.standard, mine)],
      ["orElse within attempts", (mine: Repair.Repair) => Repair.attempts(Repair.orElse(Repair.standard, mine), 3)]
    ] as const
  ) {
    it.effect(`is followed by a repair of one's own, asked with the improved call and its error: ${how}`, () =>
      Effect.gen(function*() {
        const { repair, seen } = scripted({ input: "{\"query\":\"y\"}" })
        const call = yield* parse(raw("Search", "{limit: 'many',}"), combine(repair))
        assert.deepStrictEqual(call.input, { query: "y" })
        assert.lengthOf(seen, 1)
        const { error, toolCall } = seen[0]!
        assert.deepStrictEqual(toolCall, raw("search", { limit: "many" }))
        assert.include(error.message, "/query: missing required key")
        assert.notInclude(error.message, "not valid JSON")
        assert.deepStrictEqual([call.edits[0]!.kind, call.edits.at(-1)!.kind], ["tool-name", "custom"])
      }).pipe(run))

    it.effect(`asks that repair with the call as it came where it has no answer: ${how}`, () =>
      Effect.gen(function*() {
        const { repair, seen } = scripted({ input: "{\"query\":\"y\"}" })
        yield* parse(raw("search", "no JSON"), combine(repair))
        assert.deepStrictEqual(seen[0]!.toolCall, raw("search", "no JSON"))
        assert.include(seen[0]!.error.message, "not valid JSON")
      }).pipe(run))
  }

  it.effect("goes on with what that repair answers, where it is asked again", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted({ input: "{limit: '3',}" }, { input: "{query: 'y'}" })
      const call = yield* parse(raw("search", "no JSON"), Repair.attempts(Repair.orElse(Repair.standard, repair), 3))
      assert.deepStrictEqual(call.input, { query: "y" })
      assert.deepStrictEqual(seen[1]!.toolCall.input, { limit: 3 })
    }).pipe(run))
})

describe("Repair.jsonrepair", () => {
  it.effect("repairs text that is not JSON, and records what it changed", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("weather", "{city: 'Oslo', days: 3,}"), Repair.jsonrepair)
      assert.deepStrictEqual(call.input, { city: "Oslo", days: 3 })
      assert.deepStrictEqual(call.edits.map((edit) => edit.kind), ["jsonrepair"])
      assert.strictEqual(call.rawInput, "{city: 'Oslo', days: 3,}")
    }).pipe(run))

  it.effect("never makes garbage an empty input, nor a list an object", () =>
    Effect.gen(function*() {
      for (
        const input of [
          "not JSON",
          "{",
          "}",
          "{,}",
          "[1 2]",
          "undefined",
          "{} {}",
          "\"\"\"",
          ",",
          "```json\n```",
          "'{}'"
        ]
      ) {
        const error = yield* Effect.flip(parse(raw("refresh", input), Repair.jsonrepair))
        assert.strictEqual(error._tag, "InvalidToolInput", input)
      }
    }).pipe(run))

  it.effect("does not get around the schema", () =>
    Effect.gen(function*() {
      for (const input of ["{city: 1}", "{town: 'Oslo'}", "{city: 'Oslo', extra: 1}"]) {
        const error = yield* Effect.flip(parse(raw("weather", input), Repair.jsonrepair))
        assert.include(error, { _tag: "InvalidToolInput" }, input)
      }
    }).pipe(run))

  it.effect("does not let a forbidden key through", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(parse(raw("weather", "{city: 'Oslo', __proto__: {a: 1}}"), Repair.jsonrepair))
      assert.strictEqual(error._tag, "InvalidToolInput")
    }).pipe(run))

  it.effect("is not asked about valid JSON, parsed input, or a text beyond its bound", () =>
    Effect.gen(function*() {
      for (const input of ["{\"city\":1}", { city: 1 }, "[]"]) {
        const error = yield* Effect.flip(parse(raw("weather", input), Repair.jsonrepair))
        assert.strictEqual(error._tag, "InvalidToolInput")
      }
      const long = parse(raw("weather", "{city: 'Oslo'}"), Repair.jsonrepair)
      const error = yield* Effect.flip(
        Effect.provideService(long, Limits.Limits, { ...Limits.defaults, maxRepairLength: 5 })
      )
      assert.strictEqual(error._tag, "ToolCallRepairFailed")
      assert.include(error.message, "maxRepairLength")
    }).pipe(run))

  it.effect("keeps the digits of a large number for a string field, and refuses them for an integer", () =>
    Effect.gen(function*() {
      const call = yield* parse(raw("search", "{query: 12345678901234567890}"), Repair.jsonrepair)
      assert.deepStrictEqual(call.input, { query: "12345678901234567890" })
      assert.deepStrictEqual(call.edits.map((edit) => edit.kind), ["jsonrepair", "raw-digits"])
      const error = yield* Effect.flip(
        parse(raw("search", "{query: 'x', limit: 12345678901234567890}"), Repair.jsonrepair)
      )
      assert.include(error.message, "integer beyond 2^53 at /limit")
    }).pipe(run))
})

describe("Repair.fromModel", () => {
  it.effect("asks with the error, the arguments and the schema, and takes a fence off the answer", () =>
    Effect.gen(function*() {
      let request: Repair.ModelRequest | undefined
      const repair = Repair.fromModel((asked) => {
        request = asked
        return Effect.succeed("```json\n{\"city\":\"Oslo\"}\n```\n")
      })
      const call = yield* parse(raw("weather", "{\"city\":1}"), repair)
      assert.deepStrictEqual(call.input, { city: "Oslo" })
      assert.deepStrictEqual(call.edits, [{ kind: "model" }])
      for (const part of ["weather", "/city: expected string", "{\"city\":1}", "\"required\":[\"city\"]"]) {
        assert.include(request!.prompt, part)
      }
    }).pipe(run))

  it.effect("has no answer for a blank one, nor for an unknown tool", () =>
    Effect.gen(function*() {
      const blank = yield* Effect.flip(parse(raw("weather", "{}"), Repair.fromModel(() => Effect.succeed(" \n"))))
      assert.strictEqual(blank._tag, "InvalidToolInput")
      const unknown = yield* Effect.flip(parse(raw("nope", "{}"), Repair.fromModel(() => Effect.die("asked"))))
      assert.strictEqual(unknown._tag, "NoSuchTool")
    }).pipe(run))

  it.effect("may be asked again where its answer does not fit", () =>
    Effect.gen(function*() {
      const answers = ["{\"city\":2}", "{\"city\":\"Oslo\"}"]
      const repair = Repair.attempts(Repair.fromModel(() => Effect.sync(() => answers.shift()!)), 2)
      assert.deepStrictEqual((yield* parse(raw("weather", "{\"city\":1}"), repair)).input, { city: "Oslo" })
    }).pipe(run))
})

describe("Repair.fromText", () => {
  it.effect("closes a truncated text where that is asked for", () =>
    Effect.gen(function*() {
      const closing = Repair.fromText(RepairText.jsonrepair({ truncated: "close" }))
      assert.deepStrictEqual((yield* parse(raw("weather", "{\"city\":\"Os"), closing)).input, { city: "Os" })
      assert.strictEqual(
        (yield* Effect.flip(parse(raw("weather", "{\"city\":\"Os"), Repair.jsonrepair)))._tag,
        "InvalidToolInput"
      )
    }).pipe(run))

  it.effect("takes a value as well as a text, and gives the repair the tool's schema", () =>
    Effect.gen(function*() {
      const values: ReadonlyArray<unknown> = [
        { city: "Oslo" },
        {},
        [],
        [{ city: "Oslo" }],
        "{\"city\":\"Oslo\"}",
        null,
        undefined
      ]
      for (const value of values) {
        let given: InputSchema.InputSchema | undefined
        const repair = Repair.fromText((_text, _error, schema) => {
          given = schema
          return Effect.succeed(Option.some({ value, edits: [{ kind: "mine" }] }))
        })
        const call = yield* ToolCall.parseOrInvalid(raw("weather", "{"), { tools, repair })
        assert.strictEqual(given, tools.weather.inputSchema)
        if (value === values[0]) assert.deepInclude(call, { input: { city: "Oslo" }, edits: [{ kind: "mine" }] })
        else assert.isTrue(call.invalid, JSON.stringify(value))
      }
    }).pipe(run))
})

describe("a repair that goes wrong", () => {
  const failing: ReadonlyArray<[string, Repair.Repair<unknown>, string]> = [
    ["fails", () => Effect.fail(new Error("boom")), "Error repairing tool call: boom."],
    ["fails with a text", () => Effect.fail("boom"), "Error repairing tool call: boom."],
    ["dies", () => Effect.die(new TypeError("secret")), "it crashed (TypeError)"],
    ["throws before it returns", () => {
      throw new TypeError("secret")
    }, "it crashed (TypeError)"],
    ["changes the id", answer({ toolCallId: "other", input: "{\"city\":\"x\"}" }), "the id of another call"],
    ["returns a promise", () => Promise.resolve(Option.none()) as any, "it crashed (TypeError)"],
    ["returns a value", () => Option.none() as any, "it crashed (TypeError)"],
    ["interrupts itself", () => Effect.interrupt, "it was interrupted"],
    ["returns no Option", () => Effect.succeed(undefined as any), "not a tool call"],
    ["returns no call", () => Effect.succeed(Option.some("text" as any)), "not a tool call"]
  ]
  for (const [name, repair, message] of failing) {
    it.effect(`${name}: a typed failure with both causes`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(parse(raw("weather", "{\"city\":1}"), repair))
        assert.strictEqual(error._tag, "ToolCallRepairFailed")
        if (error._tag !== "ToolCallRepairFailed") return
        assert.include(error.message, message)
        assert.include(error.message, "/city: expected string")
        assert.notInclude(error.message, "secret")
        assert.isTrue(Object.hasOwn(error, "cause"))
        assert.strictEqual(error.originalError._tag, "InvalidToolInput")
      }).pipe(run))
  }

  it.effect("cannot change the call that it was shown, nor what its answer is compared with", () =>
    Effect.gen(function*() {
      const call = { ...raw("weather", "{\"city\":1}"), providerMetadata: { p: 1 } }
      const before = structuredClone(call)
      const repair: Repair.Repair = ({ toolCall }) => {
        try {
          Object.assign(toolCall, { toolCallId: "9", providerExecuted: true, input: "{\"city\":\"x\"}" })
        } catch {
          // Frozen.
        }
        return Effect.succeed(Option.some({ ...toolCall, toolCallId: "9", input: "{\"city\":\"x\"}" }))
      }
      assert.strictEqual((yield* Effect.flip(parse(call, repair)))._tag, "ToolCallRepairFailed")
      assert.deepStrictEqual(call, before)
      const answered = yield* parse(
        call,
        ({ toolCall }) =>
          Effect.succeed(Option.some(Object.defineProperty({ ...toolCall }, "input", { value: "{\"city\":\"x\"}" })))
      )
      assert.strictEqual(answered.rawInput, "{\"city\":1}")
    }).pipe(run))

  it.effect("answers with what cannot be read", () =>
    Effect.gen(function*() {
      const answers = [
        { toolCallId: "call-1", toolName: "weather", input: "{\"city\":\"x\"}", edits: null },
        { toolCallId: "call-1", toolName: "weather", input: "{\"city\":\"x\"}", edits: ["no edit"] },
        {
          toolCallId: "call-1",
          toolName: "weather",
          get input() {
            throw new Error("secret")
          }
        }
      ]
      for (const answered of answers) {
        const calls = yield* ToolCall.parseAll([raw("weather", "{"), raw("weather", "{\"city\":\"y\"}")], {
          tools,
          repair: () => Effect.succeed(Option.some(answered as any))
        })
        assert.lengthOf(calls, 2)
        assert.isUndefined(calls[1]!.invalid)
      }
    }).pipe(run))

  it.effect("hangs: interruption ends it, and nothing runs after", () =>
    Effect.gen(function*() {
      const asked = yield* Deferred.make<void>()
      let interrupted = false
      const repair: Repair.Repair = () =>
        Effect.andThen(Deferred.succeed(asked, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Effect.sync(() => interrupted = true))
        )
      let refined = false
      const fiber = yield* Effect.forkChild(
        ToolCall.parseOrInvalid(raw("weather", "{"), {
          tools,
          repair,
          refine: { weather: (input) => Effect.sync(() => (refined = true, input)) }
        })
      )
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      assert.isTrue(interrupted)
      assert.isFalse(refined)
    }).pipe(run))
})

describe("the span of a repair", () => {
  interface Ended {
    readonly name: string
    readonly attributes: ReadonlyMap<string, unknown>
    readonly exit: unknown
  }
  const traced = <A, E>(program: Effect.Effect<A, E>) => {
    const spans: Array<Ended> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          spans.push({ name: options.name, attributes: span.attributes, exit })
          end(time, exit)
        }
        return span
      }
    })
    return Effect.map(Effect.exit(Effect.provideService(program, Tracer.Tracer, tracer)), () => spans)
  }
  const spansOf = (input: unknown, repair: Repair.Repair<unknown> | undefined, toolName = "weather") =>
    traced(run(ToolCall.parse(raw(toolName, input), { tools, repair })))

  it.effect("is made for every attempt, and for nothing else", () =>
    Effect.gen(function*() {
      assert.lengthOf(yield* spansOf("{\"city\":\"Oslo\"}", Repair.standard), 0)
      assert.lengthOf(yield* spansOf({ city: "Oslo" }, Repair.standard), 0)
      assert.lengthOf(yield* spansOf("{bad", undefined), 0)
      assert.lengthOf(yield* spansOf("{city:'Oslo'}", Repair.jsonrepair), 1)
      assert.lengthOf(yield* spansOf("{\"city\":1}", none), 1)
      // Both repairs are one attempt.
      assert.lengthOf(yield* spansOf("{city:'Oslo',}", Repair.standard, "Weather"), 1)
      const twice = Repair.attempts(scripted({ input: "{}" }, { input: "{\"city\":\"Oslo\"}" }).repair, 2)
      const two = yield* spansOf("{", twice)
      assert.deepStrictEqual(two.map((span) => span.attributes.get("repair.attempt")).sort(), [1, 2])
      for (const span of two) assert.strictEqual(span.name, "repair_tool_arguments")
    }))

  it.effect("carries counts and kinds, and no content, however the repair ends", () =>
    Effect.gen(function*() {
      const secret = "s3cret"
      const repairs: ReadonlyArray<[Repair.Repair<unknown>, string]> = [
        [Repair.jsonrepair, "repaired"],
        [none, "unrepairable"],
        [() => Effect.fail(new Error(secret)), "failed"],
        [() => Effect.die(secret), "failed"],
        [answer({ input: `{"city":"${secret}"}` }), "repaired"]
      ]
      for (const [repair, outcome] of repairs) {
        const [span] = yield* spansOf(`{city: '${secret}'}`, repair)
        assert.strictEqual(span!.attributes.get("repair.outcome"), outcome)
        assert.strictEqual(span!.attributes.get("repair.error"), "InvalidToolInput.InvalidJson")
        const recorded = JSON.stringify([...span!.attributes]) + JSON.stringify(span!.exit)
        assert.notInclude(recorded, secret)
      }
      const [span] = yield* spansOf("{city: 'Oslo'}", Repair.jsonrepair)
      assert.strictEqual(span!.attributes.get("repair.edits"), 1)
      assert.strictEqual(span!.attributes.get("repair.kinds"), "jsonrepair")
    }))
})
