/**
 * A text that was encoded as a whole, quotes and all: as the content of a string, for HTML, or as a field of CSV.
 */

import { Refused } from "./refused.ts"

const escaped = /^"?[{[][^"'`“‘\\]*(?:\\[nrt][^"'`“‘\\]*)*\\"/
const entity = /^(?:\{\s*|\[[^'`“”‘’„«＂]{0,256}?)&quot;/
const csv = /^"?[{[](?:[^"]|"")*[}\]]"?$/
/** How far the first quote of a text is looked for. */
const maxHead = 1024
const doubledQuote = /""[^\s,;:}\]"]/

/**
 * The text as it was before, from `start` on; `undefined` where it is not encoded.
 *
 * @internal
 */
export const decodeWhole = (text: string, start: number): string | undefined => {
  if (escaped.test(text.slice(start, start + maxHead))) {
    return unquote(text.slice(start)).replace(/\\(?:(["\\/])|([nrt]))/g, unescape)
  }
  const rest = text.slice(start).trim()
  if (!rest.includes("\"") && entity.test(rest)) return rest.replace(/&(quot|apos|#39|lt|gt|amp);/g, decodeEntity)
  if (rest.startsWith("\"", 0) || rest.startsWith("\"\"", skipOpener(rest))) {
    if (csv.test(rest)) {
      if (doubledQuote.test(rest)) return unquote(rest).replaceAll("\"\"", "\"")
      // Empty strings, or the quotes of strings that begin with a space or a comma.
      if (/""[^"]*""/.test(rest) && rest.startsWith("\"")) throw new Refused("string-end", start)
    }
  }
  return undefined
}

const skipOpener = (text: string): number => /^[{[]\s*/.exec(text)?.[0].length ?? 0

/** One of the quotes around the text may be missing. */
const unquote = (text: string): string => text.replace(/^"|(?<=[}\]])"\s*$/g, "")

const unescape = (_: string, char: string | undefined, space: string): string =>
  char ?? (space === "n" ? "\n" : space === "r" ? "\r" : "\t")

const entities: ReadonlyMap<string, string> = new Map([
  ["quot", "\""],
  ["apos", "'"],
  ["#39", "'"],
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"]
])
const decodeEntity = (_: string, name: string): string => entities.get(name)!
