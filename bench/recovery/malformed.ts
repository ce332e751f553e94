/** Arguments with one kind of damage all over, by size in characters. Written for this project. */
import type { Schema } from "./engines.ts"

/** A malformed text, the value that was meant, and the schema of the tool that it is for. */
export interface Malformed {
  readonly text: string
  readonly intended: unknown
  readonly schema: Schema
}

const lines = [
  "import { Effect, Schema } from \"effect\"",
  "export const main = (args: string[]) => {",
  "  const re = /^\\d+\\.\\w*$/u // digits",
  "  console.log('hello ' + args[0] + \"!\")",
  "  for (let i = 0; i < args.length; i++) { total += Number(args[i]) }",
  "",
  "  return { ok: true, value: total, note: `sum ${total}` }",
  "}",
  "// The quick brown fox jumps over the lazy dog; nothing to escape here at all.",
  "\tif (a && b || !c) throw new Error(\"bad — input\")"
]

/** Text as a tool that writes files is sent. */
const source = (length: number): string => {
  let text = ""
  for (let index = 0; text.length < length; index++) text += `${lines[index % lines.length]}\n`
  return text.slice(0, length).trimEnd()
}

type Entry = Readonly<Record<string, string | number | boolean | null>>

const entrySchema: Schema = {
  type: "object",
  properties: {
    path: { type: "string" },
    content: { type: "string" },
    mode: { enum: ["write", "append"] },
    line: { type: "integer" },
    dry: { type: "boolean" },
    tag: { type: ["string", "null"] }
  },
  required: ["path", "content"],
  additionalProperties: false
}

const entriesSchema: Schema = {
  type: "object",
  properties: { edits: { type: "array", items: entrySchema } },
  required: ["edits"],
  additionalProperties: false
}

const entry = (index: number): Entry => ({
  path: `src/dir${index % 9}/file${index}.ts`,
  content: `line ${index}\nnext "q"`,
  mode: "write",
  line: index * 3,
  dry: index % 2 === 0,
  tag: null
})

const withoutQuotes = (index: number): Entry => ({ ...entry(index), content: `line ${index}\nnext q` })

interface Notation {
  readonly key: (key: string) => string
  readonly value: (value: Entry[string]) => string
}

const json: Notation = { key: (key) => `"${key}"`, value: (value) => JSON.stringify(value) }

const singleQuoted: Notation = {
  key: (key) => `'${key}'`,
  value: (value) => typeof value === "string" ? `'${JSON.stringify(value).slice(1, -1)}'` : JSON.stringify(value)
}

const bareKeys: Notation = { ...json, key: (key) => key }

const literals = new Map<Entry[string], string>([[true, "True"], [false, "False"], [null, "None"]])

const python: Notation = { ...singleQuoted, value: (value) => literals.get(value) ?? singleQuoted.value(value) }

const members = (entry: Entry, { key, value }: Notation): string =>
  Object.entries(entry).map(([name, member]) => `${key(name)}: ${value(member)}`).join(", ")

const object = (entry: Entry, notation: Notation): string => `{${members(entry, notation)}}`

/** As many entries as fill that many characters, each as it was meant and as it is written. */
const fill = (length: number, make: (index: number) => Entry, write: (entry: Entry) => string) => {
  const entries: Array<Entry> = []
  const texts: Array<string> = []
  for (let size = 0; size < length;) {
    const next = make(entries.length)
    const text = write(next)
    entries.push(next)
    texts.push(text)
    size += text.length + 2
  }
  return { entries, texts }
}

const inArray = (
  length: number,
  make: (index: number) => Entry,
  write: (entry: Entry) => string,
  wrap: (texts: string) => string
): Malformed => {
  const { entries, texts } = fill(length, make, write)
  return { text: wrap(texts.join(", ")), intended: { edits: entries }, schema: entriesSchema }
}

const inString = (length: number, write: (content: string) => string): Malformed => {
  const content = source(length)
  return { text: write(content), intended: { path: "src/a.ts", content, line: 1 }, schema: entrySchema }
}

const whole = (texts: string): string => `{"edits": [${texts}]}`

export const malformed: Record<string, (length: number) => Malformed> = {
  "trailing commas": (length) => inArray(length, entry, (one) => `{${members(one, json)},}`, whole),
  "single quotes": (length) =>
    inArray(length, withoutQuotes, (one) => object(one, singleQuoted), (texts) => `{'edits': [${texts}]}`),
  "unquoted keys": (length) => inArray(length, entry, (one) => object(one, bareKeys), (texts) => `{edits: [${texts}]}`),
  "Python literals": (length) =>
    inArray(length, withoutQuotes, (one) => object(one, python), (texts) => `{'edits': [${texts}]}`),
  "fenced": (length) =>
    inArray(length, entry, (one) => object(one, json), (texts) => `\`\`\`json\n${whole(texts)}\n\`\`\``),
  "missing brackets": (length) =>
    inArray(length, entry, (one) => object(one, json), (texts) => whole(texts).slice(0, -3)),
  "cut off in an array": (length) =>
    inArray(length, entry, (one) => object(one, json), (texts) => `{"edits": [${texts}, `),
  "cut off in a string": (length) => ({
    ...inString(length, (content) => `{"path": "src/a.ts", "content": ${JSON.stringify(content).slice(0, -1)}`),
    intended: { path: "src/a.ts", content: source(length) }
  }),
  "raw line breaks": (length) =>
    inString(
      length,
      (content) => `{"path": "src/a.ts", "content": "${content.replace(/["\\]/g, "\\$&")}", "line": 1}`
    ),
  "inner quotes": (length) =>
    inString(
      length,
      (content) =>
        `{"path": "src/a.ts", "content": "${JSON.stringify(content).slice(1, -1).replaceAll("\\\"", "\"")}", "line": 1}`
    ),
  "one value a line": (length) => {
    const { entries, texts } = fill(length, entry, (one) => object(one, json))
    return { text: texts.join("\n"), intended: entries, schema: entrySchema }
  }
}
