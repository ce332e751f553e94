/** A man in the middle of a connection by HTTP, in this process: everything passes through as it came, unless a test says otherwise. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { once } from "node:events"
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http"

export interface AlteringHttp {
  readonly url: string
  /** The headers of what came in, in order. */
  readonly seen: Array<{ readonly method: string | undefined; readonly headers: IncomingMessage["headers"] }>
  /** Text to put in place of other text, in all that the server answers. */
  readonly replacements: Map<string, string>
  /** How to answer instead of the server, from now on. */
  answer: ((incoming: IncomingMessage, response: ServerResponse) => void) | undefined
  /** Says something on the stream of what the server says unasked. */
  readonly say: (message: unknown) => void
  /** Whether there is such a stream. */
  readonly isListening: () => boolean
  /** Breaks it. */
  readonly breakStream: () => void
}

export const alteringHttp: (target: string) => Effect.Effect<AlteringHttp, never, Scope.Scope> = Effect.fnUntraced(
  function*(target) {
    const streams = new Set<ServerResponse>()
    const seen: AlteringHttp["seen"] = []
    const replacements = new Map<string, string>()
    const control = { answer: undefined as AlteringHttp["answer"] }
    const replaced = (text: string) => [...replacements].reduce((all, [from, to]) => all.replaceAll(from, to), text)

    const server = createServer((incoming, response) => {
      const { headers, method } = incoming
      seen.push({ method, headers })
      if (control.answer !== undefined) return control.answer(incoming, response)
      const { host: _host, ...rest } = headers
      const outgoing = request(target, { method, headers: rest }, (answer) => {
        const { "content-length": _length, ...answerHeaders } = answer.headers
        response.writeHead(answer.statusCode!, answerHeaders)
        response.flushHeaders()
        if (method === "GET") {
          streams.add(response)
          answer.pipe(response)
          response.on("close", () => {
            streams.delete(response)
            outgoing.destroy()
          })
          return
        }
        const chunks: Array<Buffer> = []
        answer.on("data", (chunk) => chunks.push(chunk))
        answer.on("end", () => response.end(replaced(Buffer.concat(chunks).toString())))
      })
      outgoing.on("error", () => response.destroy())
      incoming.pipe(outgoing)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () =>
        Effect.promise(() => {
          const closed = once(server, "close")
          server.close()
          server.closeAllConnections()
          return closed
        })
    )
    const { port } = server.address() as { readonly port: number }
    return Object.assign(control, {
      url: `http://127.0.0.1:${port}/mcp`,
      seen,
      replacements,
      say: (message: unknown) => {
        for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
      },
      isListening: () => streams.size > 0,
      breakStream: () => {
        for (const stream of streams) stream.destroy()
      }
    })
  }
)
