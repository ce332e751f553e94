/**
 * Any JSON, damaged as models and transports damage it, and recovered: the original comes back, or a refusal, never a third value.
 *
 * A result that carries another reading is no silent one: then the original has to be one of the two. Nor is a value that the
 * schema refuses, where one is given.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as JsonRecovery from "../src/JsonRecovery.ts"
import { below } from "./arbitraries.ts"
import { Choices, choicesMade, repeatable } from "./choices.ts"
import { type Damage, damages } from "./damage.ts"
import { schemaOf, valueFrom } from "./damagedValues.ts"
import { layoutOf, textOf, tokensOf } from "./jsonTokens.ts"
import { fits, recoveredValue } from "./recoveredValue.ts"

type Json = Schema.Json

/** Multiplies the number of texts of every property. */
const scale = 1
/**
 * The same texts in every run, so that whoever changes something else is not stopped by a text of one in some hundred thousand. Another
 * seed, or none, finds new ones.
 */
const seed = 1
const runs = (count: number) => ({ arbitrary: { runs: count * scale, seed } })

/** How many in a hundred texts are recovered at least. */
const usually = 90
/** Where that may be less. */
const atLeast: { readonly [damage: string]: number } = {
  // Something is lost.
  "no value": 0,
  "an ellipsis": 0,
  "cut off": 0,
  "cut off, in a fence": 0,
  // A number at the end could go on.
  "no closers at the end": 60,
  // It could mean something else too, and is rare.
  "doubled quotes": 0,
  "a backslash at the end": 75,
  "an empty document before": 75,
  "doubled braces": 55,
  "swapped closers": 40,
  // A comment behind a value may hold members.
  "line comments": 60,
  "hash comments": 50,
  // A quote, a bracket or a separator is lost, and what is left may have been meant.
  "no closing quote of a value": 55,
  "no closer inside": 75,
  "no opener": 75,
  "no separators": 50,
  "prose after": 80,
  "prose before": 80
}

interface Case {
  readonly value: Json
  /** `undefined` where the value has no place for the damage, or where the text is JSON all the same. */
  readonly text: string | undefined
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const caseOf = (damage: Damage, choices: Choices): Case => {
  const value = valueFrom(choices, damage)
  const text = damage.apply(value, choices)
  return { value, text: text !== undefined && (damage.needsSchema || !isJson(text)) ? text : undefined }
}

/** What becomes of a damaged text; the order of the keys is that of the text. */
const outcome = ({ text, value }: Case, withSchema: boolean): "original" | "refused" => {
  const schema = withSchema ? schemaOf(value) : undefined
  const recovered = JsonRecovery.recover(text!, { schema, toolName: "tool" })
  if (Result.isFailure(recovered)) return "refused"
  const { alternative, value: found } = recovered.success
  const original = JSON.stringify(value)
  if (JSON.stringify(found) === original || JSON.stringify(alternative) === original) return "original"
  if (schema !== undefined && !fits(found, schema)) return "refused"
  return assert.fail(`${JSON.stringify(text)} was ${original} and became ${JSON.stringify(found)}`)
}

for (const withSchema of [false, true]) {
  describe(`JsonRecovery of damaged JSON, ${withSchema ? "with its schema" : "without a schema"}`, () => {
    for (const [name, damage] of Object.entries(damages)) {
      if (damage.needsSchema && !withSchema) continue

      it.prop(`${name}: the original or a refusal`, [choicesMade], ([made]) => {
        const damaged = caseOf(damage, new Choices(made))
        if (damaged.text !== undefined) outcome(damaged, withSchema)
      }, runs(100))

      const floor = atLeast[name] ?? usually
      if (floor === 0) continue
      it(`${name}: ${floor} in a hundred are recovered`, () => {
        const next = repeatable(1)
        const cases: Array<Case> = []
        for (let tries = 0; tries < 4_000 && cases.length < 200; tries++) {
          const damaged = caseOf(damage, next())
          if (damaged.text !== undefined) cases.push(damaged)
        }
        assert.isAbove(cases.length, 50)
        const recovered = cases.filter((damaged) => outcome(damaged, withSchema) === "original")
        assert.isAtLeast(Math.floor(100 * recovered.length / cases.length), floor)
      })
    }
  })
}

describe("JsonRecovery of JSON that was cut off, and is closed", () => {
  /** Whether a value is what is left of another one after some place in its text. */
  const isLeftOf = (value: unknown, original: Json): boolean => {
    if (typeof original === "string") return typeof value === "string" && original.startsWith(value)
    if (typeof original === "number") return typeof value === "number" && beginsAs(String(original), value)
    if (typeof original !== "object" || original === null) return value === original
    if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(original)) return false
    const all = Object.entries(original)
    const left = Object.entries(value)
    return left.every(([key, member], index) => {
      const [name, whole] = all[index] ?? []
      if (key !== name) return false
      const isLast = index === left.length - 1
      // A key whose value is lost may stand for none.
      return same(member, whole!) || isLast && (isLeftOf(member, whole!) || !Array.isArray(value) && member === null)
    })
  }
  const same = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)
  const beginsAs = (digits: string, value: number): boolean =>
    Array.from(digits, (_, index) => Number.parseFloat(digits.slice(0, index + 1))).includes(value)

  it.prop("what was there before the end, or a refusal", [choicesMade, below(10_000)], ([made, at]) => {
    const choices = new Choices(made)
    // Integers as keys come first in an object, whatever the order of the text.
    const value = valueFrom(choices, { key: (key) => !/^\d+$/.test(key) })
    const text = textOf(tokensOf(value, layoutOf(choices)))
    const cut = text.slice(0, Math.floor(text.length * at / 10_000))
    const recovered = recoveredValue(cut, { truncated: "close" })
    if (recovered === "refused") return
    assert.isTrue(isLeftOf(recovered.value, value), `${JSON.stringify(cut)} became ${JSON.stringify(recovered.value)}`)
    assert.strictEqual(recovered.truncated, recovered.truncatedAt !== undefined)
    if (recovered.truncated) assert.isAtMost(recovered.truncatedAt!, cut.length)
    assert.isNotEmpty(recovered.edits)
  }, runs(2_000))

  it("nine in ten are closed, of those that hold more than a beginning", () => {
    const next = repeatable(2)
    let closed = 0
    let all = 0
    while (all < 400) {
      const choices = next()
      const text = textOf(tokensOf(valueFrom(choices, {}), layoutOf(choices)))
      if (text.length < 60) continue
      all++
      const half = Math.floor(text.length / 2)
      const recovered = recoveredValue(text.slice(0, half + choices.below(half)), { truncated: "close" })
      if (recovered !== "refused") closed++
    }
    assert.isAtLeast(closed, 0.9 * all)
  })
})

describe("JsonRecovery of JSON that is whole", () => {
  const whole = Arbitrary.map(choicesMade, (made) => {
    const choices = new Choices(made)
    const value = valueFrom(choices, {})
    return { value, text: textOf(tokensOf(value, layoutOf(choices))) }
  })

  it.prop("changes nothing in what fits the schema", [whole], ([{ text, value }]) => {
    for (const schema of [undefined, schemaOf(value), {}, true]) {
      for (const truncated of ["refuse", "close"] as const) {
        const recovered = recoveredValue(text, { schema, truncated, toolName: "city" })
        assert.deepStrictEqual(recovered, { value, edits: [], truncated: false })
      }
    }
  }, runs(1_000))
})
