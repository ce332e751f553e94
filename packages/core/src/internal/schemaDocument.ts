/**
 * From a raw JSON Schema of any dialect to one sound Draft 2020-12 document, which every engine then reads.
 *
 * A broken schema is found here, before an engine sees it: engines differ in what they do with one.
 */
import { escapeToken } from "effect/JsonPointer"
import type * as JsonSchema from "effect/JsonSchema"
import * as Result from "effect/Result"
import type { Dialect, JsonSchema as RawSchema } from "../JsonSchemaValidator.ts"
import { UnsupportedSchema } from "../JsonSchemaValidator.ts"
import { clone, inspect } from "../StrictJson.ts"
import { normalise } from "./normalSchema.ts"
import { mayTakeExponentialTime } from "./safePattern.ts"
import { checksAtOnce, maxChecksAtOnce } from "./schemaCost.ts"
import {
  appliesInPlace,
  type KeywordShape,
  keywordShapes,
  newerKeywords,
  notInOpenApi30,
  olderKeywords,
  subschemas,
  undecidableKeywords
} from "./schemaKeywords.ts"

/** @internal */
export type Document = JsonSchema.Document<"draft-2020-12">

/** Every schema of a document, boolean ones too, by its JSON Pointer; and the names that `$anchor` gives to some. */
interface Places {
  readonly root: Record<string, unknown>
  readonly byPointer: ReadonlyMap<string, unknown>
  readonly byAnchor: ReadonlyMap<string, unknown>
  readonly pointers: ReadonlyMap<unknown, string>
}

type Keywords = Record<string, unknown>

