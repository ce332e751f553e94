/**
 * The Durable Object that keeps the records of a `DurableObjectStore`, in its SQLite. It is the Worker's to export:
 *
 * ```text
 * export { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"
 * ```
 *
 * and to bind, in `wrangler.jsonc`:
 *
 * ```jsonc
 * "durable_objects": { "bindings": [{ "name": "COUNTERSIGN", "class_name": "RecordStoreObject" }] },
 * "migrations": [{ "tag": "v1", "new_sqlite_classes": ["RecordStoreObject"] }]
 * ```
 *
 * This module loads in Workers only, since it imports `cloudflare:workers`.
 *
 * @since 0.1.0
 */
// oxlint-disable-next-line triple-slash-reference -- it declares a module of the runtime, and is none that could be imported
/// <reference path="./internal/cloudflareWorkers.d.ts" />
import type * as RecordStore from "@countersign/core/RecordStore"
import { DurableObject, type DurableObjectStorage } from "cloudflare:workers"
import { pieces } from "./internal/pieces.ts"

/** In code units, of which one is three bytes at most. A row holds 2 MB. */
const pieceSize = 500_000

/** In code units, of which RPC sends one in two bytes at most, and no more than 32 MiB at a time. */
const pageSize = 4_000_000

/** How many records one run of the alarm removes. */
const sweepSize = 1_000

/** In milliseconds. What expires at about the same time is removed at the same time. */
const alarmInterval = 1_000

/** In milliseconds. The alarm comes within this time, since what is far off can lie beyond any date. */
const longestWait = 86_400_000

// No interface, whose properties could be more than these: a row holds texts and numbers only.
type Found = {
  readonly record: number
  readonly id: string
  readonly version: string
  readonly value: string
  readonly parts: number
}

/**
 * Some records of a list. Where there may be `more`, they come behind the last of these.
 *
 * @category models
 * @since 0.1.0
 */
export interface Listing {
  readonly records: ReadonlyArray<RecordStore.ListedRecord>
  readonly more: boolean
}

/** The first piece of a value stands with its record; `parts` says how many there are. `kept_until` is in milliseconds since 1970. */
const schema = `
CREATE TABLE IF NOT EXISTS records (
  record INTEGER PRIMARY KEY,
  collection TEXT NOT NULL,
  id TEXT NOT NULL,
  version TEXT NOT NULL,
  tag TEXT NOT NULL,
  kept_until REAL NOT NULL,
  parts INTEGER NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (collection, id)
);
CREATE INDEX IF NOT EXISTS records_by_tag ON records (collection, tag, id);
CREATE INDEX IF NOT EXISTS records_by_time ON records (kept_until);
CREATE TABLE IF NOT EXISTS parts (
  record INTEGER NOT NULL,
  part INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (record, part)
);`

const opened = (storage: DurableObjectStorage): DurableObjectStorage => {
  storage.sql.exec(schema)
  return storage
}

