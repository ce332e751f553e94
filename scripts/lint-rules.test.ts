import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { assert, describe, test } from "vitest"

const root = dirname(import.meta.dirname)

/** Copies this repository's lint configuration and the sources to an empty tree; gives the rules that a source breaks. */
const lint = (sources: Record<string, string>) => {
  const project = realpathSync(mkdtempSync(join(tmpdir(), "lint-rules-")))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  for (const path of [".oxlintrc.json", "scripts/lint-rules.ts"]) write(path, readFileSync(join(root, path), "utf8"))
  for (const [path, source] of Object.entries(sources)) write(path, source)

  const oxlint = spawnSync(process.execPath, [join(root, "node_modules/oxlint/bin/oxlint"), "--format=json"], {
    cwd: project,
    encoding: "utf8"
  })
  rmSync(project, { recursive: true })

  const { diagnostics } = JSON.parse(oxlint.stdout) as {
    readonly diagnostics: ReadonlyArray<{ readonly code: string; readonly filename: string }>
  }
  const rules: Record<string, Array<string>> = {}
  for (const path of Object.keys(sources)) {
    rules[path] = diagnostics.filter(({ filename }) => filename === path).map(({ code }) => code)
  }
  return (path: string) => rules[path] ?? []
}

const broken: Record<string, ReadonlyArray<readonly [source: string, rule: string]>> = {
  "packages/platform-node/src/Bad.ts": [
    [`import { Effect } from "effect"\nEffect.void.pipe()`, "eslint(no-restricted-imports)"],
    [`import { A } from "./a.ts"\nexport const a = (x: A) => x`, "typescript(consistent-type-imports)"],
    [`export const a: string[] = []`, "typescript(array-type)"],
    [`export const a: readonly string[] = []`, "typescript(array-type)"],
    [`console.log(1)`, "eslint(no-console)"],
    [`const a = 1`, "eslint(no-unused-vars)"],
    [`import * as A from "./a.ts"`, "eslint(no-unused-vars)"]
  ],
  "packages/platform-workers/src/Bad.ts": [
    [`import * as fs from "node:fs"\nexport const a = fs`, "import(no-nodejs-modules)"],
    [`import * as fs from "fs"\nexport const a = fs`, "import(no-nodejs-modules)"],
    [`export const a = Buffer`, "eslint(no-restricted-globals)"],
    [`export const a = process.env`, "eslint(no-restricted-globals)"],
    [`export const a = require("x")`, "eslint(no-restricted-globals)"],
    [`export const a = global`, "eslint(no-restricted-globals)"],
    [`export const a = __dirname`, "eslint(no-restricted-globals)"],
    [`setImmediate(() => {})`, "eslint(no-restricted-globals)"],
    [`export const a = globalThis.process`, "eslint(no-restricted-properties)"],
    [`export const a = eval("1")`, "eslint(no-eval)"],
    [`export const a = new Function("return 1")`, "eslint(no-new-func)"],
    [`setTimeout("a()", 1)`, "eslint(no-implied-eval)"],
    [`import { Effect } from "effect"\nEffect.void.pipe()`, "eslint(no-restricted-imports)"]
  ],
  "packages/core/src/internal/bad.ts": [
    [`export const a = process.env`, "eslint(no-restricted-globals)"],
    [`export const a = eval("1")`, "eslint(no-eval)"],
    [`import * as fs from "node:fs"\nexport const a = fs`, "import(no-nodejs-modules)"],
    [`export const a = (x: object) => "k" in x`, "countersign(no-in-operator)"],
    [`export const a = () => Effect.gen(function*() {})`, "countersign(no-effect-gen-function)"],
    [`export const a = () => Effect.gen(function*() {}).pipe(f)`, "countersign(no-effect-gen-function)"],
    [`export function a() {\n  return Effect.gen(function*() {})\n}`, "countersign(no-effect-gen-function)"],
    [`export const a = { b() {\n  return Effect.gen(function*() {})\n} }`, "countersign(no-effect-gen-function)"]
  ],
  "scripts/bad.ts": [[`import { Effect } from "effect"\nEffect.void.pipe()`, "eslint(no-restricted-imports)"]]
}

const allowed: Record<string, ReadonlyArray<string>> = {
  "packages/core/src/Good.ts": [
    `import * as Effect from "effect/Effect"\nexport const a = Effect.gen(function*() {})`,
    `export class A {\n  #a = 1\n  static is(x: object) {\n    return #a in x\n  }\n  b() {\n    return this.#a\n  }\n}`,
    `export const a = (x: Record<string, number>) => {\n  for (const key in x) return key\n  return\n}`,
    `export const a = (process: string) => process`
  ],
  "packages/platform-node/src/bin.ts": [`console.log(process.argv)`],
  "packages/platform-node/src/Good.ts": [`import * as fs from "node:fs"\nexport const a = "k" in fs`]
}

/** `Bad.ts` becomes `Bad0.ts`, `Bad1.ts`, ... so that one run of oxlint sees every case. */
const numbered = (path: string, index: number) => path.replace(".ts", index + ".ts")

describe("lint", () => {
  test.each(Object.entries(broken))("rules that fire in %s", (path, cases) => {
    const rules = lint(Object.fromEntries(cases.map(([source], index) => [numbered(path, index), source])))
    cases.forEach(([source, rule], index) => assert.include(rules(numbered(path, index)), rule, source))
  })

  test.each(Object.entries(allowed))("nothing fires in %s", (path, sources) => {
    sources.forEach((source) => assert.deepStrictEqual(lint({ [path]: source })(path), [], source))
  })

  test("circular imports", () => {
    const rules = lint({
      "packages/core/src/A.ts": `import * as B from "./B.ts"\nexport const a = () => B`,
      "packages/core/src/B.ts": `import * as A from "./A.ts"\nexport const b = () => A`,
      "packages/core/src/C.ts": `import type * as D from "./D.ts"\nexport type C = typeof D`,
      "packages/core/src/D.ts": `import * as C from "./C.ts"\nexport const d = () => C`
    })
    assert.include(rules("packages/core/src/A.ts"), "import(no-cycle)")
    assert.include(rules("packages/core/src/B.ts"), "import(no-cycle)")
    assert.deepStrictEqual(rules("packages/core/src/D.ts"), [], "a type-only import is no cycle: it is erased")
  })
})
