/**
 * `countersign resume`: checks what was approved, and runs it.
 */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import type * as Tool from "@countersign/core/Tool"
import * as ToolExecution from "@countersign/core/ToolExecution"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CommandFailed } from "./commandFailed.ts"
import * as Concurrency from "./concurrency.ts"
import { errorJson } from "./errorJson.ts"
import * as History from "./history.ts"
import * as OneAnswer from "./oneAnswer.ts"
import { printable } from "./printable.ts"
import * as Progress from "./progress.ts"
import * as SecretEnv from "./secretEnv.ts"
import * as Timeout from "./timeout.ts"
import * as ToolDefinitions from "./toolDefinitions.ts"
import * as ToolProgram from "./toolProgram.ts"

const flags = {
  tools: ToolDefinitions.flag,
  secretEnv: SecretEnv.flag.pipe(
    Flag.withDescription(
      "An environment variable with secrets, one a line, any of which may have signed; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  unsigned: Flag.Boolean("unsigned").pipe(
    Flag.withDescription("Take every question without a signature: whoever wrote the input decides what runs"),
    Flag.withDefault(false)
  ),
  audience: Flag.String("audience").pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("Who answers: questions that were put to somebody else are refused"),
    Flag.optional
  ),
  requireClaims: Flag.Boolean("require-claims").pipe(
    Flag.withDescription("Refuse approvals whose ID claims nothing, as those of other SDKs"),
    Flag.withDefault(false)
  ),
  superseded: History.superseded,
  exec: Flag.String("exec").pipe(
    Flag.filter((program) => program !== "", () => "the name or path of a program"),
    Flag.withMetavar("<program>"),
    Flag.withDescription("The program that runs a call, started once for each without a shell"),
    Flag.optional
  ),
  execArg: Flag.String("exec-arg").pipe(
    Flag.withMetavar("<text>"),
    Flag.withDescription("An argument for the program; may be repeated. Write one that begins with - as --exec-arg=-x"),
    Flag.atLeast(0)
  ),
  timeout: Timeout.flag.pipe(
    Flag.withDescription("How long the program may take for one call, as in \"30 seconds\"; without it, any time"),
    Flag.optional
  ),
  concurrency: Concurrency.flag
}

/** Without a secret nothing is verified: that may be by mistake, so nothing is run, and it is said. */
const layerSigner = ({ exec, secretEnv, unsigned }: {
  readonly exec: Option.Option<string>
  readonly secretEnv: ReadonlyArray<string>
  readonly unsigned: boolean
}): Layer.Layer<ApprovalSigner.ApprovalSigner, CommandFailed> => {
  if (unsigned !== secretEnv.length > 0) return unsigned ? ApprovalSigner.layerUnsigned : SecretEnv.layer(secretEnv)
  const fail = (message: string) =>
    Layer.effect(ApprovalSigner.ApprovalSigner)(Effect.fail(new CommandFailed({ status: 2, message })))
  if (unsigned) return fail("give either --secret-env or --unsigned, not both")
  const message =
    "give --secret-env <name>, the environment variable with the secret that signed the questions. Without " +
    "signatures whoever wrote the input decides what runs; if that is what you want, give --unsigned"
  return Option.isSome(exec)
    ? fail(message)
    : Layer.tap(ApprovalSigner.layerUnsigned, () => Console.error(`countersign: no signature was verified: ${message}`))
}

/** The same tools, each of them run by the program. What the provider runs is not for it. */
const withProgram = (
  tools: ToolSet.ToolSet,
  program: ToolProgram.ToolProgram,
  timeout: Duration.Duration | undefined
): ToolSet.ToolSet =>
  ToolSet.make(
    ...ToolSet.names(tools).map((toolName): Tool.Any => {
      const tool = tools[toolName]!
      return tool.kind === "provider"
        ? tool
        : { ...tool, timeout, execute: (input, { toolCallId }) => program.execute({ toolCallId, toolName, input }) }
    })
  )

