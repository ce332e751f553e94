/**
 * The service `RecordStore` by a Durable Object: one place in the world, which every Worker asks. The object's class is
 * `RecordStoreObject`, which the Worker exports and binds.
 *
 * One object answers about a thousand calls in a second, of which an execution takes two, and each that comes too late two more. Whoever
 * needs more gives each tenant an object of its own, by `name`.
 *
 * @since 0.1.0
 */
import {
  type ListedRecord,
  type ListOptions,
  RecordStore,
  type StoredRecord,
  StoreUnavailable
} from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Listing } from "./RecordStoreObject.ts"

/**
 * What is used of the binding of a Durable Object. `env.COUNTERSIGN` is one, and so is `env.COUNTERSIGN.jurisdiction("eu")`.
 *
 * @category models
 * @since 0.1.0
 */
export interface NamespaceLike {
  // As a method, it takes the namespace's own kind of ID.
  idFromName(name: string): object
  get(id: object): object
}

/**
 * - `namespace`: the binding, of the class `RecordStoreObject`.
 * - `name`: which object of it: `"countersign"` if not given. Two names share nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly namespace: NamespaceLike
  readonly name?: string | undefined
}

/** The methods of the object, called by RPC. */
interface Stub {
  readonly get: (...args: ReadonlyArray<unknown>) => Promise<unknown>
  readonly set: (...args: ReadonlyArray<unknown>) => Promise<unknown>
  readonly list: (...args: ReadonlyArray<unknown>) => Promise<unknown>
}

/** What the runtime says of an error. */
interface RpcError {
  readonly message?: unknown
  readonly retryable?: unknown
  readonly overloaded?: unknown
  readonly durableObjectReset?: unknown
}

/** For a call of the service: for all that it asks of the object, together. */
const timeout = "5 seconds"

const isRetryable = (error: unknown): boolean => {
  const { durableObjectReset, overloaded, retryable } = (error ?? {}) as RpcError
  return overloaded !== true && (retryable === true || durableObjectReset === true)
}

const unavailable = (error: unknown): StoreUnavailable => {
  const { durableObjectReset, message, overloaded } = (error ?? {}) as RpcError
  const reason = overloaded === true
    ? "the Durable Object is overloaded, try later, or share the load between objects by `name`"
    : durableObjectReset === true
    ? "the Durable Object was reset, try again"
    : `the Durable Object failed: ${message}`
  return new StoreUnavailable({ reason })
}

const unexpected = (): never => {
  throw new TypeError("it gave an answer that is none of RecordStoreObject, bind that class")
}

const recordOf = (answer: unknown): StoredRecord => {
  const { value, version } = (answer ?? {}) as Record<string, unknown>
  return typeof value === "string" && typeof version === "string" ? { value, version } : unexpected()
}

const listedOf = (answer: unknown): ListedRecord => {
  const { id } = (answer ?? {}) as Record<string, unknown>
  return typeof id === "string" ? { id, ...recordOf(answer) } : unexpected()
}

const listingOf = (answer: unknown): Listing => {
  const { more, records } = (answer ?? {}) as Record<string, unknown>
  return Array.isArray(records) && (more === false || more === true && records.length > 0)
    ? { records: records.map(listedOf), more }
    : unexpected()
}

/** The runtime gives what it holds for an answer an end, which a program that is done with it asks for. */
const dispose = (answer: unknown): void => {
  const { dispose } = Symbol as { readonly dispose?: symbol }
  if (typeof answer !== "object" || answer === null || dispose === undefined) return
  const end: unknown = Reflect.get(answer, dispose)
  if (typeof end === "function") end.call(answer)
}

const make = ({ name = "countersign", namespace }: Options): RecordStore["Service"] => {
  /** By a stub of its own: one that has failed once fails always, and one may not be used for another request than it was made in. */
  const once = async <A>(call: (stub: Stub) => Promise<unknown>, read: (answer: unknown) => A): Promise<A> => {
    const answer = await call(namespace.get(namespace.idFromName(name)) as Stub)
    try {
      return read(answer)
    } finally {
      dispose(answer)
    }
  }

  const ask = <A>(
    call: (stub: Stub) => Promise<unknown>,
    read: (answer: unknown) => A
  ): Effect.Effect<A, StoreUnavailable> =>
    Effect.tryPromise({ try: () => once(call, read), catch: (error) => error }).pipe(
      // A `set` too: its version makes it count once.
      Effect.retry({ times: 1, while: isRetryable }),
      Effect.mapError(unavailable)
    )

  /** By as many pages as it takes: the object ends one where it would be too large for an answer. */
  const list = Effect.fnUntraced(function*(options: ListOptions) {
    const found: Array<ListedRecord> = []
    let { after } = options
    for (;;) {
      const rest = { ...options, after, limit: options.limit - found.length }
      const { more, records } = yield* ask((stub) => stub.list(rest), listingOf)
      found.push(...records)
      if (!more || found.length >= options.limit) return found
      after = found.at(-1)?.id
    }
  })

  return {
    get: (key) =>
      bounded(ask((stub) => stub.get(key), (answer) => answer === undefined ? undefined : recordOf(answer))),
    set: (key, write) =>
      bounded(ask((stub) => stub.set(key, write), (answer) => typeof answer === "boolean" ? answer : unexpected())),
    list: (options) => bounded(list(options))
  }
}

const bounded = <A>(effect: Effect.Effect<A, StoreUnavailable>): Effect.Effect<A, StoreUnavailable> =>
  Effect.timeoutOrElse(effect, {
    duration: timeout,
    orElse: () =>
      Effect.fail(
        new StoreUnavailable({ reason: `the Durable Object did not answer within ${timeout}, try later` })
      )
  })

/**
 * The store. A call ends within five seconds: one that fails because the object was moved, or given new code, is made once more.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { RecordStore } from "@countersign/core/RecordStore"
 * import * as DurableObjectStore from "@countersign/platform-workers/DurableObjectStore"
 *
 * // In a Worker: the binding of the class, as in `import { env } from "cloudflare:workers"`.
 * const program = (env: { readonly COUNTERSIGN: DurableObjectStore.NamespaceLike }) =>
 *   Effect.flatMap(RecordStore, (store) => store.get({ collection: "doors", id: "front" })).pipe(
 *     Effect.provide(DurableObjectStore.layer({ namespace: env.COUNTERSIGN }))
 *   )
 * typeof program // => "function"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<RecordStore> => Layer.sync(RecordStore)(() => make(options))
