import type * as Mcp from "@countersign/core/Mcp"
import * as ToolDefinition from "@countersign/core/ToolDefinition"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import * as Result from "effect/Result"
import * as McpHttp from "../../McpHttp.ts"
import * as McpStdio from "../../McpStdio.ts"
import * as JsonFile from "./jsonFile.ts"
import type { Server } from "./sources.ts"

/** A file holds no tool definitions, or not all. */
export class InvalidToolFile extends Data.TaggedError("InvalidToolFile")<{ readonly message: string }> {}

/** Why there are no definitions of a server. */
export type Unlisted = Mcp.McpError | InvalidToolFile

/** All tools that a server lists now, each as it came. A server that is started has ended when this has. */
export const definitionsOf = (
  { env, headers, name, source }: Server,
  timeout: Duration.Duration
): Effect.Effect<ReadonlyArray<ToolDefinition.ToolDefinition>, Unlisted, FileSystem> => {
  if (source.kind === "file") return readFile(source.path)
  const connect = source.kind === "stdio"
    ? McpStdio.make({ name, command: source.command, args: source.args, env, timeout })
    : McpHttp.make({ name, url: source.url, headers, timeout })
  return Effect.scoped(Effect.flatMap(connect, ({ list }) => list))
}

const readFile = Effect.fnUntraced(function*(path: string) {
  const value = yield* Effect.mapError(
    JsonFile.read("--tools", path),
    ({ message }) => new InvalidToolFile({ message })
  )
  const fail = (reason: string) => new InvalidToolFile({ message: `--tools ${path}: ${reason}` })
  if (hasMorePages(value)) return yield* fail("it is one page of a listing, which goes on")
  const read = ToolDefinition.fromListing(value)
  return Result.isSuccess(read) ? read.success : yield* fail(read.failure.message)
})

/** A listing that was saved may be the first page of several: what the others hold is not known. */
const hasMorePages = (value: unknown): boolean => {
  const { nextCursor, tools } = Object(value) as { readonly nextCursor?: unknown; readonly tools?: unknown }
  return Array.isArray(tools) && typeof nextCursor === "string" && nextCursor !== ""
}
