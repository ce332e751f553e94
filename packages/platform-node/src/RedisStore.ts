/**
 * Records in Redis 6.2 or newer, or Valkey, for processes on any number of machines. The app brings the client: `NodeRedis.layer` of
 * `@effect/platform-node`.
 *
 * | | |
 * | --- | --- |
 * | eviction | a Redis that may evict records is refused when the layer is built: `maxmemory-policy` has to be `noeviction` |
 * | durability | set `appendonly yes` and `appendfsync always`; `everysec` can lose the claims of a second, a failover those of its lag |
 * | time | the clock of Redis, which forgets a record when its time is up |
 * | waiting | a call ends after 5 seconds without an answer |
 * | after a failed write | it may be written nevertheless, also later: send it again, or `get` the record |
 * | keys | all begin with `{prefix}:`, so that they share one slot of a cluster |
 *
 * With `disableOfflineQueue: true` in the options of the client a call fails at once while there is no connection, and is not kept for
 * when there is one again.
 *
 * @since 0.1.0
 */
import { type ListedRecord, RecordStore, StoreUnavailable } from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Redis, type RedisError } from "effect/persistence/Redis"
import { damaged, failureOf } from "./internal/redis/failure.ts"
import * as scripts from "./internal/redis/scripts.ts"

/**
 * `prefix`: how all keys begin, `countersign` if not given: 1 to 50 letters, digits, `_`, `-`, `.` and `:`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
}

const timeout = "5 seconds"

/** A hundred years: Redis refuses what lies beyond its own range. */
const maxTtlMillis = 100 * 365 * 86_400_000

/** Why records would not be safe in a Redis that describes itself like this. */
const unsafe = (info: string): string | undefined => {
  const maxMemory = /^maxmemory:(\d+)/m.exec(info)?.[1]
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  if (maxMemory === undefined || policy === undefined) {
    return "Redis does not say what it evicts: let INFO memory show maxmemory"
  }
  return maxMemory === "0" || policy === "noeviction"
    ? undefined
    : `Redis may evict records, by ${policy}: set maxmemory-policy to noeviction`
}

const make = Effect.fnUntraced(function*({ prefix = "countersign" }: Options) {
  const redis = yield* Redis
  if (!/^[A-Za-z0-9_.:-]{1,50}$/.test(prefix)) {
    return yield* new StoreUnavailable({ reason: "the prefix has to be 1 to 50 letters, digits, _, -, . and :" })
  }

  const bounded = <A>(answer: Effect.Effect<A, RedisError>): Effect.Effect<A, StoreUnavailable> =>
    answer.pipe(
      Effect.mapError(failureOf),
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () =>
          Effect.fail(
            new StoreUnavailable({
              reason: `Redis gave no answer within ${timeout}: see that it runs and can be reached`
            })
          )
      })
    )

  const reason = unsafe(yield* bounded(redis.send<string>("INFO", "memory")))
  if (reason !== undefined) return yield* new StoreUnavailable({ reason })

  // With its length before it no collection looks like another with an ID.
  const records = (collection: string) => `{${prefix}}:record:${collection.length}:${collection}:`
  const indexes = (collection: string) => `{${prefix}}:tag:${collection.length}:${collection}:`
  const evalSet = redis.eval(scripts.set)
  const evalList = redis.eval(scripts.list)

  return RecordStore.of({
    get: ({ collection, id }) =>
      Effect.flatMap(
        bounded(redis.send<ReadonlyArray<string | null>>("HMGET", `${records(collection)}${id}`, "version", "value")),
        ([version, value]) =>
          typeof version === "string" && typeof value === "string"
            ? Effect.succeed({ value, version })
            : version === value
            ? Effect.undefined
            : Effect.fail(damaged())
      ),
    set: ({ collection, id }, { expected = "", tag, ttlMillis, value, version }) =>
      Effect.map(
        bounded(evalSet({
          record: `${records(collection)}${id}`,
          index: `${indexes(collection)}${tag}`,
          records: records(collection),
          indexes: indexes(collection),
          id,
          version,
          expected,
          tag,
          value,
          ttlMillis: Math.ceil(Math.min(Math.max(ttlMillis, 0), maxTtlMillis))
        })),
        (written) => written === 1
      ),
    list: Effect.fnUntraced(function*({ after, collection, limit, tag }) {
      const found: Array<ListedRecord> = []
      for (let last = after; found.length < limit;) {
        const asked = limit - found.length
        const rows = yield* bounded(evalList({
          index: `${indexes(collection)}${tag}`,
          records: records(collection),
          tag,
          from: last === undefined ? "-" : `(${last}`,
          limit: asked
        }))
        for (const [id, version, value] of rows) {
          if (version !== undefined && value !== undefined) found.push({ id, value, version })
          last = id
        }
        if (rows.length < asked) break
      }
      return found
    })
  })
})

/**
 * The store under a prefix.
 *
 * @example
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import * as Config from "effect/Config"
 * import * as Layer from "effect/Layer"
 * import * as RedisStore from "@countersign/platform-node/RedisStore"
 *
 * const store = RedisStore.layer().pipe(
 *   Layer.provide(NodeRedis.layerConfig({
 *     url: Config.String("REDIS_URL"),
 *     disableOfflineQueue: Config.succeed(true)
 *   }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<RecordStore, StoreUnavailable, Redis> =>
  Layer.effect(RecordStore)(make(options))
