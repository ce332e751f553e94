import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { read } from "../src/internal/jsonReader.ts"
import * as Limits from "../src/Limits.ts"
import * as StrictJson from "../src/StrictJson.ts"
import { byteText, fragmentText, jsonText, jsonValue, mutate, mutations } from "./arbitraries.ts"

const runs = { arbitrary: { runs: 2000 } }

const value = (text: string): unknown => Result.getOrThrow(StrictJson.parse(text)).value
const failure = (text: string, options?: StrictJson.ParseOptions) => {
  const result = StrictJson.parse(text, options)
  if (Result.isSuccess(result)) throw new Error(`accepted: ${text.slice(0, 100)}`)
  return result.failure
}
const reason = (text: string): string => {
  const error = failure(text)
  return error._tag === "InvalidJson" ? error.reason : error._tag
}

describe("StrictJson.parse", () => {
  it("gives the values of JSON.parse", () => {
    for (
      const text of ["{}", "[]", "null", "true", "\"s\"", "-0", "1.5e3", " {\"a\" : [1, {\"b\":null}]} ", "\"\\ud83d\""]
    ) {
      assert.deepStrictEqual(value(text), JSON.parse(text), text)
    }
    assert.isTrue(Object.is(value("-0"), -0))
  })

  it("lets the last of equal keys win, as JSON.parse does", () => {
    assert.deepStrictEqual(value("{\"a\":1,\"a\":2}"), { a: 2 })
    assert.deepStrictEqual(value("{\"a\":1e5,\"a\":2e5}"), { a: 2e5 })
  })

  it("reads a key of one escaped character as that character, also where V8 does not", () => {
    assert.deepStrictEqual(value("{\"\\\\\":1}"), { "\\": 1 })
    for (const [text, key] of [["\\n", "\n"], ["\\u0000", "\u0000"], ["\\u0041", "A"], ["\\\"", "\""]] as const) {
      assert.deepStrictEqual(Object.keys(value(`{"${text}":1}`) as object), [key])
      assert.deepStrictEqual(value(`[{"${text}":[]},{"a":{"${text}":2}}]`), [{ [key]: [] }, { a: { [key]: 2 } }])
    }
  })

  it("says where a text stops being JSON", () => {
    const at = (text: string) => {
      const error = failure(text)
      return error._tag === "InvalidJson" ? [error.offset, error.expected] : error._tag
    }
    assert.deepStrictEqual(at(""), [0, "a JSON value"])
    assert.deepStrictEqual(at("{\"a\":1,}"), [7, "a key in double quotes"])
    assert.deepStrictEqual(at("{\"a\" 1}"), [5, "\":\""])
    assert.deepStrictEqual(at("{\"a\":1 \"b\":2}"), [7, "\",\" or \"}\""])
    assert.deepStrictEqual(at("[1 2]"), [3, "\",\" or \"]\""])
    assert.deepStrictEqual(at("[1]x"), [3, "the end of the text"])
    assert.deepStrictEqual(at("\"abc"), [4, "the end of a string"])
    assert.deepStrictEqual(at("\"a\\x\""), [2, "a valid escape sequence"])
    assert.deepStrictEqual(at("\"a\tb\""), [2, "an escaped control character"])
    assert.deepStrictEqual(at("\ufeff{}"), [0, "a JSON value"])
  })

  it("repeats nothing of the text in its message", () => {
    for (const text of ["{\"k\":\"secret\" secret}", "\"secret", "secret", "{\"a\":12345678901234567890}"]) {
      assert.notInclude(failure(text).message, "secret")
      assert.notInclude(failure(text).message, "1234567890")
    }
  })

  describe("keys that reach a prototype", () => {
    it("are refused at any depth and in any escape", () => {
      for (
        const text of [
          "{\"__proto__\":{\"a\":1}}",
          "{\"__proto__\":1}",
          "{\"__proto__\":null}",
          "{\"a\":{\"b\":[{\"__proto__\":{}}]}}",
          "{\"__proto__\" \n: 1}",
          "{\"\\u005f\\u005fproto\\u005F_\":1}",
          "{\"\\u005f_proto__\":1}",
          "{\"constructor\":{\"prototype\":{}}}",
          "{\"constructor\":{\"prototype\":null}}",
          "{\"c\\u006fnstructor\":{\"prototype\":1}}",
          "{\"constructor\":{\"proto\\u0074ype\":1}}",
          "[1e5,{\"__proto__\":1}]",
          "[12345678901234567,{\"__proto__\":1}]".replace("12345678901234567", "1e5")
        ]
      ) assert.strictEqual(reason(text), "forbidden-key", text)
    })

    it("are allowed where they do no harm", () => {
      for (
        const text of [
          "[\"__proto__\"]",
          "\"__proto__\"",
          "{\"constructor\":{\"x\":1}}",
          "{\"constructor\":\"a\"}",
          "{\"constructor\":[]}",
          "{\"prototype\":1}",
          "{\"toString\":1,\"__defineGetter__\":1}"
        ]
      ) assert.deepStrictEqual(value(text), JSON.parse(text), text)
    })

    it("never change a prototype, in either way of reading", () => {
      const result = read("{\"__proto__\":{\"polluted\":1}}", { maxDepth: 9, keepDigits: false })
      assert.strictEqual(result._tag, "Read")
      if (result._tag !== "Read") return
      assert.isTrue(Object.hasOwn(result.value as object, "__proto__"))
      assert.strictEqual(Object.getPrototypeOf(result.value), Object.prototype)
      assert.isUndefined((result.value as any).polluted)
    })
  })

  describe("numbers", () => {
    it("beyond 2^53 are refused, whatever their sign and place", () => {
      for (
        const text of [
          "9007199254740992",
          "9007199254740993",
          "-9007199254740993",
          "[1,12345678901234567890]",
          "{\"a\":{\"b\":100000000000000000000}}",
          "12345678901234567890.0",
          "1.2345678901234567890e19",
          "9007199254740993e0"
        ]
      ) assert.strictEqual(reason(text), "unsafe-integer", text)
    })

    it("that a double holds pass", () => {
      for (
        const text of [
          "9007199254740991",
          "-9007199254740991",
          "1e20",
          "6.02214076e23",
          "0.1",
          "1.5e300",
          "1e22",
          "0e999999"
        ]
      ) assert.strictEqual(value(text), Number(text), text)
      assert.strictEqual(value("0.12345678901234567890123"), Number("0.12345678901234567890123"))
    })

    it("too large for a double are refused", () => {
      assert.strictEqual(reason("1e400"), "number-out-of-range")
      assert.strictEqual(reason("[-1e400]"), "number-out-of-range")
      assert.strictEqual(reason("1".repeat(400)), "number-out-of-range")
    })

    it("keep their digits where a string is taken, and say so", () => {
      const result = StrictJson.parse("{\"id\":12345678901234567890,\"n\":[-9007199254740993]}", { keepDigits: true })
      assert.deepStrictEqual(Result.getOrThrow(result), {
        value: { id: "12345678901234567890", n: ["-9007199254740993"] },
        edits: [
          {
            kind: "raw-digits",
            offset: 6,
            pointer: "/id",
            before: "12345678901234567890",
            after: "\"12345678901234567890\""
          },
          {
            kind: "raw-digits",
            offset: 32,
            pointer: "/n/0",
            before: "-9007199254740993",
            after: "\"-9007199254740993\""
          }
        ]
      })
    })

    it("leave no edit behind where a later key of the same name replaces them", () => {
      const result = StrictJson.parse("{\"id\":12345678901234567890,\"id\":1}", { keepDigits: true })
      assert.deepStrictEqual(Result.getOrThrow(result), { value: { id: 1 }, edits: [] })
    })

    it("in strings are left alone", () => {
      assert.strictEqual(value("\"12345678901234567890\""), "12345678901234567890")
      assert.strictEqual(value("\"a: 1e400\""), "a: 1e400")
    })
  })

  describe("limits", () => {
    const limits = { ...Limits.defaults, maxInputLength: 20, maxDepth: 3 }

    it("bound the length before anything is read", () => {
      const error = failure(" ".repeat(21), { limits })
      assert.strictEqual(error._tag, "InputLimitExceeded")
      assert.include(error, { limit: "maxInputLength", max: 20, size: 21 })
      assert.isTrue(Result.isSuccess(StrictJson.parse("[" + " ".repeat(18) + "]", { limits })))
    })

    it("bound the depth", () => {
      assert.isTrue(Result.isSuccess(StrictJson.parse("[[{}]]", { limits })))
      assert.isTrue(Result.isSuccess(StrictJson.parse("[[\"[[[[\"]]", { limits })))
      for (const text of ["[[[[]]]]", "[[{\"a\":[]}]]", "[[[[1e5]]]]", "[[[["]) {
        const error = failure(text, { limits })
        assert.strictEqual(error._tag, "InputLimitExceeded", text)
        assert.include(error, { limit: "maxDepth", max: 3, size: 4 })
      }
    })

    it("cost no stack, however high they are", () => {
      const deep = "[".repeat(100_000) + "]".repeat(100_000)
      const limits = { ...Limits.defaults, maxDepth: Number.POSITIVE_INFINITY }
      assert.isTrue(Result.isSuccess(StrictJson.parse(deep, { limits })))
    })

    it("hold for a hundred thousand levels", () => {
      for (const text of ["[".repeat(100_000), "[".repeat(100_000) + "]".repeat(100_000), "{\"a\":".repeat(100_000)]) {
        assert.strictEqual(reason(text), "InputLimitExceeded")
      }
    })
  })

  it.prop("reads a JSON text as JSON.parse does, or refuses a key or a number in it", [jsonText], ([text]) => {
    const result = StrictJson.parse(text)
    if (Result.isSuccess(result)) return assert.deepStrictEqual(result.success.value, JSON.parse(text))
    const error = result.failure
    const why = error._tag === "InvalidJson" ? error.reason : error._tag
    if (why === "forbidden-key") return assert.match(text, /"__proto__"|"constructor"/)
    assert.strictEqual(why, "unsafe-integer")
    assert.match(text, /\d{16}|\de/)
  }, runs)

  for (const [name, texts] of Object.entries({ fragments: fragmentText, bytes: byteText })) {
    it.prop(`the reader accepts exactly what JSON.parse accepts: ${name}`, [texts], ([text]) => {
      agrees(text)
    }, runs)
  }

  it.prop(
    "the reader accepts exactly what JSON.parse accepts: damaged JSON",
    [jsonText, mutations],
    ([text, changes]) => {
      agrees(mutate(text, changes))
    },
    runs
  )
})

