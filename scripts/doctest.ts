/**
 * Turns every `ts` code block in the JSDoc comments of a package into a test in the package's `.doctest` folder.
 *
 * A line `expression // => value` asserts that the two are deeply equal. The assertion may also stand on the line below
 * the expression, go on over several comment lines, and follow a `const`, whose value it then is about.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { examplesOf, isDocComment } from "./doc-comments.ts"
import { packages, root, typeScriptFiles } from "./packages.ts"
import { type Comment, type Node, parse, type Syntax, walk } from "./syntax.ts"

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

const applyEdits = (text: string, edits: ReadonlyArray<Edit>): string =>
  [...edits]
    .sort((a, b) => b.start - a.start)
    .reduce((result, { end, start, text }) => result.slice(0, start) + text + result.slice(end), text)

const assertion = (actual: string, expected: string): string =>
  `doctest.deepStrictEqual<unknown>(${actual}, ${expected})`

/** The expected value that starts in a comment and may go on in the comments right below it. */
const expectedValue = (code: string, comments: ReadonlyArray<Comment>, index: number): string => {
  let value = ""
  for (let i = index; i < comments.length; i++) {
    const comment = comments[i]!
    const isFirst = i === index
    if (!isFirst && /\S/.test(code.slice(comments[i - 1]!.end, comment.start))) break
    value += isFirst ? comment.value.replace(/^\s*=>/, "") : `\n${comment.value}`
    if (value.trim() !== "" && parse(`void (${value}\n)`).error === undefined) return value.trim()
  }
  throw new Error(`not a value: //${comments[index]!.value}`)
}

/** The innermost statement that ends right before a comment and has a value. */
const statementBefore = (code: string, syntax: Syntax, comment: Comment): Node => {
  let found: Node | undefined
  const visit = (node: Node) => {
    const hasValue = node.type === "ExpressionStatement"
      || (node.type === "VariableDeclaration" && node["declarations"].at(-1).id.type === "Identifier")
    if (hasValue && node.end <= comment.start && /^[\s;]*$/.test(code.slice(node.end, comment.start))) found = node
  }
  for (const statement of syntax.statements) walk(statement, visit)
  if (found === undefined) throw new Error(`no expression before: //${comment.value}`)
  return found
}

const assertionEdit = (code: string, syntax: Syntax, index: number): Edit => {
  const comment = syntax.comments[index]!
  const expected = expectedValue(code, syntax.comments, index)
  const statement = statementBefore(code, syntax, comment)
  if (statement.type === "VariableDeclaration") {
    const name: string = statement["declarations"].at(-1).id.name
    return { start: statement.end, end: statement.end, text: `\n${assertion(name, expected)}` }
  }
  const { end, start } = statement["expression"] as Node
  return { start: statement.start, end: statement.end, text: assertion(code.slice(start, end), expected) }
}

/** A function body cannot export: `export const x` becomes `const x`, and `export default x` becomes `void (x)`. */
const unexportEdits = (statement: Node): ReadonlyArray<Edit> => {
  if (statement.type !== "ExportNamedDeclaration" && statement.type !== "ExportDefaultDeclaration") return []
  const declaration: Node | null = statement["declaration"]
  if (declaration === null) return [{ start: statement.start, end: statement.end, text: "" }]
  const isNamed = statement.type === "ExportNamedDeclaration" || Boolean(declaration["id"])
  const start = { start: statement.start, end: declaration.start }
  return isNamed
    ? [{ ...start, text: "" }]
    : [{ ...start, text: "void (" }, { start: declaration.end, end: declaration.end, text: ")" }]
}

/** The source of a test that runs an example. An example that cannot be one becomes a test that fails. */
export const testSource = (title: string, code: string): string => {
  const header = `import { assert as doctest, test as doctestCase } from "vitest"\n`
  try {
    const syntax = parse(code)
    if (syntax.error !== undefined) throw new Error(syntax.error)
    const imports = syntax.statements.filter(({ type }) => type === "ImportDeclaration")
    const edits: Array<Edit> = imports.map(({ end, start }) => ({ start, end, text: "" }))
    edits.push(...syntax.statements.flatMap(unexportEdits))
    syntax.comments.forEach((comment, index) => {
      if (comment.type === "Line" && /^\s*=>/.test(comment.value)) edits.push(assertionEdit(code, syntax, index))
    })
    const hoisted = imports.map(({ end, start }) => `${code.slice(start, end)}\n`).join("")
    return `${header}${hoisted}
doctestCase(${JSON.stringify(title)}, async () => {
${applyEdits(code, edits).trim()}
})
`
  } catch (cause) {
    return `${header}
doctestCase(${JSON.stringify(title)}, () => {
  throw new Error(${JSON.stringify((cause as Error).message)})
})
`
  }
}

/** The tests of one module, by file name: `ToolCall.1.test.ts`, or `RecordStoreObject.1.workerd.ts` for one that only Workers load. */
export const doctestsOf = (path: string, text: string, title: string): ReadonlyMap<string, string> => {
  const examples = parse(text).comments.filter(isDocComment).flatMap((comment) => examplesOf(text, comment))
  const module = path.replace(/\.ts$/, "").replaceAll("/", ".")
  // A module of the Workers runtime loads nowhere else: `runtime-tests/workerd/run.ts` runs these.
  const suffix = /^\S.* from "cloudflare:/m.test(text) ? "workerd.ts" : "test.ts"
  return new Map(
    examples.map(({ code, line }, index) => [
      `${module}.${index + 1}.${suffix}`,
      testSource(`${title}:${line}`, code)
    ])
  )
}

/** Brings the `.doctest` folder of each package up to date; a test that has not changed is not written again. */
export const generateDoctests = (): void => {
  for (const { directory } of packages) {
    const target = join(directory, ".doctest")
    const tests = new Map<string, string>()
    for (const path of typeScriptFiles(join(directory, "src"))) {
      const file = join(directory, "src", path)
      for (const [name, source] of doctestsOf(path, readFileSync(file, "utf8"), relative(root, file))) {
        tests.set(name, source)
      }
    }
    mkdirSync(target, { recursive: true })
    for (const name of readdirSync(target)) {
      if (!tests.has(name)) rmSync(join(target, name), { force: true })
    }
    for (const [name, source] of tests) {
      const file = join(target, name)
      if (!existsSync(file) || readFileSync(file, "utf8") !== source) writeFileSync(file, source)
    }
  }
}

if (import.meta.main) generateDoctests()
