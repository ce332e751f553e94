/**
 * The inbox by HTTP: `Approvals` for pages and programs elsewhere, with a typed client and an OpenAPI document.
 *
 * | | |
 * | --- | --- |
 * | `GET /approvals` | the questions that the person may see, page by page |
 * | `GET /approvals/one?approvalId=` | one of them |
 * | `POST /approvals/answer` | the answer to one, in JSON |
 * | `GET /approvals/watch` | what waits and what happens to it, as server-sent events: those of `Approvals.Event`, and `Alive`, at once and every 15 seconds. It ends after 5 minutes: who goes on watching says again who they are |
 * | `GET /approvals/openapi.json` | the OpenAPI document, for everybody |
 *
 * | status | error |
 * | --- | --- |
 * | 400 | `InvalidAnswer`; `BadRequest`, without a body, where it is the query that is malformed |
 * | 401 | `Unauthorized` |
 * | 403, 404 | `NotAllowed`: to answer so. `ApprovalNotFound`: also where the person may not see it |
 * | 409, 410 | `ApprovalAlreadyAnswered`, `ApprovalExpired` |
 * | 413, 415 | `AnswerTooLarge`: beyond 256 KiB. `UnsupportedMediaType`: not `application/json`, as a form of another site cannot be |
 * | 503 | `StoreUnavailable`, `AuthorityUnavailable` |
 *
 * No response may be stored on its way.
 *
 * An ID stands in the query or the body, and not in the path: it may be longer than routers take there.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import type * as Etag from "effect/http/Etag"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpPlatform from "effect/http/HttpPlatform"
import type * as HttpRouter from "effect/http/HttpRouter"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ApprovalExpired } from "./ApprovalError.ts"
import {
  Answer,
  ApprovalAlreadyAnswered,
  ApprovalNotFound,
  Approvals,
  AuthorityUnavailable,
  type Inbox,
  NotAllowed,
  StoredApproval
} from "./Approvals.ts"
import { hasKeyTwice } from "./internal/hasKeyTwice.ts"
import { textOfBytes } from "./internal/textOfBytes.ts"
import * as Limits from "./Limits.ts"
import { StoreUnavailable } from "./RecordStore.ts"
import * as StrictJson from "./StrictJson.ts"

/**
 * The request does not say who asks, or says it with a token that nobody has.
 *
 * @example
 * ```ts
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 *
 * new ApprovalsApi.Unauthorized({}).message // => "The request needs a bearer token that is known"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class Unauthorized
  extends Schema.TaggedError<Unauthorized>("@countersign/core/ApprovalsApi/Unauthorized")("Unauthorized", {})
{
  override get message(): string {
    return "The request needs a bearer token that is known"
  }
}

/**
 * The body of the request is no answer. `reason` says why, and repeats nothing of it.
 *
 * @example
 * ```ts
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 *
 * new ApprovalsApi.InvalidAnswer({ reason: "approved has to be true or false" }).message
 * // => "The body is no answer: approved has to be true or false"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidAnswer extends Schema.TaggedError<InvalidAnswer>("@countersign/core/ApprovalsApi/InvalidAnswer")(
  "InvalidAnswer",
  { reason: Schema.String }
) {
  override get message(): string {
    return `The body is no answer: ${this.reason}`
  }
}

/**
 * The body of the request is longer than `maxBytes`.
 *
 * @example
 * ```ts
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 *
 * new ApprovalsApi.AnswerTooLarge({ maxBytes: 262_144 }).message // => "An answer has at most 262144 bytes"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>(
  "@countersign/core/ApprovalsApi/AnswerTooLarge"
)("AnswerTooLarge", { maxBytes: Schema.Finite }) {
  override get message(): string {
    return `An answer has at most ${this.maxBytes} bytes`
  }
}

/**
 * The body of the request does not say that it is JSON.
 *
 * @example
 * ```ts
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 *
 * new ApprovalsApi.UnsupportedMediaType({}).message // => "An answer has the content type application/json"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedMediaType extends Schema.TaggedError<UnsupportedMediaType>(
  "@countersign/core/ApprovalsApi/UnsupportedMediaType"
)("UnsupportedMediaType", {}) {
  override get message(): string {
    return "An answer has the content type application/json"
  }
}

/**
 * The ID of the person who makes a request, as the application knows it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { CurrentApprover } from "@countersign/core/ApprovalsApi"
 *
 * Effect.runSync(Effect.provideService(CurrentApprover, CurrentApprover, "user 7")) // => "user 7"
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class CurrentApprover
  extends Context.Service<CurrentApprover, string>()("@countersign/core/ApprovalsApi/CurrentApprover")
{}

const unauthorized = Unauthorized.pipe(HttpApiSchema.status(401))
const storeUnavailable = StoreUnavailable.pipe(HttpApiSchema.status(503))
const authorityUnavailable = AuthorityUnavailable.pipe(HttpApiSchema.status(503))
const notAllowed = NotAllowed.pipe(HttpApiSchema.status(403))
const notFound = ApprovalNotFound.pipe(HttpApiSchema.status(404))

/**
 * Who makes a request: the application implements it, most simply with {@link layerAuthentication}.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import { Authentication, Unauthorized } from "@countersign/core/ApprovalsApi"
 *
 * const nobody = Layer.succeed(Authentication)({ bearer: () => Effect.fail(new Unauthorized({})) })
 * Layer.isLayer(nobody) // => true
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: CurrentApprover }>()(
  "@countersign/core/ApprovalsApi/Authentication",
  { security: { bearer: HttpApiSecurity.bearer }, error: [unauthorized, authorityUnavailable] }
) {}

const withHeader = (name: string, value: string): Effect.Effect<void, never, HttpServerRequest> =>
  HttpEffect.appendPreResponseHandler((_, response) =>
    Effect.succeed(HttpServerResponse.setHeader(response, name, value))
  )

/**
 * An `Authentication` by bearer token: the function gives the ID of the person who has it, or `undefined`. It is not asked about
 * requests without a token.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 *
 * const sessions = new Map([["token of user 7", "user 7"]])
 * const layer = ApprovalsApi.layerAuthentication((token) => Effect.succeed(sessions.get(Redacted.value(token))))
 * Layer.isLayer(layer) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerAuthentication = (
  approverOf: (token: Redacted.Redacted<string>) => Effect.Effect<string | undefined, AuthorityUnavailable>
): Layer.Layer<Authentication> =>
  Layer.succeed(Authentication)({
    bearer: Effect.fnUntraced(function*(handler, { credential }) {
      const approver = Redacted.value(credential) === "" ? undefined : yield* approverOf(credential)
      if (typeof approver !== "string" || approver === "") {
        yield* withHeader("www-authenticate", "Bearer")
        return yield* new Unauthorized({})
      }
      return yield* Effect.provideService(handler, CurrentApprover, approver)
    })
  })

/** What is shown is for one person alone. */
class NotStored extends HttpApiMiddleware.Service<NotStored>()("@countersign/core/ApprovalsApi/NotStored") {}

