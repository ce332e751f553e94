import type { Edit } from "@countersign/core/Edit"
import { printable } from "./printable.ts"
import { indented, spotOf } from "./spot.ts"

/** An edit of a text: its kind and risk, where it was made, the text before and after, and the spot. */
export const shownEdit = (edit: Edit, text: string, colors: boolean): string => {
  const { after, before, kind, offset, pointer, risk } = edit
  const paint = (code: number, shown: string) => colors ? `\u001b[${code}m${shown}\u001b[0m` : shown
  const part = (code: number, part: string | undefined) =>
    part === undefined ? [] : [paint(code, part === "" ? "(nothing)" : printable(part))]
  const change = [...part(31, before), ...part(32, after)].join(" -> ")
  const isThere = before !== undefined && offset !== undefined && text.startsWith(before, offset)
  const spot = offset === undefined ? undefined : spotOf(text, offset, isThere ? before.length : 1)
  const line = [
    printable(kind),
    risk === undefined || risk === kind ? "" : ` ${paint(33, `(${risk})`)}`,
    spot === undefined ? "" : ` at ${spot.line}:${spot.column}`,
    pointer === undefined || pointer === "" ? "" : ` in ${printable(pointer)}`,
    change === "" ? "" : `: ${change}`
  ].join("")
  return spot === undefined ? line : `${line}\n${indented(spot.excerpt)}\n${paint(36, indented(spot.mark))}`
}
