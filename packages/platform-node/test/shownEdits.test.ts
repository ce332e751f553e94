import type { Edit } from "@countersign/core/Edit"
import { assert, describe, it } from "@effect/vitest"
import { shownEdits } from "../src/internal/cli/shownEdits.ts"
import { spotOf } from "../src/internal/cli/spot.ts"

/** The lines under a spot: what is marked stands above the mark. */
const lines = (text: string, offset: number, length = 1) => {
  const { excerpt, mark } = spotOf(text, offset, length)
  return [excerpt, mark]
}

describe("a spot of a text", () => {
  it("counts lines and columns from 1", () => {
    const text = "{\n  \"a\": 1,\r\n\n}"
    const at = (offset: number) => {
      const { column, line } = spotOf(text, offset, 1)
      return [line, column]
    }
    assert.deepStrictEqual(at(0), [1, 1])
    assert.deepStrictEqual(at(1), [1, 2])
    assert.deepStrictEqual(at(2), [2, 1])
    assert.deepStrictEqual(at(text.indexOf("a")), [2, 4])
    assert.deepStrictEqual(at(text.length - 1), [4, 1])
    assert.deepStrictEqual(at(text.length), [4, 2])
    assert.deepStrictEqual(spotOf("\n", 0, 1), { line: 1, column: 1, excerpt: "", mark: "^" })
    assert.deepStrictEqual(spotOf("", 0, 1), { line: 1, column: 1, excerpt: "", mark: "^" })
  })

  it("marks what is there, on its line alone", () => {
    assert.deepStrictEqual(lines("{a: True,\nb: 1}", 4, 4), ["{a: True,", "    ^^^^"])
    assert.deepStrictEqual(lines("{a: [1\n\n]}", 4, 5), ["{a: [1", "    ^^"])
    assert.deepStrictEqual(lines("{a: 1", 5, 1), ["{a: 1", "     ^"])
  })

  it("shows what cannot be seen, and what a terminal would obey", () => {
    assert.deepStrictEqual(lines("{\u202e\"a\u200b\":\u00a0\t1}", 9), [
      "{\\u202e\"a\\u200b\":\\u00a0\\t1}",
      "                         ^"
    ])
    assert.deepStrictEqual(lines("\u001b[31m!", 0), ["\\u001b[31m!", "^^^^^^"])
    assert.deepStrictEqual(lines("a\ud83d!", 2), ["a\\ud83d!", "       ^"])
  })

  it("stands under wide characters, pictures and marks that take no column", () => {
    assert.deepStrictEqual(lines("{\"東京\": 🌸, x", 11), ["{\"東京\": 🌸, x", `${" ".repeat(13)}^`])
    assert.deepStrictEqual(lines("ｅ\u0301e\u0301x", 4), ["ｅ\u0301e\u0301x", "   ^"])
  })

  it("is no wider than a terminal, whatever the line", () => {
    for (const unit of ["x", "東", "🌸", "\u202e", "\u0301", "\ud800"]) {
      const text = unit.repeat(3000)
      for (const offset of [0, 1, 50, 1500, 2999, 3000]) {
        const { excerpt, mark } = spotOf(text, offset, 500)
        const columns = excerpt.replace(/[東🌸]/gu, "..").replace(/\u0301/g, "").length
        assert.isAtMost(columns, 74, unit)
        assert.isAtMost(mark.length, Math.max(columns, 1) + 1, unit)
        assert.isBelow(excerpt.length, 300)
      }
    }
    const middle = `${"a".repeat(500)}!${"b".repeat(500)}`
    const [excerpt, mark] = lines(middle, 500) as [string, string]
    assert.match(excerpt, /^…a+!b+…$/)
    assert.strictEqual(excerpt[mark.indexOf("^")], "!")
  })
})

describe("the edits of a text", () => {
  const text = "{a: 1,}"
  const shown = (edits: ReadonlyArray<Edit>, colors = false) => shownEdits(edits, text, colors)

  it("are shown with their risk, their place, what changed, and the spot", () => {
    assert.deepStrictEqual(
      shown([
        { kind: "bare-key", offset: 1, pointer: "/a", before: "a", after: "\"a\"" },
        { kind: "cut", offset: 7, pointer: "", before: "", after: "}", risk: "lossy" },
        { kind: "ambiguous", before: "1", after: "2", risk: "ambiguous" },
        { kind: "comma", offset: 5 },
        { kind: "model" }
      ]),
      [
        "bare-key at 1:2 in /a: a -> \"a\"\n    {a: 1,}\n     ^",
        "cut (lossy) at 1:8: (nothing) -> }\n    {a: 1,}\n           ^",
        "ambiguous: 1 -> 2",
        "comma at 1:6\n    {a: 1,}\n         ^",
        "model"
      ]
    )
  })

  it("are coloured where that is possible", () => {
    const [line] = shown([{ kind: "k", offset: 1, before: "a", after: "b", risk: "lossy" }], true)
    assert.strictEqual(
      line,
      "k \u001b[33m(lossy)\u001b[0m at 1:2: \u001b[31ma\u001b[0m -> \u001b[32mb\u001b[0m\n    {a: 1,}\n\u001b[36m     ^\u001b[0m"
    )
  })

  it("are bounded, and those with a risk are kept", () => {
    const many = Array.from({ length: 30 }, (_, index): Edit => ({ kind: `k${index}` }))
    assert.deepStrictEqual(shown(many.slice(0, 20)), many.slice(0, 20).map(({ kind }) => kind))
    const withRisk = many.map((edit, index): Edit => index < 28 ? edit : { ...edit, risk: "ambiguous" })
    assert.deepStrictEqual(shown(withRisk), [
      ...many.slice(0, 18).map(({ kind }) => kind),
      "k28 (ambiguous)",
      "k29 (ambiguous)",
      "and 10 more"
    ])
    assert.strictEqual(
      shown(many.map((edit) => ({ ...edit, risk: "lossy" }))).at(-1),
      "and 10 more, 10 of them ambiguous or lossy"
    )
  })

  it("hold nothing that a terminal would obey, and are not long", () => {
    const evil = `\u001b[2J\u202e\n${"x".repeat(10_000)}`
    const [one] = shown([{ kind: evil, pointer: `/${evil}`, before: evil, after: evil }]) as [string]
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(one, /[\u0000-\u001f\u202e]/)
    assert.isBelow(one.length, 700)
  })
})
