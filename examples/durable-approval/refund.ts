/**
 * A refund that a model proposes, a person approves days later, and a durable workflow pays once. Each activity has its result
 * written to the database: when the process ends and another goes on, the workflow is run from its start again, and an activity that
 * has ended gives its first result.
 */
import * as Approval from "@countersign/core/Approval"
import {
  ApprovalAlreadyUsed,
  ApprovalExpired,
  InvalidApprovalClaims,
  InvalidToolApproval,
  ToolCallNotFoundForApproval
} from "@countersign/core/ApprovalError"
import * as ApprovalId from "@countersign/core/ApprovalId"
import { LedgerUnavailable } from "@countersign/core/ApprovalLedger"
import { ApprovalSigner, InvalidSignature } from "@countersign/core/ApprovalSigner"
import { CryptoUnavailable } from "@countersign/core/Crypto"
import * as Message from "@countersign/core/Message"
import * as Repair from "@countersign/core/Repair"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import * as ToolStep from "@countersign/core/ToolStep"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Activity from "effect/workflow/Activity"
import * as DurableClock from "effect/workflow/DurableClock"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import * as Workflow from "effect/workflow/Workflow"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"

/** A row stands for money that was sent: to send it twice is what must not happen, and the table would show it. */
const tools = ToolSet.make(
  Tool.make("refund", {
    inputSchema: Schema.Struct({ order: Schema.Int, cents: Schema.Int }),
    needsApproval: true,
    execute: Effect.fnUntraced(function*({ cents, order }) {
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO refunds (order_number, cents) VALUES (${order}, ${cents})`
      return `${cents} cents refunded`
    })
  })
)

/** Who may approve, and for how long. */
export const manager = "manager@shop.example"
const timeToLive = "7 days"

/** What a person is sent, and what comes back with the answer: the question, and which run it belongs to. */
export const Letter = Schema.Struct({
  executionId: Schema.String,
  approvalRequest: Message.ToolApprovalRequest,
  toolCall: Message.ToolCallPart
})
export type Letter = typeof Letter.Type

/** As text that survives a mail. */
export const LetterCode = Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(Letter)))

const Answer = Schema.Struct({
  approved: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String),
  by: Schema.String
})

/** There is another answer already, which counts. */
export class AlreadyAnswered extends Schema.TaggedError<AlreadyAnswered>("AlreadyAnswered")("AlreadyAnswered", {
  approved: Schema.Boolean,
  by: Schema.String
}) {
  override get message(): string {
    return `${this.by} said ${this.approved ? "yes" : "no"} before`
  }
}

/**
 * The place for the answer has the ID of the question in its name. The ID has 128 random bits: who was not sent the question cannot
 * name the place, and an answer to the question of another run does not reach it.
 */
const answerTo = (approvalId: string) => DurableDeferred.make(`answer to ${approvalId}`, { success: Answer })

/** A call is one run, however often it is proposed: IDs of calls are unique here. Where they are not, add what makes them so. */
export const Refund = Workflow.make("Refund", {
  payload: { toolCallId: Schema.String, toolName: Schema.String, input: Schema.String },
  idempotencyKey: ({ toolCallId }) => toolCallId,
  // For the model to read: what came of its call.
  success: Schema.Array(Message.Message),
  error: Schema.Union([
    InvalidSignature,
    InvalidToolApproval,
    ToolCallNotFoundForApproval,
    ApprovalAlreadyUsed,
    LedgerUnavailable,
    CryptoUnavailable
  ])
})

/** What a model would call, with a comma too many, as models write. The ID makes it one run, whatever else is in it. */
export const proposed = (order: string, cents = "0") => ({
  toolCallId: `call_${order}`,
  toolName: "refund",
  input: `{"order":${order},"cents":${cents},}`
})

export const layer = Refund.toLayer(Effect.fnUntraced(function*(call, executionId) {
  // Makes a question with an ID of its own each time it runs, so it is an activity, and shows it to nobody: of a question whose
  // process ended before it was written down, nobody has heard.
  const { messages, pending } = yield* Activity.make({
    name: "ask",
    success: Schema.Struct({
      messages: Schema.Array(Message.Message),
      pending: Schema.Array(Letter.mapFields(({ approvalRequest, toolCall }) => ({ approvalRequest, toolCall })))
    }),
    error: CryptoUnavailable,
    execute: ToolStep.run([call], { tools, audience: manager, timeToLive, repair: Repair.standard })
  })
  const question = pending[0]
  if (question === undefined) return messages

  // An activity of its own, after the question has been written down. It may be sent twice: it is the same question.
  yield* Activity.make({ name: "send", execute: send({ ...question, executionId }) })

  // Nothing of the run stays in memory. What happens first is written down as `wait`, and is what every later run of this code reads.
  const { approvalId } = question.approvalRequest
  const { by, ...answer } = yield* DurableDeferred.raceAll({
    name: "wait",
    success: Answer,
    error: Schema.Never,
    effects: [
      DurableDeferred.await(answerTo(approvalId)),
      Effect.as(DurableClock.sleep({ name: "nobody", duration: timeToLive }), {
        approved: false,
        reason: "nobody answered in time",
        by: manager
      })
    ]
  })

  // The process may end after the call ran and before this was written down. Then it is run again, and the ledger gives the outcome
  // of the first time, or says that nobody knows it. Until the lease of the process that ended runs out, it says that the call runs.
  const { responseMessages } = yield* Activity.make({
    name: "resume",
    success: Schema.Struct({ responseMessages: Schema.Array(Message.Message) }),
    error: Refund.errorSchema,
    execute: Approval.resume({
      messages,
      requests: [question],
      responses: [{ type: "tool-approval-response", approvalId, ...answer }],
      tools,
      audience: by
    }).pipe(
      Effect.retry({
        schedule: Schedule.spaced("1 second"),
        while: ({ _tag }) => _tag === "ApprovalAlreadyUsed" || _tag === "LedgerUnavailable"
      })
    )
  })
  return responseMessages
}))

const send = (letter: Letter) =>
  Console.log(`To ${manager}: ${Approval.display(letter.toolCall)}\n${Schema.encodeSync(LetterCode)(letter)}`)

/**
 * Gives the answer to the run, whether a process is at it or not. The token of a `DurableDeferred` is an address, anybody can write
 * one, and the first answer stays: what does not come with a question that was signed here, or from whom it was for, or in time, is
 * refused before it takes the place. The run trusts none of this: it checks the signature of its own question, who answers and when.
 *
 * Fails with `AlreadyAnswered` where another answer was first. The same answer again is no error.
 */
export const answer = Effect.fnUntraced(function*(letter: Letter, value: typeof Answer.Type) {
  const { approvalRequest: { approvalId, signature }, executionId, toolCall: { input, toolCallId, toolName } } = letter
  const signer = yield* ApprovalSigner
  yield* signer.verify(signature, { approvalId, toolCallId, toolName, input })
  const claims = ApprovalId.parse(approvalId)
  if (claims._tag !== "Claims" || !(yield* ApprovalId.isFor(claims, value.by))) {
    return yield* new InvalidApprovalClaims({ approvalId, toolCallId, reason: "audience" })
  }
  const { expiresAt } = claims
  if (expiresAt !== undefined && expiresAt <= (yield* Clock.currentTimeMillis)) {
    return yield* new ApprovalExpired({ approvalId, toolCallId, expiredAt: expiresAt })
  }
  const place = answerTo(approvalId)
  const token = DurableDeferred.tokenFromExecutionId(place, { workflow: Refund, executionId })
  yield* DurableDeferred.succeed(place, { token, value })
  const { approved, by } = yield* answerIn(place, executionId)
  if (approved !== value.approved || by !== value.by) return yield* new AlreadyAnswered({ approved, by })
})

/** The answer that counts, as the run reads it. */
const answerIn = Effect.fnUntraced(function*(place: ReturnType<typeof answerTo>, executionId: string) {
  const engine = yield* WorkflowEngine.WorkflowEngine
  const found = yield* Effect.provideService(
    engine.deferredResult(place),
    WorkflowEngine.WorkflowInstance,
    WorkflowEngine.WorkflowInstance.initial(Refund, executionId)
  )
  return yield* Option.getOrThrow(found)
})