const layerNotStored = Layer.succeed(NotStored)((handler) =>
  Effect.andThen(withHeader("cache-control", "no-store"), handler)
)

const page = Schema.Struct({ approvals: Schema.Array(StoredApproval), next: Schema.optionalKey(Schema.String) })

const event = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Pending"), approval: StoredApproval }),
  Schema.Struct({ _tag: Schema.Literal("Answered"), approval: StoredApproval }),
  Schema.Struct({ _tag: Schema.Literal("Gone"), approvalId: Schema.String }),
  Schema.Struct({ _tag: Schema.Literal("Alive") })
])

const limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))

/** Of a number in a query, OpenAPI would say no more than how a number is written. */
const withLimit = (operation: Record<string, any>): Record<string, any> => ({
  ...operation,
  parameters: operation["parameters"].map((parameter: { readonly name: string }) =>
    parameter.name === "limit"
      ? { ...parameter, schema: { type: "integer", minimum: 1, maximum: 1000, default: 100 } }
      : parameter
  )
})

/**
 * The API. `HttpApiClient.make(ApprovalsApi.api, …)` is a client for it, `OpenApi.fromApi(ApprovalsApi.api)` its description, and
 * `HttpApiSwagger.layer(ApprovalsApi.api)` a page that shows it and needs no network.
 *
 * @example
 * ```ts
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 * import * as OpenApi from "effect/http-api/OpenApi"
 *
 * Object.keys(OpenApi.fromApi(ApprovalsApi.api).paths)
 * // => ["/approvals", "/approvals/one", "/approvals/answer", "/approvals/watch"]
 * ```
 *
 * @category api
 * @since 0.1.0
 */
