/**
 * The definition of a tool as plain JSON: what an MCP server lists, with every field that it has, known here or not.
 *
 * A definition is what a review sees and a lockfile keeps. {@link digest} is a pin of all of it; the digest of the AI SDK, which
 * covers only title, description and input schema, is `Fingerprint.ofDefinition`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CanonicalJson from "./CanonicalJson.ts"
import type { Crypto } from "./Crypto.ts"
import { toPointer } from "./InputIssue.ts"
import { normalForm } from "./internal/definition/normalForm.ts"
import { isObject } from "./internal/definition/role.ts"
import { describe } from "./internal/describe.ts"
import { getOwn } from "./internal/ownProperty.ts"
import { printable } from "./internal/printable.ts"
import { sdkJsonSchema } from "./internal/sdkJsonSchema.ts"
import { writeJson } from "./internal/writeJson.ts"
import { type JsonSchema, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import * as Limits from "./Limits.ts"
import * as StrictJson from "./StrictJson.ts"
import type * as Tool from "./Tool.ts"

/**
 * A tool's definition. Fields that are not named here are kept, and pinned as well.
 *
 * A description that is a function of the program is `{ type: "function" }`: its text is not pinned, only that there is one.
 *
 * Source: the `Tool` of the Model Context Protocol, with `description` as the AI SDK's fingerprint sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description?: string | { readonly type: "function" }
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: { readonly [name: string]: unknown }
  readonly icons?: ReadonlyArray<unknown>
  readonly _meta?: { readonly [name: string]: unknown }
  readonly [field: string]: unknown
}

/**
 * A value is no tool definition. `pointer` is the JSON Pointer of what is at fault in it, `reason` what it is; `toolName` is there
 * where the value has a name.
 *
 * @example
 * ```ts
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const error = new ToolDefinition.InvalidToolDefinition({ toolName: "find", pointer: "/title", reason: "must be a string" })
 * error.message // => "Invalid definition of tool \"find\": /title must be a string"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToolDefinition extends Schema.TaggedError<InvalidToolDefinition>(
  "@countersign/core/ToolDefinition/InvalidToolDefinition"
)("InvalidToolDefinition", {
  toolName: Schema.optionalKey(Schema.String),
  pointer: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    const of = this.toolName === undefined
      ? "Invalid tool definition"
      : `Invalid definition of tool "${shown(this.toolName)}"`
    return `${of}: ${this.pointer === "" ? "" : `${shown(this.pointer)} `}${this.reason}`
  }
}

const shown = (text: string): string => printable(text, 200)

const isString = (value: unknown): value is string => typeof value === "string"
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value)

const object = "must be an object"
const schema = "must be a JSON Schema: an object, true or false"
const text = "must be a string"

/** Of each known field what it has to be. */
const fields: ReadonlyArray<readonly [name: string, fits: (value: unknown) => boolean, expected: string]> = [
  ["name", (value) => isString(value) && value !== "", "must be a string that is not empty"],
  ["inputSchema", isSchema, schema],
  ["title", isString, text],
  ["description", (value) => isString(value) || getOwn(value, "type") === "function", text],
  ["outputSchema", isSchema, schema],
  ["annotations", isObject, object],
  ["icons", Array.isArray, "must be an array"],
  ["_meta", isObject, object]
]

/**
 * Takes a definition from whoever lists it: checks what is known of it, copies it, and keeps every field.
 *
 * Fails where it is no JSON, has a key that reaches a prototype (`__proto__`), exceeds the limits, or where a known field is not
 * what it has to be. `name` and `inputSchema` have to be there.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const listed = { name: "find", inputSchema: { type: "object" }, extra: 1 }
 * Result.getOrThrow(ToolDefinition.fromJson(listed)) // => { name: "find", inputSchema: { type: "object" }, extra: 1 }
 *
 * const refused = ToolDefinition.fromJson({ name: "find" })
 * Result.isFailure(refused) && refused.failure.pointer // => "/inputSchema"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromJson = (
  value: unknown,
  limits: Limits.LimitValues = Limits.defaults
): Result.Result<ToolDefinition, InvalidToolDefinition> => {
  const taken = StrictJson.take(value, limits)
  if (Result.isFailure(taken)) return invalid("", taken.failure.message)
  const definition = taken.success
  if (!isObject(definition)) return invalid("", object)
  const name = getOwn(definition, "name")
  const toolName = isString(name) ? name : undefined
  const size = writeJson(definition).length
  const { maxInputLength: max } = limits
  if (size > max) {
    return invalid("", new Limits.InputLimitExceeded({ limit: "maxInputLength", max, size }).message, toolName)
  }
  const fault = fields.find(([field, fits], index) =>
    (index < required || Object.hasOwn(definition, field)) && !fits(getOwn(definition, field))
  )
  return fault === undefined
    ? Result.succeed(definition as ToolDefinition)
    : invalid(`/${fault[0]}`, fault[2], toolName)
}

/** How many of the fields have to be there. */
const required = 2

const invalid = (pointer: string, reason: string, toolName?: string) =>
  Result.fail(new InvalidToolDefinition({ pointer, reason, ...toolName === undefined ? {} : { toolName } }))

