import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { jsonrepair } from "jsonrepair"
import * as InputSchema from "../src/InputSchema.ts"
import * as JsonSchemaValidator from "../src/JsonSchemaValidator.ts"
import * as Limits from "../src/Limits.ts"
import * as RepairText from "../src/RepairText.ts"
import { InvalidJson } from "../src/StrictJson.ts"
import corpus from "./fixtures/cases/repair-corpus.json" with { type: "json" }
import { sameJson } from "./sameJson.ts"

const error = new InvalidJson({ reason: "syntax", offset: 0, expected: "a JSON value" })
const repair = (text: string, options?: { readonly truncated?: RepairText.Truncated }) =>
  Effect.map(RepairText.jsonrepair(options)(text, error), Option.getOrUndefined)

describe("RepairText.jsonrepair", () => {
  it.effect("says what it changed", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* repair("{\"a\":1,}"), {
        text: "{\"a\":1}",
        edits: [{ kind: "jsonrepair", offset: 6, before: ",", after: "" }],
        truncated: false
      })
    }))

  it.effect("adds brackets that are missing after complete values", () =>
    Effect.gen(function*() {
      for (const text of ["{\"a\":\"b\"", "{\"a\":[1,2]", "{\"a\":{\"b\":true", "{'a': 'b'", "{\"a\":[{\"b\":\"c\"}"]) {
        assert.isDefined(yield* repair(text), text)
      }
    }))

  it.effect("refuses a text that ends in the middle of something, unless told to close it", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "{\"path\":\"a",
          "{\"path\":\"a.txt\",\"content\":",
          "{\"code\": 1",
          "{\"ok\": tru",
          "{\"a\":1,",
          "{\"a\":1,\"b\"",
          "{\"a\":[",
          "{",
          "{\"a\":\"it's",
          "{\"a\":\"x\\",
          "[1, -"
        ]
      ) {
        assert.isUndefined(yield* repair(text), text)
      }
      assert.deepInclude(yield* repair("{\"path\":\"a", { truncated: "close" }), {
        text: "{\"path\":\"a\"}",
        truncated: true
      })
    }))

  it.effect("invents no value, whichever way truncation is met", () =>
    Effect.gen(function*() {
      for (const text of ["{\"query\": ,\"limit\":5}", "{\"query\": }", "{\"a\":[1,2,...]}", "{\"a\":[1,2,…]}"]) {
        assert.isUndefined(yield* repair(text), text)
        assert.isUndefined(yield* repair(text, { truncated: "close" }), text)
      }
    }))

  it.effect("refuses what it would decide in silence", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "not JSON at all",
          "{\"path\":\"a.js\",\"content\":\"const s = x + \"y\";\"}",
          "{command: rm -rf build/* dist/*}",
          "{paths: [src/*.ts, lib/**/*.js]}",
          "{command: `it's`}",
          "{\"path\":\"a.js\",\"content\":\"// \"use strict\" mode\"}",
          "{\"title\":\"5\" // 6\"}",
          "{\"a\":[\"x\"，\"y\"]}",
          "{\"a\":[\"x\"; \"y\"]}",
          "{\"a\":[\"x\" and \"y\"]}",
          "# c\n{\"a\":1}",
          "```json\n```",
          "{\"cents\":1e}",
          "{\"t\": -.}",
          "{force: not(true)}",
          "{to: get_user(\"bob\")}",
          "{\"headers\":{\"q\":\"a:\"b\" c:\"d\"\"}}",
          "{\"subject\":\"Re: \"Q3\" numbers, final\"",
          "{\"a\": NULL,}",
          "{p: 'C:\\temp\\new'}",
          "{\"k",
          "{\"k\":\"x\",\"y",
          "Here are the arguments:\n```json\n{\"city\":\"Oslo\"}\n```",
          "{\"a\":1}\n{\"a\":2}",
          "{\"a\":1},{\"a\":2}",
          "callback({\"a\":1,})",
          "'text'",
          "12,",
          "{\"path\":\"C:\\Users\\new\"}",
          "{'msg': 'it's fine', 'n': 1}",
          "{\"s\": \"\"\"multi \"q\" end\"\"\"}",
          "{\"a\": [1, {\"b\": 3}, \"c\": 4}",
          "{\"a: \"x\", \"b\": \"y\"}",
          "{\"a\" \"b\"}",
          "{\"score\": NaN}",
          "{\"score\": undefined}",
          "{\"cmd\":\"echo \"x\", \"rm\":\"y\"}",
          "{\"a\": \"it\" s\"}"
        ]
      ) {
        assert.isUndefined(yield* repair(text, { truncated: "close" }), text)
      }
      // What stands around a value without changing it is taken off.
      for (const text of ["```json\n{a:1}\n```", "// first\n{a:1}", "{a:1} /* done */", "{a:1}}", "{a:1},"]) {
        assert.strictEqual((yield* repair(text))?.text?.replace(/\s/g, ""), "{\"a\":1}", text)
      }
      // Inner quotes in pairs leave no doubt.
      assert.include(yield* repair("{\"a\":\"he said \"no\" twice\"}"), {
        text: "{\"a\":\"he said \\\"no\\\" twice\"}"
      })
    }))

  it.effect("fails on a text that is too long for it", () =>
    Effect.gen(function*() {
      const limit = Effect.provideService(Limits.Limits, { ...Limits.defaults, maxRepairLength: 10 })
      const refused = yield* Effect.flip(limit(repair("{a: 'bcdef'}")))
      assert.include(refused, { limit: "maxRepairLength", max: 10, size: 12 })
      assert.isDefined(yield* limit(repair("{a: 'bcd'}")))
    }))

  it.effect("survives what jsonrepair does not", () =>
    Effect.gen(function*() {
      for (const text of ["[".repeat(16_000), "{\"a\":".repeat(3_000), "\u0000", "}}}}", "{\"a\"}}{{"]) {
        yield* repair(text, { truncated: "close" })
      }
    }))
})

