/**
 * The lockfile of tool definitions, `tools.lock.json`: what was reviewed of each server's tools, to compare with what it lists now.
 *
 * It holds of each tool the definition itself, its `Fingerprint`, which the AI SDK knows too, and the digest of all of it. It is
 * written in one form, for a review to show line by line what changed.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "./CanonicalJson.ts"
import type { Crypto } from "./Crypto.ts"
import * as DefinitionDiff from "./DefinitionDiff.ts"
import * as Fingerprint from "./Fingerprint.ts"
import { toPointer } from "./InputIssue.ts"
import { atAGlance } from "./internal/definition/atAGlance.ts"
import { readLock, writeLock } from "./internal/definition/lockText.ts"
import { isObject } from "./internal/definition/role.ts"
import { getOwn } from "./internal/ownProperty.ts"
import { printable } from "./internal/printable.ts"
import * as Limits from "./Limits.ts"
import * as ToolDefinition from "./ToolDefinition.ts"

/**
 * Where a server's definitions come from. The lockfile is published with its program, so:
 *
 * - `http`: what may hold a secret in a URL (user, password, query, fragment) is not written.
 * - `stdio`: the arguments are written as they are. Give a server its secrets by its environment.
 *
 * @category models
 * @since 0.1.0
 */
export type Source =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly kind: "http"; readonly url: string }

/**
 * One tool as it was reviewed: its definition, the AI SDK's `fingerprint` of it, and the `digest` of all of it. `hidden` says that
 * its server did not list it when the lockfile was last updated: what was reviewed is kept, for when the tool comes back.
 *
 * @category models
 * @since 0.1.0
 */
export interface LockedTool {
  readonly fingerprint: string
  readonly digest: string
  readonly definition: ToolDefinition.ToolDefinition
  readonly hidden?: true
}

/**
 * The tools of one server, by name.
 *
 * @category models
 * @since 0.1.0
 */
export interface LockedServer {
  readonly source: Source
  readonly tools: { readonly [name: string]: LockedTool }
}

