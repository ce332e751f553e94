/** JSON values that do not fit their schema, and what is made of them: what was meant, or nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as InputSchema from "../src/InputSchema.ts"
import { coerce } from "../src/internal/recovery/coerce.ts"
import { placeOf } from "../src/internal/recovery/schemaPlace.ts"
import type { JsonSchema } from "../src/JsonSchemaValidator.ts"
import { jsonValue } from "./arbitraries.ts"
import { Choices, choicesMade } from "./choices.ts"
import { schemaOfChoices } from "./randomSchema.ts"

interface Coerced {
  readonly value: unknown
  /** Each as `kind /path`, with a `?` behind it where another person might see it differently. */
  readonly edits: ReadonlyArray<string>
}

const run = (schema: JsonSchema | InputSchema.InputSchema, value: unknown, toolName?: string): Coerced => {
  const edits: Array<string> = []
  return {
    value: coerce(value, placeOf(schema), {
      toolName,
      onEdit: (kind, path, _before, _after, risk) => {
        edits.push(`${kind} ${path.map((step) => `/${step}`).join("")}${risk === "ambiguous" ? "?" : ""}`)
      },
      decode: (text) => {
        try {
          return JSON.parse(text)
        } catch {
          return undefined
        }
      }
    }),
    edits
  }
}

const becomes = (schema: JsonSchema, value: unknown, after: unknown, ...edits: ReadonlyArray<string>): void =>
  assert.deepStrictEqual(run(schema, value), { value: after, edits })

const stays = (schema: JsonSchema, value: unknown, toolName?: string): void => {
  const coerced = run(schema, value, toolName)
  assert.strictEqual(coerced.value, value)
  assert.deepStrictEqual(coerced.edits, [])
}

/** An object that takes these members and no others, all of them required but for those. */
const closed = (
  properties: Record<string, unknown>,
  optional: ReadonlyArray<string> = []
): Record<string, unknown> => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false
})

const open = (properties: Record<string, unknown>, required: ReadonlyArray<string> = []): Record<string, unknown> => ({
  type: "object",
  properties,
  required
})

const string = { type: "string" }
const integer = { type: "integer" }
const strings = { type: "array", items: string }

describe("a string where a number is taken", () => {
  it("is the number that it is written like", () => {
    for (
      const [text, number] of [["4", 4], ["-1.5", -1.5], ["1e3", 1000], ["0", 0], [
        "9007199254740991",
        2 ** 53 - 1
      ]] as const
    ) {
      becomes({ type: "number" }, text, number, "number ")
    }
    becomes(closed({ a: integer }), { a: "200000" }, { a: 200_000 }, "number /a")
    becomes({ type: ["number", "null"] }, "7", 7, "number ")
  })

  it("stays where it is written like none", () => {
    for (
      const text of [
        "",
        " ",
        " 4",
        "4 ",
        "0x10",
        "4px",
        "30s",
        "1,000",
        "+1",
        "01",
        ".5",
        "5.",
        "NaN",
        "Infinity",
        "1_000",
        "٤"
      ]
    ) {
      stays({ type: "number" }, text)
    }
  })

  it("stays where digits would be lost", () => {
    for (const text of ["9007199254740993", "12345678901234567890", "1e25", "1e400", "12345678901234567.5"]) {
      stays({ type: "number" }, text)
    }
  })

  it("stays where it is no whole number and one is taken", () => {
    stays(integer, "4.5")
    becomes(integer, "4.0", 4, "number ")
  })

  it("has to be one of few numbers", () => {
    becomes({ enum: [1, 2] }, "2", 2, "number ")
    becomes({ enum: [1, "two"] }, "1", 1, "number ")
    stays({ enum: [1, 2] }, "3")
  })
})

