/**
 * The record of one change that was made to a call between what the model sent and what will run.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * One change: its `kind`, and where it is known the `offset` in the raw text (characters), the place in the value as a
 * JSON `pointer`, and the text `before` and `after`.
 *
 * `risk` is there where a person should look: `lossy`, something of the text is not in the value (a string closed after a cut, a
 * value left out); `ambiguous`, another reading was as good. `ApprovalPolicy.escalateRepaired` asks about both.
 *
 * Kinds made here:
 *
 * - `tool-name`: the call was given the name of an existing tool.
 * - `raw-digits`: an integer beyond 2^53 reached a string field with all its digits.
 * - `jsonrepair`: the text was made valid JSON by the `jsonrepair` engine.
 * - `ambiguous`: the second engine did not read the text as recovery did; `before` is the other reading, `after` the one taken.
 * - `model`: a model wrote the input anew.
 * - `custom`: a repair that does not say what it changed.
 * - Of recovery, in the text: `space`, `comment`, `prose`, `documents`, `quotes`, `inner-quotes`, `control-character`, `escape`,
 *   `bare-key`, `bare-text`, `literal`, `number`, `separator`, `comma`, `brackets`, `missing-open`, `missing-close`, `missing-item`,
 *   `surplus-open`, `surplus-close`, `swapped-close`, `concatenation`, `cut`, `cut-literal`, `cut-string`.
 * - Of recovery, by the schema: `raw-text`, `text`, `number`, `boolean`, `null`, `enum`, `decoded`, `wrapped`, `unwrapped`,
 *   `envelope`, `key-style`, `null-optional`, `no-arguments`. `docs/repair.md` says what each is.
 * - `more`: the edits after the hundredth, counted in `after`, with their risk.
 *
 * `before` and `after` hold content: show them to the person who approves, keep them out of logs.
 *
 * @example
 * ```ts
 * import * as Edit from "@countersign/core/Edit"
 *
 * const edit: Edit.Edit = { kind: "tool-name", before: "Write", after: "write" }
 * edit.kind // => "tool-name"
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Edit = Schema.Struct({
  kind: Schema.String,
  offset: Schema.optionalKey(Schema.Number),
  pointer: Schema.optionalKey(Schema.String),
  before: Schema.optionalKey(Schema.String),
  after: Schema.optionalKey(Schema.String),
  risk: Schema.optionalKey(Schema.Literals(["ambiguous", "lossy"]))
})

/**
 * @category models
 * @since 0.1.0
 */
export type Edit = typeof Edit.Type

/**
 * Describes how one text became another: the span between their common beginning and their common end.
 *
 * Cost is linear in the length of the texts.
 *
 * @example
 * ```ts
 * import * as Edit from "@countersign/core/Edit"
 *
 * Edit.between("jsonrepair", "[1,]", "[1]") // => { kind: "jsonrepair", offset: 2, before: ",", after: "" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const between = (kind: string, before: string, after: string): Edit => {
  const shortest = Math.min(before.length, after.length)
  let start = 0
  while (start < shortest && before.charCodeAt(start) === after.charCodeAt(start)) start++
  let end = 0
  while (
    end < shortest - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) end++
  return {
    kind,
    offset: start,
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end)
  }
}
