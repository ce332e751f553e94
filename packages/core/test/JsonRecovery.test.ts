import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as JsonRecovery from "../src/JsonRecovery.ts"
import type { JsonSchema } from "../src/JsonSchemaValidator.ts"
import * as Limits from "../src/Limits.ts"
import * as StrictJson from "../src/StrictJson.ts"
import { below, byteText, fragmentText, jsonText, mutate, mutations, oneOf } from "./arbitraries.ts"
import { Choices, choicesMade, repeatable } from "./choices.ts"
import { damages } from "./damage.ts"
import { schemaOf, valueFrom } from "./damagedValues.ts"

const recovered = (text: string, options?: JsonRecovery.RecoverOptions): JsonRecovery.Recovered =>
  Result.getOrThrow(JsonRecovery.recover(text, options))

const reason = (text: string, options?: JsonRecovery.RecoverOptions): string | undefined => {
  const outcome = JsonRecovery.recover(text, options)
  if (Result.isSuccess(outcome)) return undefined
  return outcome.failure._tag === "Unrecoverable" ? outcome.failure.reason : outcome.failure._tag
}

const objectOf = (
  properties: { readonly [key: string]: JsonSchema },
  required = Object.keys(properties)
): JsonSchema => ({
  type: "object",
  properties,
  required,
  additionalProperties: false
})
const string = { type: "string" }
const integer = { type: "integer" }

interface Example {
  readonly text: string
  readonly value: unknown
  readonly schema?: JsonSchema
  readonly truncated?: "close"
  /** Of each edit, in their order; the pointer where it is that of a value, not of something between values. */
  readonly edits: ReadonlyArray<readonly [kind: string, offset: number | undefined, pointer?: string]>
}

