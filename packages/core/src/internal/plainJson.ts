/**
 * From a value to plain JSON, in one walk that costs no stack: at whatever depth, and refusing what JSON would leave out or
 * change in silence.
 *
 * The way through a text is no alternative: `JSON.parse` of V8 reads some keys that are one escaped character as a backslash.
 */
import { setOwn } from "./ownProperty.ts"

/** @internal */
export type Reason =
  | "undefined"
  | "function"
  | "symbol"
  | "bigint"
  | "not-finite"
  | "invalid-date"
  | "cycle"
  | "instance"
  | "unreadable"

/**
 * Why a value has no JSON, and where.
 *
 * @internal
 */
export class Refused {
  readonly reason: Reason
  readonly path: ReadonlyArray<PropertyKey>
  constructor(reason: Reason, path: ReadonlyArray<PropertyKey>) {
    this.reason = reason
    this.path = path
  }
}

/** An array or object that is being copied; `index` counts the members that have been read. */
interface Frame {
  readonly value: object
  readonly into: object
  readonly keys: ReadonlyArray<string> | undefined
  readonly length: number
  index: number
}

/**
 * Copies a value as what JSON gives at the other end of a wire, the keys in the same order.
 *
 * @internal
 */
export const plainJson = (root: unknown): { readonly json: unknown } | Refused => {
  const open: Array<Frame> = []
  try {
    return { json: copy(root, open) }
  } catch (error) {
    // What is no refusal was thrown by a getter, a proxy or a `toJSON`.
    return error instanceof Refused ? error : new Refused("unreadable", pathOf(open))
  }
}

const copy = (root: unknown, open: Array<Frame>): unknown => {
  const refuse = (reason: Reason): never => {
    throw new Refused(reason, pathOf(open))
  }
  // The objects that the walk is inside of.
  const ancestors = new Set<object>()
  const enter = (value: object): object => {
    const isArray = Array.isArray(value)
    if (!isArray && !isRecord(value)) refuse("instance")
    if (ancestors.has(value)) refuse("cycle")
    ancestors.add(value)
    const into = isArray ? [] : {}
    const keys = isArray ? undefined : Object.keys(value)
    open.push({
      value,
      into,
      keys,
      length: keys === undefined ? (value as Array<unknown>).length : keys.length,
      index: 0
    })
    return into
  }
  const toJson = (value: unknown): unknown => {
    switch (typeof value) {
      case "string":
      case "boolean":
        return value
      case "number":
        if (!Number.isFinite(value)) refuse("not-finite")
        // Makes -0 into 0.
        return value + 0
      case "object":
        return value === null ? null : enter(value)
      default:
        return refuse(typeof value as Reason)
    }
  }
  const result = toJson(plain(root, "", refuse))
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { index, into, keys } = frame
    if (index === frame.length) {
      open.pop()
      ancestors.delete(frame.value)
      continue
    }
    frame.index++
    const key = keys === undefined ? index : keys[index]!
    const member = plain((frame.value as Record<PropertyKey, unknown>)[key], key, refuse)
    if (member !== undefined) setOwn(into, key, toJson(member))
    else if (keys === undefined) setOwn(into, key, null)
  }
  return result
}

/** A value that says itself what its JSON is, as that. It is asked once, as `JSON.stringify` does. */
const plain = (value: unknown, key: PropertyKey, refuse: (reason: Reason) => never): unknown => {
  if (typeof value !== "object" || value === null) return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON !== "function") return value
  const json: unknown = toJSON.call(value, String(key))
  // To JSON, a date that is none is null. It is no more meant than NaN is.
  if (json === null && Object.prototype.toString.call(value) === "[object Date]") refuse("invalid-date")
  return json
}

/**
 * Whether an object is plain: its prototype has none. It may come from another realm (a `vm`, an iframe).
 *
 * @internal
 */
export const isRecord = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

const pathOf = (open: ReadonlyArray<Frame>): ReadonlyArray<PropertyKey> =>
  open.map(({ index, keys }) => keys === undefined ? index - 1 : keys[index - 1]!)
