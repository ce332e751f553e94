/**
 * Checks raw JSON Schemas with Effect's own importer: compact and fast, and it refuses what it cannot express, such as
 * `if`, `not`, `contains`, `dependentSchemas` and objects in `enum`.
 *
 * Use `CfworkerJsonSchema` for tools whose schemas you do not write yourself.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as SchemaRepresentation from "effect/SchemaRepresentation"
import { hasAtMost } from "./internal/boundedWalk.ts"
import { type Engine, layerEngine } from "./internal/compiledSchemas.ts"
import { fromEffectIssue, maxThorough, parseOptions, thoroughOptions } from "./internal/effectIssues.ts"
import { checksBelow, forEachSchema, maxChecksAtOnce } from "./internal/schemaCost.ts"
import type { Document } from "./internal/schemaDocument.ts"
import { type JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"

/** @internal */
export const engine: Engine = (document) => {
  const reason = whyNot(document)
  if (reason !== undefined) return Result.fail(new UnsupportedSchema({ reason }))
  let schema: Schema.Top
  try {
    schema = SchemaRepresentation.fromJsonSchemaDocument(document, { patterns: "apply" })
  } catch (error) {
    return Result.fail(new UnsupportedSchema({ reason: error instanceof Error ? error.message : String(error) }))
  }
  const decode = SchemaParser.decodeUnknownExit(schema as Schema.Codec<unknown>)
  return Result.succeed((value) => {
    let exit = decode(value, parseOptions)
    if (Exit.isSuccess(exit)) return []
    if (hasAtMost(value, maxThorough)) exit = decode(value, thoroughOptions)
    if (Exit.isSuccess(exit)) return []
    const issue = Cause.squash(exit.cause)
    if (!SchemaIssue.isIssue(issue)) throw issue
    return fromEffectIssue(issue, value)
  })
}

/** What the importer takes, and then reads otherwise than JSON Schema does, or cannot bound. */
const whyNot = (document: Document): string | undefined => {
  if (checksBelow(document) > maxChecksAtOnce) {
    return "its alternatives multiply with each level: checking could take too long"
  }
  let reason: string | undefined
  forEachSchema(document, ({ prefixItems, properties, required }) => {
    const names = [...Object.keys(Object(properties)), ...required as ReadonlyArray<string> | undefined ?? []]
    if (names.some((name) => Reflect.has(Object.prototype, name))) {
      // Effect reads `value[key]`, and finds what every object inherits.
      reason = "it names a key that every object has, such as \"constructor\""
    }
    // An optional element that refers to what holds it loses its optionality.
    if (JSON.stringify(prefixItems)?.includes("\"$ref\"") === true) reason = "\"prefixItems\" holds a reference"
  })
  return reason
}

/**
 * The layer. A schema that Effect's importer does not take is refused with `UnsupportedSchema`.
 *
 * `format` is an annotation, as in JSON Schema 2020-12: it is not checked. Integers and multiples are those up to 2^53, which a
 * double holds exactly. A pattern that can take exponential time is refused; one that takes time in the square of a text's
 * length, such as `a+$`, is not.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
 * import { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
 *
 * const program = Effect.flatMap(JsonSchemaValidator, (_) => _.compile({ if: { type: "string" }, then: false }, undefined))
 * Effect.runSync(Effect.flip(Effect.provide(program, EffectJsonSchema.layer)))._tag // => "UnsupportedSchema"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<JsonSchemaValidator> = layerEngine(engine)
