/** The inbox as a function from request to response, as Workers, Deno and Bun serve it. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { PendingApproval } from "../src/Approval.ts"
import * as Approvals from "../src/Approvals.ts"
import * as ApprovalsApi from "../src/ApprovalsApi.ts"
import * as RecordStore from "../src/RecordStore.ts"
import { testCrypto } from "./testCrypto.ts"

const question: PendingApproval = {
  approvalRequest: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
  toolCall: { type: "tool-call", toolCallId: "c1", toolName: "pay", input: { cents: 5 } }
}

const authority = Layer.succeed(Approvals.ApprovalAuthority)({
  maySee: (approver) => Effect.succeed(approver === "user 7"),
  mayAnswer: (approver) => Effect.succeed(approver === "user 7")
})

const authentication = ApprovalsApi.layerAuthentication((token) =>
  Effect.succeed(/^token of (.*)$/.exec(Redacted.value(token))?.[1])
)

const served = Effect.gen(function*() {
  const context = yield* Layer.build(
    Layer.provide(Approvals.layer(), [authority, RecordStore.layerMemory, testCrypto])
  )
  const approvals = Context.get(context, Approvals.Approvals)
  yield* approvals.add([question])
  const clock = Layer.succeed(Clock.Clock)(yield* Clock.Clock)
  const { handler } = yield* Effect.acquireRelease(
    Effect.sync(() =>
      HttpRouter.toWebHandler(
        ApprovalsApi.layer.pipe(
          Layer.provide([Layer.succeed(Approvals.Approvals)(approvals), authentication, HttpServer.layerServices]),
          Layer.provideMerge(clock)
        ),
        { disableLogger: true }
      )
    ),
    ({ dispose }) => Effect.promise(dispose)
  )
  return { approvals, handler }
})

const client = (handler: (request: Request) => Promise<Response>, user: string) =>
  Effect.map(
    HttpApiClient.make(ApprovalsApi.api, {
      baseUrl: "https://example.com",
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(`token of ${user}`))
    }),
    ({ approvals }) => approvals
  ).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init)))
  )

describe("ApprovalsApi", () => {
  it.live("lists, answers and tells of it", () =>
    Effect.gen(function*() {
      const { approvals, handler } = yield* served
      const { answer, list, watch } = yield* client(handler, "user 7")
      assert.deepStrictEqual((yield* list({ query: {} })).approvals, [yield* approvals.get("a1")])
      const told = yield* (yield* watch()).pipe(
        Stream.filter(({ _tag }) => _tag !== "Alive"),
        Stream.tap(() => Effect.ignore(answer({ payload: { approvalId: "a1", approved: true } }))),
        Stream.take(2),
        Stream.runCollect
      )
      const answered = yield* approvals.get("a1")
      assert.include(answered.answer, { approved: true, answeredBy: "user 7" })
      assert.deepStrictEqual(told.map(({ _tag }) => _tag), ["Pending", "Answered"])
      assert.deepStrictEqual(told[1], { _tag: "Answered", approval: answered })
      const error = yield* Effect.flip(answer({ payload: { approvalId: "a1", approved: false } }))
      assert.instanceOf(error, Approvals.ApprovalAlreadyAnswered)
    }))

  it.live("shows and takes nothing of strangers", () =>
    Effect.gen(function*() {
      const { approvals, handler } = yield* served
      const stranger = yield* client(handler, "user 8")
      assert.deepStrictEqual(yield* stranger.list({ query: {} }), { approvals: [] })
      const payload = { approvalId: "a1", approved: true }
      assert.instanceOf(yield* Effect.flip(stranger.answer({ payload })), Approvals.ApprovalNotFound)
      const nobody = yield* client(handler, "")
      assert.instanceOf(yield* Effect.flip(nobody.answer({ payload })), ApprovalsApi.Unauthorized)
      assert.isUndefined((yield* approvals.get("a1")).answer)
    }))

  it.live("takes JSON alone, and none that is too long", () =>
    Effect.gen(function*() {
      const { approvals, handler } = yield* served
      const statusOf = (body: string, contentType: string) => {
        const headers = { authorization: "Bearer token of user 7", "content-type": contentType }
        const request = new Request("https://example.com/approvals/answer", { method: "POST", headers, body })
        return Effect.map(Effect.promise(() => handler(request)), ({ status }) => status)
      }
      const answer = { approvalId: "a1", approved: true }
      assert.strictEqual(yield* statusOf(JSON.stringify(answer), "text/plain"), 415)
      assert.strictEqual(yield* statusOf("{}", "application/json"), 400)
      for (
        const body of [
          "{\"approvalId\":\"a1\",\"approved\":false,\"approved\":true}",
          "{\"approvalId\":\"a1\",\"approved\":false,\"\\u0061pproved\":true}",
          "{\"approvalId\":\"a1\",\"approved\":true,\"input\":[{\"cents\":1,\"cents\":9}]}",
          JSON.stringify({ ...answer, answeredBy: "user 8" })
        ]
      ) {
        assert.strictEqual(yield* statusOf(body, "application/json"), 400, body)
      }
      const long = JSON.stringify({ ...answer, reason: "x".repeat(262_144) })
      assert.strictEqual(yield* statusOf(long, "application/json"), 413)
      assert.isUndefined((yield* approvals.get("a1")).answer)
      assert.strictEqual(yield* statusOf(JSON.stringify(answer), "application/json"), 200)
    }))

  it.effect("ends a watch after five minutes, so that whoever watches says again who they are", () =>
    Effect.gen(function*() {
      const { handler } = yield* served
      const headers = { authorization: "Bearer token of user 7" }
      const request = new Request("https://example.com/approvals/watch", { headers })
      const { body } = yield* Effect.promise(() => handler(request))
      const chunks: Array<string> = []
      const text = body!.pipeThrough(new TextDecoderStream()).getReader()
      const read = Effect.promise(async () => {
        const { done, value = "" } = await text.read()
        chunks.push(value)
        return done
      })
      const ended = yield* Effect.forkChild(Effect.repeat(read, { until: (done) => done }))
      const passes = Effect.andThen(TestClock.adjust("5 seconds"), TestClock.withLive(Effect.sleep(1)))
      yield* Effect.repeat(passes, { times: 58 })
      assert.isUndefined(ended.pollUnsafe())
      yield* Effect.repeat(passes, { until: () => ended.pollUnsafe() !== undefined, times: 60 })
      assert.isDefined(ended.pollUnsafe())
      yield* Fiber.join(ended)
      assert.include(chunks.join(""), "\"_tag\":\"Pending\"")
      assert.isAtLeast(yield* Clock.currentTimeMillis, 300_000)
    }))
})
