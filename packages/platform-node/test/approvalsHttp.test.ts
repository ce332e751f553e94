/** The inbox by HTTP, on a server of Node and as a function from request to response. */
import type { PendingApproval } from "@countersign/core/Approval"
import * as Approvals from "@countersign/core/Approvals"
import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
import * as RecordStore from "@countersign/core/RecordStore"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createServer } from "node:http"
import * as NodeCrypto from "../src/NodeCrypto.ts"

/** Each sees what is for them; user 9 may only see. The directory knows nothing of user 0. */
const authority = Layer.succeed(Approvals.ApprovalAuthority)({
  maySee: (approver, { approvalRequest }) => Effect.succeed(approvalRequest.reason!.includes(approver)),
  mayAnswer: (approver) =>
    approver === "user 0"
      ? Effect.fail(new Approvals.AuthorityUnavailable({ reason: "the directory is closed" }))
      : Effect.succeed(approver !== "user 9")
})

const token = (user: string): string => `token-of-${user.replace(" ", "-")}`

const authentication = ApprovalsApi.layerAuthentication((given) =>
  Effect.succeed(["user 0", "user 7", "user 8", "user 9"].find((user) => token(user) === Redacted.value(given)))
)

const services = Layer.provideMerge(Approvals.layer(), [authority, RecordStore.layerMemory, NodeCrypto.layer])

const app = Layer.merge(ApprovalsApi.layer, HttpApiSwagger.layer(ApprovalsApi.api)).pipe(
  Layer.provideMerge([services, authentication])
)

/** A server on a port of its own, and what is in it. */
const served = Effect.gen(function*() {
  const context = yield* Layer.build(
    HttpRouter.serve(app, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  )
  const { address } = Context.get(context, HttpServer.HttpServer)
  assert(address._tag === "InetAddressV4")
  return { url: `http://127.0.0.1:${address.port}`, approvals: Context.get(context, Approvals.Approvals) }
})

const client = (url: string, user: string) =>
  Effect.map(
    HttpApiClient.make(ApprovalsApi.api, {
      baseUrl: url,
      transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken(token(user)))
    }),
    ({ approvals }) => approvals
  ).pipe(Effect.provide(FetchHttpClient.layer))

const question = (approver = "user 7", input: unknown = { cents: 5 }): PendingApproval => ({
  approvalRequest: {
    type: "tool-approval-request",
    // Longer than what routers take in a path.
    approvalId: `a/../ü?${crypto.randomUUID().repeat(5)}`,
    toolCallId: "c1",
    reason: `for ${approver}`,
    signature: "s".repeat(43)
  },
  toolCall: { type: "tool-call", toolCallId: "c1", toolName: "pay", input }
})

const idOf = ({ approvalRequest }: PendingApproval): string => approvalRequest.approvalId

