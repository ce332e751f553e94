import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"
import * as InputSchema from "../src/InputSchema.ts"
import * as Limits from "../src/Limits.ts"
import type { RawToolCall } from "../src/RawToolCall.ts"
import * as Repair from "../src/Repair.ts"
import * as RepairText from "../src/RepairText.ts"
import * as ToolCall from "../src/ToolCall.ts"
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

  it.effect("keeps the first error where it gives up", () =>
    Effect.gen(function*() {
      const { repair, seen } = scripted({ input: "{\"city\":1}" }, undefined)
      const error = yield* Effect.flip(parse(raw("weather", "{"), Repair.attempts(repair, 9)))
      assert.lengthOf(seen, 2)
      assert.include(error.message, "not valid JSON")
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
      const two = yield* spansOf("{city:'Oslo'}", Repair.standard, "Weather")
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
