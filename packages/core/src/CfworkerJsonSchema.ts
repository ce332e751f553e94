/**
 * Checks any raw JSON Schema without evaluating code: Effect's importer where it takes the schema, and
 * `@cfworker/json-schema` where it does not. Runs on Workers, where compiling validators such as ajv cannot.
 *
 * @since 0.1.0
 */
import { type OutputUnit, Validator } from "@cfworker/json-schema"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { engine as effectEngine } from "./EffectJsonSchema.ts"
import { type InputIssue, toPointer } from "./InputIssue.ts"
import { type Engine, layerEngine } from "./internal/compiledSchemas.ts"
import type { Document } from "./internal/schemaDocument.ts"
import { subschemas } from "./internal/schemaKeywords.ts"
import { type JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { clone } from "./StrictJson.ts"

/** @internal */
export const cfworkerEngine: Engine = (document) => {
  try {
    const validator = new Validator(toSharedMeaning(document), "2020-12", false)
    return Result.succeed((value) => {
      const { errors, valid } = validator.validate(value)
      return valid ? [] : toIssues(errors)
    })
  } catch (error) {
    return Result.fail(new UnsupportedSchema({ reason: error instanceof Error ? error.message : String(error) }))
  }
}

/**
 * Both engines must give one answer. Where JSON Schema leaves room, Effect's importer decides: an integer is one that a
 * double holds exactly, and `format` is an annotation.
 */
const toSharedMeaning = (document: Document): Record<string, unknown> => {
  const root = clone({ ...document.schema, $defs: document.definitions }) as Record<string, unknown>
  const pending: Array<unknown> = [root]
  while (pending.length > 0) {
    const schema = pending.pop()
    if (typeof schema !== "object" || schema === null) continue
    const keywords = schema as Record<string, unknown>
    pending.push(...subschemas(keywords).map((below) => below.schema))
    delete keywords["format"]
    const types = Array.isArray(keywords["type"]) ? keywords["type"] : [keywords["type"]]
    if (types.includes("integer") && !types.includes("number")) {
      keywords["allOf"] = [
        ...(keywords["allOf"] as Array<unknown> | undefined ?? []),
        { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
      ]
    }
  }
  return root
}

// Keywords whose errors only say that something below did not fit.
const containers = new Set([
  "properties",
  "patternProperties",
  "items",
  "prefixItems",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "$ref",
  "allOf",
  "if",
  "dependentSchemas",
  "propertyNames"
])

const toIssues = (errors: ReadonlyArray<OutputUnit>): ReadonlyArray<InputIssue> => {
  const specific = errors.filter(({ keyword }) => !containers.has(keyword))
  return (specific.length > 0 ? specific : errors).map((unit) => {
    const pointer = decodeURIComponent(unit.instanceLocation.slice(1))
    switch (unit.keyword) {
      case "required": {
        const key = /"(.*)"/s.exec(unit.error)?.[1] ?? ""
        return { pointer: pointer + toPointer([key]), message: "missing required key" }
      }
      case "false": {
        const above = errors[errors.indexOf(unit) - 1]?.keyword
        return { pointer, message: above?.endsWith("Properties") === true ? "unexpected key" : "not allowed" }
      }
      case "type": {
        const expected = unit.error.slice(unit.error.indexOf("Expected ") + 9, -1)
        return { pointer, message: `expected ${expected.replaceAll("\"", "")}` }
      }
      default:
        return { pointer, message: messages.get(unit.keyword) ?? `does not satisfy "${unit.keyword}"` }
    }
  })
}

// The engine's own texts repeat the value; these do not.
const messages: ReadonlyMap<string, string> = new Map([
  ["anyOf", "expected a value that fits one of the alternatives"],
  ["oneOf", "expected a value that fits exactly one of the alternatives"],
  ["not", "expected a value that does not fit the excluded schema"],
  ["contains", "expected an item that fits \"contains\""],
  ["uniqueItems", "expected items that differ from each other"],
  ["pattern", "expected a string that matches the pattern"]
])

/**
 * The layer: every JSON Schema is checked, or refused with `UnsupportedSchema`.
 *
 * `format` is an annotation, as in JSON Schema 2020-12: it is not checked. Integers are those that a double holds exactly.
 * Patterns run on JavaScript's `RegExp`: a pattern from a server that you do not trust can be slow.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
 * import { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
 *
 * const program = Effect.gen(function*() {
 *   const validate = yield* (yield* JsonSchemaValidator).compile({ not: { type: "string" } }, undefined)
 *   return [validate("text").length, validate(1).length]
 * })
 * Effect.runSync(Effect.provide(program, CfworkerJsonSchema.layer)) // => [1, 0]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<JsonSchemaValidator> = layerEngine((document) =>
  Result.orElse(effectEngine(document), () => cfworkerEngine(document))
)
