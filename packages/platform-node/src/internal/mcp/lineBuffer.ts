import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import type { Observer, Sdk } from "./connect.ts"

const lineFeed = 10

/**
 * What a server wrote, by lines: each is a message, or is passed over where it is no JSON, as a line of a log. In place of the client's
 * own buffer, which copies all that it holds with each chunk: that takes seconds for a message of the size that is allowed.
 *
 * @internal
 */
export class LineBuffer {
  readonly #sdk: Sdk
  readonly #maxBytes: number
  readonly #onTooLong: Observer["onTooLong"]
  #parts: Array<Buffer> = []
  #size = 0
  #lines: Array<string> = []

  constructor(sdk: Sdk, maxBytes: number, onTooLong: Observer["onTooLong"]) {
    this.#sdk = sdk
    this.#maxBytes = maxBytes
    this.#onTooLong = onTooLong
  }

  /** Throws where a line is too long; the transport then ends. */
  append(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#lines.push(Buffer.concat([...this.#parts, chunk.subarray(start, end)]).toString())
      this.#parts = []
      this.#size = 0
      start = end + 1
    }
    this.#parts.push(chunk.subarray(start))
    this.#size += chunk.length - start
    if (this.#size <= this.#maxBytes) return
    this.clear()
    this.#onTooLong()
    throw new Error("a message is too long")
  }

  /** The next message, or `null`. Throws for JSON that is no message; the transport then goes on with the next. */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      try {
        return this.#sdk.deserializeMessage(line)
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
      }
    }
    return null
  }

  clear(): void {
    this.#parts = []
    this.#size = 0
    this.#lines = []
  }
}
