/**
 * The service that keeps records for longer than a process lives: versions, compare-and-set and expiry, which is what a ledger and an
 * inbox need of an engine. Whoever has these on another engine implements this service, and has both.
 *
 * ```text
 *             set, expected: undefined          set, expected: v1
 *   no record ────────────────────────▶ v1 ─────────────────────▶ v2 …
 *       ▲                               │                         │
 *       └───────────── ttlMillis ───────┴─────────────────────────┘
 * ```
 *
 * `storeContract` of `@countersign/core/testing` says whether an implementation does what it has to.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { printable } from "./internal/printable.ts"

/**
 * Which record. Both have 1 to 250 characters, in well-formed Unicode without control characters.
 *
 * @category models
 * @since 0.1.0
 */
export interface Key {
  readonly collection: string
  readonly id: string
}

/**
 * A record. `value` is text, JSON in what this library keeps; `version` is what its writer called it.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredRecord {
  readonly value: string
  readonly version: string
}

/**
 * What a record is set to.
 *
 * - `version`: the writer chooses it, and never uses it again. ASCII, at most 100 characters.
 * - `expected`: the version that is replaced. `undefined`: there must be no record.
 * - `tag`: what `list` selects by, such as `pending`. ASCII, at most 50 characters.
 * - `ttlMillis`: how long the record lives from now, by the engine's own clock, in milliseconds. Then it is as if it had never been.
 *   Zero or less removes it at once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Write extends StoredRecord {
  readonly expected: string | undefined
  readonly tag: string
  readonly ttlMillis: number
}

/**
 * Which records to list: those of a collection with a tag, in the order of the code points of their IDs, that come behind `after`.
 * `limit` is 1 to 1,000.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListOptions {
  readonly collection: string
  readonly tag: string
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * A record of a list.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListedRecord extends StoredRecord {
  readonly id: string
}

/**
 * The engine cannot be reached, or cannot do what it was asked. `reason` says why, and holds no secret.
 *
 * @example
 * ```ts
 * import * as RecordStore from "@countersign/core/RecordStore"
 *
 * new RecordStore.StoreUnavailable({ reason: "the disk is full" }).message
 * // => "The record store is unavailable: the disk is full"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>(
  "@countersign/core/RecordStore/StoreUnavailable"
)("StoreUnavailable", { reason: Schema.String }) {
  override get message(): string {
    return `The record store is unavailable: ${printable(this.reason, 500)}`
  }
}

/**
 * The service. Each of its functions ends in bounded time.
 *
 * - `get` gives a record, or `undefined`.
 * - `set` is atomic. It gives `true` where the record has been written, or already has this very `version`: a write may be sent again
 *   after its answer was lost. It gives `false`, and changes nothing, where the record has another version than `expected`.
 * - `list` gives what has not expired.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as RecordStore from "@countersign/core/RecordStore"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* RecordStore.RecordStore
 *   const key = { collection: "doors", id: "front" }
 *   const write = { value: "open", tag: "door", ttlMillis: 60_000 }
 *   const first = yield* store.set(key, { ...write, version: "v1", expected: undefined })
 *   const second = yield* store.set(key, { ...write, version: "v2", expected: undefined })
 *   return [first, second, yield* store.get(key)]
 * })
 * Effect.runSync(Effect.provide(program, RecordStore.layerMemory))
 * // => [true, false, { value: "open", version: "v1" }]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class RecordStore extends Context.Service<RecordStore, {
  readonly get: (key: Key) => Effect.Effect<StoredRecord | undefined, StoreUnavailable>
  readonly set: (key: Key, write: Write) => Effect.Effect<boolean, StoreUnavailable>
  readonly list: (options: ListOptions) => Effect.Effect<ReadonlyArray<ListedRecord>, StoreUnavailable>
}>()("@countersign/core/RecordStore") {}

interface Entry extends ListedRecord {
  readonly tag: string
  readonly keptUntil: number
}

/**
 * Records in the memory of this process, for tests: they are lost with it, and no other process sees them.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as RecordStore from "@countersign/core/RecordStore"
 *
 * const program = Effect.flatMap(RecordStore.RecordStore, (store) => store.get({ collection: "doors", id: "back" }))
 * Effect.runSync(Effect.provide(program, RecordStore.layerMemory)) // => undefined
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<RecordStore> = Layer.effect(RecordStore)(Effect.sync(() => {
  const collections = new Map<string, Map<string, Entry>>()
  // What has expired is looked for when there is twice as much as after the last look.
  let count = 0
  let sweepAt = 1_000

  const collectionOf = (name: string): Map<string, Entry> => {
    const known = collections.get(name)
    if (known !== undefined) return known
    const made = new Map<string, Entry>()
    collections.set(name, made)
    return made
  }

  const find = (key: Key, now: number): Entry | undefined => {
    const entry = collections.get(key.collection)?.get(key.id)
    return entry !== undefined && entry.keptUntil > now ? entry : undefined
  }

  const sweep = (now: number): void => {
    if (count < sweepAt) return
    for (const entries of collections.values()) {
      for (const [id, entry] of entries) if (entry.keptUntil <= now && entries.delete(id)) count--
    }
    sweepAt = Math.max(1_000, 2 * count)
  }

  const set = ({ collection, id }: Key, write: Write, now: number): boolean => {
    const found = find({ collection, id }, now)
    if (found?.version === write.version) return true
    if (found?.version !== write.expected) return false
    sweep(now)
    const entries = collectionOf(collection)
    if (entries.delete(id)) count--
    if (write.ttlMillis <= 0) return true
    const { tag, value, version } = write
    entries.set(id, { id, value, version, tag, keptUntil: now + write.ttlMillis })
    count++
    return true
  }

  return {
    get: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const entry = find(key, now)
        return entry === undefined ? undefined : { value: entry.value, version: entry.version }
      }),
    set: (key, write) => Effect.map(Clock.currentTimeMillis, (now) => set(key, write, now)),
    list: ({ after, collection, limit, tag }) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        [...collections.get(collection)?.values() ?? []]
          .filter((entry) =>
            entry.tag === tag && entry.keptUntil > now && (after === undefined || byCodePoint(entry.id, after) > 0)
          )
          .sort((one, other) => byCodePoint(one.id, other.id))
          .slice(0, limit)
          .map(({ id, value, version }) => ({ id, value, version })))
  }
}))

/** `<` compares code units: it puts what lies beyond U+FFFF before U+E000. */
const byCodePoint = (one: string, other: string): number => {
  for (let index = 0; index < one.length && index < other.length;) {
    const left = one.codePointAt(index)!
    const difference = left - other.codePointAt(index)!
    if (difference !== 0) return difference
    index += left > 0xffff ? 2 : 1
  }
  return one.length - other.length
}
