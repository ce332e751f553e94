/**
 * From a raw JSON Schema of any dialect to one sound Draft 2020-12 document, which every engine then reads.
 *
 * A broken schema is found here, before an engine sees it: engines differ in what they do with one.
 */
import { escapeToken, parseUriFragment } from "effect/JsonPointer"
import * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import type { Dialect, JsonSchema as RawSchema } from "../JsonSchemaValidator.ts"
import { UnsupportedSchema } from "../JsonSchemaValidator.ts"
import { clone, inspect } from "../StrictJson.ts"
import { type KeywordShape, keywordShapes, subschemas, undecidableKeywords } from "./schemaKeywords.ts"

/** @internal */
export type Document = JsonSchema.Document<"draft-2020-12">

type Located = { readonly schema: Record<string, unknown>; readonly pointer: string }

const types = ["null", "boolean", "object", "array", "number", "string", "integer"]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value)
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string")
const isFinite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)
const isMap = (value: unknown, isMember: (member: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(isMember)
const isPattern = (value: unknown): boolean => {
  if (typeof value !== "string") return false
  try {
    new RegExp(value, "u")
    return true
  } catch {
    return false
  }
}

const shapes: Record<KeywordShape, { readonly fits: (value: unknown) => boolean; readonly expected: string }> = {
  "schema": { fits: isSchema, expected: "must be a schema" },
  "schema-array": {
    fits: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
    expected: "must be a non-empty array of schemas"
  },
  "schema-map": { fits: (value) => isMap(value, isSchema), expected: "must be an object of schemas" },
  "schema-or-array": {
    fits: (value) => isSchema(value) || Array.isArray(value) && value.every(isSchema),
    expected: "must be a schema or an array of schemas"
  },
  "schema-or-strings-map": {
    fits: (value) => isMap(value, (member) => isSchema(member) || isStrings(member)),
    expected: "must be an object of schemas or arrays of strings"
  },
  "strings-map": { fits: (value) => isMap(value, isStrings), expected: "must be an object of arrays of strings" },
  "strings": { fits: isStrings, expected: "must be an array of strings" },
  "string": { fits: (value) => typeof value === "string", expected: "must be a string" },
  "pattern": { fits: isPattern, expected: "must be a regular expression that JavaScript takes in Unicode mode" },
  "boolean": { fits: (value) => typeof value === "boolean", expected: "must be true or false" },
  "array": { fits: Array.isArray, expected: "must be an array" },
  "type": {
    fits: (value) => {
      const names = Array.isArray(value) ? value : [value]
      return names.length > 0 && names.every((name) => types.includes(name))
    },
    expected: `must be one or more of ${types.join(", ")}`
  },
  "count": {
    fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
    expected: "must be a non-negative integer"
  },
  "number": { fits: isFinite, expected: "must be a number" },
  "number-or-boolean": {
    fits: (value) => isFinite(value) || typeof value === "boolean",
    expected: "must be a number"
  },
  "positive-number": { fits: (value) => isFinite(value) && value > 0, expected: "must be a number above 0" }
}

const dialects: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["json-schema.org/draft-06/schema", "draft-07"],
  ["json-schema.org/draft-07/schema", "draft-07"],
  ["json-schema.org/draft/2020-12/schema", "draft-2020-12"],
  ["spec.openapis.org/oas/3.1/dialect/base", "openapi-3.1"]
])

/** @internal */
export const toDocument = (
  input: RawSchema,
  dialect: Dialect | undefined
): Result.Result<Document, UnsupportedSchema> => {
  if (typeof input === "boolean") {
    return Result.succeed({ dialect: "draft-2020-12", schema: input ? {} : { not: {} }, definitions: {} })
  }
  if (!isObject(input)) {
    return Result.fail(new UnsupportedSchema({ reason: "it is not a JSON Schema: neither an object nor a boolean" }))
  }
  const unsound = inspect(input)
  if (unsound !== undefined) return Result.fail(new UnsupportedSchema({ reason: unsound.message }))
  // Engines and importers may keep or mark what they are given; the caller's schema stays as it is.
  const schema = clone(input) as Record<string, unknown>

  const declared = dialect ?? declaredDialect(schema)
  if (Result.isResult(declared)) return Result.fail(declared.failure)
  const located = locate(schema)
  for (const place of located) {
    const broken = checkKeywords(place, schema, declared)
    if (broken !== undefined) return Result.fail(broken)
  }
  const cycle = findCycle(located, schema)
  if (cycle !== undefined) return Result.fail(cycle)

  try {
    switch (declared ?? guessDialect(located)) {
      case "draft-07":
        return Result.succeed(JsonSchema.fromSchemaDraft07(schema))
      case "draft-2020-12":
        return Result.succeed(JsonSchema.fromSchemaDraft2020_12(schema))
      case "openapi-3.0":
        return Result.succeed(JsonSchema.fromSchemaOpenApi3_0(schema))
      case "openapi-3.1":
        return Result.succeed(JsonSchema.fromSchemaOpenApi3_1(schema))
    }
  } catch (error) {
    return Result.fail(new UnsupportedSchema({ reason: error instanceof Error ? error.message : "it is malformed" }))
  }
}

