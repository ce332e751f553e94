/**
 * Where tool definitions come from: what the flags name, or what a lockfile names.
 */
import type { Source, ToolLock } from "@countersign/core/ToolLock"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import { CommandFailed } from "./commandFailed.ts"
import { printable } from "./printable.ts"
import * as Timeout from "./timeout.ts"
import { words } from "./words.ts"

export const flags = {
  tools: Flag.String("tools").pipe(
    Flag.withMetavar("[<name>=]<file>"),
    Flag.withDescription(
      "A file of tool definitions: a JSON object by name, or what an MCP server lists; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  mcpStdio: Flag.String("mcp-stdio").pipe(
    Flag.withMetavar("[<name>=]<command>"),
    Flag.withDescription(
      "An MCP server to start, as \"files=node server.js /data\"; quotes keep blanks, there is no shell; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  mcpUrl: Flag.String("mcp-url").pipe(
    Flag.withMetavar("[<name>=]<url>"),
    Flag.withDescription("An MCP server that is reached by streamable HTTP; may be repeated"),
    Flag.atLeast(0)
  ),
  mcpEnv: Flag.String("mcp-env").pipe(
    Flag.withMetavar("[<name>=]<variable>"),
    Flag.withDescription(
      "An environment variable for a server that is started, which gets few others; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  mcpHeaderEnv: Flag.String("mcp-header-env").pipe(
    Flag.withMetavar("[<name>=]<header>:<variable>"),
    Flag.withDescription(
      "An HTTP header for a server, and the environment variable that holds it, as authorization:DOCS_AUTH; may be repeated"
    ),
    Flag.atLeast(0)
  ),
  timeout: Timeout.flag.pipe(
    Flag.withDescription(
      "How long a server may take to connect, and again to list its tools: \"30 seconds\" if not given"
    ),
    Flag.withDefault(Duration.seconds(30))
  )
}

export interface Flags {
  readonly tools: ReadonlyArray<string>
  readonly mcpStdio: ReadonlyArray<string>
  readonly mcpUrl: ReadonlyArray<string>
  readonly mcpEnv: ReadonlyArray<string>
  readonly mcpHeaderEnv: ReadonlyArray<string>
}

/** What definitions are asked of: an MCP server, or a file that stands for one. */
export interface Server {
  readonly name: string
  readonly source: Source
  readonly env: Secrets
  readonly headers: Secrets
}

interface Secrets {
  readonly [name: string]: Redacted.Redacted
}

/**
 * The servers that the flags name, or else all of the lockfile, sorted by name. A server without a name is the only one of the
 * lockfile; where there is none yet it is called `default`.
 *
 * Messages do not repeat what stands after a name: it may be a secret in the wrong place.
 */
export const servers = Effect.fnUntraced(function*(given: Flags, lock: ToolLock): Effect.fn.Return<
  ReadonlyArray<Server>,
  CommandFailed
> {
  const sources = yield* sourcesByName(given, lock)
  const env = yield* Effect.forEach(given.mcpEnv, (text) => variableOf(text, sources))
  const headers = yield* Effect.forEach(given.mcpHeaderEnv, (text) => headerOf(text, sources))
  return [...sources].sort(([left], [right]) => left < right ? -1 : 1).map(([name, source]) => ({
    name,
    source,
    env: secretsOf(name, env),
    headers: secretsOf(name, headers)
  }))
})

const sourcesByName = Effect.fnUntraced(function*(given: Flags, lock: ToolLock) {
  const named = yield* namedSources(given)
  const locked = Object.keys(lock.servers)
  if (named.length === 0) return new Map(locked.map((name) => [name, lock.servers[name]!.source]))
  const nameless = named.find(({ name }) => name === undefined)
  if (nameless !== undefined && (named.length > 1 || locked.length > 1)) {
    const known = locked.length > 1 ? `. The lockfile has ${locked.map(printable).join(", ")}` : ""
    return yield* fail(`${nameless.flag}: give the server a name, as in ${nameless.flag} files=…${known}`)
  }
  const sources = new Map<string, Source>()
  for (const { flag, name = locked[0] ?? "default", source } of named) {
    if (sources.has(name)) return yield* fail(`${flag}: ${printable(name)} is the name of another server too`)
    sources.set(name, source)
  }
  return sources
})

interface NamedSource {
  readonly flag: string
  readonly name: string | undefined
  readonly source: Source
}

const fail = (message: string) => new CommandFailed({ status: 2, message })

const namedSources = Effect.fnUntraced(function*(given: Flags) {
  const named: Array<NamedSource> = []
  const flags = [["--tools", given.tools, toFile], ["--mcp-stdio", given.mcpStdio, toStdio], [
    "--mcp-url",
    given.mcpUrl,
    toHttp
  ]] as const
  for (const [flag, texts, toSource] of flags) {
    for (const text of texts) {
      const [name, rest] = split(text)
      const source = toSource(rest)
      if (source === undefined) {
        return yield* fail(
          `${flag}${name === undefined ? "" : ` ${name}=`}: expected a command, with its quotes closed`
        )
      }
      named.push({ flag, name, source })
    }
  }
  return named
})

/** A URL and a path with a folder begin otherwise, and a command has a blank before its first `=`. */
const split = (text: string): readonly [name: string | undefined, rest: string] => {
  const named = /^([a-z0-9][\w.-]*)=(.*)$/is.exec(text)
  return named === null ? [undefined, text] : [named[1]!, named[2]!]
}

const toFile = (path: string): Source => ({ kind: "file", path })

const toHttp = (url: string): Source => ({ kind: "http", url })

const toStdio = (text: string): Source | undefined => {
  const [command, ...args] = words(text) ?? []
  return command === undefined ? undefined : { kind: "stdio", command, args }
}

interface Secret {
  readonly server: string
  readonly name: string
  readonly value: Redacted.Redacted
}

const secretsOf = (server: string, secrets: ReadonlyArray<Secret>): Secrets =>
  Object.fromEntries(secrets.filter((secret) => secret.server === server).map(({ name, value }) => [name, value]))

type Sources = ReadonlyMap<string, Source>

const variableOf = Effect.fnUntraced(function*(text: string, sources: Sources) {
  const flag = "--mcp-env"
  const [name, variable] = split(text)
  if (!/^[a-z_]\w*$/i.test(variable)) {
    return yield* fail(
      `${flag}: expected the name of an environment variable, as in ${flag} files=FILES_TOKEN. Its value is taken from there`
    )
  }
  const server = yield* serverOf({ flag, kind: "stdio", name }, sources)
  return { server, name: variable, value: yield* valueOf(flag, server, variable) }
})

const headerOf = Effect.fnUntraced(function*(text: string, sources: Sources) {
  const flag = "--mcp-header-env"
  const [name, rest] = split(text)
  const [, header, variable] = /^([\w!#$%&'*+.^`|~-]+):([a-z_]\w*)$/i.exec(rest) ?? []
  if (header === undefined || variable === undefined) {
    return yield* fail(
      `${flag}: expected a header and an environment variable, as in ${flag} docs=authorization:DOCS_AUTH`
    )
  }
  const server = yield* serverOf({ flag, kind: "http", name }, sources)
  return { server, name: header, value: yield* valueOf(flag, server, variable) }
})

const serverOf = (
  { flag, kind, name }: { readonly flag: string; readonly kind: "stdio" | "http"; readonly name: string | undefined },
  sources: Sources
): Effect.Effect<string, CommandFailed> => {
  const what = kind === "stdio" ? "server that is started" : "server that is reached by HTTP"
  const fitting = [...sources].filter(([server, source]) => source.kind === kind && (name ?? server) === server)
  if (fitting.length === 1) return Effect.succeed(fitting[0]![0])
  if (name !== undefined) return fail(`${flag}: ${name} is no ${what}`)
  return fail(
    fitting.length === 0
      ? `${flag}: there is no ${what}`
      : `${flag}: there is more than one ${what}. Say which, as in ${flag} <name>=…`
  )
}

const valueOf = (flag: string, server: string, variable: string): Effect.Effect<Redacted.Redacted, CommandFailed> =>
  Effect.mapError(
    Config.Redacted(variable),
    () => fail(`${flag}: the environment variable for ${printable(server)} is not set, or empty`)
  )
