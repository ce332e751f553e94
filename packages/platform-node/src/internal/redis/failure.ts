/** What went wrong with a store in Redis, in words that say what to do. */
import { StoreUnavailable } from "@countersign/core/RecordStore"
import type { RedisError } from "effect/persistence/Redis"

/**
 * The words are chosen here, by how the error begins: what a server or a driver says may hold keys and values.
 *
 * @internal
 */
export const failureOf = ({ cause }: RedisError): StoreUnavailable => {
  const code = cause instanceof Error ? /^[A-Z]{2,20}\b/.exec(cause.message)?.[0] : undefined
  const words = code === undefined ? undefined : answers.get(code)
  return new StoreUnavailable({
    reason: words === undefined
      ? `Redis cannot be reached, or could not do what it was asked: see that it runs, and its log (${
        code ?? "no code"
      })`
      : `Redis ${words} (${code})`
  })
}

/**
 * What is under a key is not a whole record.
 *
 * @internal
 */
export const damaged = (): StoreUnavailable => new StoreUnavailable({ reason: `Redis ${foreign}` })

const denied = "does not let this client in: see user and password"
const foreign = "holds something else under the keys of this store: see who writes there, or choose another prefix"
const starting = "is not ready to serve: try again"

/** By the first word of an answer, in Redis 7. */
const answers = new Map([
  ["BUSY", "is held up by a script: see which"],
  ["CLUSTERDOWN", starting],
  ["DAMAGED", foreign],
  ["LOADING", starting],
  ["MASTERDOWN", starting],
  ["MISCONF", "cannot write to its disk: make room, and see its log"],
  ["MOVED", "is a cluster: use a client that knows its nodes"],
  ["NOAUTH", denied],
  [
    "NOPERM",
    "does not let this user do this: allow INFO, HMGET, SCRIPT, EVALSHA and what the scripts call, on the keys of the prefix"
  ],
  ["NOREPLICAS", "has not enough replicas to write: start them"],
  ["OOM", "has no memory left: raise maxmemory"],
  ["READONLY", "is a read-only replica: connect to the primary"],
  ["WRONGPASS", denied],
  ["WRONGTYPE", foreign]
])
