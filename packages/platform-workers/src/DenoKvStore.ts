/**
 * The service `RecordStore` by Deno KV: a file for the processes of one machine, or the database of Deno Deploy for all of its regions.
 * Deno has it with `--unstable-kv`.
 *
 * | | |
 * | --- | --- |
 * | time | the clock of whoever asks, so that clocks have to agree as well as the ledger says |
 * | size of a value | 700,000 bytes in UTF-8: what Deno KV writes in one transaction. More fails |
 * | keys | all begin with `"countersign"`, and are nobody else's to change |
 *
 * @since 0.1.0
 */
import {
  type Key,
  type ListedRecord,
  type ListOptions,
  RecordStore,
  type StoredRecord,
  StoreUnavailable,
  type Write
} from "@countersign/core/RecordStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

/**
 * A key of Deno KV.
 *
 * @category models
 * @since 0.1.0
 */
export type KvKey = ReadonlyArray<string | number>

/**
 * What Deno KV says of a key; of one that it does not have, `value` and `versionstamp` are `null`.
 *
 * @category models
 * @since 0.1.0
 */
export interface KvEntryLike {
  readonly key: ReadonlyArray<unknown>
  readonly value: unknown
  readonly versionstamp: string | null
}

/**
 * What is used of a transaction of Deno KV.
 *
 * @category models
 * @since 0.1.0
 */
export interface KvAtomicLike {
  check(check: { readonly key: KvKey; readonly versionstamp: string | null }): KvAtomicLike
  set(key: KvKey, value: unknown, options: { readonly expireIn: number }): KvAtomicLike
  delete(key: KvKey): KvAtomicLike
  commit(): Promise<{ readonly ok: boolean }>
}

/**
 * What is used of Deno KV. What `Deno.openKv` gives is one.
 *
 * @category models
 * @since 0.1.0
 */
export interface KvLike {
  get(key: KvKey): Promise<KvEntryLike>
  getMany(keys: Array<KvKey>): Promise<ReadonlyArray<KvEntryLike>>
  list(
    selector: { readonly prefix: KvKey } | { readonly prefix: KvKey; readonly start: KvKey },
    options: { readonly limit: number; readonly batchSize: number }
  ): AsyncIterable<KvEntryLike>
  atomic(): KvAtomicLike
}

/**
 * - `kv`: one that is open already, and stays so.
 * - `path`: of a file, for `Deno.openKv` to open; its default if not given, which on Deno Deploy is the project's database.
 *
 * @category models
 * @since 0.1.0
 */
export type Options = { readonly kv: KvLike } | { readonly path?: string | undefined }

/** What is kept of a record at its key. The rest of a value that is longer than `body` is in parts, which have the version in their keys. */
interface Head {
  readonly version: string
  readonly tag: string
  readonly keptUntil: number
  readonly parts: number
  readonly body: Uint8Array
}

/** For a call, with whatever it has to repeat. */
const timeout = "5 seconds"

/** In bytes. A value of Deno KV has 65,536 at most, and a transaction 819,200. */
const [pieceSize, maxSize] = [60_000, 700_000]

const maxPieces = Math.ceil(maxSize / pieceSize)

/** In milliseconds: how much longer Deno keeps what has expired, so that it is nobody's to whom it has not. */
const slack = 3_600_000

/** In milliseconds: 100 years, where Deno counts no further than its clock. */
const maxTtl = 3_155_760_000_000

/** What Deno KV reads by key at a time, and from a range. */
const [maxKeys, batchSize] = [10, 500]

/** A call of the service: when it began, and the signal that it has been given up. */
interface Call {
  readonly now: number
  readonly signal: AbortSignal
}

const recordKey = ({ collection, id }: Key): KvKey => ["countersign", "record", collection, id]

const partsKey = ({ collection, id }: Key, version: string): KvKey => ["countersign", "part", collection, id, version]

const tagKey = (collection: string, tag: string): KvKey => ["countersign", "tag", collection, tag]

/** A record is not as this module has written it. Where its version can be read still, that is `version`. */
class Corrupt extends Error {
  readonly version: string
  constructor(version: string) {
    super("a record is corrupt")
    this.version = version
  }
}

const unavailable = (error: unknown): StoreUnavailable =>
  error instanceof StoreUnavailable
    ? error
    : error instanceof Corrupt
    ? new StoreUnavailable({ reason: "a record in Deno KV is corrupt, restore it" })
    : new StoreUnavailable({ reason: `Deno KV failed: ${error instanceof Error ? error.message : "with no error"}` })

