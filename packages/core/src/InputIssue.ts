/**
 * What is wrong with a tool input, place by place, without repeating the input.
 *
 * @since 0.1.0
 */
import { escapeToken } from "effect/JsonPointer"
import * as Schema from "effect/Schema"
import { printable } from "./internal/printable.ts"

/**
 * One place at which an input does not fit its schema: a JSON Pointer (`""` is the root) and what was expected there.
 *
 * @example
 * ```ts
 * import * as InputIssue from "@countersign/core/InputIssue"
 *
 * const issue: InputIssue.InputIssue = { pointer: "/city", message: "missing required key" }
 * issue.pointer // => "/city"
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const InputIssue = Schema.Struct({
  pointer: Schema.String,
  message: Schema.String
})

/**
 * @category models
 * @since 0.1.0
 */
export type InputIssue = typeof InputIssue.Type

/**
 * Writes a path as a JSON Pointer (RFC 6901).
 *
 * @example
 * ```ts
 * import * as InputIssue from "@countersign/core/InputIssue"
 *
 * InputIssue.toPointer(["items", 0, "a/b"]) // => "/items/0/a~1b"
 * InputIssue.toPointer([]) // => ""
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const toPointer = (path: ReadonlyArray<PropertyKey>): string =>
  path.map((key) => `/${escapeToken(String(key))}`).join("")

/**
 * A value does not fit the tool's input schema. Holds at most the first 20 issues, and `total`, how many there were.
 *
 * The message names each place and what was expected, and never the value found there, so it can be logged and given
 * back to the model.
 *
 * @example
 * ```ts
 * import * as InputIssue from "@countersign/core/InputIssue"
 *
 * const error = InputIssue.SchemaMismatch.fromIssues([
 *   { pointer: "/todos", message: "missing required key" },
 *   { pointer: "/items", message: "unexpected key" }
 * ])
 * error.message // => "/todos: missing required key; /items: unexpected key"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class SchemaMismatch extends Schema.TaggedError<SchemaMismatch>("@countersign/core/InputIssue/SchemaMismatch")(
  "SchemaMismatch",
  {
    issues: Schema.Array(InputIssue),
    total: Schema.Number
  }
) {
  /** How many issues an error carries: a model reads the first few, and a hostile input can cause millions. */
  static readonly maxIssues = 20

  static fromIssues(issues: ReadonlyArray<InputIssue>, total = issues.length): SchemaMismatch {
    return new SchemaMismatch({
      issues: issues.slice(0, SchemaMismatch.maxIssues).map(({ message, pointer }) => ({
        pointer: printable(pointer, 200),
        message
      })),
      total
    })
  }

  override get message(): string {
    const shown = this.issues.map(({ message, pointer }) => pointer === "" ? message : `${pointer}: ${message}`)
    const rest = this.total - this.issues.length
    return shown.join("; ") + (rest > 0 ? `; and ${rest} more` : "")
  }
}
