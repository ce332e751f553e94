// Vitest reads no workspace file by itself: `vitest run --config vitest.workspace.ts --project core`.
import { defineConfig } from "vitest/config"
import { isNodeOnly } from "./runtime-tests/isNodeOnly.ts"
import { testTimeout } from "./runtime-tests/testTimeout.ts"
import { generateDoctests } from "./scripts/doctest.ts"

const isDeno = "Deno" in globalThis

const project = (
  name: string,
  include: string,
  options: { readonly isolate?: boolean; readonly setupFiles?: Array<string> } = {}
) => ({
  extends: true as const,
  test: { ...options, name, include: [include], exclude: ["**/node_modules/**", ...(isDeno ? [isNodeOnly.glob] : [])] }
})

/** Many small files that leave no state behind: loading Effect anew for each would take twenty times as long. */
const shared = { isolate: false }

const everywhere = [
  project("core", "packages/core/test/**/*.test.ts", shared),
  project("platform-workers", "packages/platform-workers/test/**/*.test.ts", shared)
]

const onNode = [
  project("platform-node", "packages/platform-node/test/**/*.test.ts"),
  // What checks schemas, once more, with schemas compiled to code.
  project("jit", "packages/core/test/{EffectJsonSchema,InputSchema,JsonSchemaValidator,toolCallVectors}.test.ts", {
    ...shared,
    setupFiles: ["effect/schema/SchemaJITCompiler/enable"]
  }),
  project("doctest", "packages/*/.doctest/**/*.test.ts", shared),
  project("scripts", "scripts/**/*.test.ts"),
  project("package", "runtime-tests/package/**/*.test.ts"),
  project("readme", "runtime-tests/readme/**/*.test.ts"),
  project("crash", "runtime-tests/crash/**/*.test.ts"),
  project("durable", "runtime-tests/durable/**/*.test.ts"),
  project("engines", "runtime-tests/engines/**/*.test.ts"),
  project("workerd", "runtime-tests/workerd/**/*.test.ts"),
  project("edge", "runtime-tests/edge/**/*.test.ts")
]

const onDeno = [project("deno", "runtime-tests/deno/**/*.test.ts")]

if (!isDeno) generateDoctests()

/** The projects that exist on the runtime that reads this; `scripts/test.ts` runs them on each. */
export default defineConfig({
  test: {
    pool: "forks",
    // Of two cores Vitest would leave one idle, while most of the long tests wait for another process.
    maxWorkers: "100%",
    testTimeout,
    hookTimeout: testTimeout,
    projects: [...everywhere, ...(isDeno ? onDeno : onNode)]
  }
})
