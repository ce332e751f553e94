import { assert, describe, it } from "@effect/vitest"
import * as sdk from "@modelcontextprotocol/client"
import { LineBuffer } from "../src/internal/mcp/lineBuffer.ts"

const message = (method: string) => ({ jsonrpc: "2.0" as const, method })

const make = (maxBytes = 1_000) => {
  let tooLong = 0
  const buffer = new LineBuffer(sdk, maxBytes, () => tooLong++)
  const read = () => {
    const messages: Array<unknown> = []
    for (let next = buffer.readMessage(); next !== null; next = buffer.readMessage()) messages.push(next)
    return messages
  }
  return { buffer, read, tooLong: () => tooLong }
}

describe("LineBuffer", () => {
  it("gives the same messages however the bytes come in", () => {
    const messages = [message("a"), message("🌸é"), message("c")]
    const bytes = Buffer.from(messages.map((one) => `${JSON.stringify(one)}\r\n`).join("log\n\n"))
    for (let size = 1; size <= bytes.length; size++) {
      const { buffer, read } = make()
      const got: Array<unknown> = []
      for (let at = 0; at < bytes.length; at += size) {
        buffer.append(bytes.subarray(at, at + size))
        got.push(...read())
      }
      assert.deepStrictEqual(got, messages, `${size} bytes at a time`)
    }
  })

  it("throws for JSON that is no message, and goes on after it", () => {
    const { buffer, read } = make()
    buffer.append(Buffer.from(`{"jsonrpc":"1.0"}\n${JSON.stringify(message("a"))}\n`))
    assert.throws(() => buffer.readMessage())
    assert.deepStrictEqual(read(), [message("a")])
  })

  it("gives up on a line that is too long, not on many that are not", () => {
    const { buffer, read, tooLong } = make(100)
    const line = Buffer.from(`${JSON.stringify(message("a".repeat(60)))}\n`)
    for (let index = 0; index < 10; index++) buffer.append(line)
    assert.strictEqual(read().length, 10)
    buffer.append(Buffer.alloc(100, "x"))
    assert.strictEqual(tooLong(), 0)
    assert.throws(() => buffer.append(Buffer.from("x")), "a message is too long")
    assert.strictEqual(tooLong(), 1)
  })

  it("takes time linear in a line", () => {
    const { buffer, read } = make(2 ** 26)
    const start = performance.now()
    const chunk = Buffer.alloc(4_096, "x")
    buffer.append(Buffer.from("{\"jsonrpc\":\"2.0\",\"method\":\""))
    for (let size = 0; size < 2 ** 25; size += chunk.length) buffer.append(chunk)
    buffer.append(Buffer.from("\"}\n"))
    assert.strictEqual(read().length, 1)
    // Copying all of it with each chunk would be 128 GB.
    assert.isBelow(performance.now() - start, 5_000)
  })
})
