import { assert, describe, it } from "@effect/vitest"
import * as LineSplitter from "../src/internal/cli/lineSplitter.ts"

const split = (bytes: Uint8Array, size: number, maxBytes = 1000) => {
  const splitter = LineSplitter.make(maxBytes)
  const lines: Array<LineSplitter.Line> = []
  for (let start = 0; start < bytes.length; start += size) {
    lines.push(...splitter.push(bytes.subarray(start, start + size)))
  }
  return [...lines, ...splitter.end()]
}

describe("lineSplitter", () => {
  it("gives the same lines however the bytes are cut", () => {
    const bytes = Buffer.concat([
      Buffer.from("\uFEFFa\r\n\n \t\n京都🌸\n"),
      Buffer.from([0x61, 0xff, 0x0a]),
      Buffer.from(`${"x".repeat(1000)}\n${"x".repeat(1001)}\n\uFEFFb\rc\nlast`)
    ])
    const expected = [
      { number: 1, text: "a" },
      { number: 4, text: "京都🌸" },
      { number: 5, broken: "not valid UTF-8" },
      { number: 6, text: "x".repeat(1000) },
      { number: 7, broken: "longer than 1000 bytes" },
      { number: 8, text: "\uFEFFb\rc" },
      { number: 9, text: "last" }
    ]
    for (const size of [1, 2, 3, 7, 64, 999, 1000, 1001, 1 << 20]) assert.deepStrictEqual(split(bytes, size), expected)
  })

  it("reports a line that is too long where it ends", () => {
    const long = Buffer.alloc(5000, "x")
    assert.deepStrictEqual(split(long, 10), [{ number: 1, broken: "longer than 1000 bytes" }])
    assert.deepStrictEqual(split(Buffer.from(""), 1), [])
    assert.deepStrictEqual(split(Buffer.from("\n\n"), 1), [])
  })
})
