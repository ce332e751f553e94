/** Runs programs, the ones that the root's devDependencies bring before any other. */
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { root } from "./packages.ts"

const env = {
  ...process.env,
  NO_COLOR: "1",
  PATH: join(root, "node_modules/.bin") + delimiter + process.env["PATH"]
}

/** Gives the exit code, and what was printed on both streams. */
export const tryRun = (command: string, args: ReadonlyArray<string>, cwd = root) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env,
    maxBuffer: 64 * 1024 * 1024
  })
  if (error) throw error
  return { code: status ?? 1, output: stdout + stderr, stdout }
}

/** Gives the standard output; throws everything that was printed when the program fails. */
export const run = (command: string, args: ReadonlyArray<string>, cwd = root): string => {
  const { code, output, stdout } = tryRun(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} (exit code ${code})\n${output}`)
  return stdout
}
