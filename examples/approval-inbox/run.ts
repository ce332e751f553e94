/**
 * The commands around the inbox, each a process of its own on one SQLite file:
 *
 *   ask <order> <cents>    what a model would call: the question goes into the inbox
 *   serve                  the inbox by HTTP, until it is ended
 *   resume                 runs what has been approved
 */
import * as Approval from "@countersign/core/Approval"
import * as Approvals from "@countersign/core/Approvals"
import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import * as ToolStep from "@countersign/core/ToolStep"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import { authentication, services } from "./inbox.ts"

const tools = ToolSet.make(
  Tool.make("refund", {
    inputSchema: Schema.Struct({ order: Schema.Int, cents: Schema.Int }),
    needsApproval: true,
    execute: ({ cents, order }) =>
      Effect.as(Console.log(`Paying ${cents} cents`), `${cents} cents refunded for order ${order}`)
  })
)

/** Who is asked. */
const audience = "manager"

const ask = Effect.fnUntraced(function*(order: string, cents: string) {
  const call = { toolCallId: `call_${order}`, toolName: "refund", input: `{"order":${order},"cents":${cents}}` }
  const step = yield* ToolStep.run([call], { tools, audience, timeToLive: "7 days" })
  for (const { error } of step.invalid) yield* Console.log(error.message)
  const approvals = yield* Approvals.Approvals
  yield* approvals.add(step.pending)
  for (const { toolCall } of step.pending) yield* Console.log(`The manager is asked: ${Approval.display(toolCall)}`)
})

/** Who watches the inbox would hold up its end for twenty seconds. */
const gracefulShutdownTimeout = "1 second"

const port = Number(process.env["PORT"] ?? 8787)

const server = HttpRouter.serve(Layer.merge(ApprovalsApi.layer, HttpApiSwagger.layer(ApprovalsApi.api))).pipe(
  Layer.provide([authentication, services]),
  Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port, gracefulShutdownTimeout }))
)

const resumeOne = Effect.fnUntraced(function*(approval: Approvals.StoredApproval) {
  // In your program: the messages of the conversation.
  const messages: ReadonlyArray<unknown> = []
  const resumed = yield* Approval.resume({ messages, tools, audience, ...Approvals.toResume([approval]) })
  for (const message of resumed.responseMessages) yield* Console.log(JSON.stringify(message.content))
})

/** What has been resumed before is not run again: the ledger gives its outcome. What fails holds up nothing that comes behind it. */
const resume = Effect.gen(function*() {
  const approvals = yield* Approvals.Approvals
  let after: string | undefined
  do {
    const page: Approvals.FullPage = yield* approvals.list({ status: "answered", after })
    for (const id of page.corrupt) yield* Console.error(`The record ${id} cannot be read`)
    for (const approval of page.approvals) {
      yield* Effect.catch(resumeOne(approval), (error) => Console.error(error.message))
    }
    after = page.next
  } while (after !== undefined)
})

const [command, order = "", cents = ""] = process.argv.slice(2)

const program = Effect.gen(function*() {
  switch (command) {
    case "ask":
      return yield* Effect.provide(ask(order, cents), services)
    case "serve":
      return yield* Layer.launch(server)
    case "resume":
      return yield* Effect.provide(resume, services)
  }
  return yield* Effect.fail("The commands are ask, serve and resume")
})

NodeRuntime.runMain(program)
