import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, test } from "vitest"
import { build } from "../../scripts/build.ts"
import { pack } from "../../scripts/pack.ts"
import { packages } from "../../scripts/packages.ts"
import { run } from "../../scripts/run.ts"

const timeout = 300_000

/** A project of somebody who installed the packages. */
const project = mkdtempSync(join(tmpdir(), "consumer-"))
const tarballs = join(project, "tarballs")

const installed = (name: string, path: string) => join(project, "node_modules", name, path)
const manifest = (name: string) => JSON.parse(readFileSync(installed(name, "package.json"), "utf8"))

/** What `import` gives for each specifier: the names of the exports, or the code of the error. */
const importAll = (specifiers: ReadonlyArray<string>): Record<string, ReadonlyArray<string> | string> => {
  writeFileSync(
    join(project, "import-all.mjs"),
    `const found = {}
for (const specifier of ${JSON.stringify(specifiers)}) {
  found[specifier] = await import(specifier).then(Object.keys, (error) => error.code ?? String(error))
}
console.log(JSON.stringify(found))`
  )
  return JSON.parse(run(process.execPath, ["import-all.mjs"], project))
}

/** What does not load on Node alone, and the code of its error: it needs the Workers runtime, or Vitest. */
const elsewhere: Record<string, string> = {
  "@countersign/core/testing": "ERR_MODULE_NOT_FOUND",
  "@countersign/platform-workers/RecordStoreObject": "ERR_UNSUPPORTED_ESM_URL_SCHEME"
}

beforeAll(() => {
  build()
  const files = pack(tarballs).map(({ file }) => `file:${file}`)
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "effect@4.1.0", ...files], project)
}, timeout)

afterAll(() => rmSync(project, { recursive: true }))

describe.each(packages.map(({ name }) => name))("%s", { timeout }, (name) => {
  test("depends on nothing that only the workspace has", () => {
    assert.notInclude(JSON.stringify(manifest(name)), "workspace:")
    assert.notInclude(JSON.stringify(manifest(name).exports), "src/")
  })

  test("has a license", () => assert.match(readFileSync(installed(name, "LICENSE"), "utf8"), /^MIT License/))

  test("imports by every path that it exports", () => {
    const closed = Object.entries(manifest(name).exports).filter(([, target]) => target === null).map(([path]) => path)
    const modules = readdirSync(installed(name, "dist"))
      .filter((file) => file.endsWith(".js"))
      .map((file) => file.slice(0, -".js".length))
      .filter((module) => !closed.includes(`./${module}`))
    const found = importAll([name, ...modules.map((module) => `${name}/${module}`)])
    for (const [specifier, exported] of Object.entries(found)) {
      if (Object.hasOwn(elsewhere, specifier)) assert.strictEqual(exported, elsewhere[specifier], specifier)
      else assert.isArray(exported, `${specifier}: ${exported}`)
    }
    assert.notDeepEqual(found[name], [])
  })

  test("keeps what is internal closed", () => {
    const closed = [
      `${name}/index`,
      ...readdirSync(installed(name, "dist"), { recursive: true, encoding: "utf8" })
        .filter((file) => file.startsWith("internal/") && file.endsWith(".js"))
        .map((file) => `${name}/${file.slice(0, -".js".length)}`)
    ]
    for (const [specifier, code] of Object.entries(importAll(closed))) {
      assert.strictEqual(code, "ERR_PACKAGE_PATH_NOT_EXPORTED", specifier)
    }
  })
})

describe("a program that uses the packages", { timeout }, () => {
  beforeAll(() => {
    cpSync(join(import.meta.dirname, "consumer.ts"), join(project, "consumer.ts"))
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          target: "ES2022",
          lib: ["ES2022", "DOM"],
          types: [],
          module: "NodeNext",
          strict: true,
          exactOptionalPropertyTypes: true
        },
        files: ["consumer.ts"]
      })
    )
  })

  test("type-checks and runs", () => {
    run("tsc", ["-p", project])
    assert.deepStrictEqual(run(process.execPath, ["consumer.js"], project).split("\n"), [
      `{"name":"Ada"}`,
      `{"to":3}`,
      "InvalidToolInput",
      "true",
      ""
    ])
  })
})
