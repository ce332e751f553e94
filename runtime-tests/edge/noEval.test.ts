import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { pathToFileURL } from "node:url"
import { bundle } from "./bundle.ts"
import { node } from "./node.ts"
import { expected } from "./program.ts"

const evaluate = (code: string) =>
  node(["--disallow-code-generation-from-strings", "--input-type=module", "--eval", code])

describe("no code from strings", () => {
  it.live("core parses, repairs and refines a call where eval is off", () =>
    Effect.gen(function*() {
      const url = pathToFileURL(yield* bundle)
      const outcome = yield* evaluate(`import { run } from "${url}"; console.log(JSON.stringify(await run()))`)
      assert.deepStrictEqual(outcome, expected)
    }))

  it.live("eval really is off", () =>
    Effect.gen(function*() {
      const tag = yield* evaluate(
        `let tag = "ran"; try { new Function("") } catch (e) { tag = e.name } console.log(JSON.stringify(tag))`
      )
      assert.strictEqual(tag, "EvalError")
    }))
})
