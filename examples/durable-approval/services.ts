/**
 * The services of refund.ts, on one Postgres: `worker` runs the workflows, `client` starts them, looks at them, and gives them answers.
 */
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
import * as PgStore from "@countersign/platform-node/PgStore"
import { layerDigest } from "@effect/platform-node/NodeCrypto"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import * as Refund from "./refund.ts"

const database = PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })

const table = Layer.effectDiscard(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS refunds (order_number bigint NOT NULL, cents bigint NOT NULL)`
}))

const signer = ApprovalSigner.layerConfig({ secrets: Config.Redacted("APPROVAL_SECRET") })

/** Without an address a process runs nothing, and writes its messages to the database for the one that does. */
const engine = (options: { readonly runnerAddress?: Option.Option<never> } = {}) =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(SingleRunner.layer({
      // How soon it is noticed what another process has written.
      shardingConfig: { entityMessagePollInterval: "1 second", ...options }
    })),
    Layer.provide(layerDigest)
  )

export const client = Layer.merge(signer, engine({ runnerAddress: Option.none() })).pipe(
  Layer.provideMerge(NodeCrypto.layer),
  Layer.provide(database)
)

/** One process on one machine has one clock: the lease of a process that was killed may be short. */
const countersign = NodeCountersign.layerStore(PgStore.layer(), { lease: "5 seconds", clockTolerance: "1 second" })

export const worker = Refund.layer.pipe(
  Layer.provide([signer, table, engine()]),
  Layer.provide(countersign),
  Layer.provide(database)
)
