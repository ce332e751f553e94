/**
 * A value as it arrives at the other end of a wire. The value itself where the runtime misreads its JSON: V8 takes some keys that
 * are one escaped character (`"\n"`) for a backslash, depending on the objects that it has read before.
 */
export const throughJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  const read: unknown = JSON.parse(text)
  return JSON.stringify(read) === text ? read : value
}