describe("a string where a boolean or null is taken", () => {
  it("is true or false in any case", () => {
    for (const text of ["true", "True", "TRUE"]) becomes({ type: "boolean" }, text, true, "boolean ")
    for (const text of ["false", "False"]) becomes({ type: "boolean" }, text, false, "boolean ")
    for (const text of ["yes", "1", "0", "on", "", "truex", " true"]) stays({ type: "boolean" }, text)
    stays({ const: true }, "false")
  })

  it("is null", () => {
    for (const text of ["null", "None"]) becomes({ type: ["integer", "null"] }, text, null, "null ")
    for (const text of ["", "nil", "undefined", "none of them"]) stays({ type: ["integer", "null"] }, text)
  })

  it("stays a string where one is taken as well", () => {
    for (const text of ["null", "4", "true", "[1]", "{\"a\":1}"]) {
      stays({ type: ["string", "number", "null", "boolean", "array"] }, text)
    }
    stays(string, "4")
    stays(closed({ comment: string }), { comment: "[label]: text [x]" })
  })
})

describe("no other type", () => {
  it("is taken for another", () => {
    for (const value of [0, 1]) stays({ type: "boolean" }, value)
    for (const value of [true, false]) {
      stays({ type: "number" }, value)
      stays(string, value)
    }
    for (const schema of [string, integer, strings, open({ a: string }, ["a"])]) stays(schema, null)
    stays(string, { a: 1 })
    stays(string, ["a"])
    stays({ type: "number" }, [1])
  })

  it("but a whole number is its digits", () => {
    becomes(string, 5, "5", "text ")
    becomes({ enum: ["1", "2"] }, 2, "2", "text ")
    stays({ enum: ["1", "2"] }, 3)
    for (const number of [1.5, 2 ** 53, -1e300]) stays(string, number)
  })
})

describe("one of few values", () => {
  const units = { enum: ["celsius", "fahrenheit", "in_progress", "X-Large"] }

  it("is found by another case", () => {
    becomes(units, "Celsius", "celsius", "enum ")
    becomes({ const: "GET" }, "get", "GET", "enum ")
    becomes({ type: ["string", "null"], enum: ["low", null] }, "LOW", "low", "enum ")
  })

  it("is found by other separators between its words", () => {
    for (const text of ["In Progress", "in-progress", "inProgress", " in_progress "]) {
      becomes(units, text, "in_progress", "enum ")
    }
    becomes(units, "x large", "X-Large", "enum ")
  })

  it("is meant rather than null or a boolean", () => {
    becomes({ enum: ["none", "all", null] }, "None", "none", "enum ")
    becomes({ enum: ["true", "auto", true] }, "True", "true", "enum ")
  })

  it("is not guessed", () => {
    for (const text of ["kelvin", "", "c", "in progres", "celsius fahrenheit"]) stays(units, text)
    stays({ enum: ["Ab", "aB", "a-b"] }, "AB")
    stays({ enum: ["a-b", "a_b"] }, "a b")
    stays({ enum: ["-1", "2"] }, "1")
    stays({ enum: ["+", "-"] }, "_")
    stays({ enum: ["1-2"] }, "12")
  })
})

describe("a string where only a list or an object is taken", () => {
  it("is read", () => {
    becomes(closed({ ids: { type: "array", items: integer } }), { ids: "[1, 2]" }, { ids: [1, 2] }, "decoded /ids")
    becomes(closed({ a: integer }), "{\"a\":1}", { a: 1 }, "decoded ")
    becomes({ type: ["array", "null"] }, " [1]", [1], "decoded ")
  })

  it("is made to fit as well", () => {
    becomes(closed({ list: strings }), { list: "[1,\"b\"]" }, { list: ["1", "b"] }, "decoded /list", "text /list/0")
  })

  it("stays where it is no such text", () => {
    for (const text of ["[1", "[label]: text", "{a}", "[1] and [2]"]) stays(strings, text)
    stays(strings, "{\"a\":1}")
    stays(closed({ a: integer }), "[1]")
    stays(closed({ a: integer }), "not JSON")
  })
})

