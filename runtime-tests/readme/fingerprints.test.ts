/** docs/fingerprints.md: its commands, its program and its workflow run as they stand there, in a project that has what they name. */
import * as DefinitionDiff from "@countersign/core/DefinitionDiff"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../../scripts/packages.ts"
import { paste } from "./examples.ts"

const guide = readFileSync(join(root, "docs/fingerprints.md"), "utf8")

/** The blocks of a language below a heading. */
const blocks = (heading: string, language: string): ReadonlyArray<string> => {
  const section = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  assert.isDefined(section, heading)
  return [...section!.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].filter(([, name]) => name === language).map(([, , text]) =>
    text!
  )
}

/** A dozen processes are started, most of them by npx. */
const timeout = 120_000

const project = mkdtempSync(join(tmpdir(), "fingerprints-"))
const lockfile = join(project, "tools.lock.json")
const server = join(project, "node_modules/@modelcontextprotocol/server-filesystem")
const installed = (name: string) => join(root, "packages/platform-node/node_modules", name)

/** Another release of the server, as if it had been installed. */
const install = (name: string) => {
  rmSync(server, { force: true })
  symlinkSync(installed(name), server)
}

const sh = (script: string, env: Record<string, string> = {}) => {
  const { status, stderr, stdout } = spawnSync("bash", ["-e"], {
    cwd: project,
    encoding: "utf8",
    input: script,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
      NO_COLOR: "",
      ...env
    }
  })
  return { status, stderr, stdout }
}

beforeAll(() => {
  mkdirSync(join(project, "node_modules/.bin"), { recursive: true })
  mkdirSync(dirname(server))
  symlinkSync(join(root, "packages/platform-node/src/bin.ts"), join(project, "node_modules/.bin/countersign"))
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true }))
  writeFileSync(join(project, "notes.txt"), "buy milk\n")
})
afterAll(() => rmSync(project, { recursive: true }))

describe("docs/fingerprints.md", { timeout }, () => {
  const [, pin, drift, update] = blocks("In three commands", "sh")
  const [same, changed] = blocks("In three commands", "")

  it("pins, compares and updates as it says", () => {
    install("server-filesystem-before")
    const pinned = sh(pin!)
    assert.deepStrictEqual([pinned.status, pinned.stdout], [0, ""], pinned.stderr)
    assert.deepStrictEqual(sh(drift!), { status: 0, stdout: same!, stderr: "" })
    install("@modelcontextprotocol/server-filesystem")
    const drifted = sh(drift!)
    assert.strictEqual(drifted.status, 1)
    for (const part of changed!.split("  …\n")) assert.include(drifted.stdout, part)
    const updated = sh(`${update}${drift}`)
    assert.deepStrictEqual([updated.status, updated.stdout.endsWith(`\n${same}`)], [0, true])
  })

  it("has a workflow whose command annotates what has drifted", () => {
    install("@modelcontextprotocol/server-filesystem")
    sh(pin!)
    const [workflow] = blocks("In CI", "yaml")
    const commands = [...workflow!.matchAll(/^ +- run: (.*)$/gm)].map(([, command]) => command!)
    assert.strictEqual(commands.shift(), "npm ci")
    const env = { GITHUB_WORKSPACE: project, GITHUB_ACTIONS: "true", CI: "true" }
    assert.deepStrictEqual(sh(commands.join("\n"), env), { status: 0, stdout: "As locked: files\n", stderr: "" })
    install("server-filesystem-before")
    const { status, stdout } = sh(commands.join("\n"), env)
    assert.strictEqual(status, 1)
    assert.match(
      stdout,
      /^::error file=tools\.lock\.json,title=files%3A changed move_file::changed \/annotations\/destr/m
    )
  })

  it("has a program that runs as pasted, and is refused its tools when they drift", () => {
    install("@modelcontextprotocol/server-filesystem")
    sh(pin!)
    const [program] = blocks("In the agent: `Mcp.guard`", "ts")
    const [output] = blocks("In the agent: `Mcp.guard`", "")
    const agent = `node ${paste("guard.ts", program!)}`
    assert.deepStrictEqual(sh(agent), { status: 0, stdout: output!, stderr: "" })
    install("server-filesystem-before")
    const { stdout } = sh(agent)
    assert.match(
      stdout,
      /^MCP tools are not as the lockfile has them: changed .*Review them, and update the lockfile\.\n$/
    )
  })

  it("shows the lockfile in its form", () => {
    const [shown] = blocks("The lockfile", "json")
    const { servers, ...rest } = JSON.parse(shown!)
    const lock = JSON.parse(readFileSync(lockfile, "utf8"))
    assert.deepStrictEqual(rest, { lockfileVersion: lock.lockfileVersion })
    assert.deepStrictEqual(servers.files.source, lock.servers.files.source)
    const [tool, real] = [servers, lock.servers].map(({ files }) => files.tools.read_text_file)
    assert.deepStrictEqual(Object.keys(tool), Object.keys(real))
    assert.containsAllKeys(real.definition, Object.keys(tool.definition))
  })

  it("says of each warning what it says", () => {
    const section = guide.split("\n## Warnings\n")[1]!.split("\n## ")[0]!
    const rows = [...section.matchAll(/^\| `([\w-]+)` \| (.*) \|$/gm)].map(([, warning, text]) => [warning, text])
    assert.deepStrictEqual(
      rows,
      DefinitionDiff.Warning.literals.map((warning) => [warning, DefinitionDiff.explain(warning)])
    )
  })
})
