import { assert, describe, it } from "@effect/vitest"
import { mayTakeExponentialTime } from "../src/internal/safePattern.ts"

const slow = [
  "^(a+)+$",
  "(a|a)*b",
  "(a|aa)+$",
  "(\\w+\\s?)*$",
  "(a*)*b",
  "(a?b?)*c",
  "(x+x+)+y",
  "^(\\d+)*$",
  "([a-zA-Z]+)*!",
  "(.*a){11}x$",
  "^([a-z0-9]+[._-]?)*$",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "(a|b|ab)*c",
  "(a{1,9})*b",
  "(a{2,}|b)*c",
  "(a{1,3}){1,30}",
  "([^,]|.)*x",
  "(?:[a-c]|[b-d])*$",
  "(?:é|[à-ü])*$",
  "(?:a|\\x61)*$",
  "(?:\\u{1F4A9}|[💨-💫])*x",
  "(\\p{L}|[a-z])+$",
  "^(?=(a+)+$)",
  "(?<x>a)(\\1+)+$",
  "((a|b)*c*)*d",
  "(ba(?:b?|a*?))+c",
  "(a(b?){2,}a)+c"
]

const fine = [
  "",
  "a|b",
  "^[a-z0-9-]+$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
  "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$",
  "^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$",
  "^https?://[^\\s/$.?#].[^\\s]*$",
  "^(?=.*[A-Z])(?=.*\\d).{8,}$",
  "^(?!.*--)[a-z-]{1,63}$",
  "^[a-z0-9]+(?:-[a-z0-9]+)*$",
  "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
  "^#(?:[0-9a-fA-F]{3}){1,2}$",
  "^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$",
  "^\\p{L}+(?:[ '-]\\p{L}+)*$",
  "^(\\w+\\s)*$",
  "^(?:\\d{1,3},)*\\d{1,3}$",
  "^/(?:[^/]+/)*[^/]*$",
  "^\"(?:[^\"\\\\]|\\\\.)*\"$",
  "^[\\s\\S]{1,2000}$",
  "^\\S(|(.|\\n)*\\S)$",
  "^a{30}$",
  "^(ab|cd){2,40}$",
  "^v?\\d+(\\.\\d+){0,2}$",
  "^arn:aws:[a-z]+:[a-z0-9-]*:\\d{12}:.*$"
]

describe("mayTakeExponentialTime", () => {
  for (const pattern of slow) it(`refuses ${pattern}`, () => assert.isTrue(mayTakeExponentialTime(pattern)))
  for (const pattern of fine) it(`takes ${pattern}`, () => assert.isFalse(mayTakeExponentialTime(pattern)))

  it("is itself fast, and takes long patterns without a loop", () => {
    const start = Date.now()
    const words = Array.from({ length: 3000 }, (_, index) => `word${index}`).join("|")
    assert.isFalse(mayTakeExponentialTime(`^(?:${words})$`))
    mayTakeExponentialTime(`^(?:${words})*$`)
    mayTakeExponentialTime("(a|b|c|d|e|f|g){50}".repeat(40))
    mayTakeExponentialTime("((((a{20}){20}){20}){20}){20}")
    mayTakeExponentialTime(
      `(${Array.from({ length: 300 }, (_, index) => `[a-\\u{${(index + 256).toString(16)}}]`).join("|")})*`
    )
    mayTakeExponentialTime(`${"(".repeat(20_000)}a${")*".repeat(20_000)}`)
    assert.isBelow(Date.now() - start, 5000)
  })
})