describe("a single value where a list is taken", () => {
  it("is a list of one", () => {
    becomes(closed({ tags: strings }), { tags: "a" }, { tags: ["a"] }, "wrapped /tags")
    becomes({ type: "array", items: integer }, 4, [4], "wrapped ")
    becomes({ type: "array", items: closed({ a: integer }) }, { a: "1" }, [{ a: 1 }], "wrapped ", "number /0/a")
    becomes({ type: "array", items: { enum: ["red"] } }, "Red", ["red"], "wrapped ", "enum /0")
    becomes({ type: "array" }, true, [true], "wrapped ")
  })

  it("stays where it may be a list itself, or is nothing", () => {
    for (const text of ["a, b", "a,b", "a\nb", "a;b", "", "[a, b]"]) stays(strings, text)
    stays(strings, null)
  })

  it("stays where the list takes no such item", () => {
    stays({ type: "array", items: integer }, "a")
    stays({ type: "array", items: integer }, { a: 1 })
    stays({ type: "array", prefixItems: [string, string] }, "a")
    stays({ anyOf: [{ enum: ["all", "none"] }, strings] }, "some")
    stays({ enum: [[1]] }, [1])
  })
})

describe("a list of one where an object is taken", () => {
  it("is the object", () => {
    becomes(closed({ a: integer }), [{ a: "1" }], { a: 1 }, "unwrapped ?", "number /a")
  })

  it("stays where it is anything else, or taken", () => {
    for (const list of [[], [1], [[{}]], [{ a: 1 }, { a: 2 }], [null]]) stays(closed({ a: integer }), list)
    stays({ type: ["array", "object"] }, [{ a: 1 }])
  })
})

describe("null for a member", () => {
  const schema = closed({ q: string, limit: integer, owner: { type: ["string", "null"] } }, ["limit", "owner"])

  it("that may be absent and does not take null is left out", () => {
    becomes(schema, { q: "x", limit: null }, { q: "x" }, "null-optional /limit")
  })

  it("that takes null, is required, or is not known stays", () => {
    stays(schema, { q: "x", owner: null })
    stays(schema, { q: null })
    stays(open({ q: string }), { other: null })
  })

  it("is the only filler that is left out", () => {
    stays(open({ title: string, issue: integer, thread: string }, ["title"]), { title: "x", issue: 0, thread: "" })
  })
})

describe("a key in another style", () => {
  it("is the one absent member that it can mean", () => {
    for (const key of ["filePath", "FilePath", "file-path", "file path", "FILE_PATH", "filepath"]) {
      becomes(
        closed({ file_path: string, n: integer }),
        { [key]: "x", n: 1 },
        { file_path: "x", n: 1 },
        `key-style /${key}`
      )
    }
    becomes(
      closed({ maxBytes: integer }, ["maxBytes"]),
      { max_bytes: "3" },
      { maxBytes: 3 },
      "key-style /max_bytes",
      "number /maxBytes"
    )
  })

  it("keeps its place among the others", () => {
    const { value } = run(closed({ a: integer, b_c: integer, d: integer }), { a: 1, bC: 2, d: 3 })
    assert.deepStrictEqual(Object.keys(value as object), ["a", "b_c", "d"])
  })

  it("stays where other members are taken and none is missing", () => {
    stays(open({ file_path: string }), { filePath: "x" })
    becomes(open({ file_path: string }, ["file_path"]), { filePath: "x" }, { file_path: "x" }, "key-style /filePath")
  })

  it("stays where it is not certain", () => {
    stays(closed({ file_path: string }), { filePath: "x", file_path: "y" })
    stays(closed({ file_path: string }), { filePath: "x", "file-path": "y" })
    stays(closed({ file_path: string, filePath: string }), { "file-path": "x", filePath: "y" })
    stays(closed({ path: string }), { file_path: "x" })
  })
})

