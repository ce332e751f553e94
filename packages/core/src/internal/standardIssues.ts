/**
 * From the issues of a Standard Schema library to places that do not fit, without the input: libraries like to put the value
 * that they were given into their messages.
 */
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { type InputIssue, toPointer } from "../InputIssue.ts"
import { getAt } from "./ownProperty.ts"
import { printable } from "./printable.ts"
import { repeats } from "./repeatedInput.ts"

/** @internal */
export const fromStandardIssue = (issue: StandardSchemaV1.Issue, input: unknown): InputIssue => {
  // arktype's path is an array of a class of its own, whose `map` makes paths.
  const path = Array.from(issue.path ?? [], (step) => typeof step === "object" ? step.key : step)
  const value = getAt(input, path)
  const { expected } = issue as { readonly expected?: unknown }
  const told = [typeof expected === "string" ? `expected ${expected}` : undefined, issue.message]
  const message = told.find((text) => text !== undefined && !repeats(text, value))
  return { pointer: toPointer(path), message: printable(message ?? "not a value that the schema takes", 300) }
}
