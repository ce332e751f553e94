/** Whether two JSON values are equal, whatever the order of their keys. */
export const sameJson = (left: unknown, right: unknown): boolean =>
  JSON.stringify(sorted(left)) === JSON.stringify(sorted(right))

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).sort().map(([key, member]) => [key, sorted(member)]))
    : value
