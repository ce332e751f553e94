import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import * as Message from "../src/Message.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolCall from "../src/ToolCall.ts"
import * as ToolExecution from "../src/ToolExecution.ts"
import * as ToolSet from "../src/ToolSet.ts"
import type { Tools } from "./approvals.ts"
import { raw, run } from "./tools.ts"

type Execute = (input: any, context: Tool.ExecuteContext) => Effect.Effect<unknown, unknown>

const toolsOf = (execute: Execute, more: object = {}): Tools =>
  ToolSet.make(Tool.make("exec", { inputSchema: { type: "object" }, execute, ...more })) as Tools

const executeIn = Effect.fnUntraced(function*(
  tools: Tools,
  input: unknown = {},
  options: Partial<Parameters<typeof ToolExecution.execute<Tools>>[1]> = {}
) {
  const call = yield* ToolCall.parse(raw("exec", input), { tools })
  return yield* ToolExecution.execute(call, { ...options, tools })
}, run)

const execute = (execute: Execute, more: object = {}) => executeIn(toolsOf(execute, more))

const textOf = (tool: Execute, more: object = {}) =>
  Effect.map(execute(tool, more), (outcome) => {
    assert.notProperty(outcome, "value")
    assert.strictEqual(outcome.output.type, "error-text")
    assert.isTrue(ToolExecution.isError(outcome.output))
    return (outcome.output as { readonly value: string }).value
  })

class NoMoney extends Schema.TaggedError<NoMoney>("NoMoney")("NoMoney", { cents: Schema.Number }) {
  override get message(): string {
    return "there is not enough money"
  }
}

class Bare extends Data.TaggedError("Bare")<{ readonly secret: string }> {}

