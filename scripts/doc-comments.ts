/** Reads JSDoc comments: which export each one belongs to, and the examples in it. */
import { type Comment, lineAt, type Node, parse } from "./syntax.ts"

export interface Example {
  readonly code: string
  /** The line of the file that the code starts on. */
  readonly line: number
}

export interface Export {
  readonly name: string
  readonly kind: "value" | "type"
  readonly line: number
  readonly doc: Comment | undefined
}

export const isDocComment = (comment: Comment): boolean => comment.type === "Block" && comment.value.startsWith("*")

/** The `ts` code blocks of one comment; `text` is the file that the comment is in. */
export const examplesOf = (text: string, comment: Comment): ReadonlyArray<Example> => {
  const firstLine = lineAt(text, comment.start)
  const examples: Array<Example> = []
  let code: Array<string> | undefined
  comment.value.split("\n").forEach((raw, index) => {
    const line = raw.replace(/^\s*\* ?/, "")
    if (code === undefined) {
      if (/^\s*```ts\b/.test(line)) code = []
    } else if (/^\s*```\s*$/.test(line)) {
      examples.push({ code: code.join("\n"), line: firstLine + index - code.length })
      code = undefined
    } else {
      code.push(line.trimEnd())
    }
  })
  return examples
}

const declaredNames = (declaration: Node): ReadonlyArray<{ readonly name: string; readonly kind: Export["kind"] }> => {
  switch (declaration.type) {
    case "VariableDeclaration":
      return declaration["declarations"].map((declarator: Node) => ({ name: declarator["id"].name, kind: "value" }))
    case "FunctionDeclaration":
    case "TSDeclareFunction":
    case "ClassDeclaration":
      return [{ name: declaration["id"].name, kind: "value" }]
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return [{ name: declaration["id"].name, kind: "type" }]
    default:
      return []
  }
}

/** What a module exports by name, each with the JSDoc comment that stands before it. */
export const exportsOf = (text: string): ReadonlyArray<Export> => {
  const { comments, statements } = parse(text)
  const docBefore = (node: Node): Comment | undefined => {
    let end = node.start
    for (const comment of comments.filter((comment) => comment.end <= node.start).reverse()) {
      if (text.slice(comment.end, end).trim() !== "") return undefined
      if (isDocComment(comment)) return comment
      end = comment.start
    }
    return undefined
  }
  return statements.flatMap((statement): ReadonlyArray<Export> => {
    if (statement.type !== "ExportNamedDeclaration") return []
    if (statement["declaration"]) {
      const line = lineAt(text, statement.start)
      return declaredNames(statement["declaration"]).map((declared) => ({
        ...declared,
        line,
        doc: docBefore(statement)
      }))
    }
    return statement["specifiers"].map((specifier: Node) => ({
      name: specifier["exported"].name,
      kind: statement["exportKind"] === "type" || specifier["exportKind"] === "type" ? "type" : "value",
      line: lineAt(text, specifier.start),
      doc: docBefore(specifier) ?? docBefore(statement)
    }))
  })
}

/** The comment that a module begins with, which is about the module and not about its first export. */
export const moduleDocOf = (text: string): Comment | undefined => {
  const first = parse(text).comments.find(isDocComment)
  if (first === undefined || text.slice(0, first.start).trim() !== "") return undefined
  return exportsOf(text).some(({ doc }) => doc?.start === first.start) ? undefined : first
}
