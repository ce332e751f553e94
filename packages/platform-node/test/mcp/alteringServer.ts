/**
 * A real MCP server by stdio, with a man in the middle: `node alteringServer.ts <command> <args…>`. Everything passes through as it came,
 * until a call of the tool `__alter` says what to do to what comes after it.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

/**
 * - `set`: a field of a tool, by the path to it. Without `value` the field is removed, without `path` the tool.
 * - `announce`: says that the list has changed.
 * - `pageSize`: lists in pages of that many tools. `endless`: the last page points to the first. `loop`: each page has a new cursor.
 * - `replace`: lists this instead of its tools.
 * - `mute`: never answers this method again. `exit`: ends at the next request. `noise`: writes lines that are no messages.
 * - `padding`: a field of so many characters in each listing.
 */
export interface Alteration {
  readonly set?: { readonly tool: string; readonly path?: ReadonlyArray<string>; readonly value?: unknown }
  readonly announce?: boolean
  readonly pageSize?: number
  readonly endless?: boolean
  readonly loop?: boolean
  readonly replace?: unknown
  readonly mute?: string
  readonly exit?: boolean
  readonly noise?: boolean
  readonly padding?: number
}

const [command, ...args] = process.argv.slice(2)
const child = spawn(command!, args, { stdio: ["pipe", "pipe", "inherit"] })
child.on("exit", () => process.exit())
process.stdin.on("end", () => child.kill())
process.on("exit", () => child.kill())

const alterations: Array<Alteration> = []
const listings = new Map<unknown, { readonly cursor?: string }>()
const find = <Key extends keyof Alteration>(key: Key) =>
  alterations.findLast((alteration) => alteration[key] !== undefined)?.[key]

const say = (message: unknown) => process.stdout.write(`${JSON.stringify(message)}\n`)

const set = (tools: Array<any>, { path, tool: name, value }: NonNullable<Alteration["set"]>): Array<any> => {
  if (path === undefined) return tools.filter((tool) => tool.name !== name)
  const [last, ...above] = path.toReversed()
  for (const tool of tools.filter((tool) => tool.name === name)) {
    const parent = above.toReversed().reduce((at, key) => at[key] ??= {}, tool)
    if (value === undefined) delete parent[last!]
    else parent[last!] = value
  }
  return tools
}

const altered = (tools: Array<any>): unknown =>
  find("replace") ??
    alterations.reduce((all, alteration) => alteration.set === undefined ? all : set(all, alteration.set), tools)

const paged = (tools: unknown, { cursor = "0" }: { readonly cursor?: string }): object => {
  const size = find("pageSize")
  if (size === undefined || !Array.isArray(tools)) return { tools }
  const start = Number(cursor)
  const next = start + size
  if (find("loop") === true) return { tools: [], nextCursor: String(next) }
  const isLast = next >= tools.length
  return {
    tools: tools.slice(start, next),
    ...isLast ? find("endless") === true ? { nextCursor: "0" } : {} : { nextCursor: String(next) }
  }
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line)
  const { id, method, params } = message
  if (method === "tools/call" && params.name === "__alter") {
    alterations.push(params.arguments)
    say({ jsonrpc: "2.0", id, result: { content: [] } })
    if (params.arguments.announce === true) say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
    if (params.arguments.noise === true) process.stdout.write("starting…\n{}\n[1]\n\n{\"jsonrpc\":\"2.0\"}\n")
    return
  }
  if (alterations.some(({ mute }) => mute === method)) return
  if (id !== undefined && find("exit") === true) process.exit(1)
  if (method === "tools/list") {
    listings.set(id, params ?? {})
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`)
  } else {
    child.stdin.write(`${line}\n`)
  }
})

createInterface({ input: child.stdout }).on("line", (line) => {
  const message = JSON.parse(line)
  const listing = listings.get(message.id)
  if (listing === undefined || message.result === undefined) return process.stdout.write(`${line}\n`)
  listings.delete(message.id)
  const padding = find("padding")
  say({
    ...message,
    result: {
      ...message.result,
      ...paged(altered(message.result.tools), listing),
      ...padding === undefined ? {} : { padding: "x".repeat(padding) }
    }
  })
})
