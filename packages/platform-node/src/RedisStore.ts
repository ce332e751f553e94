/**
 * Records in Redis 6.2 or newer, or Valkey, for processes on any number of machines. The app brings the client: `NodeRedis.layer` of
 * `@effect/platform-node`.
 *
 * | | |
 * | --- | --- |
 * | eviction | a Redis that may evict records is refused when the layer is built: `maxmemory-policy` has to be `noeviction` |
 * | durability | one without `appendonly yes` is refused as well, unless `persistence` is `any`. Set `appendfsync always`: `everysec` can lose the claims of a second, a failover those of its lag |
 * | time | the clock of Redis, which forgets a record when its time is up |
 * | waiting | a call ends after 5 seconds without an answer |
 * | after a failed write | it may be written nevertheless, also later: send it again, or `get` the record |
 * | keys | all begin with `{prefix}:`, so that they share one slot of a cluster |
 *
 * Give it a client of its own, on which nobody else says `SELECT` or `MULTI`.
 *
 * With `disableOfflineQueue: true` in the options of the client a call fails at once while there is no connection, and is not kept for
 * when there is one again.
 *
 * @since 0.1.0
 */
import { type ListedRecord, type ListOptions, RecordStore, StoreUnavailable } from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Redis, type RedisError } from "effect/persistence/Redis"
import { damaged, failureOf } from "./internal/redis/failure.ts"
import * as scripts from "./internal/redis/scripts.ts"

/**
 * - `prefix`: how all keys begin, `countersign` if not given: 1 to 50 letters, digits, `_`, `-`, `.` and `:`.
 * - `persistence`: `appendonly` if not given. `any` is for a Redis that keeps its data in another way, such as by replicas in several
 *   places: you then answer for what a crash forgets.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly prefix?: string | undefined
  readonly persistence?: "appendonly" | "any" | undefined
}

const timeout = "5 seconds"

/** A hundred years: Redis refuses what lies beyond its own range. */
const maxTtlMillis = 100 * 365 * 86_400_000

/** Why records would not be safe in a Redis that describes itself like this. */
const unsafe = (info: string, persistence: Options["persistence"]): string | undefined => {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
  const appends = /^aof_enabled:(\d)/m.exec(info)?.[1]
  if (policy === undefined || appends === undefined) {
    return "Redis does not say what it evicts and keeps: let INFO show memory and persistence"
  }
  if (policy !== "noeviction") return `Redis may evict records, by ${policy}: set maxmemory-policy to noeviction`
  return appends === "1" || persistence === "any"
    ? undefined
    : "Redis forgets its records when it crashes: set appendonly to yes, and appendfsync to always"
}

const make = Effect.fnUntraced(function*({ persistence, prefix = "countersign" }: Options) {
  const redis = yield* Redis
  if (!/^[A-Za-z0-9_.:-]{1,50}$/.test(prefix)) {
    return yield* new StoreUnavailable({ reason: "the prefix has to be 1 to 50 letters, digits, _, -, . and :" })
  }

  const answer = <A>(asked: Effect.Effect<A, RedisError>): Effect.Effect<A, StoreUnavailable> =>
    Effect.mapError(asked, failureOf)

  const within = <A>(answered: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
    answered.pipe(
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

  const bounded = <A>(asked: Effect.Effect<A, RedisError>) => within(answer(asked))

  const info = yield* Effect.forEach(["memory", "persistence"], (part) => bounded(redis.send<string>("INFO", part)))
  const reason = unsafe(info.join("\n"), persistence)
  if (reason !== undefined) return yield* new StoreUnavailable({ reason })

  // With its length before it no collection looks like another with an ID.
  const records = (collection: string) => `{${prefix}}:record:${collection.length}:${collection}:`
  const indexes = (collection: string) => `{${prefix}}:tag:${collection.length}:${collection}:`
  const evalSet = redis.eval(scripts.set)
  const evalList = redis.eval(scripts.list)

  const listed = Effect.fnUntraced(function*({ after, collection, limit, tag }: ListOptions) {
    const found: Array<ListedRecord> = []
    for (let last = after; found.length < limit;) {
      const rows = yield* answer(evalList({
        index: `${indexes(collection)}${tag}`,
        records: records(collection),
        tag,
        from: last === undefined ? "-" : `(${last}`,
        limit: limit - found.length
      }))
      if (!Array.isArray(rows)) return yield* damaged()
      for (const [id, version, value] of rows) {
        if (version !== undefined && value !== undefined) found.push({ id, value, version })
        last = id
      }
      if (rows.length < scripts.listed) break
    }
    return found
  })

  return RecordStore.of({
    get: ({ collection, id }) =>
      Effect.flatMap(bounded(redis.send("HMGET", `${records(collection)}${id}`, "version", "value")), (found) => {
        if (!Array.isArray(found)) return Effect.fail(damaged())
        const [version, value] = found
        if (typeof version === "string" && typeof value === "string") return Effect.succeed({ value, version })
        return version === null && value === null ? Effect.undefined : Effect.fail(damaged())
      }),
    set: ({ collection, id }, { expected = "", tag, ttlMillis, value, version }) =>
      Effect.flatMap(
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
        (written) => written === 0 || written === 1 ? Effect.succeed(written === 1) : Effect.fail(damaged())
      ),
    list: (options) => within(listed(options))
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
