/** @internal */
export interface FetchObserver {
  /** A message was longer than is taken. Its response has ended. */
  readonly onTooLong: () => void
  /** The stream of what the server says unasked was opened again: what it said in between was not heard. */
  readonly onReopened: () => void
}

/**
 * `fetch` for the transport: ends a response that is too long. Of a stream of events, which may go on for ever, an event counts.
 *
 * @internal
 */
export const boundedFetch = (maxBytes: number, observer: FetchObserver): typeof fetch => {
  let opened = false
  return async (url, init) => {
    const response = await fetch(url, init)
    if (!response.ok || response.body === null) return response
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    if (init?.method === "GET" && isStream) {
      if (opened) observer.onReopened()
      opened = true
    }
    return new Response(response.body.pipeThrough(limit(maxBytes, isStream, observer.onTooLong)), response)
  }
}

const lineFeed = 10
const carriageReturn = 13

const limit = (maxBytes: number, perEvent: boolean, onTooLong: () => void): TransformStream<Uint8Array, Uint8Array> => {
  let count = 0
  let lineLength = 0
  let previous = 0
  /** An empty line ends an event. A line ends with a line feed, a carriage return, or both. */
  const countEvent = (chunk: Uint8Array): void => {
    for (const byte of chunk) {
      count++
      if (byte !== lineFeed && byte !== carriageReturn) lineLength++
      else if (byte === carriageReturn || previous !== carriageReturn) {
        if (lineLength === 0) count = 0
        lineLength = 0
      }
      previous = byte
    }
  }
  return new TransformStream({
    transform(chunk, controller) {
      if (perEvent) countEvent(chunk)
      else count += chunk.length
      if (count <= maxBytes) return controller.enqueue(chunk)
      onTooLong()
      controller.error(new Error("a message is too long"))
    }
  })
}
