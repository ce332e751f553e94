/**
 * Everything that Countersign needs on Node, in one layer.
 *
 * @since 0.1.0
 */
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import type * as Crypto from "@countersign/core/Crypto"
import * as DurableLedger from "@countersign/core/DurableLedger"
import * as EffectJsonSchema from "@countersign/core/EffectJsonSchema"
import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
import * as RecordStore from "@countersign/core/RecordStore"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as NodeCrypto from "./NodeCrypto.ts"
import * as SqliteStore from "./SqliteStore.ts"

/**
 * What a program that runs approved calls needs, but for the secrets that sign: add `ApprovalSigner.layerConfig`.
 *
 * @category models
 * @since 0.1.0
 */
export type Services =
  | JsonSchemaValidator.JsonSchemaValidator
  | Crypto.Crypto
  | RecordStore.RecordStore
  | ApprovalLedger.ApprovalLedger

const validator = JsonSchemaValidator.orElse(EffectJsonSchema.layer, CfworkerJsonSchema.layer)

/**
 * The platform, with approvals kept in a store of your choice: `PgStore.layer`, `RedisStore.layer`, `SqliteStore.layer`, or one of your
 * own. Build it once per process.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
 *
 * const layer = NodeCountersign.layerStore(RecordStore.layerMemory, { lease: "1 minute" })
 * const program = Effect.flatMap(RecordStore.RecordStore, (store) => store.get({ collection: "claims", id: "=a1" }))
 * Effect.runSync(Effect.provide(program, layer)) // => undefined
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = <E, R>(
  store: Layer.Layer<RecordStore.RecordStore, E, R>,
  options: DurableLedger.Options = {}
): Layer.Layer<Services, E, R> =>
  Layer.merge(
    validator,
    Layer.provideMerge(DurableLedger.layer(options), Layer.merge(store, NodeCrypto.layer))
  )

/** A name that is set to nothing counts as not set. */
const setting = (name: string): Config.Config<string | undefined> =>
  Config.map(Config.withDefault(Config.String(name), ""), (value) => value === "" ? undefined : value)

const inMemory: Layer.Layer<Services> = Layer.mergeAll(
  validator,
  NodeCrypto.layer,
  RecordStore.layerMemory,
  ApprovalLedger.layerMemory()
)

/**
 * The platform: raw JSON Schemas are checked by Effect's importer, which is the fastest, and by `@cfworker/json-schema` where the
 * importer refuses. A call is judged as it is at the edge. What is signed is signed by `node:crypto`. All of that is synchronous.
 *
 * Approvals are kept in a SQLite file, so that each counts once in all processes of a machine, and after a crash:
 * `COUNTERSIGN_DATABASE` of `Config` names it. If it does not, it is `countersign.sqlite` in the working directory: processes that start
 * in different folders, or in containers that are thrown away, then share nothing. The file is made when the ledger is first asked. For
 * several machines, see {@link layerStore}.
 *
 * Where `NODE_ENV` is `test` and no file is named, approvals are kept in memory, and each build of the layer starts empty.
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
export const layer: Layer.Layer<Services> = Layer.unwrap(
  Effect.gen(function*() {
    const path = yield* setting("COUNTERSIGN_DATABASE")
    const isTest = (yield* setting("NODE_ENV")) === "test"
    return path === undefined && isTest
      ? inMemory
      : layerStore(SqliteStore.layer({ path: path ?? "countersign.sqlite" }))
  }).pipe(Effect.orDie)
)
