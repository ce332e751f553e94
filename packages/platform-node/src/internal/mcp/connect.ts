/**
 * One connection by the official client, as an `McpServer`. The client's own listing is not used: it drops what it does not know. Here a
 * page is taken as the server sent it.
 */
import * as Mcp from "@countersign/core/Mcp"
import type * as Client from "@modelcontextprotocol/client"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { version } from "../cli/version.ts"
import { faultOf } from "./fault.ts"

/** @internal */
export type Sdk = typeof Client

/** @internal */
export interface Options {
  readonly name: string
  readonly timeout?: Duration.Input | undefined
  readonly callTimeout?: Duration.Input | undefined
}

/** @internal */
export interface Link {
  readonly transport: Client.Transport
  /** Ends the connection, whether or not it was made, in bounded time. */
  readonly close: Effect.Effect<void>
}

/** @internal */
export interface Observer {
  /** The server says, or may have said, that its list of tools is another. */
  readonly onListChanged: () => void
  /** The server sent more than is taken, and the connection is of no more use. */
  readonly onTooLong: () => void
}

/**
 * How many bytes a message may have: 16 MiB.
 *
 * @internal
 */
export const maxMessageBytes = 16 * 1024 * 1024

/** How many pages a listing may have. */
const maxPages = 100

/** In milliseconds, the longest that a timer takes: the client's own time limit cannot be left out. */
const never = 2 ** 31 - 1

/** A schema that takes everything as it came. */
const anything = {
  "~standard": { version: 1, vendor: "countersign", validate: (value: unknown) => ({ value }) }
} as const

/** @internal */
export const connect: (
  options: Options,
  open: (sdk: Sdk, observer: Observer) => Link
) => Effect.Effect<Mcp.McpServer, Mcp.McpError, Scope.Scope> = Effect.fnUntraced(function*(options, open) {
  // Loaded here, so that a program that connects to no server does not wait for it.
  const sdk = yield* Effect.promise(() => import("@modelcontextprotocol/client"))
  const announced = yield* PubSub.sliding<void>(1)
  const tooLong = yield* Deferred.make<void>()
  const observer: Observer = {
    onListChanged: () => PubSub.publishUnsafe(announced, undefined),
    onTooLong: () => Deferred.doneUnsafe(tooLong, Effect.void)
  }
  const { close, transport } = open(sdk, observer)
  const client = new sdk.Client({ name: "countersign", version })
  let isClosed = false
  client.onclose = () => {
    isClosed = true
  }
  client.fallbackNotificationHandler = ({ method }) => {
    if (method === "notifications/tools/list_changed") observer.onListChanged()
    return Promise.resolve()
  }

  const server = options.name
  const fail = (operation: Mcp.McpError["operation"], reason: Mcp.McpError["reason"], detail?: string) =>
    new Mcp.McpError({ server, operation, reason, ...detail === undefined ? {} : { detail } })

  const attempt = <A>(operation: Mcp.McpError["operation"], run: (signal: AbortSignal) => Promise<A>) => {
    const limit = fail(operation, "limit", `a message of more than ${maxMessageBytes} bytes`)
    return Effect.tryPromise({
      try: run,
      catch: (error) => {
        if (Deferred.isDoneUnsafe(tooLong)) return limit
        // A connection that could not be made is closed as well, and the error says why.
        if (isClosed && operation !== "connect") return fail(operation, "closed")
        const { detail, reason } = faultOf(sdk, operation, error)
        return fail(operation, reason, detail)
      }
    }).pipe(Effect.raceFirst(Effect.andThen(Deferred.await(tooLong), Effect.fail(limit))))
  }

  const within = <A>(
    operation: Mcp.McpError["operation"],
    duration: Duration.Input,
    effect: Effect.Effect<A, Mcp.McpError>
  ) =>
    Effect.timeoutOrElse(effect, {
      duration,
      orElse: () => Effect.fail(fail(operation, "timeout", `after ${Duration.toMillis(duration)} ms`))
    })

  const request = (method: "tools/list" | "tools/call", params: Record<string, unknown>) =>
    attempt(method, (signal) => client.request({ method, params }, anything, { signal, timeout: never }))

  const listPages = Effect.fnUntraced(function*(): Effect.fn.Return<ReadonlyArray<unknown>, Mcp.McpError> {
    const tools: Array<unknown> = []
    const cursors = new Set<string>()
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const result = (yield* request("tools/list", cursor === undefined ? {} : { cursor })) as Page
      if (!Array.isArray(result.tools)) return yield* fail("tools/list", "protocol", "there is no list of tools")
      for (const tool of result.tools) tools.push(tool)
      // An absent cursor ends a listing. There are servers that say so with null or an empty one.
      if ((result.nextCursor ?? "") === "" || tools.length > Mcp.maxTools) return tools
      if (typeof result.nextCursor !== "string") return yield* fail("tools/list", "protocol", "a cursor is no string")
      cursor = result.nextCursor
      if (cursors.has(cursor)) return yield* fail("tools/list", "protocol", "the pages have no end")
      cursors.add(cursor)
    }
    return yield* fail("tools/list", "limit", `more than ${maxPages} pages`)
  })

  const timeout = options.timeout ?? "30 seconds"
  yield* Effect.addFinalizer(() => close)
  yield* within(
    "connect",
    timeout,
    attempt("connect", (signal) => client.connect(transport, { signal, timeout: never }))
  )
  // A server that does not say that it has tools answers a listing with an error.
  const hasTools = client.getServerCapabilities()?.tools !== undefined
  return Mcp.makeServer({
    name: server,
    list: hasTools ? Effect.suspend(() => within("tools/list", timeout, listPages())) : Effect.succeed([]),
    call: (name, args) =>
      within("tools/call", options.callTimeout ?? "60 seconds", request("tools/call", { name, arguments: args })),
    listChanged: Stream.fromPubSub(announced)
  })
})

interface Page {
  readonly tools?: unknown
  readonly nextCursor?: unknown
}