const send = (url: string, path: string, init: RequestInit = {}, user = "user 7") =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${token(user)}`, ...init.headers as Record<string, string> }
    const response = await fetch(url + path, { ...init, headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })

const post = (
  url: string,
  body: string | Blob | ReadableStream,
  headers: Record<string, string> = { "content-type": "application/json" }
) => send(url, "/approvals/answer", { method: "POST", body, headers, duplex: "half" } as RequestInit)

describe("on a server of Node", () => {
  it.live("the typed client lists, gets and answers", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const input = JSON.parse("{\"__proto__\":{\"a\":1},\"list\":[null,1e300,\"\\u0000é\"],\"\":{}}")
      const [asked, other] = [question("user 7", input), question("user 8")]
      const approvalId = idOf(asked)
      yield* approvals.add([asked, other])
      const seven = yield* client(url, "user 7")
      const { approvals: listed } = yield* seven.list({ query: {} })
      assert.deepStrictEqual(listed.map(idOf), [approvalId])
      assert.deepStrictEqual(listed[0]!.toolCall, asked.toolCall)
      assert.strictEqual(listed[0]!.approvalRequest.signature, undefined)
      assert.deepStrictEqual(yield* seven.get({ query: { approvalId } }), listed[0])
      const answered = yield* seven.answer({
        payload: { approvalId, approved: true, reason: "fine", input: { cents: 4 } }
      })
      assert.deepStrictEqual((yield* approvals.get(approvalId)).answer, answered.answer)
      assert.include(answered.answer, { approved: true, reason: "fine", answeredBy: "user 7" })
      assert.deepStrictEqual(yield* seven.list({ query: {} }), { approvals: [] })
      assert.deepStrictEqual(yield* seven.list({ query: { status: "answered", limit: 5 } }), { approvals: [answered] })
    }))

  it.live("the typed client is told why not", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const [asked, other, seen, closed] = [question(), question("user 8"), question("user 9"), question("user 0")]
      yield* approvals.add([asked, other, seen, closed])
      const seven = yield* client(url, "user 7")
      const answer = (one: PendingApproval, approved: boolean, by = seven) =>
        by.answer({ payload: { approvalId: idOf(one), approved } })
      yield* answer(asked, true)
      const failures = [
        yield* Effect.flip(answer(asked, false)),
        yield* Effect.flip(answer(other, true)),
        yield* Effect.flip(seven.get({ query: { approvalId: idOf(other) } })),
        yield* Effect.flip(answer(seen, true, yield* client(url, "user 9"))),
        yield* Effect.flip(answer(question(), true)),
        yield* Effect.flip(answer(closed, true, yield* client(url, "user 0"))),
        yield* Effect.flip((yield* client(url, "user 1")).list({ query: {} }))
      ]
      assert.deepStrictEqual(failures.map(({ _tag }) => _tag), [
        "ApprovalAlreadyAnswered",
        "ApprovalNotFound",
        "ApprovalNotFound",
        "NotAllowed",
        "ApprovalNotFound",
        "AuthorityUnavailable",
        "Unauthorized"
      ])
      assert.instanceOf(failures[0], Approvals.ApprovalAlreadyAnswered)
      assert.include(failures[0], { approved: true, answeredBy: "user 7" })
      for (const one of [other, seen, closed]) assert.isUndefined((yield* approvals.get(idOf(one))).answer)
    }))

  it.live("answers with the status of what went wrong, and lets nothing be kept on the way", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const [asked, other, seen] = [question(), question("user 8"), question("user 7, as user 9 sees")]
      yield* approvals.add([asked, other, seen])
      const statusOf = (one: PendingApproval, approved: unknown) =>
        Effect.map(post(url, JSON.stringify({ approvalId: idOf(one), approved })), ({ status }) => status)
      assert.strictEqual(yield* statusOf(asked, "true"), 400)
      // Whether it is there is not for them to know.
      assert.strictEqual(yield* statusOf(other, true), 404)
      const seenOnly = yield* send(
        url,
        "/approvals/answer",
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ approvalId: idOf(seen), approved: true })
        },
        "user 9"
      )
      assert.strictEqual(seenOnly.status, 403)
      assert.strictEqual(yield* statusOf(question(), true), 404)
      assert.strictEqual(yield* statusOf(asked, true), 200)
      assert.strictEqual(yield* statusOf(asked, true), 200)
      assert.strictEqual(yield* statusOf(asked, false), 409)
      const listed = yield* send(url, "/approvals?status=answered")
      assert.strictEqual(listed.status, 200)
      assert.strictEqual(listed.headers.get("cache-control"), "no-store")
      assert.include(listed.text, "\"approved\":true")
      for (const query of ["limit=0", "limit=1001", "limit=x", "status=all"]) {
        const { headers, status } = yield* send(url, `/approvals?${query}`)
        assert.strictEqual(status, 400)
        assert.strictEqual(headers.get("cache-control"), "no-store")
      }
      assert.strictEqual((yield* send(url, "/approvals/one")).status, 400)
    }))

  it.live("lets in nobody without a token that is known", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const asked = question()
      yield* approvals.add([asked])
      const body = JSON.stringify({ approvalId: idOf(asked), approved: true })
      for (const authorization of ["", "Bearer", "Bearer ", "Bearer no", "Basic dXNlciA3Og==", token("user 7")]) {
        for (
          const path of [
            "/approvals",
            `/approvals/one?approvalId=${encodeURIComponent(idOf(asked))}`,
            "/approvals/watch"
          ]
        ) {
          const { headers, status, text } = yield* send(url, path, { headers: { authorization } })
          assert.strictEqual(status, 401)
          assert.strictEqual(headers.get("www-authenticate"), "Bearer")
          assert.strictEqual(headers.get("cache-control"), "no-store")
          assert.notInclude(text, "pay")
        }
        const answered = yield* post(url, body, { authorization, "content-type": "application/json" })
        assert.strictEqual(answered.status, 401)
      }
      assert.isUndefined((yield* approvals.get(idOf(asked))).answer)
    }))

  it.live("takes answers in JSON alone, and none that is too long", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const asked = question()
      yield* approvals.add([asked])
      const answer = { approvalId: idOf(asked), approved: true }
      const body = JSON.stringify(answer)
      const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""]
      for (const type of types) {
        assert.strictEqual((yield* post(url, body, { "content-type": type })).status, 415)
      }
      // A page of another site can send this without being asked whether it may.
      assert.strictEqual((yield* post(url, new Blob([body]), {})).status, 415)
      const bodies = ["", "null", "[]", "{", body.slice(1), body + body, "{\"__proto__\":1}"]
      for (const wrong of bodies) assert.strictEqual((yield* post(url, wrong)).status, 400, wrong)
      const digits = body.replace("}", ",\"input\":{\"id\":12345678901234567890}}")
      assert.strictEqual((yield* post(url, digits)).status, 400)
      const long = JSON.stringify({ ...answer, reason: "x".repeat(262_144) })
      assert.strictEqual((yield* post(url, long)).status, 413)
      // Its length is not known before it has come.
      assert.strictEqual((yield* post(url, new Blob([long]).stream())).status, 413)
      assert.isUndefined((yield* approvals.get(idOf(asked))).answer)
      const fits = JSON.stringify({ ...answer, reason: "x".repeat(250_000) })
      assert.strictEqual((yield* post(url, fits, { "content-type": "application/json; charset=utf-8" })).status, 200)
    }))

  it.live("counts one of a hundred answers at once", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const asked = question("user 7 and user 8")
      yield* approvals.add([asked])
      const clients = [yield* client(url, "user 7"), yield* client(url, "user 8")]
      const results = yield* Effect.forEach(
        Array.from({ length: 100 }, (_, index) => index),
        (index) =>
          Effect.result(clients[index % 2]!.answer({
            payload: { approvalId: idOf(asked), approved: index % 3 === 0, reason: `${index}` }
          })),
        { concurrency: "unbounded" }
      )
      const counted = results.flatMap((result) => result._tag === "Success" ? [result.success.answer] : [])
      assert.deepStrictEqual(counted, [(yield* approvals.get(idOf(asked))).answer])
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "ApprovalAlreadyAnswered")
      }
    }))

  it.live("tells as events what waits, what comes and what is answered", () =>
    Effect.gen(function*() {
      const { approvals, url } = yield* served
      const [first, second, other] = [question(), question(), question("user 8")]
      yield* approvals.add([first, other])
      const seven = yield* client(url, "user 7")
      const events = yield* seven.watch()
      const told = yield* events.pipe(
        Stream.filter((event) => event._tag !== "Alive"),
        Stream.tap(({ _tag }) =>
          _tag === "Answered"
            ? approvals.add([second])
            : Effect.ignore(seven.answer({ payload: { approvalId: idOf(first), approved: true } }))
        ),
        Stream.take(3),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        told.map((event) => event._tag === "Gone" ? undefined : [event._tag, idOf(event.approval)]),
        [["Pending", idOf(first)], ["Answered", idOf(first)], ["Pending", idOf(second)]]
      )
    }))

  it.live("begins to answer a watch at once, also where nothing waits", () =>
    Effect.gen(function*() {
      const { url } = yield* served
      const events = yield* (yield* client(url, "user 7")).watch()
      assert.deepStrictEqual(yield* Stream.runCollect(Stream.take(events, 1)), [{ _tag: "Alive" }])
    }))

  it.live("describes itself as OpenAPI, with a page that loads nothing from elsewhere", () =>
    Effect.gen(function*() {
      const { url } = yield* served
      const { status, text } = yield* send(url, "/approvals/openapi.json", { headers: { authorization: "" } })
      assert.strictEqual(status, 200)
      const document = JSON.parse(text)
      assert.match(document.openapi, /^3\.1\./)
      const statuses = Object.entries<any>(document.paths).map(([path, methods]) => [
        path,
        Object.keys(methods),
        Object.values<any>(methods).flatMap(({ responses }) => Object.keys(responses)).toSorted()
      ])
      assert.deepStrictEqual(statuses, [
        ["/approvals", ["get"], ["200", "400", "401", "503"]],
        ["/approvals/one", ["get"], ["200", "400", "401", "404", "503"]],
        ["/approvals/answer", ["post"], ["200", "400", "401", "403", "404", "409", "410", "413", "415", "503"]],
        ["/approvals/watch", ["get"], ["200", "401", "503"]]
      ])
      const { schema } = document.paths["/approvals"].get.parameters.find(({ name }: any) => name === "limit")
      assert.deepStrictEqual(schema, { type: "integer", minimum: 1, maximum: 1000, default: 100 })
      const refs = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!)
      assert.isNotEmpty(refs)
      for (const ref of refs) {
        const found = ref.split("/").reduce((at, key) => at?.[key.replaceAll("~1", "/")], document)
        assert.isObject(found, ref)
      }
      const { scheme, type } = document.components.securitySchemes.bearer
      assert.deepStrictEqual([type, scheme.toLowerCase()], ["http", "bearer"])
      const page = yield* send(url, "/docs", { headers: { authorization: "" } })
      assert.strictEqual(page.status, 200)
      assert.notMatch(page.text, /<(?:script|link)[^>]+(?:src|href)=/)
    }))

  it.live("says so where the store is away", () =>
    Effect.gen(function*() {
      const away = Effect.fail(new RecordStore.StoreUnavailable({ reason: "it is being replaced" }))
      const store = Layer.succeed(RecordStore.RecordStore)({ get: () => away, set: () => away, list: () => away })
      const { dispose, handler } = HttpRouter.toWebHandler(
        ApprovalsApi.layer.pipe(
          Layer.provide([Approvals.layer(), authentication]),
          Layer.provide([authority, store, NodeCrypto.layer, HttpServer.layerServices])
        ),
        { disableLogger: true }
      )
      const headers = { authorization: `Bearer ${token("user 7")}` }
      const response = yield* Effect.promise(() => handler(new Request("https://example.com/approvals", { headers })))
      assert.strictEqual(response.status, 503)
      assert.include(yield* Effect.promise(() => response.text()), "it is being replaced")
      yield* Effect.promise(dispose)
    }))
})
