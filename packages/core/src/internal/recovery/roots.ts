/**
 * The values at the top of a text: past prose, fences, tags and tokens, one or several.
 */
import { endOfComment, isQuote, skipSpaces } from "./characters.ts"
import type { EditLog } from "./editLog.ts"
import { looseKeyAhead } from "./follow.ts"
import { anywhere, takes, Type } from "./place.ts"
import { opensString } from "./rawText.ts"
import { makeReader, type Read, type ReadOptions } from "./reader.ts"
import { Refused } from "./refused.ts"

/** @internal */
export interface Root extends Read {
  readonly start: number
}

type ReadRoot = (start: number, unopened?: "{" | "[") => Root

// Where a value may begin among prose.
const rootStart =
  /<(think(?:ing)?|reason(?:ing)?|reflection|scratchpad|analysis)>[^]*?(?:<\/\1>|$)|<!--[^]*?(?:-->|$)|[{｛](?=\s*(?:["'`“‘}]|[\p{L}_$][\p{L}\p{N}_$-]{0,64}["']?\s{0,16}[:：=]|\/[/*]|,|$))|[[［](?=\s*(?:["'`“‘{[\]\d.+-]|\/[/*]|true|false|null|True|False|None))/giu
const bracketsInProse = /^\[[\p{L}\d .:_-]{1,64}\][ \t:]*[^\s,\]}]/u
// What a model only thought, to its end or to that of the text.
const thought = /<(think(?:ing)?|reason(?:ing)?|reflection|scratchpad|analysis)>[^]*?(?:<\/\1>|$)/iy
const leadingTag = /\s*(?:\[\/?[A-Z][A-Z_]*\]|<\|[^|<>]{1,64}\|>)\s*/y
const fence = /(?:^|\n)[ \t]*(?:```+|~~~+)[^\n`]*\n/g
// A key, the end of a string, or an item that goes on.
const partOfValue = /^[:;"'”’]|["'”’]\s{0,16}[:：]|["'][}\])]|[}\])]["']/
const firstItem = /^"(?:[^"\\]|\\.)*"\s*,/
const firstKey = /^"([^"\\\n]{1,128})"\s{0,16}[:：]/
const bareMembers = /^["']?\s*[:=]\s*(?:["'\d[-]|[\w./-]+\s*[,}\n]).*\}\s*$/s

/**
 * Where the text goes on at `from`, after what a chat template may put there, and comments.
 *
 * @internal
 */
export const skipTags = (text: string, from: number): number => {
  let start = skipSpaces(text, from)
  for (let before = -1; before !== start;) {
    before = start
    leadingTag.lastIndex = start
    if (leadingTag.test(text)) start = leadingTag.lastIndex
    thought.lastIndex = start
    if (from === 0 && thought.test(text)) start = thought.lastIndex
    start = skipSpaces(text, endOfComment(text, start))
  }
  return start
}

/**
 * Every value from `start` on.
 *
 * @internal
 */
export const readRoots = (text: string, start: number, edits: EditLog, options: ReadOptions): ReadonlyArray<Root> => {
  const reader = makeReader(text, edits, options)
  if (!options.isJson) skipped(edits, text, 0, start)
  const read: ReadRoot = (at, unopened) => ({ ...reader(at, unopened), start: at })
  const roots = [options.isJson ? read(start) : readFirst(text, start, edits, options, read)]
  for (;;) {
    const { end } = roots[roots.length - 1]!
    const from = skipTags(text, end)
    skipped(edits, text, end, from)
    if (from >= text.length) return roots
    const next = "{[".includes(text[from]!) ? from : nextRoot(text, from)
    if (next !== from) {
      const between = text.slice(from, next)
      const isFirst = !hasWords(text.slice(start, roots[0]!.start))
      const isItem = next !== undefined && between.trim() === "," && Array.isArray(roots[roots.length - 1]!.value)
      if (isItem || !mayBeProse(between, isFirst)) throw new Refused("garbage", from)
      const isCloser = /^[\s}\])]*$/.test(between)
      edits.add(isCloser ? "surplus-close" : "prose", from, undefined, between.trim(), "", riskOf(between))
    }
    if (next === undefined) return roots
    roots.push(read(next))
  }
}

/** Whether what stands behind a value may be prose: what looks like a part of the value is not. */
const mayBeProse = (between: string, isFirst: boolean): boolean => {
  const text = between.trim()
  return /^(?:["'`]{1,2}|[\s}\]);]*)$/.test(text) || !(partOfValue.test(text) || isFirst && /^,./s.test(text))
}