export const api = HttpApi.make("countersign").add(
  HttpApiGroup.make("approvals").add(
    HttpApiEndpoint.get("list", "/approvals", {
      query: {
        status: Schema.optionalKey(Schema.Literals(["pending", "answered"])),
        after: Schema.optionalKey(Schema.String),
        limit: Schema.optionalKey(limit)
      },
      success: page,
      error: [HttpApiError.BadRequestNoContent, authorityUnavailable, storeUnavailable]
    }).annotate(OpenApi.Transform, withLimit),
    HttpApiEndpoint.get("get", "/approvals/one", {
      query: { approvalId: Schema.String },
      success: StoredApproval,
      error: [HttpApiError.BadRequestNoContent, notFound, authorityUnavailable, storeUnavailable]
    }),
    HttpApiEndpoint.post("answer", "/approvals/answer", {
      payload: Answer,
      success: StoredApproval,
      error: [
        InvalidAnswer.pipe(HttpApiSchema.status(400)),
        notAllowed,
        notFound,
        ApprovalAlreadyAnswered.pipe(HttpApiSchema.status(409)),
        ApprovalExpired.pipe(HttpApiSchema.status(410)),
        AnswerTooLarge.pipe(HttpApiSchema.status(413)),
        UnsupportedMediaType.pipe(HttpApiSchema.status(415)),
        authorityUnavailable,
        storeUnavailable
      ]
    }),
    HttpApiEndpoint.get("watch", "/approvals/watch", {
      success: HttpApiSchema.StreamSse({
        data: Schema.toCodecJson(event),
        error: Schema.Union([AuthorityUnavailable, StoreUnavailable])
      })
    })
  ).middleware(Authentication).middleware(NotStored)
).annotate(OpenApi.Title, "Countersign: the approvals that wait for a person")

/** With the question, an answer has to fit into a record of every engine. */
const maxBytes = 262_144

/** What is longer is not read to its end. */
const readBody = Effect.fnUntraced(function*(request: HttpServerRequest) {
  let size = 0
  return yield* request.stream.pipe(
    Stream.mapError(() => new InvalidAnswer({ reason: "there is none, or it broke off" })),
    Stream.tap((bytes) => {
      size += bytes.length
      return size > maxBytes ? Effect.fail(new AnswerTooLarge({ maxBytes })) : Effect.void
    }),
    Stream.map(textOfBytes()),
    Stream.mkString
  )
})

const isJson = /^application\/json\s*(;|$)/i

const decodeAnswer = Schema.decodeUnknownResult(Answer, { onExcessProperty: "error" })

const readAnswer = Effect.fnUntraced(function*(request: HttpServerRequest) {
  // A page of another site can send what says nothing of its type, too.
  if (!isJson.test(request.headers["content-type"] ?? "")) return yield* new UnsupportedMediaType({})
  const text = yield* readBody(request)
  const json = StrictJson.parse(text, { limits: Limits.defaults })
  if (Result.isFailure(json)) return yield* new InvalidAnswer({ reason: json.failure.message })
  // Whoever reads along may take the first for what is said, and here the last would count.
  if (hasKeyTwice(text, json.success.value)) {
    return yield* new InvalidAnswer({ reason: "an object in it has a key twice" })
  }
  const answer = decodeAnswer(json.success.value)
  if (Result.isSuccess(answer)) return answer.success
  return yield* new InvalidAnswer({
    reason:
      "it has an approvalId, which is a string, approved, which is true or false, and at most a reason and an input"
  })
})

