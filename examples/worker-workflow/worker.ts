/**
 * The Worker: it starts runs, shows their questions, and takes the answers.
 *
 * ```text
 * POST /refunds       { "order": 7 }                          starts a run
 * GET  /refunds/<id>                                          for who started it: its status, and at the end its messages
 * GET  /questions?limit=&after=                               what waits for you; `next`, as `after`, gives more
 * POST /answers       { "approvalId": "…", "approved": true }
 * ```
 */
import * as Approval from "@countersign/core/Approval"
import * as Approvals from "@countersign/core/Approvals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Access from "./access.ts"
import { runtime } from "./countersign.ts"
import * as Owner from "./owner.ts"
import * as Waiting from "./waiting.ts"

export { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"
export { RefundWorkflow } from "./workflow.ts"

export default {
  fetch(request, { REFUNDS }) {
    return runtime.runPromise(
      Effect.catch(respond(request, REFUNDS), (error) => Effect.succeed(refusalOf(statusOf(error), error.message)))
    )
  }
} satisfies ExportedHandler<Cloudflare.Env>

type Refunds = Cloudflare.Env["REFUNDS"]

class Refused extends Schema.TaggedError<Refused>("Refused")("Refused", {
  status: Schema.Int,
  message: Schema.String
}) {}

class WorkflowsUnavailable
  extends Schema.TaggedError<WorkflowsUnavailable>("WorkflowsUnavailable")("WorkflowsUnavailable", {
    message: Schema.String
  })
{}

const refusalOf = (status: number, error: string): Response => Response.json({ error }, { status })

type Failure = Effect.Error<ReturnType<typeof respond>>

const statusOf = (error: Failure): number => error._tag === "Refused" ? error.status : statuses[error._tag] ?? 503

const statuses: { readonly [Tag in Failure["_tag"]]?: number } = {
  InvalidToolApproval: 400,
  NotJson: 400,
  NotAllowed: 403,
  ApprovalNotFound: 404,
  ApprovalAlreadyAnswered: 409,
  ApprovalExpired: 410
}

const respond = Effect.fnUntraced(function*(request: Request, refunds: Refunds) {
  const user = yield* Access.userOf(request)
  if (user === undefined) return yield* new Refused({ status: 401, message: "nobody is signed in" })

  const { pathname, searchParams } = new URL(request.url)
  const runId = /^\/refunds\/([\w-]+)$/.exec(pathname)?.[1]
  if (request.method === "POST" && pathname === "/refunds") return yield* start(request, refunds, user)
  if (request.method === "GET" && runId !== undefined) return yield* show(refunds, runId, user)
  if (request.method === "GET" && pathname === "/questions") return yield* listQuestions(user, searchParams)
  if (request.method === "POST" && pathname === "/answers") return yield* answer(request, refunds, user)
  return yield* new Refused({ status: 404, message: "no such page" })
})

/**
 * What a request holds. A page of another site can send anything but this content type. And a text with a key twice says two things, of
 * which `JSON.parse` takes the last: it is not as `JSON.stringify` would write it.
 */
const read = Effect.fnUntraced(function*<A>(request: Request, schema: Schema.Decoder<A>, expected: string) {
  if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
    return yield* new Refused({ status: 415, message: "send application/json" })
  }
  const malformed = new Refused({ status: 400, message: `send ${expected}, as JSON.stringify writes it` })
  const text = yield* Effect.tryPromise({ try: () => request.text(), catch: () => malformed })
  const value = yield* Effect.try({ try: () => parse(text), catch: () => malformed })
  return yield* Effect.fromOption(Schema.decodeUnknownOption(schema)(value)).pipe(Effect.mapError(() => malformed))
})

const parse = (text: string): unknown => {
  const value: unknown = JSON.parse(text)
  if (JSON.stringify(value) !== text) throw new SyntaxError("it is written in another way")
  return value
}

const ask = <A>(run: () => Promise<A>): Effect.Effect<A, Refused | WorkflowsUnavailable> =>
  Effect.tryPromise({
    try: run,
    catch: (error) => {
      const message = error instanceof Error ? error.message : "Workflows is not available"
      return message.includes("instance.not_found")
        ? new Refused({ status: 404, message: "no such refund" })
        : new WorkflowsUnavailable({ message })
    }
  })

const Order = Schema.Struct({ order: Schema.Int })

const start = Effect.fnUntraced(function*(request: Request, refunds: Refunds, user: string) {
  const { order } = yield* read(request, Order, "{\"order\":number}")
  const id = crypto.randomUUID()
  yield* Owner.note(id, user)
  yield* ask(() => refunds.create({ id, params: { order, audience: user } }))
  return Response.json({ id }, { status: 202 })
})

const show = Effect.fnUntraced(function*(refunds: Refunds, runId: string, user: string) {
  if (!(yield* Owner.isOwner(runId, user))) return yield* new Refused({ status: 404, message: "no such refund" })
  const { error, output, status } = yield* ask(async () => (await refunds.get(runId)).status())
  return Response.json({ status, messages: output, error: error?.message })
})

const listQuestions = Effect.fnUntraced(function*(user: string, searchParams: URLSearchParams) {
  const approvals = yield* Approvals.Approvals
  const page = yield* approvals.inbox(user).list({
    after: searchParams.get("after") ?? undefined,
    limit: Number(searchParams.get("limit") ?? 100)
  })
  const questions = page.approvals.map(({ approvalRequest: { approvalId }, toolCall }) => ({
    approvalId,
    text: Approval.display(toolCall)
  }))
  return Response.json({ questions, next: page.next })
})

/** The first answer counts, if it comes from the person who was asked. */
const answer = Effect.fnUntraced(function*(request: Request, refunds: Refunds, user: string) {
  const given = yield* read(request, Approvals.Answer, "{\"approvalId\":string,\"approved\":boolean}")
  const approvals = yield* Approvals.Approvals
  yield* approvals.inbox(user).answer(given)

  // If the Worker dies here, the run finds the answer when it looks for itself. More events than one do no harm.
  const runId = yield* Waiting.find(given.approvalId)
  const ended = new Refused({ status: 410, message: "the refund that asked this has ended without it" })
  if (runId === undefined) return yield* ended
  const run = yield* ask(() => refunds.get(runId))
  const { status } = yield* ask(() => run.status())
  if (status === "errored" || status === "terminated") return yield* ended
  if (status !== "complete") {
    yield* ask(() => run.sendEvent({ type: Waiting.eventType(given.approvalId), payload: null }))
  }
  return Response.json({ approved: given.approved })
})
