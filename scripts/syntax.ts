/** Syntax trees of TypeScript, by the parser that comes with Vite. */
import { parseSync } from "vite"

export interface Node extends Record<string, any> {
  readonly type: string
  readonly start: number
  readonly end: number
}

export interface Comment {
  readonly type: "Line" | "Block"
  /** The text without its delimiters. */
  readonly value: string
  readonly start: number
  readonly end: number
}

export interface Syntax {
  readonly statements: ReadonlyArray<Node>
  readonly comments: ReadonlyArray<Comment>
  /** The first syntax error, if there is one. */
  readonly error: string | undefined
}

export const parse = (text: string): Syntax => {
  const { comments, errors, program } = parseSync("source.ts", text, { sourceType: "module" })
  return { statements: program.body as unknown as ReadonlyArray<Node>, comments, error: errors[0]?.message }
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

/** Calls `visit` for a node and for everything in it. */
export const walk = (node: Node, visit: (node: Node) => void): void => {
  visit(node)
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) walk(child, visit)
  }
}

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length