describe("what a tool gives", () => {
  const shared = { a: 1 }
  const values: ReadonlyArray<readonly [string, unknown, unknown, unknown]> = [
    ["a text", "done", { type: "text", value: "done" }, "done"],
    ["an empty text", "", { type: "text", value: "" }, ""],
    ["nothing", undefined, { type: "json", value: null }, null],
    ["null", null, { type: "json", value: null }, null],
    ["a number", 0, { type: "json", value: 0 }, 0],
    ["a boolean", false, { type: "json", value: false }, false],
    ["an array", [1, undefined], { type: "json", value: [1, null] }, [1, null]],
    ["an object", { a: [{ b: null }], c: undefined }, { type: "json", value: { a: [{ b: null }] } }, {
      a: [{ b: null }]
    }],
    ["a date", new Date(0), { type: "json", value: "1970-01-01T00:00:00.000Z" }, "1970-01-01T00:00:00.000Z"],
    ["one object twice", [shared, shared], { type: "json", value: [shared, shared] }, [shared, shared]],
    ["what looks like an output", { type: "text", value: "x" }, { type: "json", value: { type: "text", value: "x" } }, {
      type: "text",
      value: "x"
    }]
  ]
  for (const [what, value, output, kept] of values) {
    it.effect(`${what} is told as ${JSON.stringify(output)}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* execute(() => Effect.succeed(value)), { output, value: kept } as any)
      }))
  }

  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const unwritable: ReadonlyArray<readonly [string, unknown, string]> = [
    ["a BigInt", { n: 1n }, "/n"],
    ["a cycle", cycle, "cycle"],
    ["NaN", [Number.NaN], "not-finite"],
    ["a Map", new Map(), "instance"],
    ["a function", () => 1, "function"],
    [
      "an object that throws",
      Object.defineProperty({}, "a", {
        enumerable: true,
        get: () => {
          throw new Error("s3cret")
        }
      }),
      "unreadable"
    ]
  ]
  for (const [what, value, reason] of unwritable) {
    it.effect(`${what} is an error that says that the tool ran`, () =>
      Effect.gen(function*() {
        const text = yield* textOf(() => Effect.succeed(value))
        assert.match(text, /^Tool exec ran, and its result is not a JSON value/)
        assert.include(text, reason)
        assert.notInclude(text, "s3cret")
      }))
  }

  it.effect("is copied: what the tool changes later is not what was told", () =>
    Effect.gen(function*() {
      const value = { list: [1] }
      const outcome = yield* execute(() => Effect.succeed(value))
      value.list.push(2)
      assert.deepStrictEqual(outcome, { output: { type: "json", value: { list: [1] } }, value: { list: [1] } })
    }))
})

describe("toModelOutput", () => {
  const shown = (toModelOutput: (options: any) => unknown, value: unknown = { a: 1 }) =>
    execute(() => Effect.succeed(value), { toModelOutput })

  it.effect("says what the model reads; the value stays what it is", () =>
    Effect.gen(function*() {
      const outputs: ReadonlyArray<Message.ToolResultOutput> = [
        { type: "text", value: "a is 1" },
        { type: "json", value: [1] },
        { type: "content", value: [{ type: "text", text: "a" }] },
        { type: "error-text", value: "no" },
        { type: "error-json", value: null },
        { type: "execution-denied", reason: "no" },
        { type: "execution-denied" },
        // One that is not known here may be to whoever calls the model.
        { type: "of-tomorrow", value: 1 } as any
      ]
      for (const output of outputs) {
        assert.deepStrictEqual(yield* shown(() => output), { output, value: { a: 1 } })
      }
    }))

  it.effect("is given the call's ID, a copy of its input, and the value as the tool gave it", () =>
    Effect.gen(function*() {
      const value = new Map([["a", 1]])
      const tools = toolsOf(() => Effect.succeed(value), {
        toModelOutput: ({ input, output, toolCallId }: any) => {
          input.city = "Rome"
          return { type: "text", value: `${toolCallId} ${input.city} ${output.get("a")}` }
        }
      })
      const call = yield* run(ToolCall.parse(raw("exec", { city: "Oslo" }), { tools }))
      const outcome = yield* ToolExecution.execute(call, { tools })
      // A value that is no JSON can be told, and not kept.
      assert.deepStrictEqual(outcome, { output: { type: "text", value: "call-1 Rome 1" } })
      assert.deepStrictEqual(call.input, { city: "Oslo" })
    }))

  const garbage: ReadonlyArray<unknown> = [
    undefined,
    null,
    "done",
    7,
    [],
    {},
    { type: ["text"], value: "x" },
    { type: null, value: "x" },
    { type: "text" },
    { type: "text", value: 7 },
    { type: "error-text", value: {} },
    { type: "json" },
    { type: "content", value: "x" },
    { type: "content" },
    { type: "json", value: 1n },
    Promise.resolve({ type: "text", value: "x" })
  ]
  for (const answer of garbage) {
    it.effect(`that gives ${Object.prototype.toString.call(answer)} ${typeof answer === "object" && answer !== null && "value" in answer && typeof answer.value === "bigint" ? "with a BigInt" : JSON.stringify(answer)} says that the tool ran`, () =>
      Effect.gen(function*() {
        const outcome = yield* shown(() => answer)
        assert.isTrue(Schema.is(Message.ToolResultOutput)(outcome.output), JSON.stringify(outcome.output))
        assert.deepStrictEqual(outcome, {
          output: { type: "error-text", value: "Tool exec ran, and its result cannot be shown." },
          value: { a: 1 }
        })
      }))
  }

  it.effect("that throws says that the tool ran, and not what was thrown", () =>
    Effect.gen(function*() {
      const { output, value } = yield* shown(() => {
        throw new RangeError("s3cret")
      })
      assert.strictEqual(output.type, "error-text")
      assert.match((output as any).value, /^Tool exec ran, /)
      assert.notInclude((output as any).value, "s3cret")
      assert.deepStrictEqual(value, { a: 1 })
    }))

  it.effect("is not asked about a failure", () =>
    Effect.gen(function*() {
      const text = yield* textOf(() => Effect.fail("no"), { toModelOutput: () => ({ type: "text", value: "fine" }) })
      assert.strictEqual(text, "no")
    }))
})

describe("a tool that fails", () => {
  const failures: ReadonlyArray<readonly [string, unknown, string]> = [
    ["an error", new Error("exec failed"), "Error: exec failed"],
    ["an error of a class", new RangeError("too far"), "RangeError: too far"],
    ["an error without a message", new TypeError(), "TypeError"],
    ["a tagged error", new NoMoney({ cents: 5 }), "NoMoney: there is not enough money"],
    ["a tagged error without a message", new Bare({ secret: "s3cret" }), "Bare"],
    ["a text", "no such file", "no such file"],
    ["a number", 7, "a failure of type number"],
    ["nothing", undefined, "The tool failed: a failure of type undefined"],
    ["an object with a tag", { _tag: "Busy", secret: "s3cret" }, "Busy"],
    ["an object with a message", { message: "busy" }, "busy"]
  ]
  for (const [what, failure, text] of failures) {
    it.effect(`with ${what} is told as "${text}"`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* textOf(() => Effect.fail(failure)), text)
      }))
  }

  const crashes: ReadonlyArray<readonly [string, Execute, string]> = [
    ["dies of an error", () => Effect.die(new RangeError("s3cret")), "The tool failed: it crashed (RangeError)"],
    ["dies of a text", () => Effect.die("s3cret"), "The tool failed: it crashed (string)"],
    ["throws", () => {
      throw new SyntaxError("s3cret")
    }, "The tool failed: it crashed (SyntaxError)"],
    ["gives no Effect", (() => Promise.resolve("s3cret")) as any, "The tool failed: it crashed (TypeError)"],
    ["interrupts itself", () => Effect.interrupt, "The tool failed: it was interrupted"]
  ]
  for (const [what, tool, text] of crashes) {
    it.effect(`because it ${what} tells only the kind`, () =>
      Effect.gen(function*() {
        assert.strictEqual(yield* textOf(tool), text)
      }))
  }

  it.effect("in a finalizer, after a failure, has crashed", () =>
    Effect.gen(function*() {
      const text = yield* textOf(() => Effect.ensuring(Effect.fail("s3cret"), Effect.die(new Error("s3cret"))))
      assert.match(text, /^The tool failed: it crashed \(\w+\)$/)
    }))

  it.effect("because something interrupts a fiber of its own has failed", () =>
    Effect.gen(function*() {
      const text = yield* textOf(() =>
        Effect.gen(function*() {
          const child = yield* Effect.forkChild(Effect.never)
          yield* Fiber.interrupt(child)
          return yield* Fiber.join(child)
        })
      )
      assert.strictEqual(text, "The tool failed: it was interrupted")
    }))
})

describe("time", () => {
  it.effect("that runs out interrupts the tool and answers the call", () =>
    Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      let interrupted = false
      const tool = () =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Effect.sync(() => {
              interrupted = true
            })
          )
        )
      const fiber = yield* Effect.forkChild(textOf(tool, { timeout: "1500 millis" }))
      yield* Deferred.await(begun)
      yield* TestClock.adjust(1499)
      assert.isFalse(interrupted)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(fiber), "Tool exec was stopped after 1500 ms. It may have had an effect.")
      assert.isTrue(interrupted)
    }))

  it.effect("that suffices changes nothing", () =>
    Effect.gen(function*() {
      const tool = () => Effect.as(Effect.sleep("1 second"), "done")
      const fiber = yield* Effect.forkChild(execute(tool, { timeout: "2 seconds" }))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(fiber), { output: { type: "text", value: "done" }, value: "done" })
    }))
})

describe("interruption from outside", () => {
  it.effect("interrupts the tool, and is no outcome", () =>
    Effect.gen(function*() {
      for (const more of [{}, { timeout: "1 hour" }]) {
        const begun = yield* Deferred.make<void>()
        const seen: Array<string> = []
        const tools = toolsOf(() =>
          Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Effect.sync(() => seen.push("interrupted")))
          ), more)
        const fiber = yield* Effect.forkChild(
          executeIn(tools, {}, { onToolExecutionEnd: () => Effect.sync(() => seen.push("end")) }).pipe(
            Effect.andThen(Effect.sync(() => seen.push("went on")))
          )
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        assert.deepStrictEqual(seen, ["interrupted"])
      }
    }))

  it.effect("during the first hook keeps the tool from running, and during the last is no outcome", () =>
    Effect.gen(function*() {
      for (const hook of ["onToolExecutionStart", "onToolExecutionEnd"] as const) {
        const begun = yield* Deferred.make<void>()
        const seen: Array<string> = []
        const tools = toolsOf(() => Effect.sync(() => seen.push("ran")))
        const fiber = yield* Effect.forkChild(
          executeIn(tools, {}, { [hook]: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never) }).pipe(
            Effect.andThen(Effect.sync(() => seen.push("went on")))
          )
        )
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)), hook)
        assert.deepStrictEqual(seen, hook === "onToolExecutionStart" ? [] : ["ran"])
      }
    }))
})

describe("the tool", () => {
  it.effect("gets a copy of the input, and what the caller gave as context", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const tools = toolsOf((input, { reportUsage: _, ...context }) =>
        Effect.sync(() => {
          seen.push(JSON.parse(JSON.stringify(input)), context)
          input.list.push(2)
          input.more.a = "changed"
          delete input.city
        })
      )
      const input = { city: "Oslo", list: [1], more: { a: "kept" } }
      const call = yield* run(ToolCall.parse(raw("exec", input), { tools }))
      const messages = [{ role: "user", content: "hello" }]
      const context = { tools: { exec: { key: 1 }, other: 2 }, runtime: "runtime" }
      for (let count = 0; count < 2; count++) yield* ToolExecution.execute(call, { tools, messages, context })
      assert.deepStrictEqual(call.input, input)
      const told = { toolCallId: "call-1", messages, toolContext: { key: 1 }, runtimeContext: "runtime" }
      assert.deepStrictEqual(seen, [input, told, input, told])
      seen.length = 0
      yield* ToolExecution.execute(call, { tools, context: { tools: Object.create({ exec: 1 }) } })
      assert.deepStrictEqual(seen[1], {
        toolCallId: "call-1",
        messages: [],
        toolContext: undefined,
        runtimeContext: undefined
      })
    }))

  it.effect("reports what it used as often as it likes, also where it fails", () =>
    Effect.gen(function*() {
      const reported = [
        { tokens: 3 },
        { tokens: 4, cents: 0.5 },
        { tokens: Number.NaN, calls: Infinity },
        JSON.parse("{\"__proto__\":2}")
      ]
      const report = (context: Tool.ExecuteContext) =>
        Effect.forEach(reported, (usage) =>
          Effect.andThen(
            context.reportUsage(usage),
            Effect.sync(() => {
              // A tool may use one object for all that it reports.
              if (usage.tokens === 3) usage.tokens = 1000
            })
          ))
      const expected = JSON.parse("{\"tokens\":7,\"cents\":0.5,\"__proto__\":2}")
      for (const end of [Effect.succeed("done"), Effect.fail("no"), Effect.die("no")]) {
        reported[0] = { tokens: 3 }
        const { usage } = yield* execute((_, context) =>
          Effect.andThen(report(context), end as Effect.Effect<string, string>)
        )
        assert.deepStrictEqual(usage, expected)
      }
      assert.notProperty(yield* execute(() => Effect.succeed(1)), "usage")
    }))

  it.effect("that cannot run is a defect of the caller", () =>
    Effect.gen(function*() {
      const tools = ToolSet.make(Tool.make("exec", { inputSchema: { type: "object" } })) as Tools
      const exit = yield* Effect.exit(executeIn(tools))
      assert.isTrue(Exit.hasDies(exit))
    }))
})

describe("hooks", () => {
  it.effect("are told before and after, with the names that the caller gave", () =>
    Effect.gen(function*() {
      const told: Array<unknown> = []
      const tools = toolsOf((_, { reportUsage }) =>
        Effect.gen(function*() {
          told.push("running")
          yield* reportUsage({ cents: 2 })
          yield* Effect.sleep(40)
          return { a: 1 }
        })
      )
      const tell = (name: string) => (event: unknown) => Effect.sync(() => told.push([name, event]))
      const fiber = yield* Effect.forkChild(executeIn(tools, { secret: 1 }, {
        callId: "run-1",
        model: { provider: "acme", modelId: "acme-9" },
        onToolExecutionStart: tell("start"),
        onToolExecutionEnd: tell("end")
      }))
      yield* TestClock.adjust(40)
      const outcome = yield* Fiber.join(fiber)
      const start = { toolCallId: "call-1", toolName: "exec", callId: "run-1", provider: "acme", modelId: "acme-9" }
      assert.deepStrictEqual(told, [["start", start], "running", ["end", { ...start, outcome, durationMillis: 40 }]])
      assert.deepStrictEqual(outcome, {
        output: { type: "json", value: { a: 1 } },
        value: { a: 1 },
        usage: { cents: 2 }
      })
    }))

  it.effect("that fail, crash or change what they are told change nothing", () =>
    Effect.gen(function*() {
      const hooks: ReadonlyArray<(event: any) => any> = [
        () => Effect.fail("no"),
        () => Effect.die("no"),
        () => Effect.interrupt,
        () => {
          throw new Error("no")
        },
        () => Promise.reject("no").catch(() => {}),
        () => undefined,
        (event) =>
          Effect.sync(() => {
            event.toolName = "other"
            if (event.outcome !== undefined) {
              event.outcome.output.value.a = 2
              event.outcome.value = undefined
            }
          })
      ]
      for (const hook of hooks) {
        const options = { onToolExecutionStart: hook, onToolExecutionEnd: hook }
        const outcome = yield* executeIn(toolsOf(() => Effect.succeed({ a: 1 })), {}, options)
        assert.deepStrictEqual(outcome, { output: { type: "json", value: { a: 1 } }, value: { a: 1 } })
      }
    }))

  it.effect("are told of failures as well", () =>
    Effect.gen(function*() {
      const told: Array<ToolExecution.ExecutionEnd> = []
      const onToolExecutionEnd = (event: ToolExecution.ExecutionEnd) => Effect.sync(() => told.push(event))
      yield* executeIn(toolsOf(() => Effect.fail("no")), {}, { onToolExecutionEnd })
      assert.deepStrictEqual(told[0]?.outcome, { output: { type: "error-text", value: "no" } })
      assert.strictEqual(told[0]?.callId, undefined)
    }))
})

describe("the span", () => {
  const traced = Effect.fnUntraced(function*(program: Effect.Effect<unknown, unknown>) {
    const spans: Array<
      { readonly name: string; readonly attributes: object; readonly exit: unknown; readonly events: unknown }
    > = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          spans.push({ name: options.name, attributes: Object.fromEntries(span.attributes), exit, events: span.events })
          end(time, exit)
        }
        return span
      }
    })
    yield* Effect.exit(Effect.provideService(program, Tracer.Tracer, tracer))
    return spans
  })

  it.effect("has the tool's name and the call's ID, and no content, however the tool ends", () =>
    Effect.gen(function*() {
      const ends: ReadonlyArray<Execute> = [
        () => Effect.succeed("s3cret"),
        () => Effect.fail(new Error("s3cret")),
        () => Effect.fail("s3cret"),
        () => Effect.die(new Error("s3cret")),
        () => {
          throw new Error("s3cret")
        },
        () => Effect.succeed({ s3cret: 1n }),
        () => Effect.interrupt
      ]
      for (const end of ends) {
        const spans = yield* traced(executeIn(toolsOf(end, { description: "s3cret" }), { s3cret: "s3cret" }))
        assert.lengthOf(spans, 1)
        const { attributes, name } = spans[0]!
        assert.strictEqual(name, "execute_tool")
        assert.deepStrictEqual(attributes, { "gen_ai.tool.name": "exec", "gen_ai.tool.call.id": "call-1" })
        assert.notInclude(JSON.stringify(spans), "s3cret")
        const exit = spans[0]!.exit as Exit.Exit<unknown, unknown>
        if (Exit.isFailure(exit)) {
          assert.notInclude(
            JSON.stringify(exit.cause.reasons.map((_) => [String((_ as any).error), String((_ as any).defect)])),
            "s3cret"
          )
        }
      }
    }))

  it.effect("is the parent of what the tool traces", () =>
    Effect.gen(function*() {
      const spans = yield* traced(execute(() => Effect.withSpan(Effect.void, "inside")))
      assert.deepStrictEqual(spans.map(({ name }) => name), ["inside", "execute_tool"])
    }))
})

describe("sumUsage", () => {
  it("adds what is finite, by name", () => {
    const hostile = JSON.parse("{\"__proto__\":1,\"constructor\":2}")
    assert.deepStrictEqual(
      ToolExecution.sumUsage([hostile, undefined, hostile]),
      JSON.parse("{\"__proto__\":2,\"constructor\":4}")
    )
    assert.deepStrictEqual(ToolExecution.sumUsage([]), {})
    assert.deepStrictEqual(ToolExecution.sumUsage([{ a: Number.NaN, b: -1 }, { b: "1" as any, c: 1 }]), { b: -1, c: 1 })
  })
})

it.effect("the clock of a duration is Effect's own", () =>
  Effect.gen(function*() {
    const told: Array<number> = []
    yield* executeIn(toolsOf(() => Effect.flatMap(Clock.currentTimeMillis, (now) => TestClock.setTime(now + 5))), {}, {
      onToolExecutionEnd: ({ durationMillis }) => Effect.sync(() => told.push(durationMillis))
    })
    assert.deepStrictEqual(told, [5])
  }))
