/**
 * What a JSON Schema of any dialect says about a place. A keyword that is not known here allows everything.
 */
import type { JsonSchema } from "../../JsonSchemaValidator.ts"
import { getAt, getOwn } from "../ownProperty.ts"
import { anywhere, known, lazily, meet, patternOf, type Place, Type, typesOf, unite } from "./place.ts"

const nothing = known({ types: 0, values: [] })
const onlyNull = known({ types: Type.null, values: [null] })

/** @internal */
export const placeOfJsonSchema = (root: JsonSchema): Place => {
  const places = new Map<object, Place>()

  const placeOf = (schema: unknown): Place => {
    if (schema === false) return nothing
    // References in a schema with an identity of its own are not to this document.
    if (typeof schema !== "object" || schema === null || schema !== root && Object.hasOwn(schema, "$id")) {
      return anywhere
    }
    let place = places.get(schema)
    if (place === undefined) places.set(schema, place = lazily(() => wholePlace(schema)))
    return place
  }

  const placesOf = (schemas: unknown): ReadonlyArray<Place> => listOf(schemas).map(placeOf)

  const wholePlace = (schema: object): Place => {
    const reference = getOwn(schema, "$ref")
    const alternatives = ["anyOf", "oneOf"].map((keyword) => placesOf(getOwn(schema, keyword)))
    // What stands beside a reference counts in some dialects only.
    const place = typeof reference === "string"
      ? placeOf(resolve(root, reference))
      : meet([
        ownPlace(schema),
        ...placesOf(getOwn(schema, "allOf")),
        ...alternatives.filter((options) => options.length > 0).map(unite)
      ])
    return getOwn(schema, "nullable") === true ? unite([place, onlyNull]) : place
  }

  const ownPlace = (schema: object): Place => {
    const read = (keyword: string) => getOwn(schema, keyword)
    const type = read("type")
    const typeNames = typeof type === "string" ? [type] : listOf(type)
    const values = Object.hasOwn(schema, "const") ? [read("const")] : listOf(read("enum"))
    let types: number = typeNames.length > 0
      ? typeNames.reduce<number>((bits, name) => bits | bitOf(name), 0)
      : Type.any
    if (values.length > 0) types &= typesOf(values)

    const properties = read("properties")
    const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : []
    const additional = read("additionalProperties")
    const isOpen = additional === undefined || read("patternProperties") !== undefined

    const items = read("items")
    const prefix = placesOf(read("prefixItems") ?? items)
    const otherItems = Array.isArray(items) ? read("additionalItems") : items
    return known({
      types,
      isInteger: typeNames.includes("integer") && !typeNames.includes("number"),
      members: names.length > 0 ? new Map(names.map((name) => [name, placeOf(getOwn(properties, name))])) : undefined,
      required: new Set(listOf(read("required")) as ReadonlyArray<string>),
      isClosed: additional === false && !isOpen,
      // A place of its own even where it takes anything: the schema says so.
      rest: isOpen ? anywhere : lazily(() => placeOf(additional)),
      items: prefix.length === 0 ? placeOf(otherItems) : lazily(() => unite([...prefix, placeOf(otherItems)])),
      prefix,
      values: values.length > 0 ? values : types === Type.null ? [null] : undefined,
      pattern: patternOf(read("pattern"), "u"),
      isRegex: read("format") === "regex"
    })
  }

  return placeOf(root)
}

const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const bitOf = (name: unknown): number =>
  getOwn(Type, name === "integer" ? "number" : name as string) as number | undefined ?? Type.any

/** What a reference inside the document points to; anything else is not known. */
const resolve = (root: unknown, reference: string): unknown => {
  const [start, ...steps] = decodeURIComponent(reference).split("/")
  return start === "#" ? getAt(root, steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))) : undefined
}
