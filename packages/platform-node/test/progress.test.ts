import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as TestClock from "effect/testing/TestClock"
import * as Progress from "../src/internal/cli/progress.ts"
import * as Terminal from "../src/internal/cli/terminal.ts"

/** What a program writes to a stderr and a stdout that may be terminals. */
const stderrOf = <A, E>(
  program: Effect.Effect<A, E, Stdio.Stdio>,
  options: { readonly stderr: boolean; readonly stdout: boolean; readonly env?: Record<string, string> }
) => {
  const written: Array<string> = []
  const stdio = Stdio.make({
    args: Effect.succeed([]),
    stdin: undefined as never,
    stdout: () => Sink.drain,
    stderr: () => Sink.forEach((text) => Effect.sync(() => written.push(String(text)))),
    stderrIsTerminal: Effect.succeed(options.stderr),
    stdoutIsTerminal: Effect.succeed(options.stdout)
  })
  return program.pipe(
    Effect.provideService(Stdio.Stdio, stdio),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: options.env ?? {} })),
    Effect.provideService(
      Console.Console,
      { ...globalThis.console, error: (text: string) => written.push(`${text}\n`) } as unknown as Console.Console
    ),
    Effect.map((value) => ({ value, written }))
  )
}

const work = Effect.gen(function*() {
  const progress = yield* Progress.make
  yield* progress.add(["valid"], [])
  yield* TestClock.adjust(100)
  yield* progress.add(["valid", "invalid"], ["line 3: broken"])
  yield* progress.add(["valid"], ["line 4: broken"])
  yield* TestClock.adjust(100)
  yield* progress.add(Array.from({ length: 1000 }, () => "valid"), [])
  yield* progress.end
  return progress.count("valid")
})

describe("progress", () => {
  it.effect("writes over one line, ten times a second, without an escape sequence", () =>
    Effect.gen(function*() {
      const { value, written } = yield* stderrOf(work, { stderr: true, stdout: false })
      assert.strictEqual(value, 1003)
      const shown = "3 lines: 2 valid, 1 invalid"
      assert.deepStrictEqual(written, [
        "line 3: broken\n",
        `\r${shown}`,
        `\r${" ".repeat(shown.length)}\r`,
        "line 4: broken\n",
        "\r1,004 lines: 1,003 valid, 1 invalid",
        "\r1,004 lines: 1,003 valid, 1 invalid",
        "\n"
      ])
    }))

  it.effect("shows messages alone where nobody watches, or data goes to the same terminal", () =>
    Effect.gen(function*() {
      for (
        const options of [
          { stderr: false, stdout: false },
          { stderr: true, stdout: true },
          { stderr: true, stdout: false, env: { TERM: "dumb" } }
        ]
      ) {
        const { written } = yield* stderrOf(work, options)
        assert.deepStrictEqual(written, ["line 3: broken\n", "line 4: broken\n"])
      }
    }))
})

describe("colours", () => {
  it.effect("are for terminals, without NO_COLOR", () =>
    Effect.gen(function*() {
      const canColor = (stderr: boolean, env: Record<string, string>) =>
        Effect.map(stderrOf(Terminal.canColor, { stderr, stdout: false, env }), ({ value }) => value)
      assert.isTrue(yield* canColor(true, {}))
      assert.isTrue(yield* canColor(true, { NO_COLOR: "" }))
      assert.isFalse(yield* canColor(true, { NO_COLOR: "1" }))
      assert.isFalse(yield* canColor(true, { TERM: "dumb" }))
      assert.isFalse(yield* canColor(false, {}))
    }))
})
