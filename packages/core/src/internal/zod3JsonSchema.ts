/**
 * The JSON Schema (draft-07) of a zod 3 schema, which zod 3 does not write itself: that of the input, without references, as the
 * AI SDK shows it to a model.
 *
 * Source: what `zodSchema` of `ai` 7.0.173 gives, kind by kind. Its oddities are part of a fingerprint: a nullable string without
 * checks loses its description, a definition inside itself takes anything.
 */
import { zod3StringSchema } from "./zod3StringSchema.ts"

/** The `_def` of a schema; `typeName` says what else it has. */
type Definition = any

type JsonSchema = Record<string, unknown>

/** Where a definition stands. A definition inside itself takes anything; that is seen by the paths at which it stood before. */
interface Place {
  readonly path: ReadonlyArray<string>
  /** The length of the path of the nearest property, whose optionality its object tells. */
  readonly property: number
  readonly seen: Map<Definition, ReadonlyArray<string>>
}

/** @internal */
export const zod3JsonSchema = (schema: object & { readonly _def?: Definition }): JsonSchema => ({
  ...write(schema._def, { path: ["#"], property: 0, seen: new Map() }),
  $schema: "http://json-schema.org/draft-07/schema#"
})

const write = (definition: Definition, place: Place): JsonSchema | undefined => {
  const { path, seen } = place
  const before = seen.get(definition)
  if (before !== undefined && before.length < path.length && before.every((step, index) => step === path[index])) {
    return {}
  }
  seen.set(definition, path)
  const schema = writeKind(definition, place)
  if (schema !== undefined && definition.description) schema["description"] = definition.description
  return schema
}

const writeAt = ({ _def }: { readonly _def: Definition }, place: Place, ...steps: ReadonlyArray<string>) =>
  write(_def, { ...place, path: [...place.path, ...steps] })

/** `undefined` for what has no input in JSON: a function, a symbol, `void`. */
const writeKind = (definition: Definition, place: Place): JsonSchema | undefined => {
  const { checks, innerType, options, type, typeName, values, valueType } = definition
  switch (typeName) {
    case "ZodString":
      return zod3StringSchema(checks)
    case "ZodNumber":
      return {
        type: checks?.some(({ kind }: any) => kind === "int") ? "integer" : "number",
        ...bounds(checks)
      }
    case "ZodBigInt":
      return { type: "integer", format: "int64", ...bounds(checks) }
    case "ZodBoolean":
      return { type: "boolean" }
    case "ZodDate":
      return { type: "string", format: "date-time" }
    case "ZodNull":
      return { type: "null" }
    case "ZodUndefined":
    case "ZodNever":
    case "ZodNaN":
      return { not: {} }
    case "ZodAny":
    case "ZodUnknown":
      return {}
    case "ZodLiteral":
      return literal(definition.value)
    case "ZodEnum":
      return { type: "string", enum: values }
    case "ZodNativeEnum":
      return nativeEnum(values)
    case "ZodObject":
      return object(definition, place)
    case "ZodRecord":
      return {
        type: "object",
        additionalProperties: writeAt(valueType, place, "additionalProperties") ?? true,
        ...propertyNames(definition.keyType?._def, place)
      }
    case "ZodArray":
      return array(definition, place)
    case "ZodTuple":
      return tuple(definition, place)
    case "ZodSet":
      return {
        type: "array",
        uniqueItems: true,
        items: writeAt(valueType, place, "items"),
        ...definition.minSize && { minItems: definition.minSize.value },
        ...definition.maxSize && { maxItems: definition.maxSize.value }
      }
    case "ZodMap": {
      const items = [definition.keyType, valueType].map((schema, index) =>
        writeAt(schema, place, "items", "items", `${index}`) ?? {}
      )
      return { type: "array", maxItems: 125, items: { type: "array", items, minItems: 2, maxItems: 2 } }
    }
    case "ZodUnion":
    case "ZodDiscriminatedUnion":
      return union(options instanceof Map ? [...options.values()] : options, place)
    case "ZodIntersection":
      return intersection([definition.left, definition.right], place)
    case "ZodPipeline": {
      const input = writeAt(definition.in, place, "allOf", "0")
      const output = writeAt(definition.out, place, "allOf", input === undefined ? "0" : "1")
      return { allOf: [input, output].filter((schema) => schema !== undefined) }
    }
    case "ZodNullable":
      return nullable(innerType, place)
    case "ZodOptional": {
      if (place.path.length === place.property) return writeAt(innerType, place)
      const schema = writeAt(innerType, place, "anyOf", "1")
      return schema === undefined ? {} : { anyOf: [{ not: {} }, schema] }
    }
    case "ZodDefault":
      return { ...writeAt(innerType, place), default: definition.defaultValue() }
    case "ZodCatch":
    case "ZodReadonly":
      return writeAt(innerType, place)
    case "ZodBranded":
    case "ZodPromise":
      return writeAt(type, place)
    case "ZodEffects":
      return writeAt(definition.schema, place)
    case "ZodLazy":
      return writeAt(definition.getter(), place)
    default:
      return undefined
  }
}

/** Of two checks of one kind the last counts. */
const bounds = (checks: ReadonlyArray<any> = []): JsonSchema => {
  const schema: JsonSchema = {}
  for (const { inclusive, kind, value } of checks) {
    if (kind === "min") schema[inclusive ? "minimum" : "exclusiveMinimum"] = value
    if (kind === "max") schema[inclusive ? "maximum" : "exclusiveMaximum"] = value
    if (kind === "multipleOf") schema["multipleOf"] = value
  }
  return schema
}

