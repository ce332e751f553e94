import { assert, test } from "vitest"
import { undocumented } from "./docs-check.ts"

const moduleDoc = `/**
 * A module.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
`

const tags = ` * @category models
 * @since 0.1.0`

const example = ` * \`\`\`ts
 * a // => 1
 * \`\`\``

test("a documented module", () => {
  assert.deepStrictEqual(
    undocumented(`${moduleDoc}
const hidden = 1

/**
 * A value.
 *
${example}
 *
${tags}
 */
// a remark
export const a = hidden

/**
${tags}
 */
export type a = number

/**
${example}
${tags}
 */
export function f(a: string): string
export function f(a: number): number
export function f(a: unknown) {
  return a
}

/** @internal */
export const shared = hidden

export {
  /**
  ${example}
  ${tags}
   */
  hidden as shown
}
`),
    []
  )
})

test("what is missing", () => {
  assert.deepStrictEqual(
    undocumented(`export const a = 1
/** A. */
export class A {}
/**
${tags}
 */
export function f() {}
/** @since 0.1.0 */
export interface I {}
/** About something else. */
const hidden = 1
export type T = typeof hidden
export { hidden as shown }
`),
    [
      "1 module: a comment that says what the module is for",
      "1 a: a comment",
      "3 A: @since, @category, an example",
      "8 f: an example",
      "10 I: @category",
      "13 T: a comment",
      "14 shown: a comment"
    ]
  )
})

test("the comment of the first export is not the module's", () => {
  assert.deepStrictEqual(undocumented(`/**\n${example}\n${tags}\n */\nexport const a = 1`), [
    "1 module: a comment that says what the module is for"
  ])
  assert.deepStrictEqual(undocumented(`/** A module. */\nimport "./a.ts"`), ["1 module: @since"])
})
