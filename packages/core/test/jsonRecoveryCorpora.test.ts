/**
 * Malformed texts whose meaning was written down before any engine was run on them, each under its id. See `fixtures/README.md`
 * for where they come from.
 *
 * A case is passed if its value is the one that was meant. To refuse it counts as passed only where that is what is right, or
 * where a table below says so.
 */
import { assert, describe, it } from "@effect/vitest"
import type { JsonSchema } from "../src/JsonSchemaValidator.ts"
import reports from "./fixtures/cases/field-reports.json" with { type: "json" }
import corpus from "./fixtures/cases/repair-corpus.json" with { type: "json" }
import schemaCorpus from "./fixtures/cases/schema-repair-corpus.json" with { type: "json" }
import { recoveredValue } from "./recoveredValue.ts"
import { sameJson } from "./sameJson.ts"

const isOneOf = (value: unknown, values: ReadonlyArray<unknown>): boolean =>
  values.some((candidate) => sameJson(candidate, value))

describe("JsonRecovery on malformed texts, truncated ones closed", () => {
  /** Ids of what is refused though it has a meaning. */
  const refused: ReadonlySet<string> = new Set<string>()

  const intended = (entry: (typeof corpus)[number]): ReadonlyArray<unknown> => [
    entry.intended,
    ...("alsoOk" in entry ? entry.alsoOk as ReadonlyArray<unknown> : [])
  ]

  for (const entry of corpus) {
    const { id, input, kind } = entry
    it(`${id} (${kind})`, () => {
      const recovered = recoveredValue(input, { truncated: "close" })
      assert.strictEqual(recovered === "refused", refused.has(id))
      if (recovered !== "refused") assert.isTrue(isOneOf(recovered.value, intended(entry)), JSON.stringify(recovered))
    })

    it(`${id} (${kind}): right or refused where nothing is closed`, () => {
      const recovered = recoveredValue(input)
      if (recovered !== "refused") {
        assert.isTrue(isOneOf(recovered.value, intended(entry)), JSON.stringify(recovered))
      } else {
        // Only what was cut off, or what is refused when it is closed, too.
        assert.isTrue(kind.startsWith("truncated-") || refused.has(id))
      }
    })
  }
})

describe("JsonRecovery on texts that only the schema decides", () => {
  /** Ids of what is refused though it has a meaning. */
  const refused: ReadonlySet<string> = new Set<string>()

  for (const { id, input, right, schema, why } of schemaCorpus) {
    it(`${id}: ${why}`, () => {
      const recovered = recoveredValue(input, { schema })
      assert.strictEqual(recovered === "refused", "$reject" in right || refused.has(id))
      if (recovered !== "refused") assert.isTrue(isOneOf(recovered.value, [right]), JSON.stringify(recovered))
    })
  }
})

describe("JsonRecovery on what users reported (group a)", () => {
  /**
   * What is done with each text that people see differently.
   *
   * - `value`: it is read as one of the values that the report takes for right.
   * - `refused`: it is not read, as the report allows.
   * - `unchanged`: it is JSON, and what is JSON is not changed.
   */
  const choices: { readonly [id: string]: "value" | "refused" | "unchanged" } = {
    // A bare word is a text, not the literal that it begins with.
    A08: "value",
    // What an ellipsis stands for is missing.
    A16: "refused",
    // Two calls that are not told apart from two values.
    A21: "refused",
    A27: "value",
    // No digit could follow the 7 but one that is lost.
    A34: "refused",
    A41: "value",
    A43: "unchanged",
    A45: "value",
    // One backslash that escapes nothing: none of them was meant to.
    A51: "value",
    A52: "unchanged",
    A56: "value",
    A58: "value",
    A61: "value",
    A63: "unchanged",
    A64: "value",
    // JSON has no such number, and null is another value.
    A65: "refused",
    A67: "unchanged",
    A85: "refused",
    A86: "value",
    A92: "value",
    A93: "refused",
    // A text is what the schema takes.
    A106: "unchanged",
    A109: "value",
    // Zero and the empty text are values like others.
    A113: "unchanged",
    A118: "value",
    A120: "unchanged",
    A121: "unchanged"
  }

  interface Option {
    readonly value?: unknown
    readonly reject?: string
  }
  interface Report {
    readonly id: string
    readonly group: string
    readonly kind: string
    readonly symptom: string
    readonly input: string
    readonly schema?: JsonSchema
    readonly expected: Option & { readonly oneOf?: ReadonlyArray<Option> }
    readonly ambiguous: boolean
  }

  const texts = (reports as unknown as ReadonlyArray<Report>).filter(({ group, kind }) =>
    group === "a" && kind === "raw-args"
  )

  for (const { ambiguous, expected, id, input, schema, symptom } of texts) {
    it(`${id}: ${symptom}`, () => {
      const options = expected.oneOf ?? [expected]
      const values = options.flatMap((option) => "value" in option ? [option.value] : [])
      const canBeRefused = options.some((option) => "reject" in option)
      const choice = ambiguous ? choices[id] : canBeRefused ? "refused" : "value"
      const recovered = recoveredValue(input, { schema })
      if (choice === "refused") {
        assert.isTrue(canBeRefused)
        return assert.strictEqual(recovered, "refused")
      }
      if (recovered === "refused") return assert.fail("refused")
      if (choice === "unchanged") {
        assert.deepStrictEqual([recovered.value, recovered.edits], [JSON.parse(input), []])
      } else {
        assert.isTrue(isOneOf(recovered.value, values), JSON.stringify(recovered))
      }
    })
  }

  it("has a choice for each text that people see differently, and for no other", () => {
    const ambiguous = texts.filter((report) => report.ambiguous).map(({ id }) => id)
    assert.deepStrictEqual(Object.keys(choices), ambiguous)
  })
})