const literal = (value: unknown): JsonSchema => {
  const type = jsonType(value)
  if (type === undefined || value === null) return { type: Array.isArray(value) ? "array" : "object" }
  return { type, const: value }
}

const jsonType = (value: unknown): string | undefined => {
  if (value === null) return "null"
  const type = typeof value
  if (type === "bigint") return "integer"
  return type === "string" || type === "number" || type === "boolean" ? type : undefined
}

/** An enum of TypeScript also has the names of its numbers, as members that lead back to them. */
const nativeEnum = (members: any): JsonSchema => {
  const values = Object.keys(members).filter((key) => typeof members[members[key]] !== "number").map((key) =>
    members[key]
  )
  const [first, ...others] = new Set(values.map((value) => typeof value))
  const type = first === "string" ? "string" : "number"
  return { type: first === undefined || others.length > 0 ? ["string", "number"] : type, enum: values }
}

const object = ({ catchall, shape, unknownKeys }: Definition, place: Place): JsonSchema => {
  const properties: JsonSchema = {}
  const required: Array<string> = []
  for (const [name, member] of Object.entries<any>(shape())) {
    if (member?._def === undefined) continue
    const optional = isOptional(member)
    const path = [...place.path, "properties", name]
    const schema = write(member._def, { ...place, path, property: path.length })
    if (schema === undefined) continue
    // Zod itself leaves out a member of that name.
    if (name !== "__proto__") properties[name] = schema
    if (!optional) required.push(name)
  }
  const additionalProperties = catchall._def.typeName === "ZodNever"
    ? unknownKeys === "passthrough"
    : writeAt(catchall, place, "additionalProperties")
  return {
    type: "object",
    properties,
    ...required.length > 0 && { required },
    ...additionalProperties !== undefined && { additionalProperties }
  }
}

/** Zod asks by parsing `undefined`, which may run the program's own code. */
const isOptional = (schema: { readonly isOptional: () => boolean }): boolean => {
  try {
    return schema.isOptional()
  } catch {
    return true
  }
}

const propertyNames = (key: Definition, place: Place): JsonSchema => {
  if (key?.typeName === "ZodEnum") return { propertyNames: { enum: key.values } }
  const text = key?.typeName === "ZodBranded" ? key.type._def : key
  if (text?.typeName !== "ZodString" || !(text.checks?.length > 0)) return {}
  const { type: _, ...names } = text === key ? zod3StringSchema(key.checks) : write(text, place)!
  return { propertyNames: names }
}

const array = ({ exactLength, maxLength, minLength, type }: Definition, place: Place): JsonSchema => ({
  type: "array",
  ...type._def.typeName !== "ZodAny" && { items: writeAt(type, place, "items") },
  ...minLength && { minItems: minLength.value },
  ...maxLength && { maxItems: maxLength.value },
  ...exactLength && { minItems: exactLength.value, maxItems: exactLength.value }
})

const tuple = ({ items, rest }: Definition, place: Place): JsonSchema => ({
  type: "array",
  minItems: items.length,
  items: writeEach(items, place, "items"),
  ...rest ? { additionalItems: writeAt(rest, place, "additionalItems") } : { maxItems: items.length }
})

const writeEach = (schemas: ReadonlyArray<any>, place: Place, keyword: string): Array<JsonSchema> =>
  schemas.map((schema, index) => writeAt(schema, place, keyword, `${index}`)).filter((schema) => schema !== undefined)

/** The kinds of which a union is a list of types, where they have no checks. */
const primitives: ReadonlyMap<string, string> = new Map([
  ["ZodString", "string"],
  ["ZodNumber", "number"],
  ["ZodBigInt", "integer"],
  ["ZodBoolean", "boolean"],
  ["ZodNull", "null"]
])

const primitiveType = ({ _def: { checks, typeName } }: any): string | undefined =>
  checks?.length > 0 ? undefined : primitives.get(typeName)

const union = (options: ReadonlyArray<any>, place: Place): JsonSchema | undefined => {
  const areAll = (kind: string) => options.every(({ _def }) => _def.typeName === kind)
  const types = options.map(primitiveType)
  if (!types.includes(undefined)) return { type: oneOrAll(types) }
  if (areAll("ZodLiteral") && options.every(({ description }) => !description)) {
    const values = options.map(({ _def }) => _def.value)
    const types = values.map(jsonType)
    if (!types.includes(undefined)) return { type: oneOrAll(types), enum: [...new Set(values)] }
  } else if (areAll("ZodEnum")) {
    return { type: "string", enum: [...new Set(options.flatMap(({ _def }) => _def.values))] }
  }
  const anyOf = writeEach(options, place, "anyOf")
  return anyOf.length > 0 ? { anyOf } : undefined
}

const oneOrAll = (types: ReadonlyArray<unknown>): unknown => {
  const distinct = [...new Set(types)]
  return distinct.length > 1 ? distinct : distinct[0]
}

/** Two objects that each refuse other members would refuse everything. */
const intersection = (sides: ReadonlyArray<any>, place: Place): JsonSchema | undefined => {
  const allOf = writeEach(sides, place, "allOf").flatMap((schema) => {
    if (schema["type"] !== "string" && Object.hasOwn(schema, "allOf")) return schema["allOf"] as Array<JsonSchema>
    const { additionalProperties, ...rest } = schema
    return [additionalProperties === false ? rest : schema]
  })
  return allOf.length > 0 ? { allOf } : undefined
}

const nullable = (inner: any, place: Place): JsonSchema | undefined => {
  const type = primitiveType(inner)
  if (type !== undefined) return { type: [type, "null"] }
  const schema = writeAt(inner, place, "anyOf", "0")
  return schema === undefined ? undefined : { anyOf: [schema, { type: "null" }] }
}
