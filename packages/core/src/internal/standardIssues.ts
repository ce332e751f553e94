/**
 * From the issues of a Standard Schema library to places that do not fit, without the input: libraries like to put the value
 * that they were given into their messages.
 */
import type { StandardSchemaV1 } from "effect/StandardSchema"
import { type InputIssue, toPointer } from "../InputIssue.ts"
import { printable } from "./printable.ts"

/** @internal */
export const fromStandardIssue = (issue: StandardSchemaV1.Issue, input: unknown): InputIssue => {
  // arktype's path is an array of a class of its own, whose `map` makes paths.
  const path = Array.from(issue.path ?? [], (step) => typeof step === "object" ? step.key : step)
  const value = path.reduce<unknown>(own, input)
  const { expected } = issue as { readonly expected?: unknown }
  const told = [typeof expected === "string" ? `expected ${expected}` : undefined, issue.message]
  const message = told.find((text) => text !== undefined && !repeats(text, value))
  return { pointer: toPointer(path), message: printable(message ?? "not a value that the schema takes", 300) }
}

const own = (value: unknown, key: PropertyKey): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<PropertyKey, unknown>)[key]
    : undefined

/** How many of the values below a place are looked for in a message. */
const maxLeaves = 200

const repeats = (message: string, value: unknown): boolean => {
  const pending: Array<unknown> = [value]
  for (let leaves = 0; pending.length > 0 && leaves < maxLeaves; leaves++) {
    const leaf = pending.pop()
    if (typeof leaf === "object" && leaf !== null) {
      pending.push(...Object.values(leaf).slice(0, maxLeaves))
    } else if (typeof leaf === "string" || typeof leaf === "number") {
      const text = String(leaf)
      // A shorter text is found in every message.
      if (message.includes(text.length > 2 ? text : JSON.stringify(text))) return true
    }
  }
  return false
}