/** An object in the middle of sentences may be an example of what not to do; one in a code fence is meant. */
const riskOf = (prose: string): "ambiguous" | undefined =>
  !prose.includes("```") && hasWords(prose) ? "ambiguous" : undefined

/**
 * Whether words stand in a text, besides tags and the names of languages.
 *
 * @internal
 */
export const hasWords = (text: string): boolean =>
  /\p{L}{2}/u.test(text.replace(/```\w*|<[^<>]{1,64}>|\[\/?[A-Z_]+\]/g, ""))

const skipped = (edits: EditLog, text: string, from: number, to: number): void => {
  const start = skipSpaces(text, from)
  if (start < to) edits.add("prose", start, undefined, text.slice(start, to), "")
}

const readFirst = (text: string, start: number, edits: EditLog, { place }: ReadOptions, read: ReadRoot): Root => {
  const head = text.slice(start, start + 256)
  // An object or a list in brackets, where the schema wants no list of it.
  const grouped = /^\(\s*(?=([{[]))/.exec(head)
  if (grouped !== null && place !== anywhere && takes(place, grouped[1] === "{" ? Type.object : Type.array)) {
    edits.add("brackets", start, undefined, "(", "")
    return read(start + grouped[0].length)
  }
  if (/^[{[(｛［]/.test(head) && !bracketsInProse.test(head)) return read(start)
  const next = skipSpaces(text, start + 2)
  if (head.startsWith("\"\"") && "{[".includes(text[next] ?? " ")) {
    // The empty string that some providers send first.
    edits.add("documents", start, undefined, "\"\"", "")
    return read(next)
  }
  const key = looseKeyAhead(text, start) ?? firstKey.exec(head)?.[1]
  if (key !== undefined) {
    const isKey = isQuote(text.charCodeAt(start))
      ? takes(place, Type.object)
      : place.members?.has(key) === true || bareMembers.test(text.slice(start + key.length))
    if (isKey) return read(start, "{")
  }
  const last = text[text.trimEnd().length - 1]
  if (last === "]" && firstItem.test(head)) return read(start, "[")
  if (/^["'`][{[]/.test(head) && last === head[0]) {
    edits.add("quotes", start, undefined, head[0], "")
    return read(start + 1)
  }
  if (opensString(text, start)) return read(start)
  const fenced = afterFence(text, start)
  const first = fenced === start ? nextRoot(text, start) : skipSpaces(text, fenced)
  if (first === undefined) throw new Refused("no-json", start)
  const prose = text.slice(start, first)
  edits.add("prose", start, undefined, prose, "", riskOf(prose))
  return read(first)
}

/**
 * The beginning of the first code fence that holds a value, `start` where there is none.
 *
 * @internal
 */
export const afterFence = (text: string, start: number): number => {
  fence.lastIndex = start === 0 ? 0 : start - 1
  while (fence.test(text)) {
    if ("{[｛［".includes(text[skipSpaces(text, fence.lastIndex)] ?? " ")) return fence.lastIndex
  }
  return start
}

const nextRoot = (text: string, from: number): number | undefined => {
  rootStart.lastIndex = from
  let found = rootStart.exec(text)
  // What a model only thought is not what it said.
  while (found?.[0].startsWith("<")) found = rootStart.exec(text)
  return found?.index
}
