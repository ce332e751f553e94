/** The same tools twice: for Countersign and for the AI SDK. */
import type * as ai from "ai"
import * as Effect from "effect/Effect"
import { z } from "zod"
import type * as ApprovalPolicy from "../../src/ApprovalPolicy.ts"
import type * as Message from "../../src/Message.ts"
import * as Tool from "../../src/Tool.ts"
import * as ToolSet from "../../src/ToolSet.ts"
import * as ToolStep from "../../src/ToolStep.ts"
import { stored } from "../approvalHistory.ts"
import { type Said, type Sdk, user } from "./sdk.ts"

/** A schema that strips unknown keys, fills one in and changes another. */
const payment = z.object({ cents: z.string().transform(Number), currency: z.string().default("EUR") })

const nothing = z.object({})

const nameSchema = z.object({ name: z.string() })

type Payment = z.output<typeof payment>

/** `executed` has what ran, wherever it ran. */
export const shop = ({ ai }: Sdk) => {
  const executed: Array<string> = []
  const pay = ({ cents, currency }: Payment) => {
    executed.push(`pay ${cents} ${currency}`)
    return `paid ${cents} ${currency}`
  }
  const refund = () => {
    executed.push("refund")
    return "refunded"
  }
  const rename = ({ name }: z.output<typeof nameSchema>) => {
    executed.push(`rename ${name}`)
    return "renamed"
  }
  const look = () => {
    executed.push("look")
    return { items: [1, null] }
  }
  const title = "Pay"
  const tools = ToolSet.make(
    Tool.make("pay", {
      title,
      metadata: { shop: 1 },
      inputSchema: payment,
      needsApproval: true,
      execute: (input) => Effect.sync(() => pay(input))
    }),
    Tool.make("refund", { inputSchema: nothing, needsApproval: true, execute: () => Effect.sync(refund) }),
    Tool.make("rename", {
      inputSchema: nameSchema,
      needsApproval: true,
      allowEdits: true,
      execute: (input) => Effect.sync(() => rename(input))
    }),
    Tool.make("look", { inputSchema: nothing, execute: () => Effect.sync(look) }),
    Tool.make("break", {
      inputSchema: nothing,
      needsApproval: true,
      execute: () => Effect.fail(new Error("out of order"))
    })
  )
  const aiTools: ai.ToolSet = {
    pay: ai.tool({
      title,
      metadata: { shop: 1 },
      inputSchema: payment,
      needsApproval: true,
      execute: async (input) => pay(input)
    }),
    refund: ai.tool({ inputSchema: nothing, needsApproval: true, execute: async () => refund() }),
    rename: ai.tool({ inputSchema: nameSchema, needsApproval: true, execute: async (input) => rename(input) }),
    look: ai.tool({ inputSchema: nothing, execute: async () => look() }),
    break: ai.tool({
      inputSchema: nothing,
      needsApproval: true,
      execute: async (): Promise<string> => {
        throw new Error("out of order")
      }
    })
  }
  return { executed, tools, aiTools }
}

export type Shop = ReturnType<typeof shop>

/** A conversation whose first step ran here, as it comes back from a page. */
export const start = Effect.fnUntraced(function*(
  tools: Shop["tools"],
  calls: ReadonlyArray<Said>,
  options: { readonly policy?: ApprovalPolicy.ApprovalPolicy<Shop["tools"]> } = {}
) {
  const step = yield* ToolStep.run(calls as ReadonlyArray<Said & { readonly type: "tool-call" }>, { tools, ...options })
  return { step, messages: stored<ReadonlyArray<Message.Message>>([user(), ...step.messages]) }
})
