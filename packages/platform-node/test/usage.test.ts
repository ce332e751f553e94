import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Countersign from "../src/internal/cli/countersign.ts"
import * as NodeCountersign from "../src/NodeCountersign.ts"
import { files, tools } from "./countersign.ts"

const layer = Layer.merge(NodeServices.layer, NodeCountersign.layer)

/** How the command fails in this process, and what it says on stderr. */
const failure = (args: ReadonlyArray<string>) => {
  const written: Array<string> = []
  const console = {
    ...globalThis.console,
    error: (text: string) => written.push(text),
    log: (text: string) => assert.fail(`written to stdout: ${text}`)
  } as unknown as Console.Console
  return Effect.flip(Countersign.run).pipe(
    Effect.provide(Layer.provideMerge(Stdio.layerTest({ args: Effect.succeed(args) }), layer)),
    Effect.provideService(Console.Console, console),
    Effect.map(({ status }) => ({ status, stderr: written.join("\n") }))
  )
}

const broken = files({
  "text.json": "{",
  "list.json": [1],
  "unnamed.json": { tools: [{}] },
  "type.json": { type: "objekt" }
})

describe("usage", () => {
  const wrong: ReadonlyArray<readonly [what: string, args: ReadonlyArray<string>, message: RegExp]> = [
    ["no command", [], /USAGE[^]*parse[^]*repair/],
    ["an unknown command", ["pars"], /Unknown subcommand "pars"[^]*parse/],
    ["no tools", ["parse"], /--tools[^]*Try: countersign parse --help/],
    [
      "a missing file",
      ["parse", "--tools", "none.json"],
      /--tools .*none\.json: no such file or directory\. Give the path/
    ],
    ["a file that is not JSON", ["parse", "--tools", broken["text.json"]!], /--tools .*text\.json: not valid JSON/],
    ["a list of tools", ["parse", "--tools", broken["list.json"]!], /cannot be read: expected an object of tools/],
    ["a tool without a name", ["parse", "--tools", broken["unnamed.json"]!], /cannot be read: a tool has no name/],
    ["an unknown repair", ["parse", ...tools, "--repair", "x"], /--repair[^]*"standard" \| "jsonrepair" \| "none"/],
    ["no concurrency", ["parse", ...tools, "--concurrency", "0"], /--concurrency[^]*from 1 to 1024/],
    ["an unknown flag", ["parse", ...tools, "--limit", "1"], /--limit/],
    ["an unknown engine", ["repair", "--engine", "magic"], /--engine[^]*"recovery" \| "jsonrepair"/],
    ["a missing schema", ["repair", "--schema", "none.json"], /--schema .*none\.json: no such file/],
    ["a schema that is none", ["repair", "--schema", broken["list.json"]!], /list\.json: expected a JSON Schema/],
    ["a broken schema", ["repair", "--schema", broken["type.json"]!], /type\.json: Input schema cannot be checked: /]
  ]
  for (const [what, args, message] of wrong) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { status, stderr } = yield* failure(args)
        assert.strictEqual(status, 2)
        assert.match(stderr, message)
      }))
  }
})
