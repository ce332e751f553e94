import type * as ToolLock from "@countersign/core/ToolLock"
import { logLine } from "./logLine.ts"
import { printable } from "./printable.ts"
import { explanations, headline, shownChanges } from "./toolChanges.ts"

/** Of one server: what there is to say of all its tools, and the tools that there is more to say of. */
export interface Section {
  readonly server: string
  readonly summary: string
  readonly tools: ReadonlyArray<ToolLock.ToolReport>
}

const colorOf = { added: 32, removed: 31, changed: 33, same: 0 } as const
const suspicious = 35

/** What became of tools, for a person to read, a line each; below it what the warnings in it say. */
export const shownTools = (sections: ReadonlyArray<Section>, colors: boolean): ReadonlyArray<string> => {
  const paint = (code: number, line: string) => colors ? `\u001b[${code}m${logLine(line)}\u001b[0m` : logLine(line)
  const lines = sections.flatMap(({ server, summary, tools }) => [
    logLine(`${printable(server)}: ${summary}`),
    ...tools.flatMap((tool) => [
      `  ${paint(colorOf[tool.status], headline(tool))}`,
      ...shownChanges(tool, Infinity).map(({ isSuspicious, line }) =>
        `    ${isSuspicious ? paint(suspicious, line) : logLine(line)}`
      )
    ])
  ])
  const explained = explanations(sections.flatMap(({ tools }) => tools))
  return explained.length === 0 ? lines : [...lines, "", ...explained]
}

/** A number of tools in words. */
export const countOf = (tools: ReadonlyArray<unknown>): string =>
  `${tools.length.toLocaleString("en")} tool${tools.length === 1 ? "" : "s"}`
