/** Where a store may be, and how a process comes to it. */
import type { RecordStore } from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

export type EngineName = "sqlite" | "postgres" | "redis"

/** Where a store is: `address` is a path, or a URL with the password. */
export interface Place {
  readonly engine: EngineName
  readonly address: string
}

/** Each loads what it needs, so that a process starts soon. */
const stores: Record<EngineName, (address: string) => Promise<Layer.Layer<RecordStore, unknown>>> = {
  sqlite: async (path) => (await import("@countersign/platform-node/SqliteStore")).layer({ path }),
  postgres: async (url) => {
    const [PgClient, PgStore] = await Promise.all([
      import("@effect/sql-pg/PgClient"),
      import("@countersign/platform-node/PgStore")
    ])
    return Layer.provide(PgStore.layer(), PgClient.layer({ url: Redacted.make(url) }))
  },
  redis: async (url) => {
    const [NodeRedis, RedisStore] = await Promise.all([
      import("@effect/platform-node/NodeRedis"),
      import("@countersign/platform-node/RedisStore")
    ])
    return Layer.provide(RedisStore.layer(), NodeRedis.layer({ url }))
  }
}

export const storeAt = ({ address, engine }: Place): Layer.Layer<RecordStore, unknown> =>
  Layer.unwrap(Effect.promise(() => stores[engine](address)))
