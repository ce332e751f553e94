import { textOfBytes } from "./textOfBytes.ts"

/**
 * Reads server-sent events from a text that comes in pieces, each character once. Bytes are UTF-8.
 *
 * @internal
 */
export class EventReader {
  readonly #maxLength: number
  #decode: ((bytes: Uint8Array) => string) | undefined
  /** The line that has begun, and the `data` lines of the event that has begun. */
  #line = ""
  #data: Array<string> = []
  #length = 0
  #isStart = true
  /** The last piece ended with CR: a LF at the beginning of the next belongs to it. */
  #mayHaveLf = false
  #isBroken = false

  constructor(maxLength: number) {
    this.#maxLength = maxLength
  }

  /** The data of the events that this piece completes; `undefined` for one that is too long, after which nothing is read. */
  read(piece: string | Uint8Array): Array<string | undefined> {
    const events: Array<string | undefined> = []
    const text = typeof piece === "string" ? piece : (this.#decode ??= textOfBytes())(piece)
    if (this.#isBroken || text === "") return events
    let from = this.#isStart && text.startsWith("\ufeff") || this.#mayHaveLf && text.startsWith("\n") ? 1 : 0
    this.#isStart = false
    this.#mayHaveLf = false
    const end = /\r\n?|\n/g
    while (from < text.length) {
      end.lastIndex = from
      const found = end.exec(text)
      const part = text.slice(from, found?.index)
      if (this.#length + this.#line.length + part.length > this.#maxLength) {
        this.#isBroken = true
        return [...events, undefined]
      }
      this.#line += part
      if (found === null) break
      from = end.lastIndex
      this.#mayHaveLf = found[0] === "\r" && from === text.length
      const line = this.#line
      this.#line = ""
      if (line === "") this.#end(events)
      else this.#add(line)
    }
    return events
  }

  #add(line: string): void {
    const [, value] = /^data(?:: ?([^]*))?$/.exec(line) ?? []
    if (value === undefined && line !== "data") return
    this.#data.push(value ?? "")
    this.#length += line.length
  }

  #end(events: Array<string | undefined>): void {
    const data = this.#data.join("\n")
    if (data !== "") events.push(data)
    this.#data = []
    this.#length = 0
  }
}