/** One text for each kind of edit that stands in the text. */
const examples: ReadonlyArray<Example> = [
  { text: "{a: 1}", value: { a: 1 }, edits: [["bare-key", 1, "/a"]] },
  { text: "{\"a\": word}", value: { a: "word" }, edits: [["bare-text", 6, "/a"]] },
  { text: "{\"a\": (1, 2)}", value: { a: [1, 2] }, edits: [["brackets", 6, "/a"]] },
  { text: "[1, 2, ]", value: [1, 2], edits: [["comma", 5]] },
  { text: "[1,, 2]", value: [1, 2], edits: [["comma", 3]] },
  { text: "[, 1]", value: [1], edits: [["comma", 1]] },
  { text: "[true false]", value: [true, false], edits: [["comma", 6]] },
  { text: "{\"a\": 1; \"b\": 2}", value: { a: 1, b: 2 }, edits: [["comma", 7]] },
  { text: "[1, // one\n 2]", value: [1, 2], edits: [["comment", 4]] },
  { text: "[1, # one\n 2]", value: [1, 2], edits: [["comment", 4]] },
  { text: "[1, /* one */ 2]", value: [1, 2], edits: [["comment", 4]] },
  { text: "{\"a\": \"x\" + \"y\"}", value: { a: "xy" }, edits: [["concatenation", 10, "/a"]] },
  { text: "{\"a\": \"1\n2\"}", value: { a: "1\n2" }, edits: [["control-character", 7, "/a"]] },
  {
    text: "{\"a\": [1, ",
    value: { a: [1] },
    truncated: "close",
    edits: [["cut", 10], ["missing-close", 10], ["missing-close", 10]]
  },
  { text: "[tru", value: [true], truncated: "close", edits: [["cut-literal", 1, "/0"], ["missing-close", 4]] },
  { text: "[\"tw", value: ["tw"], truncated: "close", edits: [["cut-string", 4, "/0"], ["missing-close", 4]] },
  { text: "{\"a\": \"\\d+\"}", value: { a: "\\d+" }, edits: [["escape", 6, "/a"]] },
  { text: "{\"a\": \"C:\\Users\\new\"}", value: { a: "C:\\Users\\new" }, edits: [["escape", 6, "/a"]] },
  { text: "{\"a\": \"a \"b\" c\"}", value: { a: "a \"b\" c" }, edits: [["inner-quotes", 7, "/a"]] },
  { text: "{\"a\": None}", value: { a: null }, edits: [["literal", 6, "/a"]] },
  { text: "{\"a\": [\"x\"}", value: { a: ["x"] }, edits: [["missing-close", 10]] },
  {
    text: "[{\"a\": 1, \"b\": 2, \"a\": 3, \"b\": 4}]",
    schema: { type: "array", items: objectOf({ a: integer, b: integer }) },
    value: [{ a: 1, b: 2 }, { a: 3, b: 4 }],
    edits: [["missing-item", 18]]
  },
  { text: "\"a\": 1}", value: { a: 1 }, edits: [["missing-open", 0]] },
  { text: "{\"a\": .5}", value: { a: 0.5 }, edits: [["number", 6, "/a"]] },
  { text: "{\"a\": 0x1F}", value: { a: 31 }, edits: [["number", 6, "/a"]] },
  { text: "{\"a\": 1,234}", schema: objectOf({ a: integer }), value: { a: 1234 }, edits: [["number", 6, "/a"]] },
  { text: "Sure: {\"a\": 1}", value: { a: 1 }, edits: [["prose", 0]] },
  { text: "{\"a\": 1} Done.", value: { a: 1 }, edits: [["prose", 9]] },
  { text: "```json\n{\"a\": 1}\n```", value: { a: 1 }, edits: [["prose", 0], ["prose", 17]] },
  { text: "{\"a\": 'x'}", value: { a: "x" }, edits: [["quotes", 6, "/a"]] },
  { text: "{\"a\": “x”}", value: { a: "x" }, edits: [["quotes", 6, "/a"]] },
  { text: "{\"a: 1}", value: { a: 1 }, edits: [["quotes", 1, "/a"]] },
  { text: "{a\": 1}", value: { a: 1 }, edits: [["quotes", 1, "/a"]] },
  { text: "{\"a\": \"x, \"b\": \"y\"}", value: { a: "x", b: "y" }, edits: [["quotes", 8, "/a"]] },
  { text: "{\"a\": x\", \"b\": \"y\"}", value: { a: "x", b: "y" }, edits: [["quotes", 6, "/a"]] },
  { text: "{\"a\": 02134}", schema: objectOf({ a: string }), value: { a: "02134" }, edits: [["raw-text", 6, "/a"]] },
  {
    text: "{\"a\": {\"b\": 1.0}}",
    schema: objectOf({ a: string }),
    value: { a: "{\"b\": 1.0}" },
    edits: [["raw-text", 6, "/a"]]
  },
  { text: "{\"a\" => 1}", value: { a: 1 }, edits: [["separator", 5]] },
  { text: "{\"a\" 1}", value: { a: 1 }, edits: [["separator", 4]] },
  { text: "{\"a\": [\u00a01]}", value: { a: [1] }, edits: [["space", 7]] },
  { text: "{\"a\": \\n1}", value: { a: 1 }, edits: [["space", 6]] },
  { text: "{\"a\": 1]}", value: { a: 1 }, edits: [["surplus-close", 7]] },
  { text: "{\"a\": 1}}", value: { a: 1 }, edits: [["surplus-close", 8]] },
  { text: "{{\"a\": 1}}", value: { a: 1 }, edits: [["surplus-open", 1], ["surplus-close", 9]] },
  { text: "[{\"a\": 1]}", value: [{ a: 1 }], edits: [["swapped-close", 8]] },
  { text: "{}{\"a\": 1}", value: { a: 1 }, edits: [["documents", 2]] },
  {
    text: "print(1)",
    schema: objectOf({ code: string }),
    value: { code: "print(1)" },
    edits: [["raw-text", 0, "/code"]]
  }
]