/** Numbers apart, which the reader judges and JSON.parse does not. */
const agrees = (text: string): void => {
  const own = read(text, { maxDepth: 1000, keepDigits: false })
  let native: { readonly value: unknown } | undefined
  try {
    native = { value: JSON.parse(text) }
  } catch {
    native = undefined
  }
  if (own._tag === "Number") return
  assert.strictEqual(own._tag === "Read", native !== undefined, JSON.stringify(text))
  if (own._tag === "Read") assert.deepStrictEqual(own.value, native?.value)
}

describe("StrictJson.inspect", () => {
  const reasonOf = (candidate: unknown) => {
    const refusal = StrictJson.inspect(candidate)
    return refusal?._tag === "InvalidJson" ? [refusal.reason, refusal.pointer] : refusal?._tag
  }

  it("accepts JSON values, and members that are undefined", () => {
    for (const candidate of [null, 1, "s", true, [], {}, { a: undefined }, Object.create(null)]) {
      assert.isUndefined(reasonOf(candidate))
    }
  })

  it("refuses what JSON does not hold, with its place", () => {
    class Money {}
    assert.deepStrictEqual(reasonOf({ a: [new Date(0)] }), ["not-json", "/a/0"])
    assert.deepStrictEqual(reasonOf({ a: new Money() }), ["not-json", "/a"])
    assert.deepStrictEqual(reasonOf({ a: new Map() }), ["not-json", "/a"])
    assert.deepStrictEqual(reasonOf([undefined]), ["not-json", "/0"])
    assert.deepStrictEqual(reasonOf({ a: Number.NaN }), ["not-json", "/a"])
    assert.deepStrictEqual(reasonOf({ a: 1n }), ["not-json", "/a"])
    assert.deepStrictEqual(reasonOf({ a: () => 1 }), ["not-json", "/a"])
    assert.deepStrictEqual(reasonOf(undefined), ["not-json", ""])
    assert.deepStrictEqual(reasonOf(JSON.parse("{\"x\":{\"__proto__\":1}}")), ["forbidden-key", "/x/__proto__"])
  })

  it("refuses a cycle", () => {
    const cycle: Array<unknown> = []
    cycle.push(cycle)
    assert.strictEqual(reasonOf(cycle), "InputLimitExceeded")
  })

  it.prop("accepts every JSON value without a forbidden key", [jsonValue], ([candidate]) => {
    const refusal = StrictJson.inspect(candidate)
    if (refusal === undefined) return
    assert.include(refusal, { reason: "forbidden-key" })
    assert.match(JSON.stringify(candidate), /"__proto__":|"constructor":/)
  }, runs)
})

describe("StrictJson.clone", () => {
  it.prop("gives an equal value with the same order of keys", [jsonValue], ([original]) => {
    const copy = StrictJson.clone(original)
    assert.deepStrictEqual(copy, original)
    assert.strictEqual(JSON.stringify(copy), JSON.stringify(original))
  })

  it("shares nothing with the original", () => {
    const original = { a: [{ b: 1 }] }
    const copy = StrictJson.clone(original) as typeof original
    copy.a[0]!.b = 2
    assert.deepStrictEqual(original, { a: [{ b: 1 }] })
  })

  it("keeps __proto__ an ordinary key", () => {
    const copy = StrictJson.clone(JSON.parse("{\"__proto__\":{\"polluted\":1}}")) as object
    assert.isTrue(Object.hasOwn(copy, "__proto__"))
    assert.strictEqual(Object.getPrototypeOf(copy), Object.prototype)
  })
})
