/** Runs the real command, from source, as a process of its own. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const bin = join(import.meta.dirname, "../src/bin.ts")

export interface Output {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

// Compiled once, not once a process.
const compileCache = join(tmpdir(), "countersign-test-compile-cache")

export const start = (args: ReadonlyArray<string>, env: Record<string, string> = {}): ChildProcess =>
  spawn(process.execPath, [bin, ...args], {
    env: { ...process.env, NO_COLOR: "", NODE_COMPILE_CACHE: compileCache, ...env }
  })

const textOf = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Gives the whole input at once. */
export const run = async (
  args: ReadonlyArray<string>,
  input: string | Uint8Array = "",
  env: Record<string, string> = {}
): Promise<Output> => {
  const child = start(args, env)
  // A command that refuses its arguments ends without reading.
  child.stdin!.on("error", () => {})
  child.stdin!.end(input)
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
  const [stdout, stderr, status] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!), ended])
  return { status, stdout, stderr }
}

/** What was written, line by line. */
export const jsonLines = ({ stdout }: Output): Array<any> =>
  stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))

export const toLines = (values: ReadonlyArray<unknown>): string =>
  values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`).join("")

/** A folder with files, removed at the end of the test process. */
export const files = (contents: Record<string, unknown>): Record<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return Object.fromEntries(
    Object.entries(contents).map(([name, content]) => {
      const path = join(folder, name)
      writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
      return [name, path]
    })
  )
}

const weather = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
  additionalProperties: false
}

/** The tools of most tests, in both shapes that tool definitions come in. */
export const toolFiles = files({
  "tools.json": { weather: { description: "The weather", inputSchema: weather }, now: {} },
  "mcp.json": { tools: [{ name: "weather", inputSchema: weather }, { name: "now" }] }
}) as { readonly "tools.json": string; readonly "mcp.json": string }

export const tools = ["--tools", toolFiles["tools.json"]]