/** Another process writes to the file, or opens it. */
const isLocked = (error: unknown): boolean => error instanceof Error && error.message.includes("database is locked")

const untilUnlocked = { while: isLocked, schedule: Schedule.jittered(Schedule.spaced("20 millis")) }

const attempt = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: run, catch: (error) => error }).pipe(
    Effect.retry(untilUnlocked),
    Effect.mapError(unavailable),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          new StoreUnavailable({
            reason: `Deno KV did not answer within ${timeout}, or others lock its file, try later`
          })
        )
    })
  )

/** What another program has written is not taken for a record. */
const headOf = ({ value }: KvEntryLike): Head | undefined => {
  if (value === null) return undefined
  const { body, keptUntil, parts, tag, version } = value as Partial<Record<keyof Head, unknown>>
  if (
    typeof version !== "string" || typeof tag !== "string" || typeof keptUntil !== "number" || Number.isNaN(keptUntil)
    || typeof parts !== "number" || !Number.isInteger(parts) || parts < 0 || parts >= maxPieces
    || !(body instanceof Uint8Array)
  ) throw new Corrupt(typeof version === "string" ? version : "")
  return { version, tag, keptUntil, parts, body }
}

const textOf = (bodies: ReadonlyArray<unknown>, version: string): string => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  try {
    const text = bodies.map((body) => {
      if (!(body instanceof Uint8Array)) throw new Corrupt(version)
      return decoder.decode(body, { stream: true })
    })
    return text.join("") + decoder.decode()
  } catch {
    throw new Corrupt(version)
  }
}

/** `undefined` where a part is not there. */
const valueOf = async (kv: KvLike, key: Key, { body, parts, version }: Head): Promise<string | undefined> => {
  if (parts === 0) return textOf([body], version)
  const bodies: Array<unknown> = [body]
  const options = { limit: parts, batchSize: parts }
  for await (const part of kv.list({ prefix: partsKey(key, version) }, options)) bodies.push(part.value)
  return bodies.length === parts + 1 ? textOf(bodies, version) : undefined
}

const isKept = (head: Head | undefined, now: number): head is Head => head !== undefined && head.keptUntil > now

interface Found extends StoredRecord {
  readonly tag: string
}

/** The record whose head was read, with its parts; read anew where somebody has replaced it meanwhile. */
const complete = async (kv: KvLike, key: Key, read: Head | undefined, call: Call): Promise<Found | undefined> => {
  let head = read
  while (isKept(head, call.now)) {
    call.signal.throwIfAborted()
    const { tag, version } = head
    const value = await valueOf(kv, key, head)
    if (value !== undefined) return { value, version, tag }
    head = headOf(await kv.get(recordKey(key)))
    if (head?.version === version) throw new Corrupt(version)
  }
  return undefined
}

const get = async (kv: KvLike, key: Key, call: Call): Promise<StoredRecord | undefined> => {
  const found = await complete(kv, key, headOf(await kv.get(recordKey(key))), call)
  return found === undefined ? undefined : { value: found.value, version: found.version }
}

const piecesOf = (value: string): ReadonlyArray<Uint8Array> => {
  const bytes = new TextEncoder().encode(value)
  if (bytes.length > maxSize) {
    throw new StoreUnavailable({
      reason: `a record has ${bytes.length} bytes, of which Deno KV takes ${maxSize}: keep less in it`
    })
  }
  const count = Math.max(1, Math.ceil(bytes.length / pieceSize))
  return Array.from({ length: count }, (_, index) => bytes.slice(index * pieceSize, (index + 1) * pieceSize))
}

const remove = (atomic: KvAtomicLike, key: Key, { parts, tag, version }: Head): void => {
  atomic.delete(recordKey(key)).delete([...tagKey(key.collection, tag), key.id])
  for (let part = 0; part < parts; part++) atomic.delete([...partsKey(key, version), part])
}

const insert = (atomic: KvAtomicLike, key: Key, { tag, ttlMillis, value, version }: Write, now: number): void => {
  const [body, ...rest] = piecesOf(value) as [Uint8Array, ...Array<Uint8Array>]
  const head: Head = { version, tag, keptUntil: now + ttlMillis, parts: rest.length, body }
  const expiry = { expireIn: Math.ceil(Math.min(ttlMillis, maxTtl)) + slack }
  atomic.set(recordKey(key), head, expiry).set([...tagKey(key.collection, tag), key.id], head.keptUntil, expiry)
  rest.forEach((piece, part) => atomic.set([...partsKey(key, version), part], piece, expiry))
}

