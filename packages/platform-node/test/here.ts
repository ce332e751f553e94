/** Runs the command in the process of the test: faster than as a process of its own, and it can be told that it is at a terminal. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Countersign from "../src/internal/cli/countersign.ts"
import * as NodeCountersign from "../src/NodeCountersign.ts"
import type { Output } from "./countersign.ts"

export interface Surroundings {
  readonly env?: Record<string, string>
  readonly stdoutIsTerminal?: boolean
  readonly stderrIsTerminal?: boolean
}

const layer = Layer.merge(NodeServices.layer, NodeCountersign.layer)

export const run = (
  args: ReadonlyArray<string>,
  { env = {}, stderrIsTerminal = false, stdoutIsTerminal = false }: Surroundings = {}
): Effect.Effect<Output> =>
  Effect.suspend(() => {
    const written = { stdout: "", stderr: "" }
    const write = (to: keyof typeof written) => (text: unknown) => {
      written[to] += String(text)
    }
    const stdio = Stdio.make({
      args: Effect.succeed(args),
      stdin: Stream.empty,
      stdout: () => Sink.forEach((text) => Effect.sync(() => write("stdout")(text))),
      stderr: () => Sink.forEach((text) => Effect.sync(() => write("stderr")(text))),
      stdoutIsTerminal: Effect.succeed(stdoutIsTerminal),
      stderrIsTerminal: Effect.succeed(stderrIsTerminal)
    })
    const console = {
      ...globalThis.console,
      error: (text: string) => write("stderr")(`${text}\n`),
      log: (text: string) => write("stdout")(`${text}\n`)
    } as unknown as Console.Console
    return Countersign.run.pipe(
      Effect.match({ onFailure: ({ status }): number => status, onSuccess: () => 0 }),
      Effect.map((status) => ({ status, ...written })),
      Effect.provide(Layer.provideMerge(Layer.succeed(Stdio.Stdio)(stdio), layer)),
      Effect.provideService(Console.Console, console),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    )
  })

/** For tests that are no Effects. */
export const runPromise = (args: ReadonlyArray<string>, surroundings?: Surroundings): Promise<Output> =>
  Effect.runPromise(run(args, surroundings))
