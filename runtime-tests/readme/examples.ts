import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/packages.ts"

/** A program of the README, and what the README says that it prints. */
export interface Example {
  readonly program: string
  readonly output: string | undefined
}

const readme = readFileSync(join(root, "README.md"), "utf8")

/** The first `ts` block below a heading, and the plain block right after it, if there is one. */
export const example = (heading: string): Example => {
  const section = readme.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  if (section === undefined) throw new Error(`README.md has no section ${heading}`)
  const found = /^```ts\n([^]*?)^```\n(?:\n```\n([^]*?)^```\n)?/m.exec(section)
  if (found === null) throw new Error(`section ${heading} of README.md has no program`)
  return { program: found[1]!, output: found[2] }
}

/** Saves a program as a user would paste it: a file in a project that has the packages installed. */
export const paste = (name: string, program: string): string => {
  const directory = join(import.meta.dirname, ".pasted")
  mkdirSync(directory, { recursive: true })
  const file = join(directory, name)
  writeFileSync(file, program)
  return file
}
