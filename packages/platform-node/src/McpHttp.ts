/**
 * MCP servers that are reached by streamable HTTP.
 *
 * @since 0.1.0
 */
import * as Mcp from "@countersign/core/Mcp"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { boundedFetch } from "./internal/mcp/boundedFetch.ts"
import { connect, maxMessageBytes } from "./internal/mcp/connect.ts"

/**
 * Where a server is.
 *
 * - `name` is yours: the lockfile has the server under it.
 * - `headers` are sent with each request, among them `authorization`. They are not sent to another origin.
 * - `timeout` limits connecting, and a whole listing: 30 seconds if not given. `callTimeout` limits a call: 60 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly name: string
  readonly url: string | URL
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted } | undefined
  readonly timeout?: Duration.Input | undefined
  readonly callTimeout?: Duration.Input | undefined
}

/**
 * Connects to a server. When the scope closes, the session is ended.
 *
 * What the server says unasked is heard on a stream, which is opened again when it breaks. What was said in between is not heard, so the
 * list of tools then counts as changed.
 *
 * A message has at most 16 MiB, and a listing at most 100 pages. After a message that is longer the connection is of no more use.
 *
 * Source: the official client, with the protocol revisions from 2024-10-07 to 2025-11-25. What the server says is taken as it
 * came, whichever fields it has.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as McpHttp from "@countersign/platform-node/McpHttp"
 *
 * const server = McpHttp.make({ name: "docs", url: "http://127.0.0.1:9/mcp" })
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(server)))
 * error.reason // => "unreachable"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options: Options) => Effect.Effect<Mcp.McpServer, Mcp.McpError, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const url = URL.parse(String(options.url))
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
      return yield* new Mcp.McpError({
        server: options.name,
        operation: "connect",
        reason: "unreachable",
        detail: "expected a URL of http or https, without a user name or password"
      })
    }
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
      name,
      Redacted.isRedacted(value) ? Redacted.value(value) : value
    ])
    return yield* connect(options, ({ StreamableHTTPClientTransport }, { onListChanged, onTooLong }) => {
      const transport = new StreamableHTTPClientTransport(url, {
        requestInit: { headers: Object.fromEntries(headers) },
        fetch: boundedFetch(maxMessageBytes, { onTooLong, onReopened: onListChanged }),
        reconnectionOptions: {
          initialReconnectionDelay: 1_000,
          maxReconnectionDelay: 30_000,
          reconnectionDelayGrowFactor: 2,
          maxRetries: Number.MAX_SAFE_INTEGER
        }
      })
      const endSession = Effect.tryPromise(() => transport.terminateSession())
      return {
        transport,
        close: Effect.andThen(
          Effect.ignore(Effect.timeout(endSession, "2 seconds")),
          Effect.promise(() => transport.close())
        )
      }
    })
  }
)

/**
 * The tools of one such server; see `Mcp.layer` for several.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Mcp from "@countersign/core/Mcp"
 * import * as McpHttp from "@countersign/platform-node/McpHttp"
 *
 * const layer = McpHttp.layer({ name: "docs", url: "http://127.0.0.1:9/mcp" })
 * const program = Effect.flatMap(Mcp.Mcp, (mcp) => mcp.tools)
 * const error = await Effect.runPromise(Effect.flip(Effect.provide(program, layer)))
 * error._tag // => "McpError"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Mcp.Mcp, Mcp.McpError> => Mcp.layer(make(options))
