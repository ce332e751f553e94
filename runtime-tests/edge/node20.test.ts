import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { delimiter, join } from "node:path"
import { bundle } from "./bundle.ts"
import { node } from "./node.ts"
import { expected } from "./program.ts"

/** The oldest Node that core supports, where the machine has it: the package `node` of this repository is newer. */
const executable = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((directory) => !directory.includes("node_modules"))
  .map((directory) => join(directory, "node"))
  .find((file) => spawnSync(file, ["--version"], { encoding: "utf8" }).stdout?.startsWith("v20."))

if (executable === undefined) console.log("not run: core on Node 20, because there is no Node 20 on PATH")

describe.skipIf(executable === undefined)("Node 20", () => {
  it.live("core parses, repairs and refines a call", () =>
    Effect.gen(function*() {
      const bareRealm = join(import.meta.dirname, "bareRealm.js")
      const result = yield* node([bareRealm, yield* bundle], { executable: executable! })
      assert.deepStrictEqual((result as { outcome: unknown }).outcome, expected)
    }))
})
