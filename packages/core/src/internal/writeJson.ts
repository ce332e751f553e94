/** An array or object that is being written; `index` counts the members that have been written. */
interface Frame {
  readonly value: Record<PropertyKey, unknown>
  readonly keys: ReadonlyArray<string> | undefined
  readonly length: number
  index: number
}

/**
 * Writes plain JSON of any depth as `JSON.stringify` does, the keys of each object sorted by their UTF-16 code units.
 *
 * @internal
 */
export const writeJson = (root: unknown): string => writeValue(root, String, Infinity)

/** Writes what is neither a string, an array nor an object; `holder` is what it stands in, under `key`. */
type WriteScalar = (value: unknown, holder: object | undefined, key: string | number) => string

/**
 * Writes a value in the same form, plain JSON or not. Throws below `maxDepth`.
 *
 * @internal
 */
export const writeValue = (root: unknown, writeScalar: WriteScalar, maxDepth: number): string => {
  const open: Array<Frame> = []
  const begin = (value: unknown, holder: object | undefined, key: string | number): string => {
    if (typeof value === "string") return quote(value)
    if (typeof value !== "object" || value === null) return writeScalar(value, holder, key)
    if (open.length === maxDepth) throw new RangeError(`nested more than ${maxDepth} levels deep`)
    const keys = Array.isArray(value) ? undefined : sortKeys(Object.keys(value))
    const length = keys === undefined ? (value as Array<unknown>).length : keys.length
    open.push({ value: value as Frame["value"], keys, length, index: 0 })
    return keys === undefined ? "[" : "{"
  }
  let text = begin(root, undefined, "")
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    const { keys, value } = frame
    const index = frame.index++
    if (index === frame.length) {
      text += keys === undefined ? "]" : "}"
      open.pop()
      continue
    }
    if (index > 0) text += ","
    const key = keys === undefined ? index : keys[index]!
    if (keys !== undefined) text += quote(key as string) + ":"
    text += begin(value[key], value, key)
  }
  return text
}

// oxlint-disable-next-line no-control-regex
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

const quote = (text: string): string => needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`

/**
 * Sorts keys in place by their UTF-16 code units. Few keys, or keys in order, are not worth the engine's own sort.
 *
 * @internal
 */
export const sortKeys = (keys: Array<string>): Array<string> => {
  if (keys.length > 16) return isSorted(keys) ? keys : keys.sort()
  for (let index = 1; index < keys.length; index++) {
    const key = keys[index]!
    let at = index
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!
    keys[at] = key
  }
  return keys
}

const isSorted = (keys: ReadonlyArray<string>): boolean =>
  keys.every((key, index) => index === 0 || keys[index - 1]! < key)
