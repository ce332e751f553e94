import type { StdioClientTransport, StdioServerParameters } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import { type Link, maxMessageBytes, type Observer, type Sdk } from "./connect.ts"
import { LineBuffer } from "./lineBuffer.ts"

/**
 * The client's transport to a program, with a buffer of our own, and an end that is waited for.
 *
 * @internal
 */
export const program = (
  sdk: Sdk,
  Transport: typeof StdioClientTransport,
  parameters: StdioServerParameters,
  { onTooLong }: Observer
): Link => {
  const transport = new Transport(parameters)
  Object.assign(transport, { _readBuffer: new LineBuffer(sdk, maxMessageBytes, onTooLong) })

  const ended = new Promise<void>((resolve) => transport.onclose = resolve)
  const start = transport.start.bind(transport)
  let isStarted = false
  transport.start = async () => {
    await start()
    isStarted = true
  }
  // Where the transport is ending the program already, its `close` does not wait. Nor does it wait for what it kills in the end. What
  // holds the program's output open when the program has ended is not waited for long.
  const close = Effect.promise(() => transport.close().then(() => isStarted ? ended : undefined))
  return { transport, close: Effect.ignore(Effect.timeout(close, "6 seconds")) }
}
