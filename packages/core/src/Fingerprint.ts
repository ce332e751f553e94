/**
 * The fingerprint of each tool's definition, and which tools drifted from those that were reviewed.
 *
 * A definition that a server controls can change after somebody has read it. So take the fingerprints when they are reviewed, keep
 * them, and compare before the tools are used: whatever {@link drift} tells has not been reviewed. It is the AI SDK's fingerprint,
 * byte for byte, so that both know a tool by the same one. It covers what a model is told of a tool:
 *
 * | covered | how |
 * | --- | --- |
 * | description | its text. Of a function only that there is one: it is the program's own |
 * | input schema | the JSON Schema that a model is shown, whatever the order of its keys. The order of lists counts, also of `required` |
 * | title | that there is none, too |
 *
 * Everything else of a definition is not: its output schema, annotations, `_meta`, icons. Nor does the name count, except as the key.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import { Crypto } from "./Crypto.ts"
import type { InputSchema } from "./InputSchema.ts"
import { base64Url } from "./internal/base64Url.ts"
import { definitionText } from "./internal/definitionText.ts"
import { describe } from "./internal/describe.ts"
import { printable } from "./internal/printable.ts"
import { sdkJson } from "./internal/sdkJson.ts"
import { sdkJsonSchema } from "./internal/sdkJsonSchema.ts"
import { UnsupportedSchema } from "./JsonSchemaValidator.ts"
import type * as Tool from "./Tool.ts"
import type { ToolSet } from "./ToolSet.ts"

/**
 * The fingerprint of each tool, by name: a SHA-256 as base64url without padding, 43 characters. The record has no prototype.
 *
 * Fails with `UnsupportedSchema`, which names the tool, where a schema has no JSON Schema: a library that gives none (valibot, zod
 * mini, zod 4 before 4.2), or a type that JSON Schema does not have (a date of zod 4). {@link fingerprintEach} gives the
 * fingerprints of the other tools then.
 *
 * | input schema | fingerprint |
 * | --- | --- |
 * | raw JSON Schema | of the schema as it is |
 * | zod 3, zod 4 | of what the AI SDK writes for it: draft-07, the input, objects closed |
 * | another Standard Schema | of what the library writes for draft-07, objects closed; of the `jsonSchema` that it was given, as it is |
 * | Effect Schema | as of its `Schema.toStandardJSONSchemaV1`; that of an empty struct is one that takes only `{}` |
 *
 * A library is asked once to write its schema. A raw JSON Schema is read each time.
 *
 * Source: `fingerprintTools` of the AI SDK, which fails as a whole, with an error that does not say for which tool.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Fingerprint from "@countersign/core/Fingerprint"
 * import * as Tool from "@countersign/core/Tool"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const inputSchema = { type: "object", properties: { query: { type: "string" } }, required: ["query"] }
 * const search = Tool.make("search", { description: "Search the web", title: "Web search", inputSchema })
 *
 * const fingerprints = Effect.runSync(Effect.provide(Fingerprint.fingerprint({ search }), NodeCrypto.layer))
 * fingerprints["search"] // => "f9pLRRqaoZAx-JZ6Cnni1tspZTjSRnjPZhPayJQCmcI"
 * ```
 *
 * @category hashing
 * @since 0.1.0
 */
export const fingerprint = (
  tools: ToolSet
): Effect.Effect<Record<string, string>, UnsupportedSchema, Crypto> => forEachTool(tools, fingerprintTool)

/**
 * The fingerprint of each tool, or why it has none. See {@link fingerprint}.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Result from "effect/Result"
 * import * as Fingerprint from "@countersign/core/Fingerprint"
 * import * as Tool from "@countersign/core/Tool"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const tools = { read: Tool.make("read"), seal: Tool.make("pay", { inputSchema: { minimum: 1n } }) }
 * const each = Effect.runSync(Effect.provide(Fingerprint.fingerprintEach(tools), NodeCrypto.layer))
 * Object.values(each).map(Result.isSuccess) // => [true, false]
 * ```
 *
 * @category hashing
 * @since 0.1.0
 */
export const fingerprintEach = (
  tools: ToolSet
): Effect.Effect<Record<string, Result.Result<string, UnsupportedSchema>>, never, Crypto> =>
  forEachTool(tools, (crypto, tool, name) => Effect.result(fingerprintTool(crypto, tool, name)))

