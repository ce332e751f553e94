/** What the model may do: see an order, and after a person's yes refund it. */
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import { env } from "cloudflare:workers"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

class PaymentFailed extends Schema.TaggedError<PaymentFailed>("PaymentFailed")("PaymentFailed", {
  message: Schema.String
}) {}

/** It is not `idempotent`: where nobody knows how a first run ended, there is no second. */
const refund = Tool.make("refund", {
  inputSchema: Schema.Struct({ order: Schema.Int, cents: Schema.Int }),
  needsApproval: true,
  timeout: "30 seconds",
  execute: ({ cents, order }) =>
    Effect.tryPromise({
      try: async (signal) => {
        const body = JSON.stringify({ order, cents })
        const response = await fetch(`${env.PAYMENTS_URL}/refunds`, { method: "POST", body, signal })
        if (!response.ok) throw new Error(`status ${response.status}`)
        return `${cents} cents refunded`
      },
      catch: (error) => new PaymentFailed({ message: error instanceof Error ? error.message : "unreachable" })
    })
})

export const tools = ToolSet.make(refund)
