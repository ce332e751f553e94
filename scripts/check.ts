/**
 * Everything that is checked beside the tests: one line per step, and what a step printed when it failed.
 *
 * `node scripts/check.ts lint docs` runs these steps alone.
 */
import { globSync } from "node:fs"
import { generateDoctests } from "./doctest.ts"
import { root } from "./packages.ts"
import { tryRun } from "./run.ts"

type Command = readonly [command: string, ...args: ReadonlyArray<string>]

const script = (name: string): Command => [process.execPath, `scripts/${name}.ts`]

/** The TypeScript projects, apart from those of folders that have nothing to check yet. */
const projects = (): ReadonlyArray<Command> => {
  generateDoctests()
  const testProjects = globSync("packages/*/test/tsconfig.json", { cwd: root }).filter((project) =>
    globSync(project.replace("tsconfig.json", "**/*.ts"), { cwd: root }).length > 0
  )
  const all = [
    "tsconfig.json",
    "tsconfig.doctest.json",
    ...globSync("{packages,examples}/*/tsconfig.json", { cwd: root }),
    ...testProjects
  ]
  return all.map((project) => ["tsc", "-p", project])
}

const steps: Record<string, () => ReadonlyArray<Command>> = {
  types: projects,
  lint: () => [["oxlint"]],
  format: () => [["dprint", "check", "--list-different"]],
  docs: () => [script("docs-check")],
  build: () => [script("build")],
  packages: () => [script("publint")],
  bundle: () => [script("bundle-size")]
}

const chosen = process.argv.slice(2)
for (const [name, commands] of Object.entries(steps)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const start = performance.now()
  const failures = commands().map(([command, ...args]) => tryRun(command, args)).filter(({ code }) => code !== 0)
  if (failures.length === 0) {
    console.log(`ok    ${name.padEnd(9)} ${((performance.now() - start) / 1000).toFixed(1)}s`)
  } else {
    process.exitCode = 1
    console.log(`FAIL  ${name}`)
    for (const { output } of failures) console.log(output.trimEnd())
  }
}