/**
 * The object. Its clock is the one by which records expire, and an alarm removes them, at most once in a second. Its methods are those
 * of a `RecordStore`, for `DurableObjectStore` to call by RPC; `list` ends when it has about 8 MB. What `set` has answered is on disk.
 *
 * @example
 * ```ts
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as DurableObjectStore from "@countersign/platform-workers/DurableObjectStore"
 * import { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"
 * import { DurableObject, env } from "cloudflare:workers"
 * import * as Effect from "effect/Effect"
 *
 * RecordStoreObject.prototype instanceof DurableObject // => true
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* RecordStore.RecordStore
 *   const key = { collection: "doors", id: "front" }
 *   yield* store.set(key, { value: "open", version: "v1", expected: undefined, tag: "door", ttlMillis: 60_000 })
 *   return yield* store.get(key)
 * })
 * const layer = DurableObjectStore.layer({ namespace: env["COUNTERSIGN"] as DurableObjectStore.NamespaceLike })
 * await Effect.runPromise(Effect.provide(program, layer)) // => { value: "open", version: "v1" }
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export class RecordStoreObject extends DurableObject {
  readonly #storage = opened(this.ctx.storage)

  /** The record, or `undefined`. */
  get({ collection, id }: RecordStore.Key): RecordStore.StoredRecord | undefined {
    const found = this.#find(collection, id, Date.now())
    if (found === undefined) return undefined
    const value = this.#valueOf(found)
    if (value === undefined) throw new Error("a record is corrupt: a part of its value is not there")
    return { value, version: found.version }
  }

  /** Whether the record has this version now. */
  async set(key: RecordStore.Key, write: RecordStore.Write): Promise<boolean> {
    // Before the record is written, so that nothing comes between the write and the alarm: one is not kept without the other.
    const armed = await this.#storage.getAlarm()
    const now = Date.now()
    const isWritten = this.#storage.transactionSync(() => this.#write(key, write, now))
    await this.#arm(armed, now)
    return isWritten
  }

  /** The records of a tag in the order of their IDs. One that is corrupt has an empty value: it hides no others. */
  list({ after, collection, limit, tag }: RecordStore.ListOptions): Listing {
    const rows = this.#storage.sql.exec<Found>(
      `SELECT record, id, version, value, parts FROM records
       WHERE collection = ? AND tag = ? AND id > ? AND kept_until > ? ORDER BY id LIMIT ?`,
      collection,
      tag,
      after ?? "",
      Date.now(),
      limit
    )
    const found: Array<Found> = []
    let size = 0
    let more = false
    for (const row of rows) {
      size += row.parts === 1 ? row.value.length : row.parts * pieceSize
      more = size > pageSize && found.length > 0
      if (more) break
      found.push(row)
    }
    const records = found.map((row) => ({ id: row.id, value: this.#valueOf(row) ?? "", version: row.version }))
    return { records, more }
  }

  /** The runtime calls it when a record has expired. */
  override async alarm(): Promise<void> {
    const { sql } = this.#storage
    const now = Date.now()
    this.#storage.transactionSync(() => {
      const expired = sql.exec<Found>(
        "SELECT record, parts FROM records WHERE kept_until <= ? ORDER BY kept_until LIMIT ?",
        now,
        sweepSize
      ).toArray()
      for (const found of expired) this.#remove(found)
    })
    await this.#arm(null, now)
  }

  #find(collection: string, id: string, now: number): Found | undefined {
    return this.#storage.sql.exec<Found>(
      `SELECT record, id, version, value, parts FROM records WHERE collection = ? AND id = ? AND kept_until > ?`,
      collection,
      id,
      now
    ).toArray()[0]
  }

  /** `undefined` where a part of it is not there. */
  #valueOf({ parts, record, value }: Found): string | undefined {
    if (parts === 1) return value
    const rest = this.#storage.sql.exec<{ readonly value: string }>(
      "SELECT value FROM parts WHERE record = ? ORDER BY part",
      record
    ).toArray()
    return rest.length === parts - 1 ? value + rest.map((part) => part.value).join("") : undefined
  }

  #write({ collection, id }: RecordStore.Key, write: RecordStore.Write, now: number): boolean {
    const { sql } = this.#storage
    const found = this.#find(collection, id, now)
    if (found?.version === write.version) return true
    if (found?.version !== write.expected) return false
    const replaced = sql.exec<Found>(
      "SELECT record, parts FROM records WHERE collection = ? AND id = ?",
      collection,
      id
    )
    for (const old of replaced.toArray()) this.#remove(old)
    if (write.ttlMillis <= 0) return true
    const [first, ...rest] = pieces(write.value, pieceSize)
    const [{ record }] = sql.exec<{ readonly record: number }>(
      `INSERT INTO records (collection, id, version, tag, kept_until, parts, value)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING record`,
      collection,
      id,
      write.version,
      write.tag,
      now + write.ttlMillis,
      1 + rest.length,
      first!
    ).toArray() as [{ readonly record: number }]
    rest.forEach((value, part) =>
      sql.exec("INSERT INTO parts (record, part, value) VALUES (?, ?, ?)", record, part, value)
    )
    return true
  }

  #remove({ parts, record }: Pick<Found, "parts" | "record">): void {
    const { sql } = this.#storage
    if (parts > 1) sql.exec("DELETE FROM parts WHERE record = ?", record)
    sql.exec("DELETE FROM records WHERE record = ?", record)
  }

  /** Sets the one alarm of the object for the record that expires next, where it is not set already. */
  async #arm(armed: number | null, now: number): Promise<void> {
    const [{ next }] = this.#storage.sql.exec<{ readonly next: number | null }>(
      "SELECT min(kept_until) AS next FROM records"
    ).toArray() as [{ readonly next: number | null }]
    if (next === null) return
    const due = Math.min(Math.max(next, now + alarmInterval), now + longestWait)
    if (armed === null || armed > due) await this.#storage.setAlarm(due)
  }
}