const declaredDialect = (
  schema: Record<string, unknown>
): Dialect | undefined | Result.Failure<never, UnsupportedSchema> => {
  const uri = schema["$schema"]
  if (uri === undefined) return undefined
  const dialect = typeof uri === "string"
    ? dialects.get(uri.replace(/^https?:\/\//, "").replace(/#$/, ""))
    : undefined
  return dialect ?? unsupported("$schema", "/$schema", `names a dialect that is not supported`)
}

const unsupported = (keyword: string, pointer: string, reason: string) =>
  Result.fail(new UnsupportedSchema({ keyword, pointer, reason })) as Result.Failure<never, UnsupportedSchema>

/** Every schema of the document with its place. */
const locate = (root: Record<string, unknown>): Array<Located> => {
  const out: Array<Located> = []
  const pending: Array<Located> = [{ schema: root, pointer: "" }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    out.push(place)
    for (const { schema, steps } of subschemas(place.schema)) {
      if (isObject(schema)) {
        pending.push({ schema, pointer: place.pointer + steps.map((step) => `/${escapeToken(step)}`).join("") })
      }
    }
  }
  return out
}

const checkKeywords = (
  { pointer, schema }: Located,
  root: Record<string, unknown>,
  dialect: Dialect | undefined
): UnsupportedSchema | undefined => {
  for (const [keyword, value] of Object.entries(schema)) {
    const fault = (reason: string) =>
      new UnsupportedSchema({ keyword, pointer: `${pointer}/${escapeToken(keyword)}`, reason })
    if (undecidableKeywords.has(keyword)) return fault("is not supported")
    const shape = keywordShapes.get(keyword)
    if (shape === undefined || value === undefined) continue
    if (!shapes[shape].fits(value)) return fault(shapes[shape].expected)
    if (shape === "number-or-boolean" && typeof value === "boolean" && dialect !== "openapi-3.0") {
      return fault(shapes.number.expected)
    }
    if (keyword === "patternProperties" && !Object.keys(value as object).every(isPattern)) {
      return fault(shapes.pattern.expected)
    }
    if (keyword === "$id" && schema !== root) return fault("is only supported at the root")
    if (keyword === "$ref" && resolve(value as string, root) === undefined) {
      return fault("must point to a schema inside the same document")
    }
  }
}

/** The schema that a local reference points to. */
const resolve = (reference: string, root: Record<string, unknown>): unknown => {
  const steps = reference.startsWith("#") ? parseUriFragment(reference) : undefined
  let at: unknown = root
  for (const step of steps ?? [""]) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined
    at = (at as Record<string, unknown>)[step]
  }
  return isSchema(at) ? at : undefined
}

const appliedInPlace = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"]

/** A reference that leads back to itself without entering the value would never finish. */
const findCycle = (located: ReadonlyArray<Located>, root: Record<string, unknown>): UnsupportedSchema | undefined => {
  const finished = new Set<unknown>()
  for (const { pointer, schema } of located) {
    const path = new Set<unknown>()
    const pending: Array<{ readonly schema: unknown; readonly leave: boolean }> = [{ schema, leave: false }]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (next.leave) {
        path.delete(next.schema)
        finished.add(next.schema)
        continue
      }
      if (!isObject(next.schema) || finished.has(next.schema)) continue
      if (path.has(next.schema)) {
        return new UnsupportedSchema({ keyword: "$ref", pointer: `${pointer}/$ref`, reason: "refers to itself" })
      }
      path.add(next.schema)
      pending.push({ schema: next.schema, leave: true })
      const reference = next.schema["$ref"]
      if (typeof reference === "string") pending.push({ schema: resolve(reference, root), leave: false })
      for (const { schema, steps } of subschemas(next.schema)) {
        if (appliedInPlace.includes(steps[0]!)) pending.push({ schema, leave: false })
      }
    }
  }
}

/**
 * Without `$schema` a document is 2020-12, unless it uses what only older drafts have. Those ignore the keywords beside a
 * `$ref`; whoever wrote no `$schema` cannot be held to that, so the keywords are kept.
 */
const guessDialect = (located: ReadonlyArray<Located>): Dialect => {
  const isOlder = located.some(({ schema }) =>
    ["definitions", "additionalItems", "dependencies"].some((keyword) => Object.hasOwn(schema, keyword)) ||
    Array.isArray(schema["items"])
  )
  if (!isOlder) return "draft-2020-12"
  for (const { schema } of located) {
    if (schema["$ref"] === undefined) continue
    const beside = Object.keys(schema).some((keyword) =>
      keyword !== "$ref" && keyword !== "definitions" && keyword !== "$defs" && keyword !== "$schema" &&
      keywordShapes.has(keyword)
    )
    if (beside) {
      schema["allOf"] = [...(schema["allOf"] as Array<unknown> | undefined ?? []), { $ref: schema["$ref"] }]
      delete schema["$ref"]
    }
  }
  return "draft-07"
}