const resumeApprovals = Effect.fnUntraced(function*(_: Command.Command.Config.Infer<typeof flags>) {
  if (Option.isNone(_.exec) && (_.execArg.length > 0 || Option.isSome(_.timeout))) {
    return yield* new CommandFailed({ status: 2, message: "--exec-arg and --timeout need --exec <program>" })
  }
  const definitions = yield* ToolDefinitions.read(_.tools)
  const program = Option.isSome(_.exec)
    ? yield* ToolProgram.make({ program: _.exec.value, args: _.execArg, withoutEnv: _.secretEnv })
    : undefined
  const tools = program === undefined
    ? definitions
    : withProgram(definitions, program, Option.getOrUndefined(_.timeout))
  const history = yield* History.read(tools)
  const progress = yield* Progress.makeOf("call")
  const begun: Array<string> = []
  const options = {
    ...history,
    tools,
    superseded: _.superseded,
    audience: Option.getOrUndefined(_.audience),
    requireClaims: _.requireClaims,
    concurrency: _.concurrency,
    onToolExecutionStart: ({ toolCallId }: ToolExecution.ExecutionStart) => Effect.sync(() => begun.push(toolCallId)),
    onToolExecutionEnd: ({ outcome }: ToolExecution.ExecutionEnd) =>
      progress.add([ToolExecution.isError(outcome.output) ? "failed" : "succeeded"], [])
  }
  // Resuming leaves what nobody runs here among the calls without an answer: which of them may run is found out before.
  const collected = yield* Approval.collect(history.messages, options)
  const valid = yield* Approval.validate(collected, options)
  const resumed = yield* Approval.resume(options).pipe(
    Effect.ensuring(progress.end),
    Effect.onInterrupt(() => begun.length === 0 ? Effect.void : Console.error(interrupted(begun)))
  )
  const fault = program?.fault()
  if (fault !== undefined) {
    const message = `--exec ${Option.getOrThrow(_.exec)}: ${fault}. Nothing was run. Give the name or path of a program`
    return yield* new CommandFailed({ status: 2, message })
  }
  const awaiting = new Set(resumed.awaiting.map(({ approvalRequest }) => approvalRequest?.approvalId))
  return {
    signatures: _.secretEnv.length > 0 ? "verified" : "unverified",
    results: resumed.results.map(({ unsettled, ...result }) =>
      unsettled === undefined ? result : { ...result, unsettled: errorJson(unsettled) }
    ),
    approved: valid.approved.flatMap(({ approvalRequest, approvalResponse, call, toolCall }) =>
      awaiting.has(approvalRequest.approvalId)
        ? [{ approvalRequest, approvalResponse, toolCall, input: call.input as unknown }]
        : []
    ),
    invalid: resumed.invalid.map(({ error, ...approval }) => ({ ...approval, error: errorJson(error) })),
    denied: resumed.denied,
    forwarded: resumed.forwarded,
    awaiting: resumed.awaiting,
    superseded: resumed.superseded,
    stale: resumed.stale,
    responseMessages: resumed.responseMessages,
    messages: resumed.messages,
    usage: resumed.usage
  }
})

const interrupted = (toolCallIds: ReadonlyArray<string>): string =>
  `countersign: interrupted. These calls were begun, and what they came to is lost: ${
    toolCallIds.map(printable).join(", ")
  }`

export const resume = Command.make(
  "resume",
  flags,
  (flags) => Effect.provide(OneAnswer.write(resumeApprovals(flags)), layerSigner(flags))
).pipe(
  Command.withShortDescription("Check approvals in a message history, and run what was approved"),
  Command.withDescription(
    `Reads a message history ${History.description} Checks each approval: signature, expiry, audience, input and tool. ` +
      "Writes one JSON object: {\"signatures\",\"results\",\"approved\",\"invalid\",\"denied\",\"forwarded\",\"awaiting\",\"superseded\"," +
      "\"stale\",\"responseMessages\",\"messages\",\"usage\"}; \"messages\" is the history with the answers in their places.\n\n" +
      "With --exec, each approved call is run by that program: it reads {\"toolCallId\",\"toolName\",\"input\"} as one line " +
      "from its standard input, and what it writes, JSON or text, is the result. An exit status other than 0 is a tool " +
      "error, whose text is what the program said last on its standard error. It does not inherit the variables of " +
      "--secret-env. Without --exec nothing is run: \"approved\" holds the calls that you may run, each with its \"input\", " +
      "and \"awaiting\" holds them too, since they have no result yet.\n\n" +
      "\"signatures\" says whether they were verified. Without --secret-env they are not, and --exec needs --unsigned to say " +
      "that this is meant.\n\n" +
      "An approval is used once within one run of this command. What was used in an earlier run is known only from the " +
      "history: keep \"messages\", and give them to the next run.\n\n" +
      "The exit status is 0 where each approval has its answer in the output, also if that is an error; 1 where the history " +
      "cannot be read, or is not yours (as with InvalidSignature): then the object is {\"error\"}, the message is on stderr " +
      "too, and nothing was run; 2 for wrong usage, no secret, or a program that cannot be started."
  ),
  Command.withExamples([
    { command: "countersign resume --tools tools.json --secret-env APPROVAL_SECRET < messages.json" },
    {
      command:
        "countersign resume --tools tools.json --secret-env APPROVAL_SECRET --exec node --exec-arg run-tool.js < messages.json"
    }
  ])
)
