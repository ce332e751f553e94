/**
 * The `countersign` command.
 */
import * as CliConfig from "effect/cli/CliConfig"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { collect } from "./collect.ts"
import { CommandFailed } from "./commandFailed.ts"
import { drift } from "./drift.ts"
import { fingerprint } from "./fingerprint.ts"
import { parse } from "./parse.ts"
import * as Presenter from "./presenter.ts"
import { repair } from "./repair.ts"
import { resume } from "./resume.ts"
import { sign } from "./sign.ts"
import { verify } from "./verify.ts"
import { version } from "./version.ts"

const countersign = Command.make("countersign").pipe(
  Command.withDescription(
    "Parses, repairs and checks the tool calls of language models, signs approvals of them, resumes what was approved, and " +
      "pins the definitions of tools. Exit status: 0 where every line passed, 1 where one was invalid or refused, 2 for wrong usage or a file " +
      "that cannot be read, 130 when interrupted. Blank lines get no answer; a line that cannot be read is answered with " +
      "its number as \"line\" and the error InvalidLine, and the rest goes on. collect and resume read one message history " +
      "and write one answer; fingerprint and drift ask servers, and read no input. Their --help says the rest."
  ),
  Command.withSubcommands([parse, repair, sign, verify, collect, resume, fingerprint, drift])
)

const layerOutput = Layer.mergeAll(
  CliOutput.layerPresenter(Presenter.presenter),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] })
)

/** The command with the process's arguments. Fails with `CommandFailed` alone, after saying on stderr why. */
export const run = Command.run(countersign, { version }).pipe(
  // The presenter has said what is wrong with the arguments.
  Effect.catchIf(
    (error) => error._tag !== "CommandFailed",
    () => Effect.fail(new CommandFailed({ status: 2, message: "" }))
  ),
  Effect.tapError(({ message }) => message === "" ? Effect.void : Console.error(`countersign: ${message}`)),
  Effect.provide(layerOutput)
)
