/**
 * Runs the `countersign parse` command on tool calls that were malformed in public bug reports, and shows what becomes of
 * each. `pnpm start` runs it.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"

interface Call {
  readonly toolName: string
  readonly input: string
}

/** A line that the command writes. */
interface Answer {
  readonly toolName: string
  readonly status: "valid" | "repaired" | "invalid"
  readonly input: unknown
  readonly edits: ReadonlyArray<{ readonly kind: string }>
  readonly error?: { readonly message: string }
}

const root = join(import.meta.dirname, "../..")
const calls = join(import.meta.dirname, "calls.jsonl")
const tools = join(import.meta.dirname, "tools.json")
const command = join(root, "packages/platform-node/src/bin.ts")

const readLines = (text: string): ReadonlyArray<any> => text.trim().split("\n").map((line) => JSON.parse(line))

const parse = (): ReadonlyArray<Answer> => {
  const { stderr, stdout } = spawnSync(process.execPath, [command, "parse", "--tools", tools], {
    input: readFileSync(calls),
    encoding: "utf8"
  })
  if (stdout === "") throw new Error(stderr)
  return readLines(stdout)
}

/** On one line, without control characters, and as wide as a column. */
const cell = (text: string, width: number): string => {
  const line = text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => JSON.stringify(character).slice(1, -1))
  return line.length > width ? `${line.slice(0, width - 1)}…` : line.padEnd(width)
}

const canColor = process.stdout.isTTY && !process.env["NO_COLOR"]
const colors = { valid: 32, repaired: 33, invalid: 31 }
const paint = (status: Answer["status"], text: string): string =>
  canColor ? `\u001b[${colors[status]}m${text}\u001b[0m` : text

const whatHappened = ({ edits, status }: Answer): string =>
  status === "invalid" ? "refused" : [status, ...new Set(edits.map(({ kind }) => kind))].join(" ")

const cameOut = ({ error, input, toolName }: Answer): string =>
  error === undefined
    ? `${toolName} ${JSON.stringify(input)}`
    : error.message
      .replace(/^Invalid input for tool \S+: /, "")
      .replace("not valid JSON", "not JSON")
      .replace(/ Available tools: .*/, "")

const row = (cameIn: string, happened: string, out: string): string => `${cameIn}  ${happened}  ${out}`.trimEnd()

const shown = (path: string): string => relative(root, path)
const came = readLines(readFileSync(calls, "utf8")) as ReadonlyArray<Call>
const answers = parse()
const count = (status: Answer["status"]): number => answers.filter((answer) => answer.status === status).length

console.log(`${answers.length} tool calls of models, each with a fault from a public bug report, go through

  countersign parse --tools ${shown(tools)} < ${shown(calls)}
`)
console.log(row(cell("THE MODEL SENT", 38), cell("OUTCOME", 26), "WHAT RUNS, OR WHY NOTHING RUNS"))
answers.forEach((answer, index) => {
  const { input, toolName } = came[index]!
  console.log(row(
    cell(`${toolName} ${input}`, 38),
    paint(answer.status, cell(whatHappened(answer), 26)),
    cell(cameOut(answer), 52)
  ))
})
console.log(`
${count("valid")} valid, ${count("repaired")} repaired, ${
  count("invalid")
} refused. A repaired call fits its tool's schema and carries every edit.
A refused call never runs; its error tells the model what to change.
See ${shown(import.meta.dirname)}/README.md.`)
