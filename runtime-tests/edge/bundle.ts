import * as Effect from "effect/Effect"
import { build } from "esbuild"
import { glob, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../../scripts/packages.ts"

const temporaryDirectory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "countersign-edge-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

/**
 * Bundles every module of core but the one that is tests, with `program.ts`, into one file that imports nothing, for no platform in
 * particular.
 * A module that imports what only one platform has does not build.
 */
export const bundle = Effect.gen(function*() {
  const outfile = join(yield* temporaryDirectory, "bundle.mjs")
  const modules = yield* Effect.promise(() => Array.fromAsync(glob("packages/core/src/!(testing).ts", { cwd: root })))
  yield* Effect.promise(() =>
    build({
      stdin: { contents: entry(modules.sort()), resolveDir: root },
      bundle: true,
      format: "esm",
      platform: "neutral",
      target: "es2022",
      mainFields: ["module", "main"],
      outfile,
      logLevel: "error"
    })
  )
  return outfile
})

const entry = (modules: ReadonlyArray<string>): string =>
  [
    ...modules.map((file, index) => `import * as module${index} from "./${file}"`),
    `export const modules = [${modules.map((_, index) => `module${index}`).join(", ")}]`,
    `export { run } from "./runtime-tests/edge/program.ts"`
  ].join("\n")
