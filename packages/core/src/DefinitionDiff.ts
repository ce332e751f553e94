/**
 * What changed in a tool's definition, field by field, with a before and after that are safe to print, and what is suspicious in it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { toPointer } from "./InputIssue.ts"
import { hintWarnings } from "./internal/definition/hints.ts"
import { differences, pathOf, type Place } from "./internal/definition/place.ts"
import { schemaWarnings } from "./internal/definition/schemaWarnings.ts"
import { shown } from "./internal/definition/shown.ts"
import { textWarnings } from "./internal/definition/suspicious.ts"
import { printable } from "./internal/printable.ts"
import { normalize, type ToolDefinition } from "./ToolDefinition.ts"

/**
 * Why a person should look twice. {@link explain} says it in a sentence.
 *
 * In text: `invisible-text`, `bidirectional-text`, `instructions`, `link`. In a schema: `new-parameter`, `required-parameter`,
 * `looser`, `new-default`. In annotations: `claims-less-risk`, `claims-more-risk`. Elsewhere: `meta`, `lookalike-name`,
 * `more-changes`.
 *
 * They are hints, found by a few rules: a change without one is not harmless for that.
 *
 * @example
 * ```ts
 * import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
 *
 * DefinitionDiff.Warning.literals.includes("instructions") // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Warning = Schema.Literals([
  "invisible-text",
  "bidirectional-text",
  "instructions",
  "link",
  "new-parameter",
  "required-parameter",
  "looser",
  "new-default",
  "claims-less-risk",
  "claims-more-risk",
  "meta",
  "lookalike-name",
  "more-changes"
])

/**
 * @category models
 * @since 0.1.0
 */
export type Warning = typeof Warning.Type

/**
 * One field that changed.
 *
 * - `pointer`: the JSON Pointer of the field, in the definition after the change, or before it where the field was removed. It is
 *   exact, so it may hold characters that a terminal acts on: print it with {@link format}.
 * - `before`, `after`: its value as JSON, on one line of at most 400 characters and what is escaped in them, around the place where
 *   the two differ. Control characters, and those that show nothing or turn the direction of text, are escapes such as `\u200b`.
 * - `warnings`: what is suspicious.
 *
 * @example
 * ```ts
 * import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
 *
 * const change: DefinitionDiff.FieldChange = { pointer: "/title", change: "added", after: "\"Find\"", warnings: [] }
 * change.pointer // => "/title"
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const FieldChange = Schema.Struct({
  pointer: Schema.String,
  change: Schema.Literals(["added", "removed", "changed"]),
  before: Schema.optionalKey(Schema.String),
  after: Schema.optionalKey(Schema.String),
  warnings: Schema.Array(Warning)
})

/**
 * @category models
 * @since 0.1.0
 */
export type FieldChange = typeof FieldChange.Type

/**
 * The changes between two definitions, in the order of their pointers; none where the normal forms are equal. Without `before` every
 * field is new, and the warnings are about its text alone: for the review of a tool that was not there.
 *
 * A list of names that is a set in JSON Schema, and any list of scalars, is one field. At most 200 changes are told, those with
 * warnings first to stay; then the last one is of the whole definition and says `more-changes`. Takes time linear in the two.
 *
 * Throws as `ToolDefinition.normalize` does.
 *
 * @example
 * ```ts
 * import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
 *
 * const before = { name: "find", description: "Find a file", inputSchema: { type: "object", required: ["a", "b"] } }
 * const after = { name: "find", description: "Find a file\u200b", inputSchema: { required: ["b", "a"], type: "object" } }
 * DefinitionDiff.compare(before, after)
 * // => [{ pointer: "/description", change: "changed", before: "\"Find a file\"", after: "\"Find a file\\u200b\"", warnings: ["invisible-text"] }]
 * ```
 *
 * @category comparing
 * @since 0.1.0
 */
export const compare = (before: ToolDefinition | undefined, after: ToolDefinition): ReadonlyArray<FieldChange> => {
  const isNew = before === undefined
  const found = differences(isNew ? {} : normalize(before), normalize(after))
    .map((place, index) => ({ place, index, warnings: warningsOf(place, isNew) }))
  if (found.length <= maxChanges) return found.map(toChange)
  const kept = found
    .toSorted((left, right) => Math.sign(right.warnings.length) - Math.sign(left.warnings.length))
    .slice(0, maxChanges)
    .sort((left, right) => left.index - right.index)
  return [...kept.map(toChange), { pointer: "", change: "changed", warnings: ["more-changes"] }]
}

const maxChanges = 200

const toChange = (
  { place, warnings }: { readonly place: Place; readonly warnings: ReadonlyArray<Warning> }
): FieldChange => {
  const { after, before } = place
  return {
    pointer: toPointer(pathOf(place)),
    change: before === undefined ? "added" : after === undefined ? "removed" : "changed",
    ...before === undefined ? {} : { before: shown(before, after) },
    ...after === undefined ? {} : { after: shown(after, before) },
    warnings
  }
}

const warningsOf = (place: Place, isNew: boolean): ReadonlyArray<Warning> => {
  const path = pathOf(place)
  const text = textWarnings(place.before, place.after)
  if (path[0] === "_meta") return [...text, "meta"]
  if (isNew) return text
  if (path[0] === "annotations") return [...text, ...hintWarnings(place, path)]
  return [...text, ...schemaWarnings(place, path[0] === "inputSchema")]
}

/**
 * A change on one line that is safe to print, with its warnings.
 *
 * @example
 * ```ts
 * import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
 *
 * DefinitionDiff.format({ pointer: "/inputSchema/type", change: "removed", before: "\"object\"", warnings: ["looser"] })
 * // => "removed /inputSchema/type: \"object\" [looser]"
 * ```
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = ({ after, before, change, pointer, warnings }: FieldChange): string => {
  const values = [before, after].filter((value) => value !== undefined).join(" → ")
  return `${change} ${printable(pointer, 200) || "the definition"}${values === "" ? "" : `: ${values}`}${
    warnings.length === 0 ? "" : ` [${warnings.join(", ")}]`
  }`
}

/**
 * What a warning says, in one sentence.
 *
 * @example
 * ```ts
 * import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
 *
 * DefinitionDiff.explain("new-default") // => "A parameter that is left out has another value."
 * ```
 *
 * @category formatting
 * @since 0.1.0
 */
export const explain = (warning: Warning): string => explanations[warning]

const explanations: Record<Warning, string> = {
  "invisible-text": "A model reads characters here that a person does not see.",
  "bidirectional-text":
    "Characters here turn the direction of text, so that a person reads it in another order than a model.",
  "instructions": "The text tells a model what to do, beyond what the tool is.",
  "link": "The text names another address.",
  "new-parameter": "The tool takes something that it did not take, and a model may fill it in with what it knows.",
  "required-parameter": "A model has to fill in something that it could leave out.",
  "looser": "The schema may let something through that it refused.",
  "new-default": "A parameter that is left out has another value.",
  "claims-less-risk": "The tool says that it is harmless where it did not say so; a client may ask less often.",
  "claims-more-risk": "The tool no longer says that it is harmless, and was reviewed when it did.",
  "meta": "Clients do not show `_meta`. Some servers keep values there that change by themselves.",
  "lookalike-name": "The name reads like that of another tool.",
  "more-changes": "There are more changes than are told."
}
