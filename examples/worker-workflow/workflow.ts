/**
 * A refund that a model proposes and a person approves, perhaps days later. The run sleeps meanwhile, and outlives crashes and deploys.
 *
 * A step is repeated until it has ended once; its result is kept, and a run that goes on somewhere else gets it back. So each step is
 * harmless to repeat, or has the ledger, which knows what became of the first time.
 */
import * as Approval from "@countersign/core/Approval"
import * as Approvals from "@countersign/core/Approvals"
import type * as Message from "@countersign/core/Message"
import type { RawToolCall } from "@countersign/core/RawToolCall"
import * as Repair from "@countersign/core/Repair"
import * as ToolStep from "@countersign/core/ToolStep"
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep, type WorkflowStepConfig } from "cloudflare:workers"
import { NonRetryableError } from "cloudflare:workflows"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { runtime } from "./countersign.ts"
import { tools } from "./tools.ts"
import * as Waiting from "./waiting.ts"

/** What is to be refunded, and who is asked about it: nobody else can answer. */
export interface Refund {
  readonly order: number
  readonly audience: string
}

/** A run waits as long as the approval stands. */
const timeToLive = "7 days"

/** A run has 1,024 steps or more: each look takes two. */
const lookEvery = "1 hour"

/** What a run keeps of its questions. */
interface Asked {
  readonly messages: ReadonlyArray<Message.Message>
  readonly pending: ReadonlyArray<Approval.PendingApproval>
}

export class RefundWorkflow extends WorkflowEntrypoint<Cloudflare.Env, Refund> {
  override async run({ instanceId, payload: { audience, order } }: WorkflowEvent<Refund>, step: WorkflowStep) {
    const calls = await keep(step, "ask the model", () => askModel(order))

    // Each time it is repeated it makes another question, with another ID and signature. It is shown in a step of its own: what
    // the person sees is what is kept here.
    const asked = await keep(step, "make the question", () => runtime.runPromise(makeQuestion(calls, audience)))
    await keep(step, "show the question", () => runtime.runPromise(showQuestion(asked, instanceId)))

    for (const { approvalRequest: { approvalId } } of asked.pending) await untilAnswered(step, approvalId)

    return keep(step, "run what was approved", () => runtime.runPromise(resume(asked, audience)), onceOnly)
  }
}

/**
 * The answer is in the inbox, which took it from the right person, and took one. The event only says so, and may never come: the Worker
 * can die between the two. So the run looks for itself from time to time. Where nobody answers in time it ends with an error, and
 * nothing has been run.
 */
const untilAnswered = async (step: WorkflowStep, approvalId: string): Promise<void> => {
  for (let state = "waits"; state !== "answered";) {
    const event = { type: Waiting.eventType(approvalId), timeout: lookEvery } as const
    await step.waitForEvent("wait for the person", event).catch(() => undefined)
    state = await keep(step, "look into the inbox", () => runtime.runPromise(stateOf(approvalId)), patient)
    if (state === "gone") throw new NonRetryableError("nobody answered in time")
  }
}

/**
 * How the last step is repeated, which is safe. An earlier attempt that has finished left its outcome in the ledger, and that is the
 * result. One that was broken off counts as running until its lease is over: the resume fails, and is tried again, in all for longer
 * than a lease. After that nobody knows whether the refund was made: the tool is not run again, and the model is told so.
 *
 * The platform goes on without an attempt that takes longer than `timeout`, and does not stop it: the tool's own timeout is shorter.
 */
const onceOnly: WorkflowStepConfig = {
  retries: { limit: 20, delay: "3 seconds", backoff: "constant" },
  timeout: "2 minutes"
}

const standard: WorkflowStepConfig = { retries: { limit: 5, delay: "1 second", backoff: "exponential" } }

/** A run that waits for days waits for a store that is away, too. */
const patient: WorkflowStepConfig = { retries: { limit: 360, delay: "10 seconds", backoff: "constant" } }

/** A step whose result is kept as JSON text. */
const keep = async <A>(
  step: WorkflowStep,
  name: string,
  run: () => Promise<A>,
  config: WorkflowStepConfig = standard
): Promise<A> => JSON.parse(await step.do(name, config, async () => JSON.stringify(await run() ?? null)))

/** A real model is asked here. This one writes a comma too many. */
const askModel = async (order: number): Promise<ReadonlyArray<RawToolCall>> => [
  { toolCallId: "call_1", toolName: "refund", input: `{"order":${order},"cents":4900,}` }
]

const makeQuestion = Effect.fnUntraced(function*(calls: ReadonlyArray<RawToolCall>, audience: string) {
  const { messages, pending } = yield* ToolStep.run(calls, { tools, audience, timeToLive, repair: Repair.standard })
  return { messages, pending }
})

const showQuestion = Effect.fnUntraced(function*({ pending }: Asked, runId: string) {
  const approvals = yield* Approvals.Approvals
  // First who waits for it: it may be answered at once.
  for (const { approvalRequest } of pending) yield* Waiting.note(approvalRequest.approvalId, runId, timeToLive)
  yield* approvals.add(pending)
})

const stateOf = Effect.fnUntraced(
  function*(approvalId: string) {
    const approvals = yield* Approvals.Approvals
    const { answer, expiresAt } = yield* approvals.get(approvalId)
    if (answer !== undefined) return "answered"
    return expiresAt !== undefined && expiresAt <= (yield* Clock.currentTimeMillis) ? "gone" : "waits"
  },
  Effect.catchTag("ApprovalNotFound", () => Effect.succeed("gone"))
)

/**
 * Runs the questions of the inbox, for these are what the person saw. One that was changed in the store meanwhile is refused: its
 * signature does not fit. Gives what is new to the model.
 */
const resume = Effect.fnUntraced(
  function*({ messages, pending }: Asked, audience: string) {
    const approvals = yield* Approvals.Approvals
    const answered = yield* Effect.forEach(pending, ({ approvalRequest }) => approvals.get(approvalRequest.approvalId))
    const resumed = yield* Approval.resume({ ...Approvals.toResume(answered), messages, tools, audience })
    return resumed.responseMessages
  },
  Effect.mapError((error) => isPassing(error) ? error : new NonRetryableError(error.message))
)

/** An attempt that is still running, or a store that is away. No retry makes a signature right. */
const isPassing = ({ _tag }: { readonly _tag: string }): boolean =>
  ["ApprovalAlreadyUsed", "LedgerUnavailable", "StoreUnavailable", "CryptoUnavailable"].includes(_tag)