/** One for each kind of edit to a value: those have no place in the text. */
const fittings: ReadonlyArray<Example & { readonly schema: JsonSchema }> = [
  { text: "{\"a\": \"4\"}", schema: objectOf({ a: integer }), value: { a: 4 }, edits: [["number", undefined, "/a"]] },
  {
    text: "{\"a\": \"True\"}",
    schema: objectOf({ a: { type: "boolean" } }),
    value: { a: true },
    edits: [["boolean", undefined, "/a"]]
  },
  {
    text: "{\"a\": \"null\"}",
    schema: objectOf({ a: { type: "null" } }),
    value: { a: null },
    edits: [["null", undefined, "/a"]]
  },
  {
    text: "{\"a\": \"One\"}",
    schema: objectOf({ a: { enum: ["one", "two"] } }),
    value: { a: "one" },
    edits: [["enum", undefined, "/a"]]
  },
  {
    text: "{\"a\": \"[1]\"}",
    schema: objectOf({ a: { type: "array" } }),
    value: { a: [1] },
    edits: [["decoded", undefined, "/a"]]
  },
  {
    text: "\"{\\\"a\\\": 1}\"",
    schema: objectOf({ a: integer }),
    value: { a: 1 },
    edits: [["decoded", undefined, ""]]
  },
  {
    text: "{\"a\": \"x\"}",
    schema: objectOf({ a: { type: "array", items: string } }),
    value: { a: ["x"] },
    edits: [["wrapped", undefined, "/a"]]
  },
  { text: "\"x\"", schema: objectOf({ a: string }), value: { a: "x" }, edits: [["wrapped", undefined, "/a"]] },
  { text: "[{\"a\": 1}]", schema: objectOf({ a: integer }), value: { a: 1 }, edits: [["unwrapped", undefined, ""]] },
  {
    text: "{\"a\": 1, \"b\": null}",
    schema: objectOf({ a: integer, b: integer }, ["a"]),
    value: { a: 1 },
    edits: [["null-optional", undefined, "/b"]]
  },
  { text: "null", schema: objectOf({}), value: {}, edits: [["no-arguments", undefined, ""]] },
  {
    text: "{\"filePath\": \"x\"}",
    schema: objectOf({ file_path: string }),
    value: { file_path: "x" },
    edits: [["key-style", undefined, "/filePath"]]
  },
  {
    text: "{\"arguments\": {\"a\": 1}}",
    schema: objectOf({ a: integer }),
    value: { a: 1 },
    edits: [["envelope", undefined, ""]]
  }
]

describe("JsonRecovery, the edits", () => {
  for (const { edits, schema, text, truncated, value } of [...examples, ...fittings]) {
    it(`${edits.map(([kind]) => kind).join(", ")}: ${JSON.stringify(text)}`, () => {
      const outcome = recovered(text, { schema, truncated })
      assert.deepStrictEqual(outcome.value, value)
      assert.deepStrictEqual(
        outcome.edits.map(({ kind, offset }) => [kind, offset]),
        edits.map((edit) => edit.slice(0, 2))
      )
      edits.forEach(([kind, , pointer], index) => {
        if (pointer !== undefined) assert.strictEqual(outcome.edits[index]!.pointer, pointer, kind)
      })
    })
  }

  it("are of no kind without an example", () => {
    const known = new Set(["more", ...[...examples, ...fittings].flatMap(({ edits }) => edits.map(([kind]) => kind))])
    const next = repeatable(3)
    const made = new Set<string>()
    for (const damage of Object.values(damages)) {
      for (let index = 0; index < 50; index++) {
        const choices = next()
        const value = valueFrom(choices, damage)
        const text = damage.apply(value, choices)
        for (const schema of text === undefined ? [] : [undefined, schemaOf(value)]) {
          const outcome = JsonRecovery.recover(text!, { schema, toolName: "tool", truncated: "close" })
          if (Result.isSuccess(outcome)) { for (const { kind } of outcome.success.edits) made.add(kind) }
        }
      }
    }
    assert.isAbove(made.size, 20)
    assert.deepStrictEqual([...made].filter((kind) => !known.has(kind)), [])
  })

  it("show what was there, and what was read instead", () => {
    const [edit] = recovered("{\"a\": None}").edits
    assert.deepInclude(edit, { before: "None", after: "null" })
  })

  it("say where something of the text was lost", () => {
    const { edits } = recovered("{\"a\": \"x", { truncated: "close" })
    assert.include(edits.map(({ risk }) => risk), "lossy")
  })

  it("are bounded in number", () => {
    const { edits, value } = recovered(`[${"None,".repeat(5_000)}]`)
    assert.lengthOf(value as Array<unknown>, 5_000)
    assert.isBelow(edits.length, 2_000)
  })
})

