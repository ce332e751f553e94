/** Measures what Countersign adds to a Worker, and exits with 1 when a program is over its budget. */
import { build } from "esbuild"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { root } from "./packages.ts"

const kilobyte = 1024

const budgets = [
  { program: "bench/bundle/effect-schema.ts", budget: 45 * kilobyte },
  { program: "bench/bundle/json-schema.ts", budget: 60 * kilobyte },
  { program: "bench/bundle/approvals.ts", budget: 55 * kilobyte },
  { program: "bench/bundle/approvals-json-schema.ts", budget: 70 * kilobyte }
]

/** Bytes of a program, bundled as wrangler does, minified and compressed. */
const bundleSize = async (program: string): Promise<number> => {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, program)],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    write: false,
    logLevel: "silent"
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

const inKilobytes = (bytes: number): string => `${(bytes / kilobyte).toFixed(1)} KB`

const row = (program: string, size: string, budget: string, verdict: string): string =>
  program.padEnd(40) + size.padStart(10) + budget.padStart(10) + `  ${verdict}`

console.log(row("program, minified and gzipped", "size", "budget", ""))
for (const { budget, program } of budgets) {
  const size = await bundleSize(program)
  if (size > budget) process.exitCode = 1
  console.log(row(program, inKilobytes(size), inKilobytes(budget), size > budget ? "OVER" : "ok"))
}
