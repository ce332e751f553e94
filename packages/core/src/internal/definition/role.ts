/**
 * What a place in a tool definition is: below `inputSchema` and `outputSchema` the keywords of JSON Schema mean something, anywhere
 * else a value is data, even one that looks like a schema.
 */
import { keywordShapes } from "../schemaKeywords.ts"

/**
 * - `definition`: the root. `schema`: a JSON Schema. `schemas`: a list of them, or an object of them by name.
 * - `set`: what may be a list of names whose order means nothing. `sets`: an object of those.
 * - `dependencies`: an object of schemas and lists of names.
 * - `data`: any other value.
 *
 * @internal
 */
export type Role = "definition" | "schema" | "schemas" | "set" | "sets" | "dependencies" | "data"

/**
 * What the member of that key is, in a value of that role.
 *
 * @internal
 */
export const roleBelow = (role: Role, key: string, member: unknown): Role => {
  switch (role) {
    case "definition":
      return key === "inputSchema" || key === "outputSchema" ? "schema" : "data"
    case "schema":
      return roleOfKeyword(key, Array.isArray(member))
    case "schemas":
      return "schema"
    case "dependencies":
      return Array.isArray(member) ? "set" : "schema"
    case "sets":
      return "set"
    case "set":
    case "data":
      return "data"
  }
}

const roleOfKeyword = (keyword: string, isArray: boolean): Role => {
  switch (keywordShapes.get(keyword)) {
    case "schema":
      return "schema"
    case "schema-or-array":
      return isArray ? "schemas" : "schema"
    case "schema-array":
      return isArray ? "schemas" : "data"
    case "schema-map":
      return isArray ? "data" : "schemas"
    case "schema-or-strings-map":
      return isArray ? "data" : "dependencies"
    case "strings-map":
      return isArray ? "data" : "sets"
    case "strings":
    case "type":
      return "set"
    default:
      return "data"
  }
}

/**
 * Whether a value of that role is a list of names whose order means nothing.
 *
 * @internal
 */
export const isSet = (role: Role, value: unknown): value is ReadonlyArray<string> =>
  role === "set" && Array.isArray(value) && value.every((item) => typeof item === "string")

/** @internal */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
