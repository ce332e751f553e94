/** Where things are in this repository. */
import { existsSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"

export const root = dirname(import.meta.dirname)

/** The packages that are published, each after the ones it depends on. */
export const packages = ["core", "platform-node", "platform-workers"].map((name) => ({
  name: `@countersign/${name}`,
  directory: join(root, "packages", name)
}))

/** The paths of the `.ts` files under a folder, relative to it, sorted; none when there is no such folder. */
export const typeScriptFiles = (directory: string): ReadonlyArray<string> =>
  existsSync(directory)
    ? readdirSync(directory, { encoding: "utf8", recursive: true }).filter((path) => path.endsWith(".ts")).sort()
    : []