describe("RepairText.recovery", () => {
  const zip = InputSchema.make({ type: "object", properties: { zip: { type: "string" } } })
  const recover = (
    text: string,
    options?: Parameters<typeof RepairText.recovery>[0],
    schema?: InputSchema.InputSchema
  ) => Effect.map(RepairText.recovery(options)(text, error, schema), Option.getOrUndefined)

  it.effect("gives the value that was meant, and says what it changed", () =>
    Effect.gen(function*() {
      const recovered = (yield* recover("{\"a\":1,}"))!
      assert.deepInclude(recovered, { value: { a: 1 }, truncated: false })
      assert.isUndefined(recovered.text)
      assert.lengthOf(recovered.edits!, 1)
    }))

  it.effect("is guided by the schema of its options, or by the one that the value has to fit", () =>
    Effect.gen(function*() {
      const other = InputSchema.make({ type: "object", properties: { zip: { type: "integer" } } })
      assert.deepStrictEqual((yield* recover("{zip: 02134}", { schema: zip }))!.value, { zip: "02134" })
      assert.deepStrictEqual((yield* recover("{zip: 02134}", {}, zip))!.value, { zip: "02134" })
      assert.deepStrictEqual((yield* recover("{zip: 02134}", { schema: zip }, other))!.value, { zip: "02134" })
    }))

  it.effect("fails with the reason where it would have to guess", () =>
    Effect.gen(function*() {
      const truncated = yield* Effect.flip(recover("{\"path\":\"a"))
      assert.include(truncated, { _tag: "Unrecoverable", reason: "truncated" })
      const closed = (yield* recover("{\"path\":\"a", { truncated: "close" }))!
      assert.deepInclude(closed, { value: { path: "a" }, truncated: true })
      assert.include(yield* Effect.flip(recover("{\"a\":1}{\"a\":2}")), {
        _tag: "Unrecoverable",
        reason: "two-values"
      })
      assert.include(
        yield* Effect.flip(
          recover("{a: [[[1]]]}").pipe(
            Effect.provideService(Limits.Limits, { ...Limits.defaults, maxDepth: 2 })
          )
        ),
        { _tag: "InputLimitExceeded", limit: "maxDepth" }
      )
    }))

  it.effect("has no answer for JSON that needs no change, and makes nothing of garbage", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* recover("{\"zip\":\"1\"}", { schema: zip }))
      assert.isUndefined(yield* recover("[1]"))
      for (const text of ["{,}", "{", "[", "{:}"]) {
        const recovered = yield* Effect.result(recover(text, { truncated: "close" }))
        assert.isUndefined(Result.getOrUndefined(recovered), text)
      }
    }))

  it.effect("asks the second engine about a text of two readings, and not where that is too long for it", () =>
    Effect.gen(function*() {
      const kinds = (text: string, maxRepairLength = 16_384) =>
        Effect.map(
          Effect.provideService(recover(text), Limits.Limits, { ...Limits.defaults, maxRepairLength }),
          (recovered) => recovered!.edits!.map(({ kind }) => kind)
        )
      assert.notInclude(yield* kinds("{\"n\": 007}"), "ambiguous")
      assert.include(yield* kinds("{\"n\": 007}", 5), "ambiguous")
      assert.notInclude(yield* kinds("{\"n\": 7,}", 5), "ambiguous")
    }))
})