describe("an envelope", () => {
  const schema = closed({ tz: string })
  const content = { tz: "UTC" }

  it("is opened", () => {
    for (const key of ["arguments", "args", "input", "parameters", "params", "kwargs"]) {
      becomes(schema, { [key]: content }, content, "envelope ?")
      becomes(schema, { name: "get_time", [key]: JSON.stringify(content) }, content, "envelope ")
    }
  })

  it("is opened whatever names the call", () => {
    for (
      const value of [
        { name: "get_time", arguments: content },
        { tool: "get_time", input: content },
        { tool_name: "functions.get_time", parameters: content },
        { function: "getTime", args: content },
        { type: "tool_use", id: "toolu_1", name: "get_time", input: content },
        { type: "function", id: "call_1", function: { name: "get_time", arguments: JSON.stringify(content) } },
        { function: { name: "get_time", arguments: content } },
        { get_time: content },
        { "get-time": JSON.stringify(content) }
      ]
    ) {
      assert.deepStrictEqual(run(schema, value, "get_time"), { value: content, edits: ["envelope "] })
    }
  })

  it("is opened three times at most", () => {
    const nested = (levels: number): unknown => levels === 0 ? content : { arguments: nested(levels - 1) }
    assert.deepStrictEqual(run(schema, nested(2)), { value: content, edits: ["envelope ?"] })
    assert.deepStrictEqual(run(schema, nested(3)), { value: content, edits: ["envelope ?"] })
    assert.deepStrictEqual(run(schema, nested(4)).value, nested(1))
  })

  it("is opened after what is around it, and its content made to fit", () => {
    assert.deepStrictEqual(run(closed({ n: integer }), JSON.stringify({ args: { n: "1" } })), {
      value: { n: 1 },
      edits: ["decoded ", "envelope ?", "number /n"]
    })
  })

  it("stays where it is of another tool", () => {
    stays(schema, { name: "get_date", arguments: content }, "get_time")
    stays(schema, { function: { name: "get_date", arguments: content } }, "get_time")
    stays(schema, { get_date: content }, "get_time")
  })

  it("stays where there is anything else beside, or two of them", () => {
    stays(schema, { arguments: content, max_tokens: "800" })
    stays(schema, { name: "get_time", arguments: content, comment: "now" }, "get_time")
    stays(schema, { name: 7, arguments: content })
    stays(schema, { name: "other", function: { name: "get_time", arguments: content } }, "get_time")
    stays(schema, { arguments: { a: 1 }, function: { arguments: content } })
    stays(schema, { arguments: content, input: content })
  })

  it("stays where it holds no arguments", () => {
    for (const value of [null, 7, "", "UTC", "{\"tz\":", "[1]", [content]]) stays(schema, { arguments: value })
    stays(schema, { function: content })
    stays(schema, { function: {} })
    stays(schema, { name: "get_time" }, "get_time")
  })

  it("stays where the schema knows the key", () => {
    const own = closed({ name: string, arguments: { type: "object" } })
    stays(own, { name: "get_time", arguments: content }, "get_time")
    stays(closed({ input: { type: "object" }, q: string }), { input: content })
    becomes(closed({ Args: { type: "object" } }), { args: content }, { Args: content }, "key-style /args")
    stays(closed({ function: { type: "object" }, q: string }), { function: { name: "get_time", arguments: content } })
    stays(closed({ name: string }), { name: "Ann", arguments: { name: "Ann" } })
  })

  it("is told from a parameter by the tool's own name", () => {
    const named = closed({ name: string })
    const value = { name: "create_user", arguments: { name: "Ann" } }
    assert.deepStrictEqual(run(named, value, "create_user"), { value: { name: "Ann" }, edits: ["envelope "] })
    stays(named, value)
    stays(named, { ...value, name: "Ann" }, "create_user")
  })

  it("stays where the value fits as it is", () => {
    stays(open({ tz: string }), { arguments: content })
    stays({ type: "object" }, { arguments: content })
    stays(true, { arguments: content })
  })

  it("stays anywhere but at the root", () => {
    stays(closed({ when: schema }), { when: { arguments: content } })
  })
})

