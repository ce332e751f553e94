/**
 * Everything that Countersign needs on Cloudflare Workers, Deno, Bun and in browsers, in one layer.
 *
 * @since 0.1.0
 */
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import type * as Crypto from "@countersign/core/Crypto"
import * as DurableLedger from "@countersign/core/DurableLedger"
import type { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
import type { RecordStore } from "@countersign/core/RecordStore"
import * as Layer from "effect/Layer"
import * as WebCrypto from "./WebCrypto.ts"

/**
 * The platform, with approvals kept in a store of your choice: `DurableObjectStore.layer`, `DenoKvStore.layer`, or one of your own.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as WorkersCountersign from "@countersign/platform-workers/WorkersCountersign"
 *
 * const layer = WorkersCountersign.layerStore(RecordStore.layerMemory, { lease: "1 minute" })
 * const program = Effect.flatMap(RecordStore.RecordStore, (store) => store.get({ collection: "claims", id: "=a1" }))
 * await Effect.runPromise(Effect.provide(program, layer)) // => undefined
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = <E, R>(
  store: Layer.Layer<RecordStore, E, R>,
  options: DurableLedger.Options = {}
): Layer.Layer<
  JsonSchemaValidator | Crypto.Crypto | RecordStore | ApprovalLedger.ApprovalLedger,
  E | Crypto.CryptoUnavailable,
  R
> =>
  Layer.merge(
    CfworkerJsonSchema.layer,
    Layer.provideMerge(DurableLedger.layer(options), Layer.merge(store, WebCrypto.layer))
  )

/**
 * The platform: raw JSON Schemas are checked without evaluating code, which Workers forbid. What is signed is signed by Web
 * Crypto. Where there is none, the layer fails with `CryptoUnavailable`: a web page that did not come by https, and only
 * parses, provides `CfworkerJsonSchema.layer` instead.
 *
 * The `ApprovalLedger` is in the memory of one isolate. A Worker runs in many, which come and go: there it keeps an approval from being
 * used twice at the same place only. Use {@link layerStore} where a tool must not run twice.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 * import * as WorkersCountersign from "@countersign/platform-workers/WorkersCountersign"
 *
 * const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema }))
 * const raw = { toolCallId: "1", toolName: "weather", input: "{\"city\":\"Oslo\"}" }
 * const program = Effect.provide(ToolCall.parse(raw, { tools }), WorkersCountersign.layer)
 * Effect.runSync(program).input // => { city: "Oslo" }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<
  JsonSchemaValidator | Crypto.Crypto | ApprovalLedger.ApprovalLedger,
  Crypto.CryptoUnavailable
> = Layer.mergeAll(
  CfworkerJsonSchema.layer,
  WebCrypto.layer,
  ApprovalLedger.layerMemory()
)
