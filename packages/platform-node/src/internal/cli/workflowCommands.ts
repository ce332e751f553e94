/**
 * Drift as annotations of GitHub Actions.
 */
import type * as ToolLock from "@countersign/core/ToolLock"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import { normalize, relative, resolve, sep } from "node:path"
import { logLine } from "./logLine.ts"
import { printable } from "./printable.ts"
import { explanations, headline, shownChanges } from "./toolChanges.ts"

/** How many changes of one tool are shown. */
const maxChanges = 20

/** A line that GitHub Actions shows at a file. */
export const errorCommand = (
  { file, title, lines }: { readonly file: string; readonly title: string; readonly lines: ReadonlyArray<string> }
): string => `::error file=${property(file)},title=${property(title)}::${data(lines.join("\n"))}`

const data = (text: string): string => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const property = (text: string): string => data(text).replaceAll(":", "%3A").replaceAll(",", "%2C")

/** One annotation for each tool that is not as it was. */
export const annotations = ({ server, tools }: ToolLock.Report, file: string): ReadonlyArray<string> => {
  const drifted = tools.filter(({ status }) => status !== "same")
  if (drifted.length === 0) return [logLine(`As locked: ${printable(server)}`)]
  return drifted.map((tool) =>
    errorCommand({
      file,
      title: `${printable(server)}: ${headline(tool)}`,
      lines: [...shownChanges(tool, maxChanges).map(({ line }) => line), ...explanations([tool])]
    })
  )
}

/** A path as GitHub Actions knows it: from the root of the repository. */
export const pathInRepository = (path: string): Effect.Effect<string> =>
  Effect.map(
    Effect.orDie(Config.String("GITHUB_WORKSPACE").pipe(Config.withDefault(""))),
    (workspace) => (workspace === "" ? normalize(path) : relative(workspace, resolve(path))).replaceAll(sep, "/")
  )