describe("no arguments", () => {
  it("are an empty object where nothing is required", () => {
    becomes({ type: "object", properties: {} }, null, {}, "no-arguments ")
    becomes(open({ a: string }), null, {}, "no-arguments ")
  })

  it("stay what they are anywhere else", () => {
    stays(open({ a: string }, ["a"]), null)
    stays({ type: ["object", "null"] }, null)
    stays({}, null)
    stays(closed({ options: open({}) }), { options: null })
    for (const value of ["", [], 0, false]) stays(open({}), value)
  })
})

describe("a value that does not fit", () => {
  it("keeps what the schema does not know, and what is missing is missing", () => {
    stays(closed({ cmd: string }), { cmd: "ls", cwd: "/tmp" })
    stays(closed({ cmd: string }), {})
  })

  it("is copied only where it changes", () => {
    const item = closed({ n: integer })
    const value = { list: [{ n: 1 }, { n: "2" }], other: { n: 3 } }
    const coerced = run(closed({ list: { type: "array", items: item }, other: item }), value).value as typeof value
    assert.deepStrictEqual<unknown>(coerced, { list: [{ n: 1 }, { n: 2 }], other: { n: 3 } })
    assert.deepStrictEqual<unknown>(value, { list: [{ n: 1 }, { n: "2" }], other: { n: 3 } })
    assert.strictEqual(coerced.list[0], value.list[0])
    assert.strictEqual(coerced.other, value.other)
  })

  it("is known at every depth of a circular schema", () => {
    const tree = closed({ n: integer, child: { $ref: "#" } }, ["child"])
    becomes(
      tree,
      { n: "1", child: { n: 2, child: { n: "3" } } },
      { n: 1, child: { n: 2, child: { n: 3 } } },
      "number /n",
      "number /child/child/n"
    )
  })

  it("may be of any depth, and stays as it is below a thousand levels", () => {
    const tree = { properties: { n: integer, child: { $ref: "#" } } }
    const nested = (levels: number): unknown => {
      let value: Record<string, unknown> = { n: "1" }
      for (let level = 0; level < levels; level++) value = { child: value }
      return value
    }
    assert.strictEqual(run(tree, nested(999)).edits.length, 1)
    stays(tree, nested(100_000))
  })

  it("may have keys of any name", () => {
    const value = JSON.parse("{\"__proto__\":\"1\",\"constructor\":null,\"n\":\"2\"}")
    const properties = JSON.parse(
      "{\"__proto__\":{\"type\":\"integer\"},\"constructor\":{\"type\":\"integer\"},\"n\":{\"type\":\"integer\"}}"
    )
    const coerced = run({ type: "object", properties }, value).value as object
    assert.strictEqual(JSON.stringify(coerced), "{\"__proto__\":1,\"n\":2}")
    assert.strictEqual(Object.getPrototypeOf(coerced), Object.prototype)
  })
})

describe("any value and any schema", () => {
  const random = Arbitrary.map(choicesMade, (made) => InputSchema.make(schemaOfChoices(new Choices(made))))

  it.prop(
    "leave the value as it is, and the outcome the same where there is no edit",
    [random, jsonValue],
    ([schema, value]) => {
      const before = JSON.stringify(value)
      const coerced = run(schema, value)
      return JSON.stringify(value) === before && Object.is(coerced.value, value) === (coerced.edits.length === 0)
    },
    { arbitrary: { runs: 500 } }
  )

  const fitting = Arbitrary.flatMap(
    Arbitrary.map(choicesMade, (made) => schemaOfChoices(new Choices(made))),
    (schema) => {
      const encode = Schema.encodeUnknownSync(Schema.toCodecJson(schema))
      return Arbitrary.map(Arbitrary.schema(schema), (value) => ({ schema, value: encode(value) }))
    }
  )

  it.prop("leave a value that fits untouched", [fitting], ([{ schema, value }]) => {
    const { edits, value: after } = run(InputSchema.make(schema), value)
    return Object.is(after, value) && edits.length === 0
  }, { arbitrary: { runs: 500 } })
})
