/**
 * The Worker: it starts runs, shows their questions, and takes the answers.
 *
 * ```text
 * POST /refunds       { "order": 7 }                          starts a run
 * GET  /refunds/<id>                                          its status, and at the end its messages
 * GET  /questions                                             what waits for you
 * POST /answers       { "approvalId": "…", "approved": true }
 * ```
 */
import * as Approval from "@countersign/core/Approval"
import * as Approvals from "@countersign/core/Approvals"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { runtime } from "./countersign.ts"
import * as Waiting from "./waiting.ts"

export { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"
export { RefundWorkflow } from "./workflow.ts"

export default {
  async fetch(request, { REFUNDS }) {
    // Cloudflare Access says who it is. Without Access take the user from your own session, and nothing that a client can write.
    const user = request.headers.get("cf-access-authenticated-user-email")
    if (user === null) return refuse(401, "nobody is logged in")

    const { pathname } = new URL(request.url)
    const runId = /^\/refunds\/([\w-]+)$/.exec(pathname)?.[1]
    if (request.method === "POST" && pathname === "/refunds") return start(request, REFUNDS, user)
    if (request.method === "GET" && runId !== undefined) return show(REFUNDS, runId)
    if (request.method === "GET" && pathname === "/questions") return listQuestions(user)
    if (request.method === "POST" && pathname === "/answers") return answer(request, REFUNDS, user)
    return refuse(404, "no such page")
  }
} satisfies ExportedHandler<Cloudflare.Env>

type Refunds = Cloudflare.Env["REFUNDS"]

const refuse = (status: number, error: string): Response => Response.json({ error }, { status })

/** What a request holds, or nothing where it is not of the schema. */
const read = async <A>(request: Request, schema: Schema.Decoder<A>): Promise<A | undefined> => {
  const body: unknown = await request.json().catch(() => undefined)
  return Option.getOrUndefined(Schema.decodeUnknownOption(schema)(body))
}

const Order = Schema.Struct({ order: Schema.Int })

const start = async (request: Request, refunds: Refunds, user: string): Promise<Response> => {
  const body = await read(request, Order)
  if (body === undefined) return refuse(400, "send { \"order\": number }")
  const { id } = await refunds.create({ params: { order: body.order, audience: user } })
  return Response.json({ id }, { status: 202 })
}

/** Whoever has the ID of a run may see it: nobody guesses it. */
const show = async (refunds: Refunds, runId: string): Promise<Response> => {
  const run = await refunds.get(runId).catch(() => undefined)
  if (run === undefined) return refuse(404, "no such refund")
  const { error, output, status } = await run.status()
  return Response.json({ status, messages: output, error: error?.message })
}

const listQuestions = async (user: string): Promise<Response> => {
  const { approvals } = await runtime.runPromise(
    Effect.flatMap(Approvals.Approvals, (approvals) => approvals.inbox(user).list())
  )
  return Response.json(approvals.map(({ approvalRequest: { approvalId }, toolCall }) => ({
    approvalId,
    text: Approval.display(toolCall)
  })))
}

const answer = async (request: Request, refunds: Refunds, user: string): Promise<Response> => {
  const given = await read(request, Approvals.Answer)
  if (given === undefined) return refuse(400, "send { \"approvalId\": string, \"approved\": boolean }")
  const refusal = await runtime.runPromise(record(user, given))
  if (refusal !== undefined) return refuse(refusals[refusal._tag] ?? 503, refusal.message)

  // What fails from here on is mended by the same answer, sent again. More events than one do no harm.
  const runId = await runtime.runPromise(Waiting.find(given.approvalId))
  const run = runId === undefined ? undefined : await refunds.get(runId)
  if (run !== undefined && !hasEnded.has((await run.status()).status)) {
    await run.sendEvent({ type: Waiting.eventType(given.approvalId), payload: null })
  }
  return Response.json({ approved: given.approved })
}

/** The first answer counts, if it comes from the person who was asked. Gives why this one does not. */
const record = Effect.fnUntraced(function*(user: string, given: Approvals.Answer) {
  const approvals = yield* Approvals.Approvals
  return yield* Effect.match(approvals.inbox(user).answer(given), {
    onFailure: (error) => error,
    onSuccess: () => undefined
  })
})

const refusals: { readonly [Tag in Approvals.AnswerError["_tag"]]?: number } = {
  InvalidToolApproval: 400,
  NotJson: 400,
  NotAllowed: 403,
  ApprovalNotFound: 404,
  ApprovalAlreadyAnswered: 409,
  ApprovalExpired: 410
}

const hasEnded: ReadonlySet<InstanceStatus["status"]> = new Set(["complete", "errored", "terminated"])
