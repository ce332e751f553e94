import { assert, describe, test } from "vitest"
import { doctestsOf, testSource } from "./doctest.ts"

/** Runs an example's test with an `assert` that only records what is compared. */
const run = async (code: string): Promise<ReadonlyArray<readonly [actual: unknown, expected: unknown]>> => {
  const body = testSource("example", code)
    .replace(/^import .*$/gm, "")
    .replaceAll("deepStrictEqual<unknown>", "deepStrictEqual")
  const compared: Array<readonly [unknown, unknown]> = []
  let example: () => unknown = () => assert.fail("no test was generated")
  new Function("doctest", "doctestCase", body)(
    { deepStrictEqual: (actual: unknown, expected: unknown) => compared.push([actual, expected]) },
    (_title: string, f: () => unknown) => {
      example = f
    }
  )
  await example()
  return compared
}

const rejects = async (code: string, message: RegExp) => {
  const failure = await run(code).then(() => undefined, (error: Error) => error)
  assert.match(String(failure?.message), message)
}

describe("an assertion", () => {
  test("on the line of the expression", async () => {
    assert.deepStrictEqual(await run(`1 + 1 // => 2`), [[2, 2]])
    assert.deepStrictEqual(await run(`1 + 1; // => 3`), [[2, 3]])
  })

  test("below the expression", async () => {
    assert.deepStrictEqual(await run(`1 + 1\n// => 2`), [[2, 2]])
  })

  test("after an expression of several lines", async () => {
    assert.deepStrictEqual(await run(`[1, 2]\n  .map((n) =>\n    n + 1\n  ) // => [2, 3]`), [[[2, 3], [2, 3]]])
  })

  test("whose value goes on below", async () => {
    assert.deepStrictEqual(await run(`({ a: 1, b: [2] })\n// => {\n//   a: 1,\n//   b: [2]\n// }\n// and that is it`), [
      [{ a: 1, b: [2] }, { a: 1, b: [2] }]
    ])
  })

  test("about a promise", async () => {
    assert.deepStrictEqual(await run(`const one = Promise.resolve(1)\nawait one // => 1`), [[1, 1]])
  })

  test("about a constant", async () => {
    assert.deepStrictEqual(await run(`const a = 1, b = a + 1 // => 2\nb // => 2`), [[2, 2], [2, 2]])
  })

  test("inside of a function", async () => {
    assert.deepStrictEqual(await run(`function* two() {\n  const one = 1\n  one + 1 // => 2\n}\n[...two()]`), [[2, 2]])
  })

  test("with characters outside of ASCII before it", async () => {
    assert.deepStrictEqual(await run(`"🚀é" // => "🚀é"\n"b" // => "b"`), [["🚀é", "🚀é"], ["b", "b"]])
  })

  test("that looks like one within a string", async () => {
    assert.deepStrictEqual(await run(`"// => 1" // => "// => 1"`), [["// => 1", "// => 1"]])
  })
})

describe("an example", () => {
  test("without an assertion runs", async () => {
    assert.deepStrictEqual(await run(`const a = 1`), [])
    await rejects(`throw new Error("it ran")`, /it ran/)
  })

  test("may export", async () => {
    assert.deepStrictEqual(await run(`export const a = 1\nexport default { a }\nexport { a as b }\na // => 1`), [[
      1,
      1
    ]])
    assert.deepStrictEqual(
      await run(`export default class A {}\nexport function f() {\n  return A.name\n}\nf() // => "A"`),
      [
        ["A", "A"]
      ]
    )
  })

  test("has its imports before the test", () => {
    const source = testSource("title", `import * as A from "a"\nimport {\n  b\n} from "b"\n\nA.a(b) // => 1`)
    assert.strictEqual(
      source,
      `import { assert as doctest, test as doctestCase } from "vitest"
import * as A from "a"
import {
  b
} from "b"

doctestCase("title", async () => {
doctest.deepStrictEqual<unknown>(A.a(b), 1) // => 1
})
`
    )
  })

  test("that is no program fails", () => rejects(`const = 1`, /./))
  test("with an assertion about nothing fails", () => rejects(`f(\n  1 // => 1\n)`, /no expression before/))
  test("with no value to expect fails", () => rejects(`1 // => one and`, /not a value/))
})

test("the tests of a module", () => {
  const module = `/**
 * A module.
 *
 * \`\`\`ts
 * "first" // => "first"
 * \`\`\`
 */

/* \`\`\`ts
not JSDoc
\`\`\` */

/**
 * - \`a\`
 *
 * @example
 * \`\`\`ts
 * if (true) {
 *   "indented"
 * }
 * \`\`\`
 *
 * \`\`\`json
 * {}
 * \`\`\`
 *
 * \`\`\`ts import.meta.vitest
 * "third"
 * \`\`\`
 */
export const a = 1
`
  const tests = doctestsOf("internal/module.ts", module, "src/internal/module.ts")
  assert.deepStrictEqual([...tests.keys()], [1, 2, 3].map((n) => `internal.module.${n}.test.ts`))
  const [first, second, third] = [...tests.values()]
  assert.include(first, `doctestCase("src/internal/module.ts:5"`)
  assert.include(second, `"src/internal/module.ts:18"`)
  assert.include(second, `if (true) {\n  "indented"\n}`)
  assert.include(third, `"third"`)
})

test("what only Workers load is left to workerd", () => {
  const module =
    `import { env } from "cloudflare:workers"\n\n/**\n * \`\`\`ts\n * env\n * \`\`\`\n */\nexport const a = env\n`
  assert.deepStrictEqual([...doctestsOf("module.ts", module, "src/module.ts").keys()], ["module.1.workerd.ts"])
})
