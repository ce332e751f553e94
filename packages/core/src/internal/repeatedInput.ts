/**
 * Messages of schemas are written by others, and some repeat the value that they were given.
 */

/** How many of the values below a place are looked for in a message. */
const maxLeaves = 200

/**
 * Whether a message repeats a text or a number that stands at the place or below it.
 *
 * @internal
 */
export const repeats = (message: string, value: unknown): boolean => {
  const pending: Array<unknown> = [value]
  for (let leaves = 0; pending.length > 0 && leaves < maxLeaves; leaves++) {
    const leaf = pending.pop()
    if (typeof leaf === "object" && leaf !== null) {
      pending.push(...Object.values(leaf).slice(0, maxLeaves))
    } else if (typeof leaf === "string" || typeof leaf === "number") {
      const text = String(leaf)
      // A shorter text is found in every message.
      if (message.includes(text.length > 2 ? text : JSON.stringify(text))) return true
    }
  }
  return false
}
