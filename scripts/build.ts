/** Builds every package into its `dist`, each after the ones it depends on. */
import { rmSync } from "node:fs"
import { join, relative } from "node:path"
import { packages, root } from "./packages.ts"
import { run } from "./run.ts"

export const build = (): void => {
  for (const { directory } of packages) {
    rmSync(join(directory, "dist"), { recursive: true, force: true })
    run("tsc", ["-p", relative(root, join(directory, "tsconfig.build.json"))])
  }
}

if (import.meta.main) {
  try {
    build()
  } catch (cause) {
    console.error((cause as Error).message)
    process.exit(1)
  }
}