const set = async (kv: KvLike, key: Key, write: Write, { now, signal }: Call): Promise<boolean> => {
  if (Number.isNaN(write.ttlMillis)) {
    throw new StoreUnavailable({ reason: "ttlMillis has to be a number of milliseconds" })
  }
  for (;;) {
    signal.throwIfAborted()
    const entry = await kv.get(recordKey(key))
    const old = headOf(entry)
    const found = isKept(old, now) ? old : undefined
    if (found?.version === write.version) return true
    if (found?.version !== write.expected) return false
    const atomic = kv.atomic().check({ key: recordKey(key), versionstamp: entry.versionstamp })
    if (old !== undefined) remove(atomic, key, old)
    if (write.ttlMillis > 0) insert(atomic, key, write, now)
    // Otherwise somebody else was faster, or Deno has removed what had expired.
    if ((await atomic.commit()).ok) return true
  }
}

const list = async (
  kv: KvLike,
  { after, collection, limit, tag }: ListOptions,
  call: Call
): Promise<ReadonlyArray<ListedRecord>> => {
  const prefix = tagKey(collection, tag)
  const found: Array<ListedRecord> = []
  let last = after
  while (found.length < limit) {
    call.signal.throwIfAborted()
    // What comes right behind an ID: none has a control character.
    const selector = last === undefined ? { prefix } : { prefix, start: [...prefix, `${last}\0`] }
    const ids: Array<string> = []
    const wanted = Math.min(limit - found.length, batchSize)
    let seen = 0
    for await (const { key, value } of kv.list(selector, { limit: wanted, batchSize: wanted })) {
      last = key.at(-1) as string
      seen++
      // Where somebody else has changed it, the record itself says when it expires.
      if (typeof value !== "number" || value > call.now) ids.push(last)
    }
    found.push(...await records(kv, collection, tag, ids, call))
    if (seen < wanted) break
  }
  return found
}

/** The records of a tag that are still there, some keys at a time. One that is corrupt has an empty value: it hides no others. */
const records = async (
  kv: KvLike,
  collection: string,
  tag: string,
  ids: ReadonlyArray<string>,
  call: Call
): Promise<ReadonlyArray<ListedRecord>> => {
  const found: Array<ListedRecord> = []
  for (let at = 0; at < ids.length; at += maxKeys) {
    const some = ids.slice(at, at + maxKeys)
    const entries = await kv.getMany(some.map((id) => recordKey({ collection, id })))
    for (const [index, id] of some.entries()) {
      const entry = entries[index]!
      try {
        const record = await complete(kv, { collection, id }, headOf(entry), call)
        if (record?.tag === tag) found.push({ id, value: record.value, version: record.version })
      } catch (error) {
        if (!(error instanceof Corrupt)) throw error
        found.push({ id, value: "", version: error.version })
      }
    }
  }
  return found
}

const make = (kv: KvLike): RecordStore["Service"] => {
  const ask = <A>(run: (call: Call) => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => attempt((signal) => run({ now, signal })))

  return {
    get: (key) => ask((call) => get(kv, key, call)),
    set: (key, write) => ask((call) => set(kv, key, write, call)),
    list: (options) => ask((call) => list(kv, options, call))
  }
}

/** What is used of the global `Deno`. */
interface DenoLike {
  readonly openKv?: (path?: string) => Promise<KvLike & { close(): void }>
}

const open = (path: string | undefined): Effect.Effect<KvLike, StoreUnavailable, Scope.Scope> =>
  Effect.suspend(() => {
    const deno = (globalThis as { readonly Deno?: DenoLike }).Deno
    if (deno?.openKv === undefined) {
      return Effect.fail(new StoreUnavailable({ reason: "there is no Deno KV here, run Deno with --unstable-kv" }))
    }
    return Effect.acquireRelease(attempt(() => deno.openKv!(path)), (kv) => Effect.sync(() => kv.close()))
  })

/**
 * The store. A call ends within five seconds. Fails to build where there is no Deno KV, or its file cannot be opened.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as DenoKvStore from "@countersign/platform-workers/DenoKvStore"
 *
 * // Not on Deno.
 * const error = Effect.runSync(Effect.flip(Effect.scoped(Layer.build(DenoKvStore.layer({ path: "approvals.db" })))))
 * error.reason // => "there is no Deno KV here, run Deno with --unstable-kv"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<RecordStore, StoreUnavailable> =>
  Layer.effect(RecordStore)(Effect.map("kv" in options ? Effect.succeed(options.kv) : open(options.path), make))
