/**
 * What a tool is: its name, what a model is told about it, the schema of its input, and what it does.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as InputSchema from "./InputSchema.ts"
import { type JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import type { ToolResultOutput } from "./Message.ts"

const TypeId = "~@countersign/core/Tool"

/**
 * How a tool is known. `function`: declared in the program. `dynamic`: found at run time, as the tools of an MCP server
 * are; its calls carry `dynamic: true`. `provider`: run by the model's provider.
 *
 * Source: the AI SDK's `tool.type`.
 *
 * @category models
 * @since 0.1.0
 */
export type Kind = "function" | "dynamic" | "provider"

/**
 * What an execution used up, by kind: tokens, requests, cents. Numbers of one name are summed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Usage {
  readonly [name: string]: number
}

/**
 * What `execute` learns about the call that it serves. `messages` are those of the step; `toolContext` and `runtimeContext` are
 * what the caller passed as `context`. `reportUsage` adds to the usage of the step or resume; it may be called often.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExecuteContext extends ApprovalContext {
  readonly reportUsage: (usage: Usage) => Effect.Effect<void>
}

/**
 * What `needsApproval` learns about the call that it decides on.
 *
 * @category models
 * @since 0.1.0
 */
export interface ApprovalContext {
  readonly toolCallId: string
  readonly messages: ReadonlyArray<unknown>
  readonly toolContext: unknown
  readonly runtimeContext: unknown
}

/**
 * A tool.
 *
 * - `metadata` is copied onto each of its calls as `toolMetadata`.
 * - `needsApproval` says whether a person is asked first, where the `ApprovalPolicy` leaves it to the tool.
 * - `allowEdits` lets a person change the input while approving it. Without it, an answer that brings another input is refused.
 * - `timeout` interrupts an execution that takes longer; the call is then answered with an error.
 * - `idempotent` says that running twice does no more than running once. Only then an approved call is run again whose first run
 *   ended nobody knows how.
 * - `toModelOutput` turns what `execute` gave into what the model reads. Without it a string is sent as text, the rest as JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tool<out Name extends string, in out Input, out Output = unknown, out E = never, out R = never> {
  readonly [TypeId]: typeof TypeId
  readonly name: Name
  readonly kind: Kind
  readonly title: string | undefined
  readonly description: string | ((context: unknown) => string) | undefined
  readonly inputSchema: InputSchema.InputSchema<Input>
  readonly metadata: unknown
  readonly needsApproval:
    | boolean
    | ((input: Input, context: ApprovalContext) => Effect.Effect<boolean, E, R>)
    | undefined
  readonly allowEdits: boolean
  readonly timeout: Duration.Input | undefined
  readonly idempotent: boolean
  readonly execute: ((input: Input, context: ExecuteContext) => Effect.Effect<Output, E, R>) | undefined
  // A method, so that a tool of any output is a tool.
  toModelOutput?(options: {
    readonly toolCallId: string
    readonly input: Input
    readonly output: unknown
  }): ToolResultOutput
}

/**
 * Any tool.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Tool<string, any, unknown, unknown, unknown>

/**
 * The decoded input of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export type Input<T> = T extends Tool<string, infer I, any, any, any> ? I : never

/**
 * The services that a tool's functions need. Those of a tool of which nothing is known at compile time are none.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<T> = T extends Tool<string, any, any, any, infer R> ? unknown extends R ? never : R : never

/**
 * Makes a tool. Without `inputSchema` it takes no arguments: only `{}` fits.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as Tool from "@countersign/core/Tool"
 *
 * const weather = Tool.make("weather", {
 *   description: "The weather in a city",
 *   inputSchema: Schema.Struct({ city: Schema.String }),
 *   execute: ({ city }) => Effect.succeed(`It rains in ${city}`)
 * })
 * weather.name // => "weather"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <
  const Name extends string,
  const S extends InputSchema.Source = typeof noArguments,
  Output = unknown,
  E = never,
  R = never
>(
  name: Name,
  options: {
    readonly kind?: Kind | undefined
    readonly title?: string | undefined
    readonly description?: string | ((context: unknown) => string) | undefined
    readonly inputSchema?: S | undefined
    readonly metadata?: unknown
    readonly needsApproval?:
      | boolean
      | ((input: InputSchema.Input<S>, context: ApprovalContext) => Effect.Effect<boolean, E, R>)
      | undefined
    readonly allowEdits?: boolean | undefined
    readonly timeout?: Duration.Input | undefined
    readonly idempotent?: boolean | undefined
    readonly execute?:
      | ((input: InputSchema.Input<S>, context: ExecuteContext) => Effect.Effect<Output, E, R>)
      | undefined
    readonly toModelOutput?:
      | ((options: {
        readonly toolCallId: string
        readonly input: InputSchema.Input<S>
        readonly output: NoInfer<Output>
      }) => ToolResultOutput)
      | undefined
  } = {}
): Tool<Name, InputSchema.Input<S>, Output, E, R> => ({
  [TypeId]: TypeId,
  name,
  kind: options.kind ?? "function",
  title: options.title,
  description: options.description,
  inputSchema: InputSchema.make((options.inputSchema ?? noArguments) as S),
  metadata: options.metadata,
  needsApproval: options.needsApproval,
  allowEdits: options.allowEdits ?? false,
  timeout: options.timeout,
  idempotent: options.idempotent ?? false,
  execute: options.execute,
  ...options.toModelOutput === undefined ? {} : { toModelOutput: options.toModelOutput as any }
})

const noArguments = { type: "object", properties: {}, additionalProperties: false } as const

/**
 * Compiles the tool's input schema now instead of at the first call, to find a broken schema when the program starts.
 * Fails with `UnsupportedSchema`, which names the tool and the keyword.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
 * import * as Tool from "@countersign/core/Tool"
 *
 * const broken = Tool.make("search", { inputSchema: { type: "objekt" } })
 * const program = Effect.provide(Effect.flip(Tool.compile(broken)), CfworkerJsonSchema.layer)
 * Effect.runSync(program).keyword // => "type"
 * ```
 *
 * @category validation
 * @since 0.1.0
 */
export const compile = (tool: Any): Effect.Effect<void, UnsupportedSchema, JsonSchemaValidator> =>
  tool.inputSchema.decode({}).pipe(
    Effect.catchTag("SchemaMismatch", () => Effect.void),
    Effect.mapError((error) => named(error, tool.name)),
    Effect.asVoid
  )

/**
 * The same failure, with the tool that it belongs to.
 *
 * @internal
 */
export const named = (error: UnsupportedSchema, toolName: string): UnsupportedSchema =>
  new UnsupportedSchema({ ...error, toolName })
