/**
 * The service that checks a value against a raw JSON Schema, compiled once.
 *
 * A JSON Schema is always checked: a layer that cannot check one refuses it with {@link UnsupportedSchema}. Choose
 *
 * - `CfworkerJsonSchema.layer`: all of JSON Schema, by `@cfworker/json-schema`. `WorkersCountersign.layer` brings it.
 * - `EffectJsonSchema.layer`: what Effect's own importer takes; about ten times faster per value, slower to compile.
 * - {@link orElse}: the second where the first refuses. `NodeCountersign.layer` brings the importer with the other behind it.
 * - {@link layerRefuse}: for programs whose tools are all Effect Schemas or Standard Schemas. Costs nothing.
 *
 * Which engine checks a schema changes no verdict: both read one normal form of it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as EffectJsonSchema from "effect/JsonSchema"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { InputIssue } from "./InputIssue.ts"

/**
 * A JSON Schema: an object of keywords, or `true` or `false`.
 *
 * @category models
 * @since 0.1.0
 */
export type JsonSchema = EffectJsonSchema.JsonSchema | boolean

/**
 * The dialects that can be checked. Without one, `$schema` decides. Without that, a schema may use the keywords of
 * `draft-2020-12` and of `draft-07` together, and what stands beside a `$ref` counts.
 *
 * @category models
 * @since 0.1.0
 */
export type Dialect = "draft-07" | "draft-2020-12" | "openapi-3.0" | "openapi-3.1"

/**
 * Checks one value: no issues means that it fits.
 *
 * @category models
 * @since 0.1.0
 */
export interface Validate {
  (value: unknown): ReadonlyArray<InputIssue>
}

/**
 * A schema cannot be checked here: it is broken, or uses what no engine of the layer can decide. The tool's author has to
 * act, not the model, so a call to that tool is refused and never repaired.
 *
 * `toolName` is filled in where the tool is known; `keyword` and the JSON Pointer `pointer` into the schema where one
 * keyword is at fault.
 *
 * @example
 * ```ts
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 *
 * const error = new JsonSchemaValidator.UnsupportedSchema({
 *   toolName: "search",
 *   keyword: "minLength",
 *   pointer: "/properties/q/minLength",
 *   reason: "must be a non-negative integer"
 * })
 * error.message
 * // => "Input schema of tool search cannot be checked: \"minLength\" at /properties/q/minLength must be a non-negative integer"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedSchema extends Schema.TaggedError<UnsupportedSchema>(
  "@countersign/core/JsonSchemaValidator/UnsupportedSchema"
)("UnsupportedSchema", {
  toolName: Schema.optionalKey(Schema.String),
  keyword: Schema.optionalKey(Schema.String),
  pointer: Schema.optionalKey(Schema.String),
  reason: Schema.String
}) {
  override get message(): string {
    const tool = this.toolName === undefined ? "" : ` of tool ${this.toolName}`
    const keyword = this.keyword === undefined ? "" : `"${this.keyword}" at ${this.pointer} `
    return `Input schema${tool} cannot be checked: ${keyword}${this.reason}`
  }
}

/**
 * The service. `compile` turns a schema into a check; an implementation caches by the schema object, so that compiling
 * the same object again costs a lookup.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
 * import { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
 *
 * const program = Effect.gen(function*() {
 *   const validator = yield* JsonSchemaValidator
 *   const validate = yield* validator.compile({ type: "object", required: ["q"] }, undefined)
 *   return validate({})
 * })
 * Effect.runSync(Effect.provide(program, EffectJsonSchema.layer)) // => [{ pointer: "/q", message: "missing required key" }]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class JsonSchemaValidator extends Context.Service<JsonSchemaValidator, {
  readonly compile: (
    schema: JsonSchema,
    dialect: Dialect | undefined
  ) => Effect.Effect<Validate, UnsupportedSchema>
}>()("@countersign/core/JsonSchemaValidator") {}

/**
 * Refuses every raw JSON Schema. For programs whose tools have none: it adds nothing to a bundle.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 *
 * const program = Effect.flatMap(JsonSchemaValidator.JsonSchemaValidator, (_) => _.compile(true, undefined))
 * Effect.runSync(Effect.flip(Effect.provide(program, JsonSchemaValidator.layerRefuse)))._tag // => "UnsupportedSchema"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRefuse: Layer.Layer<JsonSchemaValidator> = Layer.succeed(JsonSchemaValidator)({
  compile: () =>
    Effect.fail(
      new UnsupportedSchema({
        reason: "raw JSON Schema needs a validator: provide CfworkerJsonSchema.layer or EffectJsonSchema.layer"
      })
    )
})

/**
 * Asks `second` for the schemas that `first` refuses.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
 * import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 *
 * const layer = JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer)
 * const program = Effect.gen(function*() {
 *   const validate = yield* (yield* JsonSchemaValidator.JsonSchemaValidator).compile({ not: { type: "string" } }, undefined)
 *   return [validate("text").length, validate(1).length]
 * })
 * Effect.runSync(Effect.provide(program, layer)) // => [1, 0]
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const orElse = (
  first: Layer.Layer<JsonSchemaValidator>,
  second: Layer.Layer<JsonSchemaValidator>
): Layer.Layer<JsonSchemaValidator> =>
  Layer.effect(JsonSchemaValidator)(
    Effect.map(Effect.all([Layer.build(first), Layer.build(second)]), (contexts) => {
      const [preferred, other] = contexts.map((context) => Context.get(context, JsonSchemaValidator))
      return {
        compile: (schema, dialect) =>
          Effect.catch(preferred!.compile(schema, dialect), () => other!.compile(schema, dialect))
      }
    })
  )
