import * as Effect from "effect/Effect"
import { createServer } from "node:net"

/** The port of a server that accepts connections and never says anything. */
export const silentServer = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }, Error>((resume) => {
    const server = createServer((socket) => socket.on("error", () => {}))
    server.on("error", (error) => resume(Effect.fail(error)))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(Effect.succeed({
        port: typeof address === "object" && address !== null ? address.port : 0,
        close: () => server.close()
      }))
    })
  }),
  ({ close }) => Effect.sync(close)
).pipe(Effect.map(({ port }) => port))
