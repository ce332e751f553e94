import { printable } from "../printable.ts"
import { writeJson } from "../writeJson.ts"

const maxLength = 400
const context = 60

/**
 * A value as JSON on one line, what cannot be seen escaped. Of a long one a part, and that from just before where it differs from
 * the other.
 *
 * @internal
 */
export const shown = (value: unknown, other: unknown): string => {
  const text = writeJson(value)
  if (text.length <= maxLength) return printable(text, maxLength)
  const from = Math.min(Math.max(commonStart(text, writeJson(other)) - context, 0), text.length - maxLength)
  return (from > 0 ? "…" : "") + printable(text.slice(from), maxLength)
}

const commonStart = (left: string, right: string): number => {
  let index = 0
  while (index < left.length && left[index] === right[index]) index++
  return index
}
