/**
 * Everything that Countersign needs on Node, in one layer.
 *
 * @since 0.1.0
 */
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import type * as Crypto from "@countersign/core/Crypto"
import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as Layer from "effect/Layer"
import * as NodeCrypto from "./NodeCrypto.ts"

/**
 * The platform: raw JSON Schemas are checked by Effect's importer, which is the fastest, and by `@cfworker/json-schema` where the
 * importer refuses. A call is judged as it is at the edge. What is signed is signed by `node:crypto`. Everything is synchronous.
 *
 * The `ApprovalLedger` is in memory: it starts empty each time the layer is built, so build it once per process, as with
 * `ManagedRuntime`, and not per request. It ends with the process, and several processes do not share it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema }))
 * const raw = { toolCallId: "1", toolName: "weather", input: "{\"city\":\"Oslo\"}" }
 * const program = Effect.provide(ToolCall.parse(raw, { tools }), NodeCountersign.layer)
 * Effect.runSync(program).input // => { city: "Oslo" }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  JsonSchemaValidator.JsonSchemaValidator | Crypto.Crypto | ApprovalLedger.ApprovalLedger
> = Layer.mergeAll(
  JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer),
  NodeCrypto.layer,
  ApprovalLedger.layerMemory()
)