/**
 * Takes the definitions of parsed JSON that is either what an MCP server lists (`{ "tools": [{ "name", … }] }`) or an object of
 * tools by name (`{ "search": { "description", "inputSchema", … } }`). There a tool without `inputSchema` takes no arguments.
 *
 * Two tools of one name are refused: which of them a model is shown, nobody could tell.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const one = { name: "find", inputSchema: { type: "object" } }
 * Result.getOrThrow(ToolDefinition.fromListing({ tools: [one] })) // => [{ name: "find", inputSchema: { type: "object" } }]
 * Result.isFailure(ToolDefinition.fromListing({ tools: [one, one] })) // => true
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromListing = (
  value: unknown,
  limits: Limits.LimitValues = Limits.defaults
): Result.Result<ReadonlyArray<ToolDefinition>, InvalidToolDefinition> => {
  if (!isObject(value)) return invalid("", "must be an object of tools by name, or { \"tools\": [...] }")
  const tools = getOwn(value, "tools")
  const listed = Array.isArray(tools)
    ? tools.map((one: unknown, index) => [["tools", index], one] as const)
    : Object.entries(value).map(([name, one]) =>
      [[name], isObject(one) ? { ...noArguments, name, ...one } : one] as const
    )
  const found = new Map<string, ToolDefinition>()
  for (const [path, one] of listed) {
    const definition = fromJson(one, limits)
    if (Result.isFailure(definition)) {
      const { pointer, reason, toolName } = definition.failure
      return invalid(toPointer(path) + pointer, reason, toolName)
    }
    const { name } = definition.success
    if (path.length === 1 && name !== path[0]) {
      return invalid(toPointer([...path, "name"]), "must be the name above it", name)
    }
    if (found.has(name)) return invalid(toPointer([...path, "name"]), "is the name of another tool too", name)
    found.set(name, definition.success)
  }
  return Result.succeed([...found.values()])
}

const noArguments = { inputSchema: { type: "object", properties: {}, additionalProperties: false } }

/**
 * The definition of a tool of the program: name, title, description, the JSON Schema of its input as `Fingerprint.fingerprint` takes
 * it, `metadata`, and its kind as `type` where it is not a function. What only the program sees (`needsApproval`, `execute`) is no
 * part of it.
 *
 * Fails where the schema has no JSON Schema, or the metadata is no JSON.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const tool = Tool.make("find", { description: () => "…", inputSchema: Schema.Struct({ q: Schema.String }) })
 * const definition = Effect.runSync(ToolDefinition.fromTool(tool))
 * definition.description // => { type: "function" }
 * definition.inputSchema
 * // => { $schema: "http://json-schema.org/draft-07/schema#", type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromTool = (tool: Tool.Any): Effect.Effect<ToolDefinition, UnsupportedSchema> => {
  const { description, kind, metadata, name, title } = tool
  const unsupported = (reason: string) => new UnsupportedSchema({ toolName: name, reason })
  return Effect.try({
    try: () => sdkJsonSchema(tool.inputSchema.written()),
    catch: (error) => unsupported(`no JSON Schema can be written: ${printable(describe(error), 500)}`)
  }).pipe(
    Effect.map((inputSchema) =>
      fromJson({
        name,
        title,
        description: typeof description === "function" ? { type: "function" } : description,
        inputSchema,
        type: kind === "function" ? undefined : kind,
        metadata
      })
    ),
    Effect.flatMap(Effect.fromResult),
    Effect.catchTag(
      "InvalidToolDefinition",
      ({ pointer, reason }) => Effect.fail(unsupported(`${pointer} ${reason}`.trimStart()))
    )
  )
}

/**
 * The normal form: two definitions that are the same to a model and to a client have the same one. It has
 *
 * - the keys of every object in order
 * - `required`, `dependentRequired` and a list of types in order, where they are keywords of a schema
 * - no `$schema` that names draft-07 or 2020-12, where the schema is read the same way without it
 *
 * Everything else stays: the order of `enum` and `anyOf`, spaces, line ends, characters that nobody sees, fields that are not known.
 * The normal form of a normal form is the same.
 *
 * Throws `NotJson` of `CanonicalJson` for what comes neither from {@link fromJson} nor from {@link fromTool} and is no JSON.
 *
 * @example
 * ```ts
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const definition = { name: "find", inputSchema: { required: ["b", "a"], enum: [2, 1] } }
 * JSON.stringify(ToolDefinition.normalize(definition))
 * // => "{\"inputSchema\":{\"enum\":[2,1],\"required\":[\"a\",\"b\"]},\"name\":\"find\"}"
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const normalize = (definition: ToolDefinition): ToolDefinition => normalForm(definition) as ToolDefinition

/**
 * The pin of everything in a definition: `CanonicalJson.digest` of its normal form, 43 characters.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 * import * as ToolDefinition from "@countersign/core/ToolDefinition"
 *
 * const digest = (annotations: {}) => {
 *   const definition = { name: "find", inputSchema: {}, annotations }
 *   return Effect.runSync(Effect.provide(ToolDefinition.digest(definition), NodeCrypto.layer))
 * }
 * digest({}) // => "_P3zz2w2vzr6ajecc6cB_knx9hNJpJwj9I41EdPt_eI"
 * digest({ destructiveHint: true }) === digest({}) // => false
 * ```
 *
 * @category hashing
 * @since 0.1.0
 */
export const digest = (definition: ToolDefinition): Effect.Effect<string, never, Crypto> =>
  Effect.suspend(() => CanonicalJson.digest(normalize(definition)))
