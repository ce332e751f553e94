/** The AI SDK in both versions, with models that say what a test wants them to say. */
import * as ai7 from "ai"
import { MockLanguageModelV4 } from "ai/test"
import * as ai6 from "ai6"
import { MockLanguageModelV3 } from "ai6/test"
import * as Effect from "effect/Effect"
import { throughJson } from "../throughJson.ts"

/** What a model says: calls, or a text. */
export type Said =
  | { readonly type: "tool-call"; readonly toolCallId: string; readonly toolName: string; readonly input: string }
  | { readonly type: "text"; readonly text: string }

export interface Sdk {
  readonly version: "7.0.173" | "6.0.326"
  /** Version 6 passes for version 7: what the tests use of both is the same, but for what they show. */
  readonly ai: typeof ai7
  readonly Model: typeof MockLanguageModelV4
}

export const sdk7: Sdk = { version: "7.0.173", ai: ai7, Model: MockLanguageModelV4 }

export const sdk6: Sdk = {
  version: "6.0.326",
  ai: ai6 as unknown as typeof ai7,
  Model: MockLanguageModelV3 as unknown as typeof MockLanguageModelV4
}

export const sdks = [sdk7, sdk6] as const

export const call = (toolCallId: string, toolName: string, input: unknown): Said => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input: typeof input === "string" ? input : JSON.stringify(input)
})

export const text = (text: string): Said => ({ type: "text", text })

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined }
}

const finishReason = (said: ReadonlyArray<Said>) => ({
  unified: said.some(({ type }) => type === "tool-call") ? "tool-calls" as const : "stop" as const,
  raw: undefined
})

const streamed = (said: ReadonlyArray<Said>): Array<any> => [
  { type: "stream-start", warnings: [] },
  ...said.flatMap((one, index): Array<object> =>
    one.type === "tool-call" ? [one] : [
      { type: "text-start", id: `t${index}` },
      { type: "text-delta", id: `t${index}`, delta: one.text },
      { type: "text-end", id: `t${index}` }
    ]
  ),
  { type: "finish", finishReason: finishReason(said), usage }
]

/** A model that says one after the other. `prompts` are what it was asked. */
export const modelOf = ({ Model, ai }: Sdk, ...answers: ReadonlyArray<ReadonlyArray<Said>>) => {
  const rest = [...answers]
  const prompts: Array<any> = []
  const next = (options: { readonly prompt: unknown }): ReadonlyArray<Said> => {
    prompts.push(throughJson(options.prompt))
    const said = rest.shift()
    if (said === undefined) throw new Error("the model is asked once more than it has answers")
    return said
  }
  const model = new Model({
    doGenerate: async (options) => {
      const said = next(options)
      return { content: [...said], finishReason: finishReason(said), usage, warnings: [] }
    },
    doStream: async (options) => ({ stream: ai.simulateReadableStream({ chunks: streamed(next(options)) }) })
  })
  return { model, prompts }
}

export type Via = "generateText" | "streamText"

/** The options of both functions that the suites use. */
export type Options = {
  readonly tools: any
  readonly messages: ReadonlyArray<unknown>
  readonly secret?: string | undefined
  readonly [option: string]: unknown
}

export const ways: ReadonlyArray<Via> = ["generateText", "streamText"]

/** Each version, each way. */
export const both = sdks.flatMap((sdk) => ways.map((via) => ({ sdk, via, name: `ai ${sdk.version}, ${via}` })))

/**
 * Lets the SDK go on with a conversation, while the model says one after the other; fails with what the SDK fails with. `messages`
 * are those that it adds, as they are after transport.
 */
export const proceed = (
  sdk: Sdk,
  via: Via,
  { messages, secret, tools, ...more }: Options,
  ...answers: ReadonlyArray<ReadonlyArray<Said>>
): Effect.Effect<
  { readonly messages: ReadonlyArray<any>; readonly prompts: ReadonlyArray<any>; readonly chunks: ReadonlyArray<any> },
  Error
> =>
  Effect.tryPromise({
    try: async () => {
      const { model, prompts } = modelOf(sdk, ...answers)
      const options: any = { ...more, model, tools, messages, experimental_toolApprovalSecret: secret }
      if (via === "generateText") {
        const { response, responseMessages = response.messages } = await sdk.ai.generateText(options)
        return { messages: throughJson(responseMessages) as Array<any>, prompts, chunks: [] }
      }
      const errors: Array<unknown> = []
      const result = sdk.ai.streamText({ ...options, onError: ({ error }: { error: unknown }) => errors.push(error) })
      const chunks: Array<any> = []
      for await (const chunk of result.toUIMessageStream()) chunks.push(throughJson(chunk))
      if (errors.length > 0) throw errors[0]
      const added = await result.responseMessages ?? (await result.response).messages
      return { messages: throughJson(added) as Array<any>, prompts, chunks }
    },
    catch: (error) => error as Error
  })

export const partsOf = (messages: ReadonlyArray<any>, type: string): ReadonlyArray<any> =>
  messages.flatMap(({ content }) => typeof content === "string" ? [] : content).filter((part) => part.type === type)

/** The answers to all questions, as a page sends them. */
export const answers = (messages: ReadonlyArray<any>, approved = true, more: object = {}) => ({
  role: "tool" as const,
  content: partsOf(messages, "tool-approval-request").map(({ approvalId }) => ({
    type: "tool-approval-response" as const,
    approvalId,
    approved,
    ...more
  }))
})

export const user = (content = "please"): any => ({ role: "user", content })
