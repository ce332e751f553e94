/**
 * Changes a valid input before anything else sees it: to normalise a path, to fill in what the model need not know, to
 * refuse what a schema cannot express.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Tool from "./Tool.ts"
import type { ToolSet } from "./ToolSet.ts"

/**
 * What a refinement knows beside the input. `tool` is absent for a tool that only the provider knows; `toolContext` and
 * `runtimeContext` are what the caller passed as `context`.
 *
 * @category models
 * @since 0.1.0
 */
export interface RefinementContext {
  readonly toolCallId: string
  readonly toolName: string
  readonly tool: Tool.Any | undefined
  readonly toolContext: unknown
  readonly runtimeContext: unknown
}

/**
 * From a decoded input to the input that will run. The result is validated again; a failure makes the call invalid, with
 * `RefinementFailed`, and is not repaired.
 *
 * Source: the AI SDK's `experimental_refineToolInput`, which neither validates again nor passes a context.
 *
 * @category models
 * @since 0.1.0
 */
export interface Refinement<in out Input, out E = never, out R = never> {
  (input: Input, context: RefinementContext): Effect.Effect<Input, E, R>
}

/**
 * Refinements by tool name.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import type * as Refinement from "@countersign/core/Refinement"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("read", { inputSchema: Schema.Struct({ path: Schema.String }) }))
 * const refine: Refinement.Refinements<typeof tools> = {
 *   read: ({ path }) => Effect.succeed({ path: path.replaceAll("\\", "/") })
 * }
 * Object.keys(refine) // => ["read"]
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type Refinements<Tools extends ToolSet, R = never> = {
  readonly [Name in keyof Tools]?: Refinement<Tool.Input<Tools[Name]>, unknown, R> | undefined
}

/**
 * The services that refinements need.
 *
 * @category models
 * @since 0.1.0
 */
export type Services<Refine> = {
  readonly [Name in keyof Refine]-?: NonNullable<Refine[Name]> extends
    (input: any, context: any) => Effect.Effect<any, any, infer R> ? R : never
}[keyof Refine]
