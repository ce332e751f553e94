/**
 * The scripts of a store in Redis. Each runs as a whole before anything else does.
 *
 * A record is a hash with its version, tag and value, which Redis forgets when its time is up. Beside it are sorted sets, one for each
 * tag of a collection, whose members are IDs that all have the score 0: Redis keeps them in the order of their bytes. A member outlives
 * its record until somebody comes across it: `list` in passing, `set` by drawing lots. Since it draws three for one that it adds, no more
 * than about a third of a set is stale.
 */
import * as Redis from "effect/persistence/Redis"

/** @internal */
export interface SetParams {
  readonly record: string
  readonly index: string
  readonly records: string
  readonly indexes: string
  readonly id: string
  readonly version: string
  readonly expected: string
  readonly tag: string
  readonly value: string
  readonly ttlMillis: number
}

/**
 * 1 when it has been written. `records` and `indexes` are how the keys of the collection begin. An empty `expected`: no record.
 *
 * @internal
 */
export const set = Redis.script(
  (params: SetParams) => [
    params.record,
    params.index,
    params.records,
    params.indexes,
    params.id,
    params.version,
    params.expected,
    params.tag,
    params.value,
    params.ttlMillis
  ],
  {
    numberOfKeys: 2,
    lua: `
local record, index = KEYS[1], KEYS[2]
local records, indexes, id, version, expected, tag, value, ttl = unpack(ARGV)
local found = redis.call("HMGET", record, "version", "tag")
if not (found[1] and found[2]) and redis.call("EXISTS", record) == 1 then
  return redis.error_reply("DAMAGED a record without version or tag")
end
if found[1] == version then return 1 end
if (found[1] or "") ~= expected then return 0 end
-- What has been done is not undone where something fails: the record comes last.
local lives = tonumber(ttl) > 0
if lives then redis.call("ZADD", index, 0, id) end
if found[2] and not (lives and found[2] == tag) then redis.call("ZREM", indexes .. found[2], id) end
if lives then
  redis.call("HSET", record, "version", version, "tag", tag, "value", value)
  redis.call("PEXPIRE", record, ttl)
else
  redis.call("DEL", record)
end
for _, member in ipairs(redis.call("ZRANDMEMBER", index, 3)) do
  if redis.call("EXISTS", records .. member) == 0 then redis.call("ZREM", index, member) end
end
return 1
`
  }
).withReturnType<number>()

/** @internal */
export interface ListParams {
  readonly index: string
  readonly records: string
  readonly tag: string
  readonly from: string
  readonly limit: number
}

/**
 * How many members `list` looks at, at most.
 *
 * @internal
 */
export const listed = 1_000

/**
 * The members that it has looked at until it had `limit` records, and for each its ID, version and value, the last two empty where
 * there is no such record. Fewer than `listed` rows are the last.
 *
 * @internal
 */
export const list = Redis.script(
  (params: ListParams) => [params.index, params.records, params.tag, params.from, params.limit],
  {
    numberOfKeys: 1,
    lua: `
local index = KEYS[1]
local records, tag, from, limit = unpack(ARGV)
local rows, alive = {}, 0
for _, id in ipairs(redis.call("ZRANGEBYLEX", index, from, "+", "LIMIT", 0, ${listed})) do
  local found = redis.pcall("HMGET", records .. id, "version", "value", "tag")
  local whole = found[1] and found[2] and found[3]
  if whole and found[3] == tag or not whole and redis.call("EXISTS", records .. id) == 1 then
    -- One that is damaged hides no others.
    rows[#rows + 1] = { id, found[1] or "", whole and found[2] or "" }
    alive = alive + 1
    if alive == tonumber(limit) then break end
  else
    redis.call("ZREM", index, id)
    rows[#rows + 1] = { id }
  end
end
return rows
`
  }
).withReturnType<ReadonlyArray<readonly [id: string, version?: string, value?: string]>>()
