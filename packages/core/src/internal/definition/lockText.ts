/** The text of a lockfile: any JSON comes in, one form goes out. */
import { hasKeyTwice } from "../hasKeyTwice.ts"
import * as JsonReader from "../jsonReader.ts"
import { printable } from "../printable.ts"
import { sortKeys } from "../writeJson.ts"

/**
 * JSON with sorted keys, two spaces and line feeds. What a reviewer would not see in it is escaped.
 *
 * @internal
 */
export const writeLock = (lock: object): string => `${write(lock, "\n")}\n`

const write = (value: unknown, line: string): string => {
  if (typeof value !== "object" || value === null) return scalar(value)
  const inner = `${line}  `
  if (Array.isArray(value)) return bracketed("[", value.map((item) => inner + write(item, inner)), line, "]")
  const keys = sortKeys(Object.keys(value))
  const members = keys.map((key) => `${inner}${scalar(key)}: ${write((value as Record<string, unknown>)[key], inner)}`)
  return bracketed("{", members, line, "}")
}

const bracketed = (open: string, members: ReadonlyArray<string>, line: string, close: string): string =>
  members.length === 0 ? open + close : open + members.join(",") + line + close

const scalar = (value: unknown): string => printable(JSON.stringify(value), Infinity)

/** @internal */
export type ReadLock =
  | { readonly _tag: "Read"; readonly value: unknown }
  | { readonly _tag: "Fault"; readonly reason: "syntax" | "duplicate-key"; readonly detail: string }

/**
 * Reads a lockfile. Numbers are what a definition holds of them, which is no more than a double; so none is refused for its digits.
 *
 * @internal
 */
export const readLock = (text: string, maxDepth: number): ReadLock => {
  const read = JsonReader.read(text, { maxDepth, keepDigits: false })
  switch (read._tag) {
    case "Syntax":
      return syntax(`expected ${read.expected} at character ${read.offset}`)
    case "Depth":
      return syntax(`it is nested more than ${maxDepth} levels deep`)
    case "Read":
      return withoutDuplicates(text, read.value)
    case "Number":
      try {
        return withoutDuplicates(text, JSON.parse(text))
      } catch {
        return syntax(`it cannot be read beyond character ${read.offset}`)
      }
  }
}

const syntax = (detail: string): ReadLock => ({ _tag: "Fault", reason: "syntax", detail })

/** Of two members of one key, a reviewer may read the first, and a reader takes the last. A merge can leave both. */
const withoutDuplicates = (text: string, value: unknown): ReadLock =>
  hasKeyTwice(text, value)
    ? { _tag: "Fault", reason: "duplicate-key", detail: "an object in it has a key twice" }
    : { _tag: "Read", value }
