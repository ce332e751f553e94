/** Packs the built packages the way they are published. */
import { readFileSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { packages, root } from "./packages.ts"
import { run } from "./run.ts"

export interface Tarball {
  readonly name: string
  readonly file: string
}

/** Writes a tarball of each package to a folder. */
export const pack = (destination: string): ReadonlyArray<Tarball> => {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  return packages.map(({ directory, name }) => {
    const packed = run("npx", ["-y", packageManager, "pack", "--json", "--pack-destination", destination], directory)
    const { filename } = JSON.parse(packed) as { readonly filename: string }
    return { name, file: isAbsolute(filename) ? filename : join(destination, filename) }
  })
}