/** Without a first event the response would not begin, and a proxy ends what is silent. */
const alive = Stream.map(Stream.tick("15 seconds"), () => ({ _tag: "Alive" as const }))

/** Whoever has lost their session, and what they could see by it, is not told for longer. */
const watchFor = "5 minutes"

const handlers = HttpApiBuilder.group(
  api,
  "approvals",
  Effect.fnUntraced(function*(handlers) {
    const approvals = yield* Approvals
    const asPerson = <A, E>(use: (inbox: Inbox) => Effect.Effect<A, E>) =>
      Effect.flatMap(CurrentApprover, (approver) => use(approvals.inbox(approver)))
    return handlers
      .handle("list", ({ query }) => asPerson((inbox) => inbox.list(query)))
      .handle("get", ({ query }) => asPerson((inbox) => inbox.get(query.approvalId)))
      .handleRaw("answer", ({ request }) =>
        asPerson(Effect.fnUntraced(function*(inbox) {
          const answer = yield* readAnswer(request)
          return yield* inbox.answer(answer).pipe(
            Effect.catchTags({
              NotJson: (error) => Effect.fail(new InvalidAnswer({ reason: error.message })),
              InvalidToolApproval: (error) => Effect.fail(new InvalidAnswer({ reason: error.message }))
            })
          )
        })))
      .handle(
        "watch",
        () =>
          asPerson((inbox) =>
            Effect.succeed(
              Stream.merge(inbox.watch(), alive, { haltStrategy: "left" }).pipe(
                Stream.interruptWhen(Effect.sleep(watchFor))
              )
            )
          )
      )
  })
)

/**
 * The API on the application's router, over `Approvals`. It runs where the router does: `HttpRouter.serve` with a server of Node,
 * `HttpRouter.toWebHandler` for Workers, Deno and Bun.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as HttpRouter from "effect/http/HttpRouter"
 * import * as HttpServer from "effect/http/HttpServer"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 * import * as Approvals from "@countersign/core/Approvals"
 * import * as ApprovalsApi from "@countersign/core/ApprovalsApi"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const authority = Layer.succeed(Approvals.ApprovalAuthority)({
 *   maySee: (approver) => Effect.succeed(approver === "user 7"),
 *   mayAnswer: (approver) => Effect.succeed(approver === "user 7")
 * })
 * const authentication = ApprovalsApi.layerAuthentication((token) =>
 *   Effect.succeed(Redacted.value(token) === "token of user 7" ? "user 7" : undefined)
 * )
 * const app = ApprovalsApi.layer.pipe(
 *   Layer.provide([Approvals.layer(), authentication]),
 *   Layer.provide([authority, RecordStore.layerMemory, NodeCrypto.layer, HttpServer.layerServices])
 * )
 * const { dispose, handler } = HttpRouter.toWebHandler(app, { disableLogger: true })
 * const statusWith = async (headers: { readonly [name: string]: string }) =>
 *   (await handler(new Request("https://example.com/approvals", { headers }))).status
 * const statuses = [await statusWith({}), await statusWith({ authorization: "Bearer token of user 7" })]
 * await dispose()
 * statuses // => [401, 200]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  never,
  never,
  | Approvals
  | Authentication
  | HttpRouter.HttpRouter
  | Etag.Generator
  | FileSystem.FileSystem
  | HttpPlatform.HttpPlatform
  | Path.Path
> = Layer.provide(
  HttpApiBuilder.layer(api, { openapiPath: "/approvals/openapi.json" }),
  Layer.provide(handlers, layerNotStored)
)
