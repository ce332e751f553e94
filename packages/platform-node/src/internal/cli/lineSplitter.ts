/**
 * Splits bytes into lines of text, holding no more than one line and never more than its bound.
 */

/** A line, counted from 1. It is `broken` where its bytes are not text that can be read. */
export type Line =
  | { readonly number: number; readonly text: string; readonly broken?: undefined }
  | { readonly number: number; readonly broken: string }

export interface LineSplitter {
  /** The lines that end in this chunk. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<Line>
  /** The last line, where no line feed ends it. */
  readonly end: () => ReadonlyArray<Line>
}

const lineFeed = 0x0a
const byteOrderMark = "\uFEFF"

/** Blank lines are counted and left out, as are a byte order mark at the start and the CR of a CRLF. */
export const make = (maxBytes: number): LineSplitter => {
  // Bytes that are no UTF-8 are not replaced: an argument would change in silence.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  let number = 0
  // The beginning of a line whose end has not come yet. It grows by doubling, however small the chunks are.
  let pending = new Uint8Array(1024)
  let pendingLength = 0
  let isTooLong = false

  const keep = (bytes: Uint8Array): void => {
    if (isTooLong || bytes.length === 0) return
    const length = pendingLength + bytes.length
    if (length > maxBytes) {
      isTooLong = true
      pending = new Uint8Array(1024)
      pendingLength = 0
      return
    }
    if (length > pending.length) {
      const larger = new Uint8Array(Math.min(Math.max(length, pending.length * 2), maxBytes))
      larger.set(pending.subarray(0, pendingLength))
      pending = larger
    }
    pending.set(bytes, pendingLength)
    pendingLength = length
  }

  const finish = (bytes: Uint8Array, lines: Array<Line>): void => {
    number++
    if (isTooLong || bytes.length > maxBytes) {
      isTooLong = false
      lines.push({ number, broken: `longer than ${maxBytes} bytes` })
      return
    }
    let text: string
    try {
      text = decoder.decode(bytes)
    } catch {
      lines.push({ number, broken: "not valid UTF-8" })
      return
    }
    if (number === 1 && text.startsWith(byteOrderMark)) text = text.slice(1)
    if (text.endsWith("\r")) text = text.slice(0, -1)
    if (text.trim() !== "") lines.push({ number, text })
  }

  const finishPending = (lines: Array<Line>): void => {
    finish(pending.subarray(0, pendingLength), lines)
    pendingLength = 0
  }

  return {
    push: (chunk) => {
      const lines: Array<Line> = []
      let start = 0
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        const bytes = chunk.subarray(start, end)
        if (pendingLength === 0 && !isTooLong) {
          finish(bytes, lines)
        } else {
          keep(bytes)
          finishPending(lines)
        }
        start = end + 1
      }
      keep(chunk.subarray(start))
      return lines
    },
    end: () => {
      const lines: Array<Line> = []
      if (pendingLength > 0 || isTooLong) finishPending(lines)
      return lines
    }
  }
}
