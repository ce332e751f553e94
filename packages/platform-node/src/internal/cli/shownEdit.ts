import type { Edit } from "@countersign/core/Edit"

const maxLength = 120

/** Text from outside as it may be written to a terminal: on one line, no control characters, and not long. */
export const printable = (text: string): string => {
  const clipped = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text
  return clipped.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, escape)
}

const short = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]])

const escape = (character: string): string =>
  short.get(character) ??
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** One line about an edit: its kind, where it was made, and the text before and after. */
export const shownEdit = (edit: Edit, colors: boolean): string => {
  const paint = (code: number, text: string) => colors ? `\u001b[${code}m${text}\u001b[0m` : text
  const shown = (text: string | undefined) => text === undefined || text === "" ? "(nothing)" : printable(text)
  const place = [
    edit.offset === undefined ? "" : ` at ${edit.offset}`,
    edit.pointer === undefined || edit.pointer === "" ? "" : ` in ${printable(edit.pointer)}`
  ]
  const change = edit.before === undefined && edit.after === undefined
    ? ""
    : `: ${paint(31, shown(edit.before))} -> ${paint(32, shown(edit.after))}`
  return `${edit.kind}${place.join("")}${change}`
}