const types = ["null", "boolean", "object", "array", "number", "string", "integer"]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isSchema = (value: unknown): boolean => typeof value === "boolean" || isObject(value)
const isStrings = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === "string")
const isFinite = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)
const isMap = (value: unknown, isMember: (member: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(isMember)
const isPattern = (value: unknown): value is string => {
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
  "any": { fits: () => true, expected: "" },
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
  if (!isObject(input)) return refuse("it is not a JSON Schema: neither an object nor a boolean")
  let root: Keywords
  try {
    const unsound = inspect(input)
    if (unsound !== undefined) return refuse(unsound.message)
    // Whoever changes the schema later does not change the check, and the caller's schema stays as it is.
    root = clone(input) as Keywords
  } catch {
    return refuse("reading it failed")
  }
  const uri = root["$schema"]
  const declared = dialect ?? (typeof uri === "string"
    ? dialects.get(uri.replace(/^https?:\/\//, "").replace(/#$/, ""))
    : undefined)
  if (declared === undefined && uri !== undefined) {
    return Result.fail(fault("", "$schema", "names a dialect that is not supported"))
  }
  const places = locate(root)
  const broken = findBroken(places, declared) ?? findCycle(places)
  if (broken !== undefined) return Result.fail(broken)
  const document = normalise(root, {
    resolve: (reference) => resolve(reference, places)!,
    nameOf: (schema) => nameOf(places.pointers.get(schema) ?? ""),
    ignoresBesideRef: declared === "draft-07" || declared === "openapi-3.0",
    isOpenApi30: declared === "openapi-3.0"
  })
  return checksAtOnce(document) > maxChecksAtOnce
    ? refuse("its references multiply: one value would be checked thousands of times")
    : Result.succeed(document)
}

const refuse = (reason: string) => Result.fail(new UnsupportedSchema({ reason }))

const fault = (pointer: string, keyword: string, reason: string): UnsupportedSchema =>
  new UnsupportedSchema({ keyword, pointer: `${pointer}/${escapeToken(keyword)}`, reason })

const locate = (root: Keywords): Places => {
  const byPointer = new Map<string, unknown>()
  const byAnchor = new Map<string, unknown>()
  const pointers = new Map<unknown, string>()
  const pending: Array<readonly [pointer: string, schema: unknown]> = [["", root]]
  const components = root["components"]
  const shared = isObject(components) ? components["schemas"] : undefined
  if (isObject(shared)) {
    for (const [name, schema] of Object.entries(shared)) {
      pending.push([`/components/schemas/${escapeToken(name)}`, schema])
    }
  }
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const [pointer, schema] = place
    if (!isSchema(schema)) continue
    byPointer.set(pointer, schema)
    pointers.set(schema, pointer)
    if (!isObject(schema)) continue
    const anchor = anchorOf(schema)
    if (anchor !== undefined) byAnchor.set(anchor, schema)
    for (const below of subschemas(schema)) {
      pending.push([pointer + below.steps.map((step) => `/${escapeToken(step)}`).join(""), below.schema])
    }
  }
  return { root, byPointer, byAnchor, pointers }
}

/** `$anchor`, and how draft-07 writes it: an `$id` that is only a fragment. */
const anchorOf = (schema: Keywords): string | undefined => {
  const { $anchor, $id } = schema
  if (typeof $anchor === "string") return $anchor
  return typeof $id === "string" && /^#./.test($id) ? $id.slice(1) : undefined
}

/** The schema that a reference points to, or `undefined` where it points anywhere else. */
const resolve = (reference: string, { byAnchor, byPointer, root }: Places): unknown => {
  const id = typeof root["$id"] === "string" ? root["$id"].replace(/#.*$/s, "") : ""
  const local = id !== "" && reference.startsWith(id) ? reference.slice(id.length) || "#" : reference
  if (!local.startsWith("#")) return undefined
  try {
    const fragment = decodeURIComponent(local.slice(1))
    return fragment === "" || fragment.startsWith("/") ? byPointer.get(fragment) : byAnchor.get(fragment)
  } catch {
    return undefined
  }
}

/** What a message calls a schema that is referred to: the last step to it. */
const nameOf = (pointer: string): string =>
  pointer.slice(pointer.lastIndexOf("/") + 1).replace(/[^\w.-]/g, "_") || "root"

const findBroken = (places: Places, dialect: Dialect | undefined): UnsupportedSchema | undefined => {
  for (const [pointer, schema] of places.byPointer) {
    if (!isObject(schema)) continue
    for (const [keyword, value] of Object.entries(schema)) {
      const reason = whatIsWrong(keyword, value, schema, dialect, places)
      if (reason !== undefined) return fault(pointer, keyword, reason)
    }
  }
}

const whatIsWrong = (
  keyword: string,
  value: unknown,
  schema: Keywords,
  dialect: Dialect | undefined,
  places: Places
): string | undefined => {
  if (undecidableKeywords.has(keyword)) return "is not supported"
  const shape = keywordShapes.get(keyword)
  if (shape === undefined || value === undefined) return undefined
  if (!shapes[shape].fits(value)) return shapes[shape].expected
  if (dialect !== undefined && !isPartOf(dialect, keyword, value)) return `is not part of ${dialect}`
  switch (keyword) {
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return typeof value === "boolean" && dialect !== "openapi-3.0" ? shapes.number.expected : undefined
    case "pattern":
      return mayTakeExponentialTime(value as string) ? slowPattern : undefined
    case "patternProperties": {
      const patterns = Object.keys(value as object)
      if (!patterns.every(isPattern)) return shapes.pattern.expected
      return patterns.some(mayTakeExponentialTime) ? slowPattern : undefined
    }
    case "items":
      return Array.isArray(value) && schema["prefixItems"] !== undefined
        ? "must be a schema beside \"prefixItems\""
        : undefined
    case "$id":
      return schema === places.root || anchorOf(schema) === (value as string).slice(1)
        ? undefined
        : "is only supported at the root"
    case "$schema":
      return schema === places.root ? undefined : "is only supported at the root"
    case "$anchor":
      return places.byAnchor.get(value as string) === schema ? undefined : "is used twice"
    case "$ref":
      return resolve(value as string, places) === undefined
        ? "must point to a schema inside the same document"
        : undefined
  }
  return undefined
}

const slowPattern = "holds a pattern that may take exponential time"

const isPartOf = (dialect: Dialect, keyword: string, value: unknown): boolean => {
  const isOlder = olderKeywords.has(keyword) || keyword === "items" && Array.isArray(value)
  const isNewer = newerKeywords.has(keyword)
  switch (dialect) {
    case "draft-07":
      return !isNewer
    case "draft-2020-12":
    case "openapi-3.1":
      return !isOlder
    case "openapi-3.0":
      return !isOlder && !isNewer && !notInOpenApi30.has(keyword)
  }
}

/** A reference that leads back to itself without entering the value would never finish. */
const findCycle = (places: Places): UnsupportedSchema | undefined => {
  const finished = new Set<unknown>()
  for (const [pointer, start] of places.byPointer) {
    const path = new Set<unknown>()
    const pending: Array<{ readonly schema: unknown; readonly leave: boolean }> = [{ schema: start, leave: false }]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { leave, schema } = next
      if (leave) {
        path.delete(schema)
        finished.add(schema)
        continue
      }
      if (!isObject(schema) || finished.has(schema)) continue
      if (path.has(schema)) return fault(pointer, "$ref", "refers to itself")
      path.add(schema)
      pending.push({ schema, leave: true })
      const reference = schema["$ref"]
      if (typeof reference === "string") pending.push({ schema: resolve(reference, places), leave: false })
      for (const below of subschemas(schema)) {
        if (appliesInPlace(below.steps[0]!)) pending.push({ schema: below.schema, leave: false })
      }
    }
  }
}