describe("RepairText.parse", () => {
  const schema = InputSchema.make({ type: "object" })
  const run = <A, E>(program: Effect.Effect<A, E, JsonSchemaValidator.JsonSchemaValidator>) =>
    Effect.provide(program, JsonSchemaValidator.layerRefuse)

  it.effect("leaves JSON as it is and does not ask", () =>
    Effect.gen(function*() {
      const parsed = yield* RepairText.parse("{\"a\":1}", { repair: () => Effect.die("asked") })
      assert.deepStrictEqual(parsed, { value: { a: 1 }, edits: [], truncated: false })
    }).pipe(run))

  it.effect("keeps the first failure where there is no answer, the same text, or an empty one", () =>
    Effect.gen(function*() {
      for (const answer of [undefined, "{bad", "", "{}", " [ ] ", "\"\""]) {
        const failed = yield* Effect.flip(
          RepairText.parse("{bad", {
            repair: () => Effect.succeed(answer === undefined ? Option.none() : Option.some({ text: answer }))
          })
        )
        assert.include(failed, { _tag: "InvalidJson", offset: 1 }, String(answer))
      }
    }).pipe(run))

  it.effect("reports the failure of the repaired text, and asks once", () =>
    Effect.gen(function*() {
      let asked = 0
      const failed = yield* Effect.flip(
        RepairText.parse("{bad", {
          repair: () => {
            asked++
            return Effect.succeed(Option.some({ text: "[1,2" }))
          }
        })
      )
      assert.include(failed, { _tag: "InvalidJson", offset: 4 })
      assert.strictEqual(asked, 1)
    }).pipe(run))

  it.effect("passes the failure of the repair on", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* Effect.flip(RepairText.parse("{bad", { repair: () => Effect.fail("down" as const) })),
        "down"
      )
    }).pipe(run))

  it.effect("records an edit even for a repair that names none", () =>
    Effect.gen(function*() {
      const parsed = yield* RepairText.parse("{a:1}", {
        repair: () => Effect.succeed(Option.some({ text: "{\"a\":1}" }))
      })
      assert.deepStrictEqual(parsed.edits, [{ kind: "custom", offset: 1, before: "a", after: "\"a\"" }])
    }).pipe(run))

  it.effect("takes a value in place of a text, and checks it like one", () =>
    Effect.gen(function*() {
      const parse = (value: unknown, schema?: InputSchema.InputSchema) =>
        RepairText.parse("{bad", { schema, repair: () => Effect.succeed(Option.some({ value })) })
      const city = InputSchema.make(Schema.Struct({ city: Schema.String }))
      assert.deepStrictEqual(yield* parse({ city: "Oslo" }, city), {
        value: { city: "Oslo" },
        edits: [{ kind: "custom" }],
        truncated: false
      })
      assert.include(yield* Effect.flip(parse({ city: 1 }, city)), { _tag: "SchemaMismatch" })
      assert.include(yield* Effect.flip(parse({ at: () => 1 })), { _tag: "InvalidJson", reason: "not-json" })
      assert.include(yield* Effect.flip(parse(JSON.parse("{\"__proto__\":1}"))), { reason: "forbidden-key" })
      for (const nothing of [undefined, {}, [], ""]) {
        assert.include(yield* Effect.flip(parse(nothing)), { _tag: "InvalidJson", offset: 1 })
      }
    }).pipe(run))

  it.effect("hands its schema to the repair", () =>
    Effect.gen(function*() {
      const schema = InputSchema.make(Schema.Struct({ zip: Schema.String }))
      const parsed = yield* RepairText.parse("{zip: 02134}", { schema, repair: RepairText.recovery() })
      assert.deepStrictEqual(parsed.value, { zip: "02134" })
      // JSON that does not fit is handed to it as well.
      assert.deepStrictEqual(
        (yield* RepairText.parse("{\"zip\": 2134}", { schema, repair: RepairText.recovery() })).value,
        { zip: "2134" }
      )
    }).pipe(run))

  it.effect("passes on why a text cannot be recovered", () =>
    Effect.gen(function*() {
      const failed = yield* Effect.flip(RepairText.parse("{\"a\": \"b", { repair: RepairText.recovery() }))
      assert.include(failed, { _tag: "Unrecoverable", reason: "truncated" })
    }).pipe(run))

  it.effect("does not ask where the schema is at fault", () =>
    Effect.gen(function*() {
      const failed = yield* Effect.flip(RepairText.parse("{}", { schema, repair: () => Effect.die("asked") }))
      assert.strictEqual(failed._tag, "UnsupportedSchema")
    }).pipe(run))
})

describe("the corpus of malformed texts, with jsonrepair behind its bounds", () => {
  it.effect("is silently wrong far less often than the engine alone", () =>
    Effect.gen(function*() {
      const wrongs = { bounded: 0, alone: 0 }
      let right = 0
      for (const { input, intended } of corpus as ReadonlyArray<any>) {
        const isRight = (value: unknown) => sameJson(value, intended)
        const bounded = yield* Effect.option(
          RepairText.parse(input, { repair: RepairText.jsonrepair({ truncated: "close" }) })
        )
        const alone = yield* Effect.option(Effect.try(() => JSON.parse(jsonrepair(input))))
        if (Option.isSome(bounded)) isRight(bounded.value.value) ? right++ : wrongs.bounded++
        if (Option.isSome(alone) && !isRight(alone.value)) wrongs.alone++
      }
      // Measured. It refuses more than the engine does, and has to be looked at if it gets fewer right.
      assert.isAtLeast(right, 31)
      assert.isAtMost(wrongs.bounded, 1)
      assert.isAtLeast(wrongs.alone, 8 * wrongs.bounded)
    }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse)))
})
