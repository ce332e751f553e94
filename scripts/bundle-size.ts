/** Measures what Countersign adds to a Worker, and exits with 1 when a program is over its budget. */
import { build, type Plugin } from "esbuild"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { root } from "./packages.ts"

const kilobyte = 1024

const budgets = [
  { program: "bench/bundle/effect-schema.ts", repair: "standard", budget: 64 * kilobyte },
  { program: "bench/bundle/json-schema.ts", repair: "standard", budget: 76 * kilobyte },
  { program: "bench/bundle/approvals.ts", repair: "standard", budget: 74 * kilobyte },
  { program: "bench/bundle/approvals-json-schema.ts", repair: "standard", budget: 87 * kilobyte },
  // Without recovery.
  { program: "bench/bundle/effect-schema.ts", repair: "jsonrepair", budget: 45 * kilobyte },
  { program: "bench/bundle/json-schema.ts", repair: "jsonrepair", budget: 60 * kilobyte },
  { program: "bench/bundle/approvals.ts", repair: "jsonrepair", budget: 55 * kilobyte },
  { program: "bench/bundle/approvals-json-schema.ts", repair: "jsonrepair", budget: 70 * kilobyte }
]

/** The programs are written with the standard repair; another one is put in its place. */
const withRepair = (repair: string): Plugin => ({
  name: "with-repair",
  setup: ({ onLoad }) => {
    onLoad({ filter: /bench\/bundle\/.*\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, "utf8")).replaceAll("Repair.standard", `Repair.${repair}`),
      loader: "ts"
    }))
  }
})

/** Bytes of a program, bundled as wrangler does, minified and compressed. */
const bundleSize = async (program: string, repair: string): Promise<number> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, program)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    write: false,
    plugins: [withRepair(repair)],
    logLevel: "silent"
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

const inKilobytes = (bytes: number): string => `${(bytes / kilobyte).toFixed(1)} KB`

const row = (program: string, size: string, budget: string, verdict: string): string =>
  program.padEnd(60) + size.padStart(10) + budget.padStart(10) + `  ${verdict}`

console.log(row("program, minified and gzipped", "size", "budget", ""))
for (const { budget, program, repair } of budgets) {
  const size = await bundleSize(program, repair)
  if (size > budget) process.exitCode = 1
  console.log(
    row(`${program}, Repair.${repair}`, inKilobytes(size), inKilobytes(budget), size > budget ? "OVER" : "ok")
  )
}
