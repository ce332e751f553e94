/**
 * From Effect's tree of schema issues to a flat list of places, none of which repeats the input.
 */
import * as SchemaIssue from "effect/SchemaIssue"
import { type InputIssue, toPointer } from "../InputIssue.ts"
import { getAt } from "./ownProperty.ts"
import { repeats } from "./repeatedInput.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return "missing required key"
      case "UnexpectedKey":
        return "unexpected key"
      default:
        return SchemaIssue.defaultLeafHook(issue)
    }
  }
})

/** @internal */
export const fromEffectIssue = (issue: SchemaIssue.Issue, input: unknown): ReadonlyArray<InputIssue> =>
  format(issue).issues.map((at) => {
    const path = (at.path ?? []).map((step) => typeof step === "object" ? step.key : step)
    return { pointer: toPointer(path), message: told(at.message, getAt(input, path)) }
  })

const told = (message: string, value: unknown): string => {
  if (message === "Expected never") return "not allowed"
  // Schemas have messages of their own.
  if (!message.startsWith("Expected ") && repeats(message, value)) return "not a value that the schema takes"
  return clip(message.replace(/^Expected /, "expected "))
}

// An enum can have thousands of members, and all are expected.
const maxLength = 500

const clip = (text: string): string => text.length > maxLength ? `${text.slice(0, maxLength)}…` : text

/**
 * No key is dropped in silence, and no issue holds the input.
 *
 * @internal
 */
export const parseOptions = { errors: "first", onExcessProperty: "error" } as const

/**
 * The same, and every problem is reported: only for inputs that cannot have too many.
 *
 * @internal
 */
export const thoroughOptions = { ...parseOptions, errors: "all" } as const

/**
 * How many members an input may have to be told everything that is wrong with it.
 *
 * @internal
 */
export const maxThorough = 2000
