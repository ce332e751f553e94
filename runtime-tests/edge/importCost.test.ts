import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as Tool from "@countersign/core/Tool"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { glob } from "node:fs/promises"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { calledFunctions } from "./calledFunctions.ts"

const src = resolve(import.meta.dirname, "../../packages/core/src")

/** The modules in which nothing runs but to compile a schema, to check a value or to repair a text. */
const workers = [
  "/effect/dist/internal/schema/compilerRegistry.js",
  "/effect/dist/internal/schema/fromJsonSchemaDocument.js",
  "/effect/dist/internal/schema/interpreter.js",
  "/@cfworker/json-schema/dist/esm/dereference.js",
  "/@cfworker/json-schema/dist/esm/validator.js",
  "/jsonrepair/lib/esm/regular/jsonrepair.js"
]

const work = Effect.fnUntraced(function*(code: string) {
  const called = yield* calledFunctions(code)
  return workers.map((worker) => {
    const url = [...called.keys()].find((url) => url.endsWith(worker))
    return [worker, url === undefined ? undefined : called.get(url)!.length > 0]
  })
})

const all = (worked: boolean) => workers.map((worker) => [worker, worked])

describe("import cost", () => {
  // `ApprovalsApi` imports `effect/http-api`, which makes an error of its own; `testing` is tests.
  it.live("importing core compiles no schema and parses nothing", () =>
    Effect.gen(function*() {
      const modules = yield* Effect.promise(() => Array.fromAsync(glob("!(ApprovalsApi|testing).ts", { cwd: src })))
      const imports = modules.map((file) => `import ${JSON.stringify(pathToFileURL(join(src, file)))}`)
      assert.deepStrictEqual(yield* work(imports.join("\n")), all(false))
    }))

  it.live("the count sees that work where a call is parsed", () =>
    Effect.gen(function*() {
      const program = pathToFileURL(join(import.meta.dirname, "program.ts"))
      assert.deepStrictEqual(yield* work(`import { run } from "${program}"; await run()`), all(true))
    }))

  it.effect("a tool's schema is built by the first call to that tool, and once", () =>
    Effect.gen(function*() {
      const built: Array<string> = []
      const tool = (name: string) =>
        Tool.make(name, {
          inputSchema: () => {
            built.push(name)
            return Schema.Struct({})
          }
        })
      const tools = ToolSet.make(tool("first"), tool("second"))
      assert.deepStrictEqual(built, [])
      const call = ToolCall.parse({ toolCallId: "call-1", toolName: "second", input: "{}" }, { tools })
      yield* Effect.andThen(call, call)
      assert.deepStrictEqual(built, ["second"])
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))
})
