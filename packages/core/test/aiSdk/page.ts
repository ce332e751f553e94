/** A page of the AI SDK without a browser: what reads the chunks of a server, and the chat on top of it. */
import type { AbstractChat, ChatInit, ChatState, UIMessage, UIMessageChunk } from "ai"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as UiMessageChunks from "../../src/UiMessageChunk.ts"
import type { Sdk } from "./sdk.ts"

/** The message that the page shows when a stream has ended, or what the stream breaks with. */
export const show = Effect.fnUntraced(function*(
  { ai }: Sdk,
  chunks: ReadonlyArray<UiMessageChunks.UiMessageChunk>,
  message?: UIMessage
) {
  const bytes = UiMessageChunks.encodeSse(Stream.fromIterable(chunks))
  return yield* Effect.tryPromise({
    try: async () => {
      const stream = ai.parseJsonEventStream({
        stream: Stream.toReadableStream(bytes) as ReadableStream<Uint8Array<ArrayBuffer>>,
        schema: ai.uiMessageChunkSchema
      }).pipeThrough(
        new TransformStream({
          transform(event, controller) {
            if (!event.success) throw event.error
            controller.enqueue(event.value as UIMessageChunk)
          }
        })
      )
      const errors: Array<unknown> = []
      let shown = message
      const messages = ai.readUIMessageStream<UIMessage>({
        stream,
        ...message === undefined ? {} : { message: structuredClone(message) },
        onError: (error) => errors.push(error)
      })
      for await (const next of messages) shown = next
      if (errors.length > 0) throw errors[0]
      return shown!
    },
    catch: (error) => error as Error
  })
})

/** A step as the page is sent it. */
export const asStep = (chunks: ReadonlyArray<UiMessageChunks.UiMessageChunk>) => [
  { type: "start" } as const,
  { type: "start-step" } as const,
  ...chunks,
  { type: "finish-step" } as const,
  { type: "finish", finishReason: "tool-calls" } as const
]

/** A chat as a framework's hook has one. `finished` waits for the end of the next answer. */
export const openChat = Effect.fnUntraced(function*(
  { ai }: Sdk,
  api: string,
  messages: Array<UIMessage> = []
): Effect.fn.Return<{ readonly chat: AbstractChat<UIMessage>; readonly finished: Effect.Effect<void> }> {
  const ends = yield* Queue.unbounded<void>()
  class Chat extends ai.AbstractChat<UIMessage> {
    constructor(init: ChatInit<UIMessage>) {
      const state: ChatState<UIMessage> = {
        status: "ready",
        error: undefined,
        messages,
        pushMessage: (message) => void (state.messages = [...state.messages, message]),
        popMessage: () => void (state.messages = state.messages.slice(0, -1)),
        replaceMessage: (index, message) =>
          void (state.messages = state.messages.with(index, structuredClone(message))),
        snapshot: (thing) => structuredClone(thing)
      }
      super({ ...init, state })
    }
  }
  const chat = new Chat({
    transport: new ai.DefaultChatTransport({ api }),
    sendAutomaticallyWhen: ai.lastAssistantMessageIsCompleteWithApprovalResponses,
    onFinish: () => void Queue.offerUnsafe(ends, undefined)
  })
  return { chat, finished: Queue.take(ends) }
})
