import type { Edit } from "@countersign/core/Edit"
import { shownEdit } from "./shownEdit.ts"

/** How many edits are shown. */
const maxEdits = 20

const isRisky = ({ risk }: Edit): boolean => risk !== undefined

/** The edits of a text, for a person to read. Of too many, those without a risk are left out first. */
export const shownEdits = (edits: ReadonlyArray<Edit>, text: string, colors: boolean): ReadonlyArray<string> => {
  const risky = edits.filter(isRisky)
  const chosen = new Set([...risky, ...edits.filter((edit) => !isRisky(edit))].slice(0, maxEdits))
  const shown = edits.filter((edit) => chosen.has(edit)).map((edit) => shownEdit(edit, text, colors))
  const more = edits.length - shown.length
  if (more === 0) return shown
  const riskyToo = risky.length > maxEdits ? `, ${risky.length - maxEdits} of them ambiguous or lossy` : ""
  return [...shown, `and ${more} more${riskyToo}`]
}
