import { printable } from "./printable.ts"

/** How many columns of a line are shown, and how many of them before the spot. */
const maxColumns = 72
const maxBefore = 36

/** A place in a text, as editors count it, and the line around it with a mark below. */
export interface Spot {
  readonly line: number
  readonly column: number
  readonly excerpt: string
  readonly mark: string
}

/**
 * Shows `length` characters at `offset`: at most one line, nothing that a terminal would obey, and no wider than a terminal. Lines
 * and columns count from 1, columns in UTF-16 code units.
 */
export const spotOf = (text: string, offset: number, length: number): Spot => {
  const above = text.slice(0, offset).split("\n")
  const start = offset - above.at(-1)!.length
  const end = text.indexOf("\n", offset)
  const before = cellsOf(text.slice(Math.max(start, offset - maxBefore), offset))
  while (columnsOf(before) > maxBefore) before.shift()
  const isCutBefore = charactersOf(before) < offset - start
  const lead = (isCutBefore ? 1 : 0) + columnsOf(before)

  const after = cellsOf(text.slice(offset, Math.min(end === -1 ? text.length : end, offset + maxColumns)))
  while (lead + columnsOf(after) > maxColumns) after.pop()
  const isCutAfter = charactersOf(after) < (end === -1 ? text.length : end) - offset
  const marked = after.filter((_, index) => charactersOf(after.slice(0, index)) < length)

  return {
    line: above.length,
    column: offset - start + 1,
    excerpt: `${isCutBefore ? "…" : ""}${shownOf(before)}${shownOf(after)}${isCutAfter ? "…" : ""}`,
    mark: " ".repeat(lead) + "^".repeat(Math.max(1, columnsOf(marked)))
  }
}

/** A line of a spot, below the line that tells about it. */
export const indented = (line: string): string => `    ${line}`

/** A character as it is shown. */
interface Cell {
  readonly character: string
  readonly shown: string
  readonly columns: number
}

const cellsOf = (text: string): Array<Cell> =>
  [...text].map((character) => {
    const shown = printable(character)
    return { character, shown, columns: shown === character ? widthOf(character) : shown.length }
  })

const sum = (cells: ReadonlyArray<Cell>, of: (cell: Cell) => number): number =>
  cells.reduce((total, cell) => total + of(cell), 0)
const columnsOf = (cells: ReadonlyArray<Cell>): number => sum(cells, ({ columns }) => columns)
const charactersOf = (cells: ReadonlyArray<Cell>): number => sum(cells, ({ character }) => character.length)
const shownOf = (cells: ReadonlyArray<Cell>): string => cells.map(({ shown }) => shown).join("")

const combining = /[\p{Mn}\p{Me}]/u
// East Asian characters that take two columns, and pictures.
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

const widthOf = (character: string): number => combining.test(character) ? 0 : wide.test(character) ? 2 : 1
