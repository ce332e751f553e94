/**
 * Checks any raw JSON Schema with `@cfworker/json-schema`, which evaluates no code: it runs on Workers, where validators that
 * compile, such as ajv, cannot.
 *
 * @since 0.1.0
 */
import { type OutputUnit, Validator } from "@cfworker/json-schema"
import type * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { type InputIssue, toPointer } from "./InputIssue.ts"
import { type Engine, layerEngine } from "./internal/compiledSchemas.ts"
import type { Document } from "./internal/schemaDocument.ts"
import { subschemas } from "./internal/schemaKeywords.ts"
import { type JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { clone } from "./StrictJson.ts"

/** @internal */
export const cfworkerEngine: Engine = (document) => {
  let stepsLeft = 0
  const meter = Object.defineProperty({}, "$recursiveAnchor", {
    // The engine reads this once for each schema that it applies, and nothing else can stop it.
    get: () => {
      if (--stepsLeft < 0) throw tooLong
    }
  })
  const { hasUniqueItems, root } = toEngine(document, meter)
  let first: Validator
  let thorough: Validator | undefined
  try {
    first = new Validator(root, "2020-12", true)
  } catch (error) {
    return Result.fail(new UnsupportedSchema({ reason: error instanceof Error ? error.message : String(error) }))
  }
  return Result.succeed((value) => {
    const { isJson, longest, nodes } = measure(value)
    if (!isJson) return [{ pointer: "", message: "holds what is not a JSON value" }]
    if (hasUniqueItems && longest > maxUnique) {
      return [{ pointer: "", message: `has an array of more than ${maxUnique} items, and items have to be compared` }]
    }
    const run = (validator: Validator) => {
      stepsLeft = 250_000 + 10 * nodes
      return validator.validate(value)
    }
    try {
      const { errors, valid } = run(first)
      if (valid) return []
      try {
        // The first run stops where it can; this one tells everything.
        return toIssues(run(thorough ??= new Validator(root, "2020-12", false)).errors)
      } catch {
        return toIssues(errors)
      }
    } catch (error) {
      // Or so many errors that they do not fit on the stack.
      if (error === tooLong || error instanceof RangeError) {
        return [{ pointer: "", message: "takes too long to check: nest it less" }]
      }
      if (error instanceof URIError) return [{ pointer: "", message: "has a key that is not well-formed Unicode" }]
      throw error
    }
  })
}

const tooLong = new Error("too many steps")

// The engine compares each item with each other.
const maxUnique = 2000

const measure = (value: unknown) => {
  let nodes = 0
  let isJson = true
  let longest = 0
  const pending: Array<unknown> = [value]
  while (pending.length > 0) {
    const at = pending.pop()
    nodes++
    if (typeof at !== "object" || at === null) {
      isJson &&= at === null || typeof at === "string" || typeof at === "boolean" || Number.isFinite(at)
      continue
    }
    if (Array.isArray(at)) longest = Math.max(longest, at.length)
    for (const member of Object.values(at)) pending.push(member)
  }
  return { isJson, nodes, longest }
}

/** The document as the engine is given it: metered, and without what the engine gets wrong. */
const toEngine = (document: Document, meter: object) => {
  const root = clone({ ...document.schema, $defs: document.definitions }) as Keywords
  const schemas: Array<Keywords> = []
  const pending: Array<unknown> = [root]
  while (pending.length > 0) {
    const schema = pending.pop()
    if (typeof schema !== "object" || schema === null) continue
    schemas.push(schema as Keywords)
    pending.push(...subschemas(schema).map((below) => below.schema))
  }
  const hasUnevaluated = schemas.some((schema) =>
    schema["unevaluatedProperties"] !== undefined || schema["unevaluatedItems"] !== undefined
  )
  for (const schema of schemas) {
    Object.setPrototypeOf(schema, meter)
    const { properties } = schema
    if (properties !== undefined) {
      // What tells alternatives apart comes first, so that the wrong ones are left early.
      const entries = Object.entries(properties as Record<string, unknown>)
      schema["properties"] = Object.fromEntries([...entries.filter(isTag), ...entries.filter((entry) => !isTag(entry))])
    }
    if (hasUnevaluated) isolate(schema, meter)
  }
  return { root, hasUniqueItems: schemas.some((schema) => schema["uniqueItems"] === true) }
}

type Keywords = Record<string, unknown>

const isTag = ([, schema]: readonly [string, unknown]): boolean =>
  typeof schema === "object" && (Object.hasOwn(schema!, "const") || Object.hasOwn(schema!, "enum"))

/**
 * `unevaluatedProperties` must not see what the keywords beside its schema have evaluated. The engine lets it see what comes
 * before: `$ref` before the others, everything before `then`, `else` and `dependentSchemas`. Only below `if` it starts anew.
 */
const isolate = (schema: Keywords, meter: object): void => {
  const alone = (below: unknown): unknown =>
    Object.setPrototypeOf({ if: below, else: { allOf: [below, false] } }, meter)
  const { $ref, dependentSchemas } = schema
  if ($ref !== undefined) {
    delete schema["$ref"]
    schema["allOf"] = [...(schema["allOf"] as Array<unknown> | undefined ?? []), { $ref }]
  }
  for (const keyword of ["then", "else"]) {
    if (schema[keyword] !== undefined) schema[keyword] = alone(schema[keyword])
  }
  if (dependentSchemas !== undefined) {
    schema["dependentSchemas"] = Object.fromEntries(
      Object.entries(dependentSchemas as Keywords).map(([key, below]) => [key, alone(below)])
    )
  }
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
  const isSpecific = errors.some(({ keyword }) => !containers.has(keyword))
  return errors.flatMap((unit, index): ReadonlyArray<InputIssue> => {
    if (isSpecific && containers.has(unit.keyword)) return []
    const pointer = decodeURIComponent(unit.instanceLocation.slice(1))
    switch (unit.keyword) {
      case "required":
      case "dependentRequired": {
        const key = /have (?:required property )?"(.*)"\.$/s.exec(unit.error)?.[1] ?? ""
        return [{ pointer: pointer + toPointer([key]), message: "missing required key" }]
      }
      case "enum":
      case "const": {
        const expected = unit.error.slice(unit.error.indexOf(" match ") + 7, -1).replace(/^any of /, "one of ")
        return [{ pointer, message: `expected ${expected.slice(0, maxExpected)}` }]
      }
      case "false": {
        const above = errors[index - 1]?.keyword
        return [{ pointer, message: above?.endsWith("Properties") === true ? "unexpected key" : "not allowed" }]
      }
      case "type": {
        const expected = unit.error.slice(unit.error.indexOf("Expected ") + 9, -1)
        return [{ pointer, message: `expected ${expected.replaceAll("\"", "")}` }]
      }
      default: {
        // Where the engine names a limit, it comes last, after the value.
        const limit = /[ (]([\d.e+-]+)\)?(?: properties)?\.$/.exec(unit.error)?.[1]
        const keyword = `does not satisfy "${unit.keyword}"${limit === undefined ? "" : `: ${limit}`}`
        return [{ pointer, message: messages.get(unit.keyword) ?? keyword }]
      }
    }
  })
}

const maxExpected = 500

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
 * `format` is an annotation, as in JSON Schema 2020-12: it is not checked. Integers and multiples are those up to 2^53, which a
 * double holds exactly. A pattern that can take exponential time is refused; one that takes time in the square of a text's
 * length, such as `a+$`, is not.
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
export const layer: Layer.Layer<JsonSchemaValidator> = layerEngine(cfworkerEngine)
