/**
 * What a tool is: its name, what a model is told about it, the schema of its input, and what it does.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as InputSchema from "./InputSchema.ts"
import { type JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"

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
 * What `execute` learns about the call that it serves.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExecuteContext {
  readonly toolCallId: string
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
 * A tool. `metadata` is copied onto each of its calls as `toolMetadata`. `needsApproval` says whether a person is asked first,
 * where the `ApprovalPolicy` leaves it to the tool.
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
  readonly execute: ((input: Input, context: ExecuteContext) => Effect.Effect<Output, E, R>) | undefined
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
    readonly execute?:
      | ((input: InputSchema.Input<S>, context: ExecuteContext) => Effect.Effect<Output, E, R>)
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
  execute: options.execute
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
