import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { files, tools } from "./countersign.ts"
import * as Here from "./here.ts"

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
    ["a broken schema", ["repair", "--schema", broken["type.json"]!], /type\.json: Input schema cannot be checked: /],
    ["nobody's tools", ["fingerprint"], /say whose tools: --tools <file>, --mcp-stdio <command> or --mcp-url <url>/],
    [
      "two servers without a name",
      ["fingerprint", ...tools, ...tools],
      /^countersign: --tools: give the server a name/
    ],
    [
      "two servers of one name",
      ["fingerprint", "--tools", "a=x", "--mcp-stdio", "a=hunter2"],
      /^countersign: --mcp-stdio: a is the name of another server too/
    ],
    ["no file", ["fingerprint", "--tools", "a="], /^countersign: --tools : no such file or directory/],
    ["an open quote", ["fingerprint", "--mcp-stdio", "a=node 'hunter2"], /--mcp-stdio a=: expected a command/],
    [
      "no URL",
      ["fingerprint", "--mcp-url", "hunter2"],
      /default, connect: it cannot be reached: expected a URL of http/
    ],
    ["a password in a URL", ["fingerprint", "--mcp-url", "https://me:hunter2@a.example"], /without a user name/],
    [
      "a variable's value",
      ["fingerprint", "--mcp-stdio", "a=x", "--mcp-env", "a=hunter2-!"],
      /expected the name of an/
    ],
    ["a variable of no server", ["fingerprint", ...tools, "--mcp-env", "SET"], /there is no server that is started/],
    [
      "a variable of the wrong server",
      ["fingerprint", "--mcp-url", "a=http://a.example", "--mcp-env", "a=SET"],
      /--mcp-env: a is no server that is started/
    ],
    [
      "a variable of some server",
      ["fingerprint", "--mcp-stdio", "a=x", "--mcp-stdio", "b=x", "--mcp-env", "SET"],
      /--mcp-env: there is more than one server that is started\. Say which, as in --mcp-env <name>=…/
    ],
    [
      "a variable that is not there",
      ["fingerprint", "--mcp-stdio", "a=x", "--mcp-env", "a=hunter2"],
      /--mcp-env: the environment variable for a is not set/
    ],
    [
      "an empty variable",
      ["fingerprint", "--mcp-url", "http://a.example", "--mcp-header-env", "x-key:EMPTY"],
      /--mcp-header-env: the environment variable for default is not set, or empty/
    ],
    [
      "a header's value",
      ["fingerprint", "--mcp-url", "http://a.example", "--mcp-header-env", "x-key: hunter2"],
      /--mcp-header-env: expected a header and an environment variable/
    ],
    ["no lockfile", ["drift", "--lock", "none.json"], /^countersign: none\.json: there is no such lockfile/],
    [
      "a lockfile that is none",
      ["drift", "--lock", broken["list.json"]!],
      /list\.json: The tool lockfile cannot be used/
    ],
    ["a lockfile that cannot be read", ["drift", "--lock", "."], /^countersign: \.: illegal operation on a directory/],
    ["an unknown format", ["drift", "--format", "xml"], /--format[^]*"text" \| "json" \| "github"/],
    ["no time", ["drift", "--timeout", "0 seconds"], /--timeout[^]*such as "30 seconds"/]
  ]
  for (const [what, args, message] of wrong) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { status, stderr, stdout } = yield* Here.run(args, { env: { EMPTY: "", SET: "x" } })
        assert.deepStrictEqual([status, stdout], [2, ""])
        assert.notInclude(stderr, "hunter2")
        assert.match(stderr, message)
      }))
  }
})
