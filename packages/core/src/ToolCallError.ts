/**
 * The ways in which a proposed tool call is not one that can run.
 *
 * Each message is written for whoever can act on it, the model or a person, and repeats neither the input nor what an
 * error carries beside its message. No field holds the input: it stays with the call.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { SchemaMismatch } from "./InputIssue.ts"
import { printable } from "./internal/printable.ts"
import { UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { InputLimitExceeded } from "./Limits.ts"
import { InvalidJson } from "./StrictJson.ts"

/**
 * The same error, with what caused it. A cause is for the process that it happened in: it may be anything and hold anything, so it
 * is neither listed nor encoded.
 *
 * @internal
 */
export const withCause = <E extends Error>(error: E, cause: unknown): E =>
  Object.defineProperty(error, "cause", { value: cause, configurable: true, writable: true })

/** How many tool names and how much of each a message shows. */
const maxNames = 50
const shown = (name: string): string => printable(name, 100)

/**
 * The model named a tool that there is not. `availableTools` is absent when there are no tools at all.
 *
 * Source: name, fields and wording as in the AI SDK's `NoSuchToolError`.
 *
 * @example
 * ```ts
 * import * as ToolCallError from "@countersign/core/ToolCallError"
 *
 * const error = new ToolCallError.NoSuchTool({ toolCallId: "1", toolName: "serach", availableTools: ["search"] })
 * error.message // => "Model tried to call unavailable tool 'serach'. Available tools: search."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class NoSuchTool extends Schema.TaggedError<NoSuchTool>("@countersign/core/ToolCallError/NoSuchTool")(
  "NoSuchTool",
  {
    toolCallId: Schema.String,
    toolName: Schema.String,
    availableTools: Schema.optionalKey(Schema.Array(Schema.String))
  }
) {
  override get message(): string {
    const names = this.availableTools ?? []
    const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ""
    const available = names.length === 0
      ? "No tools are available."
      : `Available tools: ${names.slice(0, maxNames).map(shown).join(", ")}${more}.`
    return `Model tried to call unavailable tool '${shown(this.toolName)}'. ${available}`
  }
}

/**
 * The input is not JSON, too large, or does not fit the tool's schema; `cause` says which: `InvalidJson`,
 * `InputLimitExceeded`, `SchemaMismatch`, or `UnsupportedSchema` where the schema itself is at fault.
 *
 * Source: the AI SDK's `InvalidToolInputError`, without its `toolInput`.
 *
 * @example
 * ```ts
 * import { SchemaMismatch } from "@countersign/core/InputIssue"
 * import * as ToolCallError from "@countersign/core/ToolCallError"
 *
 * const cause = SchemaMismatch.fromIssues([{ pointer: "/city", message: "missing required key" }])
 * const error = new ToolCallError.InvalidToolInput({ toolCallId: "1", toolName: "weather", cause })
 * error.message // => "Invalid input for tool weather: /city: missing required key"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToolInput
  extends Schema.TaggedError<InvalidToolInput>("@countersign/core/ToolCallError/InvalidToolInput")(
    "InvalidToolInput",
    {
      toolCallId: Schema.String,
      toolName: Schema.String,
      cause: Schema.Union([InvalidJson, InputLimitExceeded, SchemaMismatch, UnsupportedSchema])
    }
  )
{
  override get message(): string {
    return `Invalid input for tool ${shown(this.toolName)}: ${this.cause.message}`
  }
}

/**
 * The repair itself failed: it failed with a typed error, crashed, or answered with a call of another id. `cause` is what it
 * failed with, and stays in this process; `originalError` is why a repair was needed.
 *
 * Source: the AI SDK's `ToolCallRepairError`.
 *
 * @example
 * ```ts
 * import * as ToolCallError from "@countersign/core/ToolCallError"
 *
 * const originalError = new ToolCallError.NoSuchTool({ toolCallId: "1", toolName: "serach", availableTools: ["search"] })
 * const error = new ToolCallError.ToolCallRepairFailed({
 *   toolCallId: "1",
 *   toolName: "serach",
 *   reason: "the model is overloaded",
 *   originalError
 * })
 * error.message.startsWith("Error repairing tool call: the model is overloaded. Model tried to call") // => true
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolCallRepairFailed
  extends Schema.TaggedError<ToolCallRepairFailed>("@countersign/core/ToolCallError/ToolCallRepairFailed")(
    "ToolCallRepairFailed",
    {
      toolCallId: Schema.String,
      toolName: Schema.String,
      reason: Schema.String,
      originalError: Schema.Union([NoSuchTool, InvalidToolInput])
    }
  )
{
  override get message(): string {
    return `Error repairing tool call: ${this.reason}. ${this.originalError.message}`
  }
}

/**
 * The refinement of a valid input failed, crashed, or gave something that does not fit the schema. `cause` is what it failed
 * with, and stays in this process.
 *
 * Source: own; in the AI SDK the bare error of the refinement takes this place.
 *
 * @example
 * ```ts
 * import * as ToolCallError from "@countersign/core/ToolCallError"
 *
 * const error = new ToolCallError.RefinementFailed({
 *   toolCallId: "1",
 *   toolName: "write",
 *   reason: "the path leaves the workspace"
 * })
 * error.message // => "Input of tool write was refused: the path leaves the workspace"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class RefinementFailed
  extends Schema.TaggedError<RefinementFailed>("@countersign/core/ToolCallError/RefinementFailed")(
    "RefinementFailed",
    {
      toolCallId: Schema.String,
      toolName: Schema.String,
      reason: Schema.String
    }
  )
{
  override get message(): string {
    return `Input of tool ${shown(this.toolName)} was refused: ${this.reason}`
  }
}

/**
 * A call could be parsed, and its step does not run it:
 *
 * - `duplicate-id`: another call of the step has the same ID, and it could not be told which of them a result is for.
 * - `cut-off`: the model's answer ended before it was complete, so the call may not be what the model meant.
 * - `not-json`: a person or policy has to approve it, and its input is no JSON, which cannot be signed.
 *
 * Source: own.
 *
 * @example
 * ```ts
 * import * as ToolCallError from "@countersign/core/ToolCallError"
 *
 * const error = new ToolCallError.ToolCallRefused({ toolCallId: "1", toolName: "write", reason: "cut-off" })
 * error.message // => "Tool write was not run: the answer that proposed it was cut off. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolCallRefused extends // Pure, so that a program that runs no steps does not bundle it.
/* @__PURE__ */ (Schema.TaggedError<ToolCallRefused>("@countersign/core/ToolCallError/ToolCallRefused")(
  "ToolCallRefused",
  {
    toolCallId: Schema.String,
    toolName: Schema.String,
    reason: /* @__PURE__ */ Schema.Literals(["duplicate-id", "cut-off", "not-json"])
  }
)) {
  override get message(): string {
    return `Tool ${shown(this.toolName)} was not run: ${refusals[this.reason]}`
  }
}

const refusals: Record<ToolCallRefused["reason"], string> = {
  "duplicate-id": "another call has the same tool call ID. Propose each call again, with an ID of its own.",
  "cut-off": "the answer that proposed it was cut off. Propose the call again.",
  "not-json": "its input is not JSON, and cannot be approved."
}

/**
 * Every way in which a call fails to parse.
 *
 * @category errors
 * @since 0.1.0
 */
export type ToolCallError = NoSuchTool | InvalidToolInput | ToolCallRepairFailed | RefinementFailed