/**
 * The fingerprint of a plain definition, as an MCP server lists it: that of a tool with its description, title and raw JSON Schema.
 * Without `inputSchema` it is that of a tool without arguments.
 *
 * For a definition that is JSON, not nested more than 10,000 levels deep; dies for another.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Fingerprint from "@countersign/core/Fingerprint"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const definition = { name: "now", inputSchema: { type: "object", properties: {}, additionalProperties: false } }
 * Effect.runSync(Effect.provide(Fingerprint.ofDefinition(definition), NodeCrypto.layer))
 * // => "v29KzmkWF_EIz7n-T4SipiZj5DZz-TTxJzVFwrgQ4ng"
 * ```
 *
 * @category hashing
 * @since 0.1.0
 */
export const ofDefinition = (definition: {
  readonly title?: unknown
  readonly description?: unknown
  readonly inputSchema?: unknown
}): Effect.Effect<string, never, Crypto> =>
  Effect.flatMap(Crypto, (crypto) => digest(crypto, definition, sdkJson(definition.inputSchema ?? noArguments)))

const noArguments = { type: "object", properties: {}, additionalProperties: false }

/**
 * What became of a set of tools, by name. Each list is sorted by UTF-16 code units.
 *
 * - `added`: not in the baseline, so nobody has reviewed them. A tool that was renamed is one of these.
 * - `removed`: in the baseline only. Keep their fingerprints: a tool that comes back is compared with what was reviewed.
 * - `changed`: in both, with another fingerprint.
 *
 * @category models
 * @since 0.1.0
 */
export interface Drift {
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
}

/**
 * Compares the fingerprints of tools with those that were kept of them. `constructor` and `__proto__` are names like others.
 *
 * Source: `detectToolDrift` of the AI SDK, whose lists are in the order of the tools.
 *
 * @example
 * ```ts
 * import * as Fingerprint from "@countersign/core/Fingerprint"
 *
 * Fingerprint.drift({ read: "h1", write: "h4", toString: "h5" }, { read: "h1", write: "h2", remove: "h3" })
 * // => { added: ["toString"], removed: ["remove"], changed: ["write"] }
 * ```
 *
 * @category comparing
 * @since 0.1.0
 */
export const drift = (
  current: Readonly<Record<string, string>>,
  baseline: Readonly<Record<string, string>>
): Drift => {
  const names = Object.keys(current)
  return {
    added: names.filter((name) => !Object.hasOwn(baseline, name)).sort(),
    removed: Object.keys(baseline).filter((name) => !Object.hasOwn(current, name)).sort(),
    changed: names.filter((name) => Object.hasOwn(baseline, name) && current[name] !== baseline[name]).sort()
  }
}

/** How many digests are asked for at a time, where the platform's are not calculated at once. */
const concurrency = 32

const forEachTool = Effect.fnUntraced(function*<A, E>(
  tools: ToolSet,
  digestOf: (crypto: Crypto["Service"], tool: Tool.Any, name: string) => Effect.Effect<A, E>
): Effect.fn.Return<Record<string, A>, E, Crypto> {
  const crypto = yield* Crypto
  const entries = Object.entries(tools)
  const digests = yield* Effect.forEach(entries, ([name, tool]) => digestOf(crypto, tool, name), { concurrency })
  const byName: Record<string, A> = Object.create(null)
  for (const [index, [name]] of entries.entries()) byName[name] = digests[index]!
  return byName
})

const fingerprintTool = (
  crypto: Crypto["Service"],
  tool: Tool.Any,
  name: string
): Effect.Effect<string, UnsupportedSchema> => {
  try {
    return digest(crypto, tool, inputSchemaText(tool.inputSchema))
  } catch (error) {
    const reason = `no JSON Schema can be written: ${printable(describe(error), 500)}`
    return Effect.fail(new UnsupportedSchema({ toolName: name, reason }))
  }
}

const digest = (
  crypto: Crypto["Service"],
  { description, title }: { readonly description?: unknown; readonly title?: unknown },
  inputSchema: string
): Effect.Effect<string> => {
  const text = definitionText(description, inputSchema, title === undefined ? undefined : sdkJson(title))
  return Effect.map(crypto.sha256(text), base64Url)
}

/** The texts of the schemas that a library has to write first, which takes ten times as long as the rest. */
const libraryTexts = new WeakMap<InputSchema, string>()

const inputSchemaText = (inputSchema: InputSchema): string => {
  const known = libraryTexts.get(inputSchema)
  if (known !== undefined) return known
  const written = inputSchema.written()
  const text = sdkJson(sdkJsonSchema(written))
  if (written._tag !== "JsonSchema") libraryTexts.set(inputSchema, text)
  return text
}
