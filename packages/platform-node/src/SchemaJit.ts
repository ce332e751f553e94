/**
 * Effect's compiler of schemas, for those who want it: it writes code for each schema and evaluates it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Compiles schemas from here on, in the whole process: raw JSON Schemas that Effect's importer takes, and Effect Schemas. A check takes
 * half the time, or less. What is compiled already stays as it is, so provide this to the platform layer.
 *
 * The code is made of the schema, and Effect writes what it takes from there as literals. Do not use it for schemas of servers that you do
 * not trust: a fault in the compiler would run as code.
 *
 * @example
 * ```ts
 * import * as Layer from "effect/Layer"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 * import * as SchemaJit from "@countersign/platform-node/SchemaJit"
 *
 * const layer = Layer.provide(NodeCountersign.layer, SchemaJit.layer)
 * Layer.isLayer(layer) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.effectDiscard(
  Effect.promise(() => import("effect/schema/SchemaJITCompiler/enable"))
)
