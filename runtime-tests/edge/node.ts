import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"

/** Runs a Node executable; answers what it printed, read as JSON. A run that fails is a defect that shows its output. */
export const node = (
  args: ReadonlyArray<string>,
  { env = {}, executable = process.execPath }: { executable?: string; env?: Record<string, string> } = {}
): Effect.Effect<unknown> =>
  Effect.promise(async () => {
    // Without the options and variables by which Vitest runs its own workers.
    const { NODE_OPTIONS: _, ...inherited } = process.env
    const { stdout } = await promisify(execFile)(executable, args, { env: { ...inherited, ...env } })
    return JSON.parse(stdout)
  })
