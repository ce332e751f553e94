import { getOwn } from "../ownProperty.ts"
import { subschemas } from "../schemaKeywords.ts"
import { holds, isLooser, placeInSchema } from "./looser.ts"
import type { Place } from "./place.ts"
import { isObject } from "./role.ts"

/** @internal */
export type SchemaWarning = "looser" | "new-parameter" | "required-parameter" | "new-default"

/**
 * What a change in a schema means for those who call the tool.
 *
 * @internal
 */
export const schemaWarnings = (place: Place, isInput: boolean): ReadonlyArray<SchemaWarning> => {
  const at = placeInSchema(place)
  const isDefault = at.key === "default" && at.above?.role === "schema" && at.after !== undefined
  return [
    ...isInput ? parameterWarnings(at) : [],
    ...isLooser(at) ? ["looser" as const] : [],
    ...isDefault ? ["new-default" as const] : []
  ]
}

const parameterWarnings = ({ above, after, before, key, role }: Place): ReadonlyArray<SchemaWarning> => {
  if (after === undefined) return []
  if (role === "set") {
    const isType = key === "type" && above?.role === "schema"
    return isType || holds(before ?? [], after) ? [] : ["required-parameter"]
  }
  if (before !== undefined || role === "data") return []
  const isMember = above?.role === "schemas"
  const isProperty = isMember && above.key === "properties"
  const isRequired = isProperty && holds(getOwn(above.above?.after, "required"), [key])
  const added = allSchemas(isMember ? after : { [key]: after })
  const any = (keyword: string) => added.some((schema) => Object.keys(getOwn(schema, keyword) ?? {}).length > 0)
  return [
    ...isProperty || any("properties") ? ["new-parameter" as const] : [],
    ...isRequired || any("required") ? ["required-parameter" as const] : []
  ]
}

const allSchemas = (root: unknown): ReadonlyArray<unknown> => {
  const found = [root]
  for (const schema of found) if (isObject(schema)) { for (const below of subschemas(schema)) found.push(below.schema) }
  return found
}
