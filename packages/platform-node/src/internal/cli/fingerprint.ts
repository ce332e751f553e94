/**
 * `countersign fingerprint`: pins tool definitions.
 */
import * as Fingerprint from "@countersign/core/Fingerprint"
import * as ToolLock from "@countersign/core/ToolLock"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as CheckedServer from "./checkedServer.ts"
import { CommandFailed } from "./commandFailed.ts"
import * as LockFile from "./lockFile.ts"
import { logLine } from "./logLine.ts"
import * as ShownTools from "./shownTools.ts"
import * as Sources from "./sources.ts"
import * as StandardOutput from "./standardOutput.ts"
import * as Terminal from "./terminal.ts"
import * as Waiting from "./waiting.ts"

const flags = {
  ...Sources.flags,
  out: Flag.String("out").pipe(
    Flag.withMetavar("<file>"),
    Flag.withDescription(
      "The lockfile to write, as tools.lock.json; one that is there keeps its other servers and its hidden tools"
    ),
    Flag.optional
  )
}

/** The fingerprints by name: of one server as they are, of several by server. */
const fingerprints = Effect.fnUntraced(function*(listed: ReadonlyArray<CheckedServer.ListedServer>) {
  const byServer = yield* Effect.forEach(listed, ({ definitions, name }) =>
    Effect.map(
      Effect.forEach(
        definitions.toSorted((left, right) => left.name < right.name ? -1 : 1),
        (definition) => Effect.map(Fingerprint.ofDefinition(definition), (digest) => [definition.name, digest] as const)
      ),
      (digests) => [name, Object.fromEntries(digests)] as const
    ))
  return byServer.length === 1 ? byServer[0]![1] : Object.fromEntries(byServer)
})

/** What a person should know of what is pinned: what took the place of something else, and what is suspicious. */
const sectionOf = ({ definitions, name, report: { tools } }: CheckedServer.ListedServer): ShownTools.Section => ({
  server: name,
  summary: ShownTools.countOf(definitions),
  tools: tools.filter(({ changes, status }) =>
    status !== "same" && (status !== "added" || changes.some(({ warnings }) => warnings.length > 0))
  )
})

export const fingerprint = Command.make(
  "fingerprint",
  flags,
  Effect.fnUntraced(function*(_) {
    const fail = (message: string) => new CommandFailed({ status: 2, message })
    const lock = Option.getOrElse(
      Option.isSome(_.out) ? yield* LockFile.find(_.out.value) : Option.none(),
      () => ToolLock.empty
    )
    if (_.tools.length + _.mcpStdio.length + _.mcpUrl.length === 0) {
      return yield* fail("say whose tools: --tools <file>, --mcp-stdio <command> or --mcp-url <url>")
    }
    const servers = yield* Sources.servers(_, lock)
    const checked = yield* Waiting.forEach(servers, (server) => CheckedServer.check(server, lock, _.timeout))
    const listed = checked.filter(CheckedServer.isListed)
    const unlisted = checked.filter(CheckedServer.isUnlisted)
    if (unlisted.length > 0) {
      return yield* fail(unlisted.map((server) => logLine(CheckedServer.messageOf(server))).join("\ncountersign: "))
    }
    if (Option.isNone(_.out)) {
      return yield* StandardOutput.write(Stream.make(`${logLine(JSON.stringify(yield* fingerprints(listed)))}\n`))
    }
    yield* LockFile.write(_.out.value, yield* CheckedServer.pin(lock, listed))
    const lines = ShownTools.shownTools(listed.map(sectionOf), yield* Terminal.canColor)
    yield* Console.error([...lines, `countersign: ${_.out.value} is written. Review the tools in it`].join("\n"))
  })
).pipe(
  Command.withShortDescription("Pin the definitions of tools"),
  Command.withDescription(
    "Asks MCP servers, or files that stand for them, for their tools. Writes their fingerprints, those of the AI SDK, as one JSON " +
      "object: {\"search\":\"<digest>\"}, by server where there are several.\n\n" +
      "With --out it writes a lockfile instead, for drift to compare with: each definition, both digests of it, and where it came " +
      "from. That is the arguments of a command as they are, so give a server its secrets with --mcp-env, and a URL up to its \"?\". " +
      "What is suspicious in a definition is told on stderr.\n\n" +
      "Exits with 2 if a server cannot be reached or lists what is no tool, or if the lockfile is corrupt; then nothing is written."
  ),
  Command.withExamples([
    { command: "countersign fingerprint --tools tools.json" },
    {
      command:
        "countersign fingerprint --mcp-stdio \"files=npx -y @modelcontextprotocol/server-filesystem .\" --out tools.lock.json"
    }
  ])
)
