/**
 * The tools of one step, by name. A name counts only when it was put there: `constructor` and `__proto__` are ordinary
 * names, absent unless a tool has them.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { JsonSchema } from "./JsonSchemaValidator.ts"
import * as Tool from "./Tool.ts"

/**
 * Tools by name. Any record serves; {@link make} gives one without a prototype.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolSet {
  readonly [name: string]: Tool.Any
}

/**
 * The type that {@link make} gives for its tools.
 *
 * @category models
 * @since 0.1.0
 */
export type FromTools<Tools extends ReadonlyArray<Tool.Any>> = {
  readonly [T in Tools[number] as T["name"]]: T
}

/**
 * Collects tools by their names; of two with one name the last counts.
 *
 * @example
 * ```ts
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("read"), Tool.make("write"))
 * ToolSet.names(tools) // => ["read", "write"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const Tools extends ReadonlyArray<Tool.Any>>(...tools: Tools): FromTools<Tools> => {
  const set: Record<string, Tool.Any> = Object.create(null)
  for (const tool of tools) set[tool.name] = tool
  return set as FromTools<Tools>
}

/**
 * The tool of that exact name.
 *
 * @example
 * ```ts
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = { read: Tool.make("read") }
 * ToolSet.get(tools, "read")?.name // => "read"
 * ToolSet.get(tools, "constructor") // => undefined
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const get = (tools: ToolSet, name: string): Tool.Any | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined

/**
 * The names, in the order in which the tools were added.
 *
 * @example
 * ```ts
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * ToolSet.names({}) // => []
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const names = (tools: ToolSet): Array<string> => Object.keys(tools)

/**
 * A file of tool definitions does not have one of the two shapes that {@link fromJson} reads.
 *
 * @example
 * ```ts
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const error = new ToolSet.InvalidToolDefinitions({ reason: "tool search: title must be a string" })
 * error.message // => "Tool definitions cannot be read: tool search: title must be a string"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToolDefinitions extends Schema.TaggedError<InvalidToolDefinitions>(
  "@countersign/core/ToolSet/InvalidToolDefinitions"
)("InvalidToolDefinitions", { reason: Schema.String }) {
  override get message(): string {
    return `Tool definitions cannot be read: ${this.reason}`
  }
}

/**
 * Reads tool definitions from parsed JSON: either an object of tools by name (`{ "search": { "description", "title",
 * "inputSchema", "needsApproval" } }`) or what an MCP server lists (`{ "tools": [{ "name", … }] }`). The tools have no `execute`.
 *
 * Two tools of one name are refused. Fields that are not known here are ignored.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const listed = ToolSet.fromJson({ tools: [{ name: "search", inputSchema: { type: "object" } }] })
 * ToolSet.names(Result.getOrThrow(listed)) // => ["search"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromJson = (json: unknown): Result.Result<ToolSet, InvalidToolDefinitions> => {
  const fail = (reason: string) => Result.fail(new InvalidToolDefinitions({ reason }))
  if (!isObject(json)) {
    return fail("expected an object of tools by name, or { \"tools\": [...] } as MCP servers list them")
  }
  const listed = Object.hasOwn(json, "tools") && Array.isArray(json["tools"])
    ? json["tools"].map((definition: unknown) =>
      [isObject(definition) ? definition["name"] : undefined, definition] as const
    )
    : Object.entries(json)
  const set: Record<string, Tool.Any> = Object.create(null)
  for (const [name, definition] of listed) {
    if (typeof name !== "string" || name === "") return fail("a tool has no name")
    if (Object.hasOwn(set, name)) return fail(`there are two tools named ${name}`)
    if (!isObject(definition)) return fail(`tool ${name}: expected an object`)
    const { description, inputSchema, metadata, needsApproval, title, type } = definition
    if (needsApproval !== undefined && typeof needsApproval !== "boolean") {
      return fail(`tool ${name}: needsApproval must be true or false`)
    }
    if (title !== undefined && typeof title !== "string") return fail(`tool ${name}: title must be a string`)
    if (description !== undefined && typeof description !== "string") {
      return fail(`tool ${name}: description must be a string`)
    }
    if (inputSchema !== undefined && typeof inputSchema !== "boolean" && !isObject(inputSchema)) {
      return fail(`tool ${name}: inputSchema must be a JSON Schema`)
    }
    set[name] = Tool.make(name, {
      kind: type === "dynamic" || type === "provider" ? type : "function",
      title,
      description,
      metadata,
      needsApproval,
      inputSchema: inputSchema as JsonSchema | undefined
    })
  }
  return Result.succeed(set)
}

const isObject = (u: unknown): u is Record<string, unknown> => Predicate.isObject(u) && !Array.isArray(u)
