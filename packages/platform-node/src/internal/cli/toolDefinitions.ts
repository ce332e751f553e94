/**
 * The tools that `--tools` names.
 */
import type { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import * as Flag from "effect/cli/Flag"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import * as Result from "effect/Result"
import { CommandFailed } from "./commandFailed.ts"
import * as JsonFile from "./jsonFile.ts"

export const flag = Flag.Path("tools").pipe(
  Flag.withMetavar("<file>"),
  Flag.withDescription("Tool definitions: a JSON object by name, or what an MCP server lists")
)

/** Reads the tools, and says on stderr which of them have a schema that cannot be checked. */
export const read = Effect.fnUntraced(function*(path: string): Effect.fn.Return<
  ToolSet.ToolSet,
  CommandFailed,
  FileSystem | JsonSchemaValidator
> {
  const tools = ToolSet.fromJson(yield* JsonFile.read("--tools", path))
  if (Result.isFailure(tools)) {
    return yield* new CommandFailed({ status: 2, message: `--tools ${path}: ${tools.failure.message}` })
  }
  for (const name of ToolSet.names(tools.success)) {
    yield* Effect.catch(
      Tool.compile(tools.success[name]!),
      (error) => Console.error(`${error.message}. Calls to it are invalid.`)
    )
  }
  return tools.success
})
