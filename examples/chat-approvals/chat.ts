/**
 * A chat route with approvals: what `useChat` posts comes in, what it reads goes out. It asks a model, runs the calls that may
 * run, stops for those that a person has to approve, and goes on when the answer comes.
 */
import * as Approval from "@countersign/core/Approval"
import * as Message from "@countersign/core/Message"
import type { RawToolCall } from "@countersign/core/RawToolCall"
import * as Repair from "@countersign/core/Repair"
import type { ToolSet } from "@countersign/core/ToolSet"
import * as ToolStep from "@countersign/core/ToolStep"
import * as UiMessage from "@countersign/core/UiMessage"
import * as UiMessageChunk from "@countersign/core/UiMessageChunk"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

/** What a model answered: text, calls, and why it stopped. */
export interface ModelAnswer {
  readonly text: string
  readonly calls: ReadonlyArray<RawToolCall>
  readonly finishReason: string
}

export type Model = (messages: ReadonlyArray<Message.Message>) => Effect.Effect<ModelAnswer>

/** How often the model is asked until a person has to look, and how many steps in a row may have nothing but bad calls. */
const maxSteps = 10
const maxBadSteps = 2

/** The chunks that answer a page. `audience` is who asks: an approval asked of one user is no use to another. */
export const chat = (options: {
  readonly uiMessages: ReadonlyArray<UiMessage.UiMessage>
  readonly tools: ToolSet
  readonly model: Model
  readonly audience: string
}) =>
  Stream.callback<
    UiMessageChunk.UiMessageChunk,
    Approval.ResumeError,
    Approval.ResumeServices<ToolSet, never, {}, never>
  >((queue) =>
    converse(options, (chunks) => Queue.offerAll(queue, chunks)).pipe(
      Effect.matchCauseEffect({
        onFailure: (cause) => Queue.failCause(queue, cause),
        onSuccess: () => Queue.end(queue)
      })
    )
  )

const converse = Effect.fnUntraced(function*(
  { audience, model, tools, uiMessages }: Parameters<typeof chat>[0],
  send: (chunks: ReadonlyArray<UiMessageChunk.UiMessageChunk>) => Effect.Effect<unknown>
) {
  const last = uiMessages.at(-1)
  yield* send([{ type: "start", ...last?.role === "assistant" && last.id !== undefined ? { messageId: last.id } : {} }])

  const history = UiMessage.toMessages(uiMessages, { tools })
  let messages: ReadonlyArray<Message.Message> = history
  let isWaiting = false
  yield* Stream.runForEach(Approval.resumeStream({ messages: history, tools, audience }), (event) => {
    if (event._tag === "Resumed") {
      messages = event.result.messages
      isWaiting = event.result.awaiting.length > 0
    }
    return send(UiMessageChunk.fromResumeEvent(event))
  })

  let badSteps = 0
  for (let step = 0; step < maxSteps && !isWaiting && badSteps < maxBadSteps; step++) {
    const answer = yield* model(Message.forModel(messages))
    const content = answer.text === "" ? [] : [{ type: "text", text: answer.text } as const]
    yield* send([
      { type: "start-step" },
      ...answer.text === "" ? [] : [
        { type: "text-start", id: "text" } as const,
        { type: "text-delta", id: "text", delta: answer.text } as const,
        { type: "text-end", id: "text" } as const
      ]
    ])
    const { calls, finishReason } = answer
    const result = yield* ToolStep.run(calls, { tools, audience, finishReason, content, repair: Repair.standard })
    yield* send([...UiMessageChunk.fromStep(result, { tools }), { type: "finish-step" }])
    if (calls.length === 0) break
    messages = [...messages, ...result.messages]
    isWaiting = result.awaiting.length > 0
    badSteps = result.invalid.length === result.calls.length ? badSteps + 1 : 0
  }
  yield* send([{ type: "finish" }])
})