describe("JsonRecovery", () => {
  it("refuses what would have to be guessed, and says why", () => {
    const refused: ReadonlyArray<readonly [text: string, reason: string]> = [
      ["", "no-json"],
      [" \n", "no-json"],
      ["I cannot do that.", "no-json"],
      ["Nothing: {}", "no-json"],
      ["{\"a\": \"b", "truncated"],
      ["{\"a\": 1", "truncated"],
      ["{\"a\": tr", "truncated"],
      ["{\"a\":", "truncated"],
      ["{\"a", "truncated"],
      ["[1, ", "truncated"],
      ["{\"a\": , \"b\": 1}", "no-value"],
      ["{\"a\": 1, \"b\"}", "no-value"],
      ["{\"a\": [1, ...]}", "elided"],
      ["{\"a\": 1}{\"a\": 2}", "two-values"],
      ["{'a': 1, 'a': 2}", "duplicate-key"],
      ["{'a': NaN}", "number-out-of-range"],
      ["{'a': -Infinity}", "number-out-of-range"],
      ["{'a': 1e999}", "number-out-of-range"],
      ["{'a': 12345678901234567890}", "unsafe-integer"],
      ["{'__proto__': {}}", "forbidden-key"],
      ["{__proto__: {}}", "forbidden-key"],
      ["{\"__pr\\u006fto__\": {},}", "forbidden-key"],
      ["{'constructor': {'prototype': 1}}", "forbidden-key"]
    ]
    for (const [text, expected] of refused) assert.strictEqual(reason(text), expected, text)
  })

  it("turns nothing else into a value, with or without a schema", () => {
    const texts = [
      "[object Object]",
      "undefined",
      "NaN",
      "[DONE]",
      "data: [DONE]",
      "Internal Server Error",
      "<html><body>502 Bad Gateway</body></html>",
      "Error: x is not defined at run (index.js:1:2)",
      "I will call the tool [read_file] now.",
      "Use {path} here.",
      "Sure: no.",
      "```json\n```",
      "...",
      "{...}",
      "[...]"
    ]
    const schema = objectOf({ a: integer, b: { type: "boolean" } })
    for (const text of texts) {
      for (const truncated of ["refuse", "close"] as const) {
        for (const options of [{ truncated }, { truncated, schema }]) assert.isDefined(reason(text, options), text)
      }
    }
  })

  it("refuses what is refused in JSON, too", () => {
    assert.strictEqual(reason("{\"__proto__\": {}}"), "forbidden-key")
    assert.strictEqual(reason("{\"a\": 12345678901234567890}"), "unsafe-integer")
    assert.strictEqual(reason("{\"a\": 1e999}"), "number-out-of-range")
    const schema = objectOf({ a: { type: "object" } })
    assert.strictEqual(reason("{\"a\": {\"__proto__\": 1}}", { schema }), "forbidden-key")
    assert.strictEqual(reason("{\"a\": \"{\\\"__proto__\\\": 1}\"}", { schema }), "forbidden-key")
  })

  it("repeats nothing of the text in a failure", () => {
    for (const text of ["{\"secret\": ,}", "secret", "{\"secret\": \"secret", "{'secret': 1, 'secret': 2}"]) {
      const outcome = JsonRecovery.recover(text)
      if (Result.isSuccess(outcome)) return assert.fail(text)
      assert.notInclude(JSON.stringify(outcome.failure) + outcome.failure.message, "secret")
    }
    const outcome = JsonRecovery.recover("{\"secret\": ,}")
    assert.strictEqual(Result.isFailure(outcome) && (outcome.failure as JsonRecovery.Unrecoverable).offset, 11)
  })

  it("gives the other reading of what has two", () => {
    const zeros = recovered("{zip: 02134}")
    assert.sameDeepMembers([zeros.value, zeros.alternative], [{ zip: 2134 }, { zip: "02134" }])
    const path = recovered("{'path': 'C:\\new\\table'}")
    assert.sameDeepMembers([path.value, path.alternative], [{ path: "C:\new\table" }, { path: "C:\\new\\table" }])
    assert.isFalse(Object.hasOwn(recovered("{a: 1}"), "alternative"))
  })

  it("says where a text was cut off that it closed", () => {
    const { truncated, truncatedAt, value } = recovered("{\"a\": [1, \"tw", { truncated: "close" })
    assert.deepStrictEqual([value, truncated, truncatedAt], [{ a: [1, "tw"] }, true, 13])
    assert.deepInclude(recovered("{a: 1}", { truncated: "close" }), { truncated: false })
    // Nothing is left of it.
    assert.strictEqual(reason("{\"a", { truncated: "close" }), "truncated")
    assert.strictEqual(reason("{", { truncated: "close" }), "truncated")
  })

  it("takes the arguments out of a call of this tool, and of no other", () => {
    const schema = objectOf({ n: integer })
    for (
      const text of [
        "{\"read\": {\"n\": 1}}",
        "{\"arguments\": {\"n\": 1}}",
        "{\"name\": \"read\", \"arguments\": {n: 1}}",
        "{\"name\": \"read\", \"arguments\": \"{\\\"n\\\": 1}\"}"
      ]
    ) assert.deepStrictEqual(recovered(text, { schema, toolName: "read" }).value, { n: 1 }, text)
    const other = "{\"name\": \"write\", \"arguments\": {\"n\": 1}}"
    assert.deepStrictEqual(recovered(other, { schema, toolName: "read" }).value, JSON.parse(other))
  })

  it("neither invents a required member nor leaves out one that the schema does not know", () => {
    const schema = objectOf({ a: string, b: integer })
    for (const text of ["{a: x}", "{'a': 'x', 'c': 1}", "{}", "{'c': 1}"]) {
      const outcome = recovered(text, { schema })
      assert.isFalse(Object.hasOwn(outcome.value as object, "b"), text)
      assert.strictEqual(Object.hasOwn(outcome.value as object, "c"), text.includes("c"), text)
    }
    assert.strictEqual(reason("no arguments", { schema }), "no-json")
  })

  it("reads a schema that holds itself, and one that is none", () => {
    const tree = {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { id: string, below: { type: "array", items: { $ref: "#/$defs/node" } } }
        }
      }
    }
    assert.deepStrictEqual(
      recovered("{id: 1, below: \"[{'id': 02, 'below': []}]\"}", { schema: tree }).value,
      { id: "1", below: [{ id: "02", below: [] }] }
    )
    const broken = { type: 7, properties: [1], anyOf: [{ $ref: "#" }, 3], pattern: "(", required: "a" }
    assert.deepStrictEqual(recovered("{a: 1}", { schema: broken as never }).value, { a: 1 })
  })

  it("is bounded in length", () => {
    const limits = { ...Limits.defaults, maxInputLength: 10 }
    assert.strictEqual(reason("{a: 1, b: 22}", { limits }), "InputLimitExceeded")
    assert.deepStrictEqual(recovered("{a: 1}", { limits }).value, { a: 1 })
  })

  it("is bounded in depth, however deep the text is", () => {
    const schemas = [undefined, objectOf({ a: { type: "object" } }), { type: "array" }]
    const refusals = (opener: string) =>
      schemas.flatMap((schema) =>
        (["refuse", "close"] as const).map((truncated) => reason(opener.repeat(100_000), { schema, truncated }))
      )
    for (const opener of ["[", "{\"a\":", "{a:", "[{\"a\":", "[[{a:"]) {
      for (const refusal of refusals(opener)) assert.strictEqual(refusal, "InputLimitExceeded", opener)
    }
    // Of these some are cut off before they are deep.
    const others = [
      "[{",
      "{",
      "(",
      "{{\"a\":",
      "\"",
      "'[",
      "{\\\"a\\\":",
      "`{a:",
      "<a>",
      "\"{",
      "/*",
      "[/*",
      "```{",
      "[\"a\""
    ]
    for (const opener of others) assert.doesNotThrow(() => refusals(opener), opener)
  })

  it("reads any depth that the limits allow", () => {
    const limits = { ...Limits.defaults, maxDepth: 200_000 }
    const lists = recovered(`${"[".repeat(100_000)}1,${"]".repeat(100_000)}`, { limits })
    let depth = 0
    for (let at = lists.value; Array.isArray(at); at = at[0]) depth++
    assert.strictEqual(depth, 100_000)
    for (const opener of ["{\"a\":", "[{a:"]) {
      assert.isTrue(recovered(`${opener.repeat(50_000)}1`, { limits, truncated: "close" }).truncated, opener)
    }
  })

  it("counts the depth of what was encoded as a text", () => {
    const schema = objectOf({ a: { type: "array" } })
    const encoded = (depth: number) => `{"a": "${"[".repeat(depth)}${"]".repeat(depth)}"}`
    assert.isArray((recovered(encoded(10), { schema }).value as { readonly a: unknown }).a)
    const outcome = JsonRecovery.recover(encoded(1_000), { schema })
    assert.isTrue(Result.isFailure(outcome) || typeof (outcome.success.value as { readonly a: unknown }).a === "string")
  })
})

