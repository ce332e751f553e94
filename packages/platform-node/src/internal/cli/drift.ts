/**
 * `countersign drift`: says which tools are not what was reviewed.
 */
import * as ToolLock from "@countersign/core/ToolLock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CheckedServer from "./checkedServer.ts"
import { CommandFailed } from "./commandFailed.ts"
import { errorJson } from "./errorJson.ts"
import * as LockFile from "./lockFile.ts"
import { logLine } from "./logLine.ts"
import { printable } from "./printable.ts"
import * as ShownTools from "./shownTools.ts"
import * as Sources from "./sources.ts"
import * as StandardOutput from "./standardOutput.ts"
import * as Terminal from "./terminal.ts"
import * as Waiting from "./waiting.ts"
import * as WorkflowCommands from "./workflowCommands.ts"

const flags = {
  lock: Flag.String("lock").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription("The lockfile: tools.lock.json if not given"),
    Flag.withDefault("tools.lock.json")
  ),
  ...Sources.flags,
  format: Flag.Literals("format", ["text", "json", "github"]).pipe(
    Flag.withDescription("What is written: text (the default), one JSON object, or annotations of GitHub Actions"),
    Flag.withDefault("text" as const)
  ),
  update: Flag.Boolean("update").pipe(
    Flag.withDescription("Write to the lockfile what the servers list now; review what that changes in it"),
    Flag.withDefault(false)
  )
}

type Format = "text" | "json" | "github"

/** What is written to stdout, in pieces. */
const output = Effect.fnUntraced(function*(
  format: Format,
  checked: ReadonlyArray<CheckedServer.CheckedServer>,
  lock: { readonly path: string; readonly unchecked: ReadonlyArray<string> }
) {
  const reports = checked.filter(CheckedServer.isListed).map(({ report }) => report)
  const unlisted = checked.filter(CheckedServer.isUnlisted)
  switch (format) {
    case "text":
      return ShownTools.shownTools(reports.map(sectionOf), yield* Terminal.canColorOutput)
    case "json":
      return [logLine(JSON.stringify({
        status: unlisted.length > 0 ? "unlisted" : statusOf(...reports),
        servers: checked.map((server) =>
          CheckedServer.isListed(server)
            ? { status: statusOf(server.report), ...server.report }
            : { status: "unlisted", server: server.name, error: errorOf(server) }
        ),
        unchecked: lock.unchecked
      }))]
    case "github": {
      const file = yield* WorkflowCommands.pathInRepository(lock.path)
      return [
        ...reports.flatMap((report) => WorkflowCommands.annotations(report, file)),
        ...unlisted.map((server) =>
          WorkflowCommands.errorCommand({
            file,
            title: `${printable(server.name)}: not checked`,
            lines: [CheckedServer.messageOf(server)]
          })
        )
      ]
    }
  }
})

const sectionOf = ({ server, tools }: ToolLock.Report): ShownTools.Section => {
  const drifted = tools.filter(({ status }) => status !== "same")
  const count = ShownTools.countOf(tools.filter(({ status }) => status !== "removed"))
  return {
    server,
    summary: `${count}, ${drifted.length === 0 ? "as locked" : `${drifted.length} not as locked`}`,
    tools: drifted
  }
}

const statusOf = (...reports: ReadonlyArray<ToolLock.Report>): string =>
  reports.some(ToolLock.hasDrift) ? "drifted" : "same"

const errorOf = ({ error }: CheckedServer.UnlistedServer): object =>
  error._tag === "McpError" ? errorJson(error) : { _tag: error._tag, message: error.message }

export const drift = Command.make(
  "drift",
  flags,
  Effect.fnUntraced(function*(_) {
    const found = yield* LockFile.find(_.lock)
    if (Option.isNone(found)) {
      const message =
        `${_.lock}: there is no such lockfile. Make it with: countersign fingerprint --mcp-stdio <name>=<command> --out ${_.lock}`
      return yield* new CommandFailed({ status: 2, message })
    }
    const lock = found.value
    const servers = yield* Sources.servers(_, lock)
    if (servers.length === 0) {
      return yield* new CommandFailed({ status: 2, message: `${_.lock}: there is no server in it. Name one` })
    }
    const checked = yield* Waiting.forEach(servers, (server) => CheckedServer.check(server, lock, _.timeout))
    const unchecked = Object.keys(lock.servers).filter((name) => !servers.some((server) => server.name === name))
    const listed = checked.filter(CheckedServer.isListed)
    const unlisted = checked.filter(CheckedServer.isUnlisted)

    const lines = yield* output(_.format, checked, { path: _.lock, unchecked })
    yield* StandardOutput.write(Stream.map(Stream.fromIterable(lines), (line) => `${line}\n`))

    for (const server of unlisted) yield* Console.error(logLine(`countersign: ${CheckedServer.messageOf(server)}`))
    if (unchecked.length > 0) {
      yield* Console.error(logLine(`countersign: not asked: ${unchecked.map(printable).join(", ")}`))
    }
    if (unlisted.length > 0) {
      const message = `${unlisted.length} of ${checked.length} server${
        checked.length === 1 ? "" : "s"
      } could not be checked${_.update ? `, so ${_.lock} is left as it was` : ""}`
      return yield* new CommandFailed({ status: 2, message })
    }
    if (_.update) {
      yield* LockFile.write(_.lock, yield* CheckedServer.pin(lock, listed))
      return yield* Console.error(`countersign: ${_.lock} is up to date. Review what has changed in it`)
    }
    if (listed.some(({ report }) => ToolLock.hasDrift(report))) {
      const message = `tools are not as ${_.lock} has them. Review them, and pin them with --update`
      return yield* new CommandFailed({ status: 1, message })
    }
  })
).pipe(
  Command.withShortDescription("Compare tools with a lockfile"),
  Command.withDescription(
    "Asks MCP servers, or files that stand for them, for their tools, and compares these with a lockfile, as fingerprint --out " +
      "makes it: tools that are added, removed or changed, and which fields of them, with what is suspicious in it. Without " +
      "--tools, --mcp-stdio and --mcp-url it asks the servers that the lockfile names: it starts the commands in it.\n\n" +
      "A server has a name in the lockfile, as in --mcp-stdio files=<command>; where the lockfile has one server only, the name " +
      "may be left out. A server is given few variables of the environment: name others with --mcp-env.\n\n" +
      "With --update the lockfile is written: what is pinned then is what the servers list now. A tool that is removed stays in " +
      "it as hidden.\n\n" +
      "The exit status is 0 where all tools are as locked, or with --update; 1 where one is not; 2 where a server cannot be " +
      "reached or lists what is no tool, or where there is no lockfile or a corrupt one."
  ),
  Command.withExamples([
    { command: "countersign drift" },
    { command: "countersign drift --format github" },
    { command: "countersign drift --lock tools.lock.json --mcp-url docs=https://example.com/mcp --update" }
  ])
)