/**
 * A lockfile. Its records, as made here, have no prototype.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolLock {
  readonly lockfileVersion: 1
  readonly servers: { readonly [server: string]: LockedServer }
}

/**
 * A text is no lockfile that can be trusted, so nothing in it is.
 *
 * - `syntax`: it is not JSON, or is too long or too deep.
 * - `duplicate-key`: an object in it has one key twice, as a merge may leave it.
 * - `version`: it was made by another version of the format.
 * - `malformed`: a field is missing, is not known, or is not what it has to be.
 * - `digest`: a definition is not the one that its digest was made of: one of the two was edited.
 *
 * `pointer` is the JSON Pointer of what is at fault, where one field is.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * const fields = { reason: "digest", pointer: "/servers/files/tools/read/digest", detail: "is not that of the definition" } as const
 * new ToolLock.InvalidToolLock(fields).message
 * // => "The tool lockfile cannot be used: /servers/files/tools/read/digest is not that of the definition. Restore it, or review the tools and make it anew."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToolLock extends Schema.TaggedError<InvalidToolLock>("@countersign/core/ToolLock/InvalidToolLock")(
  "InvalidToolLock",
  {
    reason: Schema.Literals(["syntax", "duplicate-key", "version", "malformed", "digest"]),
    pointer: Schema.optionalKey(Schema.String),
    detail: Schema.String
  }
) {
  override get message(): string {
    const at = this.pointer === undefined || this.pointer === "" ? "" : `${printable(this.pointer, 200)} `
    return `The tool lockfile cannot be used: ${at}${this.detail}. Restore it, or review the tools and make it anew.`
  }
}

const record = <A>(entries: Iterable<readonly [string, A]>): Record<string, A> => {
  const made: Record<string, A> = Object.create(null)
  for (const [name, value] of entries) made[name] = value
  return made
}

/**
 * A lockfile of no server.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * ToolLock.stringify(ToolLock.empty) // => "{\n  \"lockfileVersion\": 1,\n  \"servers\": {}\n}\n"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const empty: ToolLock = { lockfileVersion: 1, servers: record([]) }

/**
 * A lockfile of one server. See {@link update}.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ToolLock from "@countersign/core/ToolLock"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const definitions = [{ name: "find", inputSchema: { type: "object" } }]
 * const made = ToolLock.make("files", { kind: "file", path: "tools.json" }, definitions)
 * const lock = Effect.runSync(Effect.provide(made, NodeCrypto.layer))
 * lock.servers["files"]?.tools["find"]?.definition // => { name: "find", inputSchema: { type: "object" } }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  server: string,
  source: Source,
  definitions: ReadonlyArray<ToolDefinition.ToolDefinition>
): Effect.Effect<ToolLock, ToolDefinition.InvalidToolDefinition, Crypto> => update(empty, server, source, definitions)

/**
 * The lockfile with what one server lists now, for after somebody has reviewed it. Tools that the server does not list stay, as
 * `hidden`; other servers stay as they are.
 *
 * Fails with `InvalidToolDefinition` where a definition is none, or two have one name.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ToolLock from "@countersign/core/ToolLock"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const source = { kind: "file", path: "tools.json" } as const
 * const program = Effect.gen(function*() {
 *   const before = yield* ToolLock.make("files", source, [{ name: "find", inputSchema: {} }])
 *   return yield* ToolLock.update(before, "files", source, [])
 * })
 * const lock = Effect.runSync(Effect.provide(program, NodeCrypto.layer))
 * lock.servers["files"]?.tools["find"]?.hidden // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const update = Effect.fnUntraced(function*(
  lock: ToolLock,
  server: string,
  source: Source,
  definitions: ReadonlyArray<ToolDefinition.ToolDefinition>
): Effect.fn.Return<ToolLock, ToolDefinition.InvalidToolDefinition, Crypto> {
  const listed = yield* byName(definitions)
  const pinned = yield* Effect.forEach(
    listed,
    ([name, definition]) => Effect.map(digestsOf(definition), (digests) => [name, { ...digests, definition }] as const),
    { concurrency }
  )
  const gone = Object.entries(toolsOf(lock, server))
    .filter(([name]) => !listed.has(name))
    .map(([name, tool]) => [name, { ...tool, hidden: true }] as const)
  const tools = record<LockedTool>([...gone, ...pinned])
  return {
    lockfileVersion: 1,
    servers: record([...Object.entries(lock.servers), [server, { source: publishable(source), tools }]])
  }
})

/** How many digests are asked for at a time, where the platform's are not calculated at once. */
const concurrency = 32

