/**
 * Whether an object in a text that is JSON has a key twice. `value` is what `JSON.parse` makes of the text, in which the last counts.
 *
 * @internal
 */
export const hasKeyTwice = (text: string, value: unknown): boolean => countKeys(text) !== countMembers(value)

/** How many keys a text that is JSON has. */
const countKeys = (text: string): number => {
  let keys = 0
  for (let at = text.indexOf("\""); at >= 0; at = text.indexOf("\"", at + 1)) {
    for (at++; text[at] !== "\""; at++) if (text[at] === "\\") at++
    let next = at + 1
    while (/\s/.test(text[next] ?? "")) next++
    if (text[next] === ":") keys++
  }
  return keys
}

const countMembers = (root: unknown): number => {
  let members = 0
  const pending = [root]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next !== "object" || next === null) continue
    const values = Object.values(next)
    if (!Array.isArray(next)) members += values.length
    for (const value of values) pending.push(value)
  }
  return members
}
