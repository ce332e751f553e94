import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const src = join(import.meta.dirname, "../src")
const document = readFileSync(join(import.meta.dirname, "../../../docs/architecture.md"), "utf8")

type Graph = ReadonlyMap<string, ReadonlySet<string>>

const importStatement = /^(?:import|export)\b[^"]*?"(\.[^"]+)"/gm

/** The files that a file imports, relative to `src`. */
const importsOf = (file: string): ReadonlyArray<string> =>
  [...readFileSync(join(src, file), "utf8").matchAll(importStatement)].map(([, path]) =>
    normalize(join(dirname(file), path!))
  )

/** The modules that a module imports; a file in `internal/` stands for the modules that it imports. */
const modulesOf = (file: string): ReadonlySet<string> => {
  const seen = new Set<string>()
  const pending = [...importsOf(file)]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    if (next.startsWith("internal")) pending.push(...importsOf(next))
  }
  seen.delete(file)
  return new Set([...seen].filter((path) => !path.startsWith("internal")).map((path) => path.slice(0, -".ts".length)))
}

const source: Graph = new Map(
  readdirSync(src)
    .filter((file) => file.endsWith(".ts") && file !== "index.ts")
    .map((file) => [file.slice(0, -".ts".length), modulesOf(file)])
)

/** The rows ``| `Module` | … | `Import`, `Import` |`` of the table under "The modules". */
const table: Graph = new Map(
  [...document.split("\n## The modules\n")[1]!.split("\n## ")[0]!.matchAll(/^\| `(\w+)` \| .* \|([^|]*)\|$/gm)].map((
    [, module, imports]
  ) => [module!, new Set([...imports!.matchAll(/`(\w+)`/g)].map(([, name]) => name!))])
)

/** The lines `A & B --> C` of the picture: each module with those that an arrow leads from. */
const picture: Graph = new Map(
  [...document.split("\n```mermaid\n")[1]!.split("\n```")[0]!.matchAll(/^ *([\w &]+) --> (\w+)$/gm)].map((
    [, from, module]
  ) => [module!, new Set(from!.split(" & "))])
)

/** Everything that a module imports, directly or not. */
const reachable = (graph: Graph, module: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const pending = [...graph.get(module) ?? []]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (found.has(next)) continue
    found.add(next)
    pending.push(...graph.get(next) ?? [])
  }
  return found
}

/** Without the edges that a longer way between the same two modules implies. */
const reduced = (graph: Graph): Graph =>
  new Map(
    [...graph].map(([module, imports]) => [
      module,
      new Set([...imports].filter((name) => ![...imports].some((other) => reachable(graph, other).has(name))))
    ])
  )

const edges = (graph: Graph): ReadonlyArray<string> =>
  [...graph].flatMap(([module, imports]) => [...imports].map((name) => `${name} --> ${module}`)).sort()

describe("the modules of core", () => {
  it("import each other as the table in docs/architecture.md says", () => {
    assert.sameMembers([...table.keys()], [...source.keys()])
    assert.deepStrictEqual(edges(table), edges(source))
  })

  it("import only modules above them in the table", () => {
    const order = [...table.keys()]
    for (const [module, imports] of source) {
      for (const name of imports) {
        assert.isBelow(order.indexOf(name), order.indexOf(module), `${module} imports ${name}`)
      }
    }
  })

  it("have no cycle", () => {
    for (const module of source.keys()) assert.isFalse(reachable(source, module).has(module), module)
  })

  it("are drawn in docs/architecture.md, without the arrows that others imply", () => {
    assert.deepStrictEqual(edges(picture), edges(reduced(source)))
  })
})
