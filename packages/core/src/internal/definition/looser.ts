/** Whether a schema may take more than it did, told by the keyword that changed. What cannot be told counts as yes. */
import { getOwn } from "../ownProperty.ts"
import { keywordShapes } from "../schemaKeywords.ts"
import { writeJson } from "../writeJson.ts"
import type { Place } from "./place.ts"

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "))

const upperBounds = words("maximum exclusiveMaximum maxLength maxItems maxProperties maxContains")
const lowerBounds = words("minimum exclusiveMinimum minLength minItems minProperties minContains")

/** Of these it depends on what stands around them whether less below means less. */
const turning = words("not if oneOf")

/** They let something in by being there. The other keywords keep something out. */
const opening = words("nullable minContains patternProperties prefixItems $ref")

/** A member more takes more. Of the other lists and objects of schemas, a member less does. */
const alternatives = words("anyOf oneOf patternProperties prefixItems")

/** Say nothing about values by themselves. */
const neutral = words("$id $anchor $schema $defs definitions")

const constrains = (keyword: string): boolean =>
  (keywordShapes.has(keyword) || keyword === "format") && !neutral.has(keyword)

/**
 * The place that a keyword, or a member of one, has in its schema. A value in it that is no schema counts as a whole.
 *
 * @internal
 */
export const placeInSchema = (place: Place): Place => {
  let at = place
  while (at.above?.role === "data" || at.above?.role === "set") at = at.above
  return at
}

/**
 * Of a place in a schema, whether its change lets something in.
 *
 * @internal
 */
export const isLooser = (at: Place): boolean => {
  const { above, after, before, key, role } = at
  switch (above?.role) {
    case "definition":
      return role === "schema" && before !== undefined && (after === undefined || isLooserSchema(before, after))
    case "schema":
      return constrains(key) &&
        (isTurned(before === undefined || after === undefined ? above : at) || isLooserKeyword(key, at, above))
    case "schemas":
      return constrains(above.key) && (isTurned(above) || isLooserMember(above.key, at, above))
    case "sets":
    case "dependencies":
      return isTurned(above) || before !== undefined && !holds(after, before)
    default:
      return false
  }
}

const isTurned = (place: Place): boolean => {
  for (let at: Place | undefined = place; at?.above !== undefined; at = at.above) {
    if (at.above.role === "schema" && turning.has(at.key)) return true
  }
  return false
}

const isLooserKeyword = (keyword: string, { after, before, role }: Place, schema: Place): boolean => {
  if (before === undefined) return opening.has(keyword)
  if (after === undefined) return isOpenWithout(keyword, schema)
  if (role === "schema") return isLooserSchema(before, after)
  if (upperBounds.has(keyword)) return !isAtMost(after, before)
  if (lowerBounds.has(keyword)) return !isAtMost(before, after)
  switch (keyword) {
    case "type":
      return !holds([before, before === "number" || holds(before, ["number"]) ? "integer" : []].flat(), [after].flat())
    case "enum":
      return !holds(before, after)
    case "required":
      return !holds(after, before)
    case "nullable":
      return after !== false
    case "uniqueItems":
      return after !== true
    default:
      return true
  }
}

const isLooserMember = (keyword: string, { after, before }: Place, { above }: Place): boolean => {
  if (before === undefined) return alternatives.has(keyword)
  if (after === undefined) return keyword !== "anyOf" && isOpenWithout(keyword, above!)
  return isLooserSchema(before, after)
}

/** One of the two is true or false, or no schema at all. */
const isLooserSchema = (before: unknown, after: unknown): boolean =>
  before === false || before !== true && after !== false

const named = words("properties patternProperties")

/** What the properties kept out comes in when they are gone, unless the schema takes no others. */
const isOpenWithout = (keyword: string, { after }: Place): boolean =>
  keyword !== "nullable" && !(named.has(keyword) && getOwn(after, "additionalProperties") === false)

const isAtMost = (left: unknown, right: unknown): boolean =>
  typeof left === "number" && typeof right === "number" && left <= right

/**
 * Whether a list has all items of another.
 *
 * @internal
 */
export const holds = (list: unknown, items: unknown): boolean => {
  if (!Array.isArray(list) || !Array.isArray(items)) return false
  const texts = new Set(list.map((item) => writeJson(item)))
  return items.every((item) => texts.has(writeJson(item)))
}
