/**
 * A program that does the work of tools: it is started once for each call, without a shell.
 */
import * as StrictJson from "@countersign/core/StrictJson"
import * as Effect from "effect/Effect"
import type { PlatformError } from "effect/PlatformError"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { bytesUpTo } from "./bytesUpTo.ts"
import { systemMessage } from "./systemMessage.ts"

/** The call as the program reads it from its standard input, on one line. */
export interface Call {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
}

/**
 * - `execute` gives what the program wrote, or fails with what it said on its standard error.
 * - `fault` says why the program cannot be started, if it never could.
 */
export interface ToolProgram {
  readonly execute: (call: Call) => Effect.Effect<unknown, string>
  readonly fault: () => string | undefined
}

const maxOutputBytes = 16 * 1024 * 1024
const maxErrorBytes = 4096
const maxErrorLines = 20

export const make = Effect.fnUntraced(function*({ args, program, withoutEnv }: {
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Variables that the program does not inherit. */
  readonly withoutEnv: ReadonlyArray<string>
}) {
  const spawner = yield* ChildProcessSpawner
  const env = Object.fromEntries(envKeys(withoutEnv).map((key) => [key, undefined]))
  let isStartable = false
  let fault: PlatformError | undefined

  const execute = Effect.fnUntraced(function*(call: Call) {
    const command = ChildProcess.make(program, args, {
      stdin: Stream.make(new TextEncoder().encode(`${JSON.stringify(call)}\n`)),
      env,
      extendEnv: true,
      forceKillAfter: "5 seconds"
    })
    const child = yield* Effect.mapError(spawner.spawn(command), (error) => {
      fault ??= error
      return "The program of the tool could not be started."
    })
    isStartable = true
    const ended = yield* Effect.all({
      output: Effect.filterOrFail(
        Effect.mapError(bytesUpTo(child.stdout, maxOutputBytes), () => "The output of the tool could not be read."),
        (bytes) => bytes.length <= maxOutputBytes,
        () => `The tool wrote more than ${maxOutputBytes} bytes, and was stopped.`
      ),
      said: Effect.orElseSucceed(lastBytes(child.stderr), () => Buffer.alloc(0)),
      status: Effect.orElseSucceed(child.exitCode, () => undefined)
    }, { concurrency: "unbounded" })
    if (ended.status === 0) return yield* readOutput(ended.output)
    const said = lastLines(ended.said)
    if (said !== "") return yield* Effect.fail(said)
    return yield* Effect.fail(
      ended.status === undefined
        ? "The tool was ended by a signal."
        : `The tool failed with exit status ${ended.status}.`
    )
  }, Effect.scoped)

  const toolProgram: ToolProgram = {
    execute,
    fault: () => isStartable || fault === undefined ? undefined : systemMessage(fault)
  }
  return toolProgram
})

/** Windows does not tell the names of variables apart by case. */
const envKeys = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const same = (name: string) => process.platform === "win32" ? name.toUpperCase() : name
  const wanted = new Set(names.map(same))
  return Object.keys(process.env).filter((key) => wanted.has(same(key)))
}

const lastBytes = <E>(bytes: Stream.Stream<Uint8Array, E>): Effect.Effect<Buffer, E> =>
  Stream.runFold(
    bytes,
    () => Buffer.alloc(0),
    (last: Buffer, chunk) => Buffer.concat([last, chunk]).subarray(-maxErrorBytes)
  )

const lastLines = (bytes: Buffer): string => {
  const lines = bytes.toString().trimEnd().split(/\r?\n/)
  const isCut = bytes.length === maxErrorBytes && lines.length > 1
  return lines.slice(isCut ? 1 : 0).slice(-maxErrorLines).join("\n")
}

/** What is not JSON, or would not be exact as JSON, is text. Nothing is nothing. */
const readOutput = (bytes: Buffer): Effect.Effect<unknown, string> => {
  let text: string
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/, "")
  } catch {
    return Effect.fail("The tool ran, and its output is not valid UTF-8.")
  }
  if (text === "") return Effect.succeed(undefined)
  return Effect.succeed(
    Result.match(StrictJson.parse(text), { onFailure: () => text, onSuccess: ({ value }) => value })
  )
}