const publishable = (source: Source): Source =>
  source.kind === "http"
    ? { kind: "http", url: source.url.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1") }
    : source

const toolsOf = (lock: ToolLock, server: string): LockedServer["tools"] =>
  (getOwn(lock.servers, server) as LockedServer | undefined)?.tools ?? {}

const digestsOf = (
  definition: ToolDefinition.ToolDefinition
): Effect.Effect<{ readonly fingerprint: string; readonly digest: string }, never, Crypto> =>
  Effect.all({ fingerprint: Fingerprint.ofDefinition(definition), digest: ToolDefinition.digest(definition) })

/** Copies of the definitions, by name. A server that lists two tools of one name could have one reviewed and the other run. */
const byName = (
  definitions: ReadonlyArray<ToolDefinition.ToolDefinition>
): Effect.Effect<ReadonlyMap<string, ToolDefinition.ToolDefinition>, ToolDefinition.InvalidToolDefinition> =>
  Effect.map(
    Effect.fromResult(ToolDefinition.fromListing({ tools: definitions })),
    (taken) => new Map(taken.map((definition) => [definition.name, definition]))
  )

/**
 * The text of a lockfile: JSON with sorted keys, two spaces, line feeds and one at the end. Control characters, and those that show
 * nothing or turn the direction of text, are escaped, so that a review shows them.
 *
 * What {@link parse} made of such a text gives the same text.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ToolLock from "@countersign/core/ToolLock"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const text = ToolLock.stringify(ToolLock.empty)
 * const lock = Effect.runSync(Effect.provide(ToolLock.parse(text), NodeCrypto.layer))
 * ToolLock.stringify(lock) === text // => true
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const stringify = (lock: ToolLock): string => writeLock(lock)

/**
 * The default bounds of {@link parse}: 67,108,864 characters, and as many levels as a definition may have and a lockfile adds.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * ToolLock.limits.maxDepth // => 261
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const limits: Pick<Limits.LimitValues, "maxInputLength" | "maxDepth"> = {
  maxInputLength: 67_108_864,
  maxDepth: Limits.defaults.maxDepth + 5
}

/**
 * Reads a lockfile, and makes sure that each definition is the one that its two digests are of.
 *
 * Fails with {@link InvalidToolLock} where anything is not as it has to be. Then nothing is pinned: refuse the tools.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ToolLock from "@countersign/core/ToolLock"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const error = Effect.runSync(Effect.provide(Effect.flip(ToolLock.parse("{corrupt")), NodeCrypto.layer))
 * error.reason // => "syntax"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = Effect.fnUntraced(function*(
  text: string
): Effect.fn.Return<ToolLock, InvalidToolLock, Crypto> {
  const lock = yield* Effect.fromResult(read(text))
  const tools = Object.entries(lock.servers).flatMap(([server, { tools }]) =>
    Object.entries(tools).map(([name, tool]) => ({ path: ["servers", server, "tools", name], tool }))
  )
  yield* Effect.forEach(tools, ({ path, tool }) =>
    Effect.flatMap(digestsOf(tool.definition), (digests) => {
      const wrong = (["digest", "fingerprint"] as const).find((field) => digests[field] !== tool[field])
      return wrong === undefined
        ? Effect.void
        : Effect.fail(fault("digest", [...path, wrong], "is not that of the definition"))
    }), { concurrency, discard: true })
  return lock
})

type Path = ReadonlyArray<string>

const fault = (reason: InvalidToolLock["reason"], path: Path, detail: string): InvalidToolLock =>
  new InvalidToolLock({ reason, detail, pointer: toPointer(path) })

const read = (text: string): Result.Result<ToolLock, InvalidToolLock> => {
  const { maxDepth, maxInputLength } = limits
  if (text.length > maxInputLength) {
    return Result.fail(fault("syntax", [], `it is longer than ${maxInputLength} characters`))
  }
  const read = readLock(text, maxDepth)
  if (read._tag === "Fault") return Result.fail(fault(read.reason, [], read.detail))
  try {
    return Result.succeed(toLock(read.value))
  } catch (error) {
    if (error instanceof InvalidToolLock) return Result.fail(error)
    throw error
  }
}

/** Throws `InvalidToolLock` for what is none. */
const toLock = (value: unknown): ToolLock => {
  if (isObject(value) && Object.hasOwn(value, "lockfileVersion") && value["lockfileVersion"] !== 1) {
    throw fault("version", ["lockfileVersion"], "is not 1, the version that is read here")
  }
  const { servers } = fieldsOf(value, [], ["lockfileVersion", "servers"])
  return { lockfileVersion: 1, servers: recordOf(servers, ["servers"], toServer) }
}

const toServer = (value: unknown, path: Path): LockedServer => {
  const { source, tools } = fieldsOf(value, path, ["source", "tools"])
  return { source: toSource(source, [...path, "source"]), tools: recordOf(tools, [...path, "tools"], toTool) }
}

const toTool = (value: unknown, path: Path): LockedTool => {
  const fields = fieldsOf(value, path, ["definition", "digest", "fingerprint"], "hidden")
  const definition = ToolDefinition.fromJson(fields["definition"])
  if (Result.isFailure(definition)) {
    const { pointer, reason } = definition.failure
    throw new InvalidToolLock({
      reason: "malformed",
      pointer: toPointer([...path, "definition"]) + pointer,
      detail: reason
    })
  }
  if (definition.success.name !== path.at(-1)) {
    throw malformed([...path, "definition", "name"], "is not the name of the tool")
  }
  if (Object.hasOwn(fields, "hidden") && fields["hidden"] !== true) throw malformed([...path, "hidden"], "must be true")
  return {
    fingerprint: toText(fields["fingerprint"], [...path, "fingerprint"]),
    digest: toText(fields["digest"], [...path, "digest"]),
    definition: definition.success,
    ...Object.hasOwn(fields, "hidden") ? { hidden: true } : {}
  }
}

const toSource = (value: unknown, path: Path): Source => {
  const kind = getOwn(value, "kind")
  switch (kind) {
    case "file": {
      const fields = fieldsOf(value, path, ["kind", "path"])
      return { kind, path: toText(fields["path"], [...path, "path"]) }
    }
    case "stdio": {
      const fields = fieldsOf(value, path, ["kind", "command", "args"])
      const args = fields["args"]
      if (!Array.isArray(args)) throw malformed([...path, "args"], "must be an array")
      return {
        kind,
        command: toText(fields["command"], [...path, "command"]),
        args: args.map((arg, index) => toText(arg, [...path, "args", String(index)]))
      }
    }
    case "http": {
      const fields = fieldsOf(value, path, ["kind", "url"])
      return { kind, url: toText(fields["url"], [...path, "url"]) }
    }
    default:
      throw malformed([...path, "kind"], "must be \"file\", \"stdio\" or \"http\"")
  }
}

const malformed = (path: Path, detail: string): InvalidToolLock => fault("malformed", path, detail)

const toText = (value: unknown, path: Path): string => {
  if (typeof value !== "string") throw malformed(path, "must be a string")
  return value
}

const toObject = (value: unknown, path: Path): Readonly<Record<string, unknown>> => {
  if (!isObject(value)) throw malformed(path, "must be an object")
  return value
}

const fieldsOf = (
  value: unknown,
  path: Path,
  required: ReadonlyArray<string>,
  optional?: string
): Readonly<Record<string, unknown>> => {
  const fields = toObject(value, path)
  const missing = required.find((field) => !Object.hasOwn(fields, field))
  if (missing !== undefined) throw malformed([...path, missing], "is missing")
  const unknown = Object.keys(fields).find((field) => field !== optional && !required.includes(field))
  if (unknown !== undefined) throw malformed([...path, unknown], "is not known")
  return fields
}

const recordOf = <A>(value: unknown, path: Path, member: (value: unknown, path: Path) => A): Record<string, A> =>
  record(Object.entries(toObject(value, path)).map(([name, one]) => [name, member(one, [...path, name])]))

/**
 * What became of one tool.
 *
 * - `same`: it is what was reviewed, but for what `ToolDefinition.normalize` leaves out.
 * - `added`: nothing of that name was ever reviewed. `changes` has each of its fields. `renamedFrom` is there where it is, but for
 *   its name, a tool that was reviewed and is not listed.
 * - `removed`: it was reviewed and is not listed.
 * - `changed`: it is not what was reviewed, also where it was hidden meanwhile. `changes` has the fields that changed.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * const report: ToolLock.ToolReport = { name: "find", status: "same", changes: [] }
 * report.status // => "same"
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const ToolReport = Schema.Struct({
  name: Schema.String,
  status: Schema.Literals(["same", "added", "removed", "changed"]),
  changes: Schema.Array(DefinitionDiff.FieldChange),
  renamedFrom: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export type ToolReport = typeof ToolReport.Type

/**
 * What became of the tools of one server, sorted by name. Names are the server's own, so print a report with {@link format}.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * const report: ToolLock.Report = { server: "files", tools: [] }
 * report.tools // => []
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Report = Schema.Struct({ server: Schema.String, tools: Schema.Array(ToolReport) })

/**
 * @category models
 * @since 0.1.0
 */
export type Report = typeof Report.Type

/**
 * Compares what a server lists with what was reviewed. Of a server that is not in the lockfile, every tool is `added`. A tool that is
 * hidden in the lockfile and still not listed is not told.
 *
 * Fails with `InvalidToolDefinition` where a definition is none, or two have one name.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ToolLock from "@countersign/core/ToolLock"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const find = { name: "find", description: "Find a file", inputSchema: {} }
 * const program = Effect.gen(function*() {
 *   const lock = yield* ToolLock.make("files", { kind: "http", url: "https://files.example/mcp" }, [find])
 *   return yield* ToolLock.check(lock, "files", [{ ...find, description: "Find a folder" }])
 * })
 * const { tools } = Effect.runSync(Effect.provide(program, NodeCrypto.layer))
 * tools.map(({ name, status, changes }) => [name, status, changes[0]?.pointer]) // => [["find", "changed", "/description"]]
 * ```
 *
 * @category comparing
 * @since 0.1.0
 */
export const check = Effect.fnUntraced(function*(
  lock: ToolLock,
  server: string,
  definitions: ReadonlyArray<ToolDefinition.ToolDefinition>
): Effect.fn.Return<Report, ToolDefinition.InvalidToolDefinition, Crypto> {
  const listed = yield* byName(definitions)
  const reviewed = toolsOf(lock, server)
  const gone = Object.entries(reviewed).filter(([name]) => !listed.has(name))
  const added = reportAdded(Object.keys(reviewed), gone)
  const reports = yield* Effect.forEach(
    listed,
    ([name, definition]) =>
      Effect.map(ToolDefinition.digest(definition), (digest): ToolReport => {
        const tool = getOwn(reviewed, name) as LockedTool | undefined
        if (tool === undefined) return added(definition)
        return tool.digest === digest
          ? { name, status: "same", changes: [] }
          : { name, status: "changed", changes: DefinitionDiff.compare(tool.definition, definition) }
      }),
    { concurrency }
  )
  const removed = gone.filter(([, { hidden }]) => hidden !== true)
    .map(([name]): ToolReport => ({ name, status: "removed", changes: [] }))
  return {
    server,
    tools: [...reports, ...removed].sort((left, right) => left.name < right.name ? -1 : 1)
  }
})

const reportAdded = (names: ReadonlyArray<string>, gone: ReadonlyArray<readonly [string, LockedTool]>) => {
  const glances = new Set(names.map(atAGlance))
  const renamed = new Map(gone.map(([name, { definition }]) => [contentOf(definition), name]))
  return (definition: ToolDefinition.ToolDefinition): ToolReport => {
    const { name } = definition
    const changes = DefinitionDiff.compare(undefined, definition)
    const renamedFrom = renamed.get(contentOf(definition))
    return {
      name,
      status: "added",
      changes: glances.has(atAGlance(name)) ? changes.map(warnOfName) : changes,
      ...renamedFrom === undefined ? {} : { renamedFrom }
    }
  }
}

const warnOfName = (change: DefinitionDiff.FieldChange): DefinitionDiff.FieldChange =>
  change.pointer === "/name" ? { ...change, warnings: [...change.warnings, "lookalike-name"] } : change

/** All of a definition but its name. */
const contentOf = (definition: ToolDefinition.ToolDefinition): string =>
  CanonicalJson.stringify({ ...ToolDefinition.normalize(definition), name: null })

/**
 * Whether a tool is not what was reviewed: added, removed or changed.
 *
 * @example
 * ```ts
 * import * as ToolLock from "@countersign/core/ToolLock"
 *
 * ToolLock.hasDrift({ server: "files", tools: [{ name: "find", status: "removed", changes: [] }] }) // => true
 * ```
 *
 * @category comparing
 * @since 0.1.0
 */
export const hasDrift = (report: Report): boolean => report.tools.some(({ status }) => status !== "same")
