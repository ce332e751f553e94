/** The executions that have been noted down: the runs of each call. */
import { existsSync, readFileSync } from "node:fs"

export const readExecutions = (log: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const runs = new Map<string, Array<string>>()
  if (!existsSync(log)) return runs
  for (const line of readFileSync(log, "utf8").split("\n").slice(0, -1)) {
    const [toolCallId = "", run = ""] = line.split(" ")
    const known = runs.get(toolCallId)
    if (known === undefined) runs.set(toolCallId, [run])
    else known.push(run)
  }
  return runs
}
