/** Texts on which a hostile review found recovery wrong: what it makes of each now, checked by hand. */
import * as JsonRecovery from "@countersign/core/JsonRecovery"
import type { JsonSchema } from "@countersign/core/JsonSchemaValidator"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import reviewed from "./fixtures/cases/recovery-review.json" with { type: "json" }

interface Reviewed {
  readonly why: string
  readonly input: string
  readonly schema?: JsonSchema
  readonly toolName?: string
  readonly truncated?: "refuse" | "close"
  /** `marked`: an edit has a risk, or there is another reading. */
  readonly expected: { readonly value: unknown; readonly marked?: boolean } | { readonly refused: string }
}

describe("JsonRecovery of reviewed texts", () => {
  for (const { expected, input, why, ...options } of reviewed as ReadonlyArray<Reviewed>) {
    it(`${JSON.stringify(input).slice(0, 80)}: ${why.slice(0, 80)}`, () => {
      const recovered = JsonRecovery.recover(input, options)
      if ("refused" in expected) {
        assert.isTrue(Result.isFailure(recovered), JSON.stringify(recovered))
        return
      }
      const { alternative, edits, value } = Result.getOrThrow(recovered)
      assert.deepStrictEqual(value, expected.value)
      assert.strictEqual(
        alternative !== undefined || edits.some(({ risk }) => risk !== undefined),
        expected.marked ?? false
      )
    })
  }
})
