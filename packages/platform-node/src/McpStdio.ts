/**
 * MCP servers that are programs: started here, and spoken to by their standard input and output.
 *
 * @since 0.1.0
 */
import * as Mcp from "@countersign/core/Mcp"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { connect } from "./internal/mcp/connect.ts"
import { program } from "./internal/mcp/program.ts"

/**
 * How a server is started.
 *
 * - `name` is yours: the lockfile has the server under it.
 * - `env` is added to the few variables that a server is given: `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL` and `TERM`, or what stands
 *   for them on Windows. No other variable of this process reaches it.
 * - `stderr`: what the server writes there is ignored if you do not say `inherit`.
 * - `timeout` limits connecting, and a whole listing: 30 seconds if not given. `callTimeout` limits a call: 60 seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly name: string
  readonly command: string
  readonly args?: ReadonlyArray<string> | undefined
  readonly cwd?: string | undefined
  readonly env?: { readonly [name: string]: string | Redacted.Redacted } | undefined
  readonly stderr?: "ignore" | "inherit" | undefined
  readonly timeout?: Duration.Input | undefined
  readonly callTimeout?: Duration.Input | undefined
}

/**
 * Starts a server and connects to it. When the scope closes, its standard input is closed, and it is killed if it does not end; the scope
 * waits for that. A program that the server starts itself, as `npx` does, is not killed, it only loses its standard input: name the
 * server's own program where you can.
 *
 * A message has at most 16 MiB, and a listing at most 100 pages. After a message that is longer the connection is of no more use.
 *
 * Source: the official client, with the protocol revisions from 2024-10-07 to 2025-11-25. What the server says is taken as it
 * came, whichever fields it has.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as McpStdio from "@countersign/platform-node/McpStdio"
 *
 * const server = McpStdio.make({ name: "files", command: "no-such-program" })
 * const error = await Effect.runPromise(Effect.flip(Effect.scoped(server)))
 * error.message // => "MCP server files, connect: it cannot be reached: ENOENT"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: (options: Options) => Effect.Effect<Mcp.McpServer, Mcp.McpError, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const { StdioClientTransport } = yield* Effect.promise(() => import("@modelcontextprotocol/client/stdio"))
    const env = Object.entries(options.env ?? {}).map(([name, value]) => [
      name,
      Redacted.isRedacted(value) ? Redacted.value(value) : value
    ])
    const parameters = {
      command: options.command,
      args: [...options.args ?? []],
      env: Object.fromEntries(env),
      stderr: options.stderr ?? "ignore",
      ...options.cwd === undefined ? {} : { cwd: options.cwd }
    }
    return yield* connect(options, (sdk, observer) => program(sdk, StdioClientTransport, parameters, observer))
  }
)

/**
 * The tools of one such server; see `Mcp.layer` for several.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Mcp from "@countersign/core/Mcp"
 * import * as McpStdio from "@countersign/platform-node/McpStdio"
 *
 * const layer = McpStdio.layer({ name: "files", command: "no-such-program" })
 * const program = Effect.flatMap(Mcp.Mcp, (mcp) => mcp.tools)
 * const error = await Effect.runPromise(Effect.flip(Effect.provide(program, layer)))
 * error._tag // => "McpError"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<Mcp.Mcp, Mcp.McpError> => Mcp.layer(make(options))