it("has no other reading that is no number", () => {
  const recovered = JsonRecovery.recover("{'a': 01234567890123456781e40090}")
  assert.isTrue(Result.isFailure(recovered) || !("alternative" in recovered.success))
})

describe("JsonRecovery of any text at all", () => {
  const texts: { readonly [name: string]: Arbitrary.Arbitrary<string> } = {
    "parts of JSON": fragmentText,
    "bytes": byteText,
    "code units": Arbitrary.map(
      Arbitrary.array(below(65_536), { maxLength: 40 }),
      (units) => String.fromCharCode(...units)
    ),
    "punctuation": Arbitrary.map(
      Arbitrary.array(oneOf([..."{}[]():,;=\"'`“”\\/#*.-+0129eEtfnNaù \n\ud83d\ude00"]), { maxLength: 40 }),
      (characters) => characters.join("")
    ),
    "changed JSON": Arbitrary.map(Arbitrary.all([jsonText, mutations]), ([text, changes]) => mutate(text, changes)),
    "changed arguments": Arbitrary.map(
      Arbitrary.all([
        oneOf(["{\"city\": \"Oslo\", \"a\": [1, true], \"n\": null}", "{'city': 'a \"b\"', n: One}"]),
        mutations
      ]),
      ([text, changes]) => mutate(text, changes)
    ),
    "damaged JSON, changed": Arbitrary.map(
      Arbitrary.all([oneOf(Object.values(damages)), choicesMade, mutations]),
      ([damage, made, changes]) => {
        const choices = new Choices(made)
        return mutate(damage.apply(valueFrom(choices, damage), choices) ?? "", changes)
      }
    )
  }
  const schemas: ReadonlyArray<JsonSchema | undefined> = [
    undefined,
    {
      type: "object",
      properties: {
        city: string,
        a: { type: "array", items: { anyOf: [integer, { type: "boolean" }] } },
        n: { enum: ["One", "Two", null] }
      },
      required: ["city"],
      additionalProperties: false
    },
    objectOf({ code: string }),
    { type: "array", items: objectOf({ a: { type: "number" } }) }
  ]

  const holds = (text: string, options: JsonRecovery.RecoverOptions): void => {
    const outcome = JsonRecovery.recover(text, options)
    if (Result.isFailure(outcome)) {
      assert.include(["Unrecoverable", "InputLimitExceeded"], outcome.failure._tag)
      assert.isNotEmpty(outcome.failure.message)
      if (outcome.failure._tag === "Unrecoverable") isWithin(text, outcome.failure.offset)
      return
    }
    const { alternative, edits, truncated, truncatedAt, value } = outcome.success
    isPlain(value)
    if (Object.hasOwn(outcome.success, "alternative")) isPlain(alternative)
    for (const { kind, offset, pointer } of edits) {
      assert.isNotEmpty(kind)
      if (offset !== undefined) isWithin(text, offset)
      if (pointer !== undefined) assert.match(pointer, /^(?:\/(?:[^~/]|~[01])*)*$/, kind)
    }
    assert.isBoolean(truncated)
    assert.strictEqual(truncatedAt !== undefined, truncated)
    if (truncatedAt !== undefined) isWithin(text, truncatedAt)
    // What is not to be closed lacks nothing but brackets.
    if (options.truncated === "refuse" && truncated) {
      assert.isTrue(edits.some(({ kind }) => kind === "missing-close" || kind === "more"))
      assert.notInclude(edits.map(({ risk }) => risk), "lossy")
    }
  }
  const isWithin = (text: string, offset: number): void => {
    assert.isTrue(Number.isInteger(offset) && offset >= 0 && offset <= text.length, `${offset} of ${text.length}`)
  }
  /** Made of nothing but lists, plain objects and scalars of JSON. */
  const isPlain = (value: unknown): void => {
    assert.isUndefined(StrictJson.inspect(value))
    if (typeof value !== "object" || value === null) return
    assert.strictEqual(Object.getPrototypeOf(value), Array.isArray(value) ? Array.prototype : Object.prototype)
    assert.isFalse(Object.hasOwn(value, "__proto__"))
    for (const member of Object.values(value)) isPlain(member)
  }

  for (const [name, text] of Object.entries(texts)) {
    it.prop(`${name}: a plain value or a typed failure, and no prototype is changed`, [text], ([text]) => {
      const before = Reflect.ownKeys(Object.prototype)
      for (const schema of schemas) {
        for (const truncated of ["refuse", "close"] as const) holds(text, { schema, truncated, toolName: "city" })
      }
      assert.deepStrictEqual(Reflect.ownKeys(Object.prototype), before)
      assert.isUndefined(Object.getOwnPropertyDescriptor(Array.prototype, "a"))
    }, { arbitrary: { runs: 1_000 } })
  }

  it.prop("reads JSON as StrictJson does", [jsonText, oneOf([undefined, {}, true])], ([text, schema]) => {
    const strict = StrictJson.parse(text)
    const outcome = JsonRecovery.recover(text, { schema })
    if (Result.isSuccess(strict)) {
      assert.deepStrictEqual(Result.getOrThrow(outcome), { ...strict.success, truncated: false })
    } else {
      assert.isTrue(Result.isFailure(outcome))
    }
  }, { arbitrary: { runs: 1_000 } })
})
