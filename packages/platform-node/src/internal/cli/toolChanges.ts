import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
import type * as ToolLock from "@countersign/core/ToolLock"
import { printable } from "./printable.ts"

type Warning = DefinitionDiff.Warning

/** What became of a tool, on one line. */
export const headline = ({ name, renamedFrom, status }: ToolLock.ToolReport): string =>
  `${status} ${printable(name)}${renamedFrom === undefined ? "" : ` (which was ${printable(renamedFrom)})`}`

/** A change as it is shown, and whether there is something suspicious in it. */
export interface ShownChange {
  readonly line: string
  readonly isSuspicious: boolean
}

/**
 * The changes of a tool, in order; of too many those with warnings first to stay. Of a tool that is new only what a person has to
 * read: its texts, and what is suspicious.
 */
export const shownChanges = ({ changes, status }: ToolLock.ToolReport, max: number): ReadonlyArray<ShownChange> => {
  const isSuspicious = ({ warnings }: DefinitionDiff.FieldChange) => warnings.length > 0
  const worthy = status === "added"
    ? changes.filter((change) => isSuspicious(change) || isText.test(change.pointer))
    : changes
  const chosen = new Set(worthy.toSorted((a, b) => Number(isSuspicious(b)) - Number(isSuspicious(a))).slice(0, max))
  const shown = changes.filter((change) => chosen.has(change))
    .map((change) => ({ line: DefinitionDiff.format(change), isSuspicious: isSuspicious(change) }))
  const more = changes.length - shown.length
  return more === 0 ? shown : [...shown, { line: `and ${more} more`, isSuspicious: false }]
}

const isText = /^\/(?:title|description)$/

/** What the warnings of some tools say, a line each. */
export const explanations = (tools: ReadonlyArray<ToolLock.ToolReport>): ReadonlyArray<string> => {
  const found = new Set<Warning>(tools.flatMap(({ changes }) => changes.flatMap(({ warnings }) => warnings)))
  return DefinitionDiff.Warning.literals.filter((warning) => found.has(warning))
    .map((warning) => `${warning}: ${DefinitionDiff.explain(warning)}`)
}
