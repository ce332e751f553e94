/** A chat's backend, as an application would write it, on a real server. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text as readText } from "node:stream/consumers"
import * as Approval from "../../src/Approval.ts"
import type { RawToolCall } from "../../src/RawToolCall.ts"
import * as ToolStep from "../../src/ToolStep.ts"
import * as UiMessage from "../../src/UiMessage.ts"
import * as UiMessageChunk from "../../src/UiMessageChunk.ts"
import type { Shop } from "./shop.ts"

type Chunk = UiMessageChunk.UiMessageChunk

const Body = Schema.Struct({ messages: Schema.Array(UiMessage.UiMessage) })

const readBody = Schema.decodeUnknownEffect(Schema.fromJsonString(Body))

/** What the model would say once all of its calls are answered. */
const lastWord: ReadonlyArray<Chunk> = [
  { type: "start-step" },
  { type: "text-start", id: "t1" },
  { type: "text-delta", id: "t1", delta: "done" },
  { type: "text-end", id: "t1" },
  { type: "finish-step" }
]

type Options = Pick<Approval.ResumeOptions<Shop["tools"]>, "tools" | "policy" | "audience">

/** Asks about the calls that the model makes in its first step; runs what was answered, and lets the model have the last word. */
const answer = Effect.fnUntraced(function*(body: string, calls: ReadonlyArray<RawToolCall>, options: Options) {
  const { tools } = options
  const messages = UiMessage.toMessages((yield* readBody(body)).messages, { tools })
  if (messages.at(-1)?.role === "tool") {
    return Stream.flatMap(Approval.resumeStream({ ...options, messages }), (event) =>
      Stream.fromIterable([
        ...UiMessageChunk.fromResumeEvent(event),
        ...event._tag === "Resumed" && event.result.awaiting.length === 0 ? lastWord : []
      ]))
  }
  const step = yield* ToolStep.run(calls, { ...options, messages })
  return Stream.fromIterable<Chunk>([
    { type: "start-step" },
    ...UiMessageChunk.fromStep(step, { tools }),
    { type: "finish-step" }
  ])
}, Stream.unwrap)

const chunksOf = (body: string, calls: ReadonlyArray<RawToolCall>, options: Options) =>
  Stream.make<[Chunk]>({ type: "start" }).pipe(
    Stream.concat(answer(body, calls, options)),
    Stream.concat(Stream.make<[Chunk]>({ type: "finish" })),
    Stream.catch(({ message }) => Stream.make<[Chunk]>({ type: "error", errorText: message }))
  )

/** Serves until the scope closes. `bodies` are what was posted. */
export const serve = Effect.fnUntraced(function*(calls: ReadonlyArray<RawToolCall>, options: Options) {
  const context = yield* Effect.context<Stream.Services<ReturnType<typeof chunksOf>> | Scope.Scope>()
  const bodies: Array<string> = []
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await readText(request)
    bodies.push(body)
    response.writeHead(200, UiMessageChunk.sseHeaders)
    const events = UiMessageChunk.encodeSse(chunksOf(body, calls, options))
    await Effect.runPromiseWith(context)(Stream.runForEach(events, (bytes) => Effect.sync(() => response.write(bytes))))
    response.end()
  }
  const server = createServer((request, response) => void respond(request, response))
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
    () => Effect.promise(() => new Promise((done) => (server.close(done), server.closeAllConnections())))
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const post = (body: string) =>
    Effect.promise(() => fetch(url, { method: "POST", body })).pipe(
      Effect.flatMap((response) =>
        Stream.fromReadableStream({ evaluate: () => response.body!, onError: (error) => error as Error }).pipe(
          UiMessageChunk.decodeSse,
          Stream.runCollect
        )
      )
    )
  return { url, bodies, post }
})
