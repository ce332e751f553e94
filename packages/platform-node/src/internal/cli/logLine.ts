/**
 * A line that no build log takes for a command. GitHub Actions obeys a line that begins with `::`, and, like others, one that has
 * `##[` or `##name[` in it; a tool's description may say so. What is escaped here is the same character to whoever reads JSON.
 */
export const logLine = (line: string): string =>
  line.replace(/^\s*:(?=:)/, (colon) => `${colon.slice(0, -1)}\\u003a`).replace(/##(?=\w*\[)/g, "#\\u0023")
