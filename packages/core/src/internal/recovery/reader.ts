/**
 * Reads one value out of a malformed text, straight to values: iterative, forward only, every place decided by what follows there and by
 * what the schema says.
 */
import type { Edit } from "../../Edit.ts"
import { numberLoss } from "../jsonReader.ts"
import {
  endOfThousands,
  endsNumber,
  findBareEnd,
  hasLeadingZero,
  literal,
  literalFrom,
  literalNames,
  number
} from "./bareText.ts"
import {
  closersOf,
  endOfComment,
  isAt,
  isCloser,
  isComment,
  isDigit,
  isEscapedSpace,
  isQuote,
  isSpace,
  isWordCode,
  punctuation,
  skipLines,
  skipSpaces,
  trimEnd
} from "./characters.ts"
import type { EditLog } from "./editLog.ts"
import { type Content, decode, hasControl, literally, withoutHalfEscape } from "./escapes.ts"
import { Fit, follow, keyAhead } from "./follow.ts"
import { expects, findObject, type Frame } from "./frame.ts"
import { anywhere, itemAt, memberAt, type Place, takes, Type, typeOf } from "./place.ts"
import { type Reason, Refused, TooDeep } from "./refused.ts"
import { endBeforeClosers, endOfQuotes, findStringEnd } from "./stringEnd.ts"

/** @internal */
export interface ReadOptions {
  readonly place: Place
  readonly maxDepth: number
  /** The text is JSON: every quote that is not escaped ends its string. */
  readonly isJson: boolean
  /** What to do where the text ends inside something. */
  readonly closesTruncated: boolean
  /** Where two readings remain, take the one that is not preferred. */
  readonly prefersOther: boolean
  /** Keys at the root whose value is what was meant instead of the root. */
  readonly envelopeKeys: ReadonlySet<string>
}

/** @internal */
export interface Read {
  readonly value: unknown
  /** The offset after the value. */
  readonly end: number
  /** Where the text was cut off, if it was. */
  readonly truncatedAt: number | undefined
  /** Whether there was a place where two readings remained. */
  readonly isForked: boolean
}

const State = { key: 0, value: 1, after: 2 } as const

const escapedQuote = /(?<!\\)\\"/g
const separator = /=>?|:=|->|→/y
const bareKey = /[\p{L}\p{N}_$@][\p{L}\p{N}_$@.-]*/uy
const keyThenColon = /^\s*([\p{L}_$][\p{L}\p{N}_$-]*)\s*[:：=]/u
const word = /[A-Za-z]+/y
const valueStart = /["'`“«‘{[\d.+-]|(?:true|false|null|True|False|None)\b/y
const decimal = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/y
/** Letters that Python puts before a quote. */
const memberInComment = /,\s*["']?[\w-]+["']?\s*:|^..?\s*\d/
const leftOut = /\.\.\.|…|\b(?:rest of|remaining|omitted|etc)\b/i
const stringPrefix = /^(?:[rbuf]|[bf]r|r[bf])$/i
const notFinite = /^[+-]?(?:nan|inf|infinity)$/i

/**
 * A reader of the values in a text.
 *
 * @internal
 */
export const makeReader = (
  text: string,
  edits: EditLog,
  options: ReadOptions
): (start: number, unopened?: "{" | "[") => Read => {
  let limit = text.length
  let offset = 0
  let state: number = State.value
  let top: Frame | undefined
  let root: unknown
  /** How many frames of each closing bracket are open. */
  const open: Record<number, number> = { 0x7d: 0, 0x5d: 0, 0x29: 0 }
  /** How many of the open frames are wanted as a text only. */
  let texts = 0
  /** The offset of the comma after which nothing came yet. */
  let comma = -1
  /** The offset of the value that was read last, if it was a string. */
  let lastString = -1
  /** Whether the last value may go on beyond the end of the text: a number, a bare word. */
  let isOpenEnded = false
  /** The sort of doubt that left two readings. */
  let forked: string | undefined
  /** Whether the string that is read has no escapes, but for quotes. */
  let isRaw = false
  /** The offsets of the quotes of a key that was looked at already. */
  let keyStart = -1
  let keyEnd = -1
  const names: Array<string | undefined> = []
  let hasOddSpace = false
  /** The offset of the last character that is no space, once somebody asked. */
  let lastAt: number | undefined
  let truncatedAt: number | undefined

  /** The value that begins at `start`; of one without its opening bracket, at what comes first in it. */
  const read = (start: number, unopened?: "{" | "["): Read => {
    offset = start
    state = State.value
    lastString = -1
    forked = undefined
    isOpenEnded = false
    if (unopened !== undefined) {
      edit("missing-open", start, "", unopened)
      push(unopened === "{" ? 0x7d : 0x5d, 0)
    }
    do {
      skip()
      if (offset >= limit) finish()
      else if (state === State.value) value()
      else if (state === State.key) members()
      else next()
    } while (top !== undefined || state !== State.after)
    return { value: root, end: offset, truncatedAt, isForked: forked !== undefined }
  }

  const edit = (kind: string, at: number, before?: string, after?: string, risk?: Edit["risk"]): void => {
    edits.add(kind, at, top, before, after, risk)
  }

  const refuse = (reason: Reason, at = offset): never => {
    throw new Refused(reason, at)
  }

  /** Whether of two readings the other one is wanted. Of two doubts of different sorts come more than two readings. */
  const fork = (sort: string): boolean => {
    if (forked !== undefined && forked !== sort) return refuse("garbage")
    forked = sort
    return options.prefersOther
  }

  /** Moves on over what stands between the parts of the text. */
  const skip = (): void => {
    for (; offset < limit; offset++) {
      const code = text.charCodeAt(offset)
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) continue
      if (code < 0x80 && code !== 0x2f && code !== 0x23 && code !== 0x5c && code !== 0x60 && code > 0x20) return
      if (isSpace(code)) {
        if (!hasOddSpace) edit("space", offset, text[offset], " ")
        hasOddSpace = true
      } else if (isEscapedSpace(text, offset)) {
        edit("space", offset, text.slice(offset, offset + 2), "")
        offset++
      } else if (isComment(text, offset) && !isColour(code)) {
        skipComment()
      } else {
        // The end of a code fence is the end of the text.
        if (code === 0x60 && top !== undefined && text.startsWith("```", offset)) limit = offset
        return
      }
    }
  }

  /** Whether a number sign begins a value, as that of a colour does. */
  const isColour = (code: number): boolean =>
    code === 0x23 && state === State.value && isWordCode(text.charCodeAt(offset + 1))

  /** Whether the schema wants a text here. */
  const isTextPlace = (place: Place): boolean => takes(place, Type.string) && place.types !== Type.any

  const skipComment = (): void => {
    const found = text.slice(offset, endOfComment(text, offset))
    // Or a heading, where a text is wanted.
    if (found[0] === "#" && state === State.value && top?.isList === false && isTextPlace(here())) {
      if (!isQuote(text.charCodeAt(skipSpaces(text, offset + found.length)))) return refuse("garbage")
    }
    // What stands behind the sign up to the end of the text may be anything but a comment.
    if (top !== undefined && offset + found.length >= limit) {
      if (!options.closesTruncated || /["'{}[\]:]/.test(found)) return refuse("garbage")
    }
    // A comment that begins behind a value and holds a member may be none, and what was left out is not there.
    if (!found.startsWith("/*") && memberInComment.test(found) && isBehindValue()) return refuse("garbage")
    edit("comment", offset, found, "", leftOut.test(found) ? "lossy" : undefined)
    offset += found.length - 1
  }

  /** Whether a value stands in the same line before this place: what looks like a comment may be a division. */
  const isBehindValue = (): boolean => text.slice(text.lastIndexOf("\n", offset) + 1, offset).trim() !== ""

  /** What the schema says about the value that is read. */
  const here = (): Place => {
    const frame = top
    if (frame === undefined) return options.place
    const { place } = frame
    if (place === anywhere) return anywhere
    if (frame.isList) {
      // A list in place of the object: its only item is what is meant.
      return takes(place, Type.array) ? itemAt(place, frame.target.length) : place
    }
    return place === options.place && options.envelopeKeys.has(frame.key) ? place : memberAt(place, frame.key)
  }

  const value = (): void => {
    const first = text.charCodeAt(offset)
    if (first === 0x22) return string()
    const code = punctuation(first)
    if (code === 0x7b) return push(0x7d)
    if (code === 0x5b) return push(0x5d)
    if (isDigit(first) || first === 0x2d) {
      if (integer()) return
    } else if (code === 0x28) {
      if (startsTuple()) return push(0x29)
      if (isQuote(text.charCodeAt(skipSpaces(text, offset + 1)))) return refuse("garbage")
    }
    if (code === 0x2c || isCloser(code)) {
      if (top?.isList !== true) return refuse("no-value")
      if (code !== 0x2c) return close(code)
      edit("comma", offset++, ",", "")
      return
    }
    if (code === 0x3a && top?.isList === false) {
      edit("separator", offset++, text[offset - 1], "")
      return
    }
    if (text.startsWith("...", offset) || first === 0x2026) return refuse("elided")
    if (isQuote(first) && !text.startsWith("```", offset)) return string()
    if (first === 0x5c && text[offset + 1] === "\"") return escapedString()
    if (keyword()) return
    bare()
  }

  /** Whether a bracket that JSON does not have opens a list. */
  const startsTuple = (): boolean => {
    const place = here()
    const first = skipSpaces(text, offset + 1)
    if (text[first] !== "(" && !startsValue(first)) return false
    return place === anywhere || takes(place, Type.array) || !takes(place, Type.string)
  }

  const push = (closer: number, width = 1, target: unknown = closer === 0x7d ? {} : []): void => {
    const place = here()
    const isList = closer !== 0x7d
    const depth = top === undefined ? 1 : top.depth + 1
    if (depth > options.maxDepth) throw new TooDeep(depth)
    const isText = place !== anywhere && takes(place, Type.string) && !takes(place, isList ? Type.array : Type.object)
    if (isText) texts++
    if (closer === 0x29) edit("brackets", offset, "(", "[")
    top = {
      parent: top,
      depth,
      closer,
      isList,
      target: target as Frame["target"],
      place: isText ? anywhere : place,
      start: offset,
      edits: edits.size,
      isText,
      key: "",
      firstKey: undefined,
      pointer: undefined
    }
    open[closer]!++
    state = isList ? State.value : State.key
    comma = -1
    offset += width
  }

  /** Puts a complete value where it belongs. */
  const put = (value: unknown): void => {
    const frame = top
    state = State.after
    comma = -1
    if (frame === undefined) {
      root = value
      return
    }
    if (frame.isList) {
      frame.target.push(value)
    } else {
      if (
        frame.key === "constructor" && typeof value === "object" && value !== null && Object.hasOwn(value, "prototype")
      ) {
        if (texts === 0) refuse("forbidden-key")
      }
      // A key that is no own property by assignment was refused, or is a part of what is only wanted as a text.
      frame.target[frame.key as never] = value as never
    }
    if (text.charCodeAt(offset) !== 0x2c) return
    comma = offset++
    state = frame.isList ? State.value : State.key
  }

  /** Puts a value whose text is known: where only a text is wanted, that text. */
  const putScalar = (value: unknown, raw: string, at: number): void => {
    const place = here()
    const type = typeof value === "number" ? Type.number : Type.boolean
    // Nothing is no text, unless it is the name of something.
    const isName = value === null && place.values?.includes(raw) === true && !takes(place, Type.null)
    if (!isName && (value === null || takes(place, type) || !takes(place, Type.string))) return put(value)
    edit("raw-text", at, raw, JSON.stringify(raw))
    put(raw)
  }

  /** Ends the innermost frame at `offset`. */
  const pop = (hadComma = false): void => {
    const frame = top!
    open[frame.closer]!--
    top = frame.parent
    if (frame.closer === 0x29 && frame.target.length === 1 && !hadComma) {
      // One value in brackets is that value.
      put(frame.target[0])
    } else if (frame.isText) {
      const raw = text.slice(frame.start, offset)
      texts--
      edits.forget(frame.edits)
      // A list of texts in place of one is hardly that text.
      edit("raw-text", frame.start, raw, JSON.stringify(raw), frame.isList ? "ambiguous" : undefined)
      put(raw)
    } else {
      put(frame.target)
    }
    isOpenEnded = false
    lastString = -1
  }

  const popMissing = (): void => {
    const { closer, isText, parent } = top!
    // Of what is wanted as a text every character counts.
    if (isText && !options.closesTruncated) return refuse("truncated")
    edits.add("missing-close", offset, parent, "", String.fromCharCode(closer))
    pop()
  }

  const popTo = (frame: Frame, at: number): void => {
    const saved = offset
    offset = at
    while (top !== frame) popMissing()
    offset = saved
  }

  /** A closing bracket stands at `offset`. */
  const close = (code: number): void => {
    const frame = top!
    const hasComma = comma !== -1
    if (hasComma) edit("comma", comma, text[comma], "")
    comma = -1
    if (frame.closer !== code) {
      if (open[code] === 0) {
        edit("surplus-close", offset++, text[offset - 1], "")
        state = State.after
        return
      }
      const next = skipSpaces(text, offset + 1)
      if (frame.parent?.closer === code && text.charCodeAt(next) === frame.closer) return closeBoth(frame, next)
      while (top!.closer !== code) popMissing()
    }
    offset++
    if (top!.parent === undefined && !options.isJson && goesOn()) {
      edit("surplus-close", offset - 1, text[offset - 1], "")
      state = State.after
    } else {
      pop(hasComma)
    }
  }

  /** Two closing brackets come in the wrong order, the first is one too many, or lacks one before it: what follows says which. */
  const closeBoth = (frame: Frame, next: number): void => {
    const outer = frame.parent!.parent
    const rest = text.length - next > maxTail
      ? undefined
      : onlyClosers.exec(text.slice(next + 1))?.[0].replace(/\s/g, "").length
    const isEven = rest === (outer?.depth ?? 0)
    const isSwapped = isEven || follow(text, next + 1, outer, true) === Fit.strong
    const isSurplus = follow(text, next + 1, frame.parent, true) === Fit.strong
    const isMissing = follow(text, offset + 1, outer, true) === Fit.strong
    if (!isEven && Number(isSwapped) + Number(isSurplus) + Number(isMissing) !== 1) return refuse("garbage")
    if (isMissing && !isEven) {
      popMissing()
      offset++
      return pop()
    }
    if (isSurplus && !isEven) {
      edit("surplus-close", offset++, text[offset - 1], "")
      state = State.after
      return
    }
    edit("swapped-close", offset, text.slice(offset, next + 1), `${text[next]}${text[offset]}`)
    pop()
    offset = next + 1
    pop()
  }

  /** Whether the value at the root goes on after a bracket that closed it too early. */
  const goesOn = (): boolean => {
    const at = skipSpaces(text, offset)
    const frame = top!
    if (text[at] !== "," || follow(text, at, frame, false) !== Fit.strong) return false
    const next = text[skipSpaces(text, at + 1)]
    // One list after another is no list that goes on.
    return frame.isList
      ? next !== "[" && text.charCodeAt(lastAt ??= trimEnd(text, 0, text.length) - 1) === frame.closer
      : next === "\""
  }

  /** What follows a value: a comma, a closing bracket, or something that lacks a comma. */
  const next = (): void => {
    const frame = top!
    const first = text.charCodeAt(offset)
    const code = punctuation(first)
    isOpenEnded = false
    if (code === 0x2c || code === 0x3b) {
      if (first !== 0x2c) edit("comma", offset, text[offset], ",")
      comma = offset++
      state = frame.isList ? State.value : State.key
    } else if (isCloser(code)) {
      close(code)
    } else if (code === 0x2b && lastString !== -1) {
      concatenate()
    } else if (code === 0x3a && frame.isList && lastString !== -1 && !options.isJson) {
      takeKeyOut(frame.target.pop() as string, lastString)
    } else if (frame.isList ? startsValue() : keyAhead(text, offset, frame, false) !== Fit.none) {
      edit("comma", offset, "", ",")
      state = frame.isList ? State.value : State.key
    } else {
      refuse("garbage")
    }
  }

  const startsValue = (at = offset): boolean => {
    valueStart.lastIndex = at
    return valueStart.test(text)
  }

  /** A string goes on in another one: `"a" + "b"`. */
  const concatenate = (): void => {
    const frame = top!
    const at = offset
    offset = skipSpaces(text, at + 1)
    if (!isQuote(text.charCodeAt(offset))) return refuse("garbage")
    edit("concatenation", at, "+", "")
    const more = quoted()
    const key = (frame.isList ? frame.target.length - 1 : frame.key) as never
    frame.target[key] = `${frame.target[key] as string}${more}` as never
  }

  /** A key stands in a list: an item lacks its bracket, or the list, and what is around it up to the object that has such a key, was not closed. */
  const takeKeyOut = (key: string, at: number): void => {
    const frame = top!
    const item = frame.target[frame.target.length - 1]
    const place = itemAt(frame.place, frame.target.length - 1)
    const owner = findObject(top, (frame) => expects(frame, key)) ??
      findObject(top, (frame) => !frame.place.isClosed && !Object.hasOwn(frame.target, key) && frame.key !== key)
    if (typeof item === "object" && item !== null && Object.hasOwn(item, key)) {
      // Or the list was not closed, and the object around it has such a key as well.
      if (owner !== undefined && place.members?.has(key) !== true) return refuse("garbage", at)
      const saved = offset
      edit("missing-open", at, "", "{")
      push(0x7d, 0)
      offset = saved
      return begin(key, at)
    }
    if (place.members?.has(key) === true && typeof item === "object" && item !== null && !Object.hasOwn(item, key)) {
      // The item before was closed too early.
      const saved = offset
      edit("surplus-close", at, "}", "")
      frame.target.pop()
      offset = at
      push(0x7d, 0, item as Frame["target"])
      offset = saved
      return begin(key, at)
    }
    if (/["“”\n{}[\]]/.test(key)) return refuse("string-end", at)
    if (owner === undefined) return refuse("garbage", at)
    popTo(owner, at)
    begin(key, at)
  }

  const string = (): void => {
    const at = offset
    const value = quoted()
    lastString = at
    put(value)
  }

  /** A string whose quotes, and no others, are escaped. */
  const escapedString = (): void => {
    const at = offset
    escapedQuote.lastIndex = at + 2
    if (!escapedQuote.test(text)) return refuse("string-end", at)
    const end = escapedQuote.lastIndex
    if (follow(text, end, top, false) === Fit.none) return refuse("string-end", at)
    edit("quotes", at, text.slice(at, end))
    offset = end
    put(content(text.slice(at + 2, end - 2), at))
  }

  /** The text of the string whose opening quote is at `offset`. */
  const quoted = (): string => {
    const at = offset
    const quote = text.charCodeAt(at)
    isOpenEnded = false
    if (quote !== 0x22 && quote !== 0x27) return guessed()
    let hasEscapes = false
    let hasControls = false
    let end = at + 1
    for (const near = Math.min(end + maxNear, limit); end < near; end++) {
      const code = text.charCodeAt(end)
      if (code === quote) break
      if (code === 0x5c) {
        hasEscapes = true
        end++
      } else if (code < 0x20) {
        hasControls = true
      }
    }
    const isFar = end >= at + 1 + maxNear
    if (isFar) end = endOfQuotes(text, at + 1, text[at]!)
    const isCertain = end < limit && (options.isJson || isKeyNext(end + 1) ||
      !(end === at + 1 && text.charCodeAt(end + 1) === quote) && follow(text, end + 1, top, false) !== Fit.none)
    if (!isCertain) return guessed()
    offset = end + 1
    if (quote !== 0x22) edit("quotes", at, text.slice(at, end + 1))
    const raw = text.slice(at + 1, end)
    if (isFar ? hasControl(raw) : hasControls) edit("control-character", at + 1, raw)
    isOpenEnded = mayGoOn(end)
    return hasEscapes || isFar ? content(raw, at) : raw
  }

  /** Whether the quote at `end` is the last of a text that was cut off, and may be one in the string: nothing ends with a blank. */
  const mayGoOn = (end: number): boolean =>
    !options.isJson && top !== undefined && skipSpaces(text, end + 1) >= limit && /[\s([{=:>,<]/.test(text[end - 1]!)

  /** Whether a comma and a key stand here, which settles that a string ended before; the key is kept. */
  const isKeyNext = (at: number): boolean => {
    if (text.charCodeAt(at) !== 0x2c) return false
    let start = at + 1
    let code = text.charCodeAt(start)
    while (code === 0x20 || code === 0x0a) code = text.charCodeAt(++start)
    return top?.isList === false ? isKeyAt(start) : code === 0x22
  }

  /** Whether a key stands here that needs no second look, with its colon. */
  const isKeyAt = (start: number): boolean => {
    const quote = text.charCodeAt(start)
    let end = start
    if (quote === 0x22 || quote === 0x27) {
      for (let code = text.charCodeAt(++end); code !== quote; code = text.charCodeAt(++end)) {
        // Also at the end of the text, which has no code.
        if (!(code >= 0x20) || code === 0x5c) return false
      }
      if (text.charCodeAt(end + 1) !== 0x3a) return false
    } else {
      while (isWordCode(text.charCodeAt(end))) end++
      if (end === start || text.charCodeAt(end) !== 0x3a || text.charCodeAt(end + 1) !== 0x20) return false
    }
    keyStart = start
    keyEnd = end
    return true
  }

  /** The text of a string whose end is not certain. */
  const guessed = (): string => {
    const at = offset
    const quote = text[at]!
    const triple = quote.repeat(3)
    const isTriple = text.startsWith(triple, at) && (quote === "\"" || quote === "'")
    if (isTriple) {
      // Or a quote in quotes.
      if (/^\s*[,}\]]/.test(text.slice(at + 3, at + 16))) return refuse("string-end", at)
      const end = text.indexOf(triple, at + 3)
      if (end === -1) return cutString(at, at + 3)
      edit("quotes", at, text.slice(at, end + 3))
      offset = end + 3
      return content(text.slice(at + 3, end), at)
    }
    const end = findStringEnd(text, at, top)
    if (end.how === "lost") return refuse("string-end", at)
    if (end.how === "open") return cutString(at, at + 1)
    const raw = text.slice(at + 1, end.contentEnd)
    if (quote !== "\"" || end.how === "closed" && text[end.contentEnd] !== quote) {
      edit("quotes", at, text.slice(at, end.next))
    }
    if (end.how === "unquoted") {
      edit("quotes", end.next, "", quote, top?.isList === true ? "ambiguous" : undefined)
    }
    if (end.hasInnerQuotes) edit("inner-quotes", at + 1, raw)
    if (hasControl(raw)) edit("control-character", at + 1, raw)
    offset = end.next
    const last = raw.length - 1
    if (end.how === "unquoted" && isQuote(raw.charCodeAt(last)) && raw.indexOf(raw[last]!) === last) {
      // A quote of another sort, which may have been meant to close it.
      return content(fork("quote") ? raw : raw.slice(0, last), at)
    }
    if (end.how !== "backslash") return content(raw, at, end.hasInnerQuotes)
    edit("escape", end.contentEnd - 1, text.slice(end.contentEnd - 1, end.next), `\\\\${text[end.contentEnd]}`)
    return literally(raw)
  }

  /** The text ends in the string at `at`, or its closing quote is missing. */
  const cutString = (at: number, from: number): string => {
    const end = endBeforeClosers(text, from, top)
    if (!options.closesTruncated) refuse(end === undefined ? "truncated" : "string-end", at)
    if (end !== undefined && !fork("end")) {
      edit("quotes", end, "", text[at], "ambiguous")
      offset = end
      const raw = text.slice(from, end)
      return content(isQuote(raw.charCodeAt(raw.length - 1)) ? raw.slice(0, -1) : raw, at)
    }
    offset = limit
    truncatedAt = limit
    edit("cut-string", limit, "", text[at], "lossy")
    const raw = withoutHalfEscape(text.slice(from, limit))
    return content(raw, at)
  }

  const decodeRaw = (raw: string, hasInnerQuotes: boolean): Content => {
    if (isRaw || !raw.includes("\\")) return { kind: undefined, other: undefined, text: raw }
    return options.isJson
      ? { kind: undefined, other: undefined, text: JSON.parse(`"${raw}"`) as string }
      : decode(raw, hasInnerQuotes)
  }

  const content = (raw: string, at: number, hasInnerQuotes = false): string => {
    const place = here()
    const { kind, other, text } = decodeRaw(raw, hasInnerQuotes)
    if (raw.length <= maxPattern && (place.pattern !== undefined || place.isRegex)) {
      const literal = literally(raw)
      const isMeant = place.pattern === undefined
        ? /[\b\f]/.test(text)
        : !place.pattern.test(text) && place.pattern.test(literal)
      if (literal !== text && isMeant) {
        edit("escape", at, raw, JSON.stringify(literal))
        return literal
      }
    }
    if (kind !== undefined) edit("escape", at, raw, JSON.stringify(text))
    return other !== undefined && other !== text && fork("escape") ? other : text
  }

  /** Whether a whole number stands here, and is read: what most numbers are. */
  const integer = (): boolean => {
    const at = offset
    const isNegative = text.charCodeAt(at) === 0x2d
    const digits = isNegative ? at + 1 : at
    let end = digits
    let value = 0
    let code = text.charCodeAt(end)
    for (; code >= 0x30 && code <= 0x39; code = text.charCodeAt(++end)) value = value * 10 + code - 0x30
    const length = end - digits
    const isPlain = length > 0 && length <= 15 && (length === 1 || text.charCodeAt(digits) !== 0x30)
    if (!isPlain || !endsNumber(text, end, top)) return false
    const place = here()
    if (code === 0x2c && isDigit(text.charCodeAt(end + 1)) && top?.isList === false) {
      const endOfAll = endOfThousands(text, digits)
      if (endOfAll > end && (place !== anywhere || follow(text, end, top, false) === Fit.none)) {
        const raw = text.slice(at, endOfAll)
        const number = Number(raw.replaceAll(",", ""))
        offset = endOfAll
        lastString = -1
        if (takes(place, Type.number)) edit("number", at, raw, String(number))
        putScalar(number, raw, at)
        return true
      }
    }
    offset = end
    lastString = -1
    if (place === anywhere || takes(place, Type.number)) put(isNegative ? -value : value)
    else putScalar(isNegative ? -value : value, text.slice(at, end), at)
    isOpenEnded = true
    return true
  }

  /** Whether a literal, or a string with a letter before its quote, stands here and is read. */
  const keyword = (): boolean => {
    const at = offset
    word.lastIndex = at
    const name = word.exec(text)?.[0]
    if (name === undefined || name.length > 9) return false
    const end = at + name.length
    if (
      stringPrefix.test(name) && "\"'".includes(text[end] ?? " ") && follow(text, end + 1, top, false) === Fit.none
    ) {
      // What is put into a string of that sort is not in the text.
      if (/f/i.test(name)) return refuse("garbage")
      edit("quotes", at, name, "")
      offset = end
      isRaw = /r/i.test(name)
      string()
      isRaw = false
      return true
    }
    const value = literal(name)
    if (value === undefined || !endsNumber(text, end, top) && end < limit) return false
    offset = end
    lastString = -1
    if (name !== "true" && name !== "false" && name !== "null") edit("literal", at, name, String(value))
    putScalar(value, name, at)
    return true
  }

  /** Text without quotes, or a number that is not written as in JSON. */
  const bare = (): void => {
    const at = offset
    const place = here()
    const isText = isTextPlace(place)
    lastString = -1
    decimal.lastIndex = at
    const digits = decimal.exec(text)?.[0]
    if (
      digits !== undefined && decimal.lastIndex < limit && endsNumber(text, decimal.lastIndex, top) &&
      (!isText || takes(place, Type.number) || options.isJson)
    ) {
      offset = decimal.lastIndex
      return putNumber(Number(digits), digits, at)
    }
    const { end, isQuoted, next } = findBareEnd(text, at, top, isText)
    const raw = text.slice(at, end)
    offset = next
    if (next >= limit && /^[+.-]+$/.test(raw)) return
    if (options.closesTruncated ? raw === "" : raw === "" && next < limit) refuse("garbage", at)
    if (isQuoted) {
      if (/["'`]/.test(raw) && !isText || /\d,$/.test(text.slice(at - 2, at))) refuse("garbage", at)
      edit("quotes", at, "", text[end])
      return put(content(raw, at))
    }
    const isCut = next >= limit
    if (notFinite.test(raw) && !isText) refuse("number-out-of-range", at)
    const value = number(isCut ? raw.replace(/(?:[eE][+-]?|[+-])$/, "") : raw)
    if (value !== undefined) return putNumber(value, raw, at)
    const whole = literal(raw) ?? (literalFrom(raw) !== undefined && isCut ? literalFrom(raw) : undefined)
    if (whole !== undefined && isCut) {
      if (!options.closesTruncated) refuse("truncated", at)
      truncatedAt = limit
      edit("cut-literal", at, raw, String(whole), "lossy")
      return put(whole)
    }
    if (
      raw === "object Object" || raw.includes("\\\"") ||
      !isText && (literalFrom(raw) !== undefined || /["'`{}[\]();\n]/.test(raw))
    ) {
      refuse("garbage", at)
    }
    edit("bare-text", at, raw, JSON.stringify(raw))
    put(raw.includes("\\") && !isText ? content(raw, at) : raw)
    isOpenEnded = true
  }

  const putNumber = (value: number, raw: string, at: number): void => {
    const place = here()
    // Thousands in a list of numbers.
    if (hasLeadingZero(raw) && /\d,$/.test(text.slice(Math.max(0, at - 2), at))) return refuse("garbage", at)
    if (takes(place, Type.string) && (!takes(place, Type.number) || place === anywhere && hasLeadingZero(raw))) {
      const isNumber = takes(place, Type.number) && numberLoss(String(value)) === undefined && fork("number")
      if (!isNumber) edit("raw-text", at, raw, JSON.stringify(raw))
      put(isNumber ? value : raw)
    } else {
      const isJson = jsonNumber.test(raw)
      const loss = isJson ? numberLoss(raw) : numberLoss(String(value))
      if (loss !== undefined && texts === 0) {
        refuse(loss === "overflow" ? "number-out-of-range" : "unsafe-integer", at)
      }
      if (!isJson) edit("number", at, raw, String(value))
      put(value)
    }
    isOpenEnded = true
  }

  const members = (): void => {
    const frame = top!
    const at = offset
    if (!options.isJson && texts === 0) plainMembers(frame)
    if (offset === at) member()
  }

  /** Reads members that need no second look, for as long as they come: most of most texts. What is doubtful is left as it stands. */
  const plainMembers = (frame: Frame): void => {
    const { place, target } = frame
    for (let at = offset; at === keyStart || isKeyAt(at);) {
      const first = text.charCodeAt(at)
      const isQuoted = first === 0x22 || first === 0x27
      const key = keyText(isQuoted ? at + 1 : at, keyEnd)
      if (key === "__proto__" || key === "constructor" || Object.hasOwn(target, key)) return
      if (place !== anywhere && place.isClosed && place.members?.has(key) === false) return
      const here = place === anywhere ? place : memberAt(place, key)
      const afterKey = isQuoted ? keyEnd + 1 : keyEnd
      const start = skipLines(text, afterKey + 1)
      const code = text.charCodeAt(start)
      let end = start
      let value: unknown
      let hasEscapes = false
      if (code === 0x22 || code === 0x27) {
        for (let char = text.charCodeAt(++end); char !== code; char = text.charCodeAt(++end)) {
          if (!(char >= 0x20) || end - start > maxNear) return
          if (char === 0x5c) {
            hasEscapes = true
            end++
          }
        }
        end++
        const isEnd = isKeyNext(end) || end > start + 2 && follow(text, end, frame, false) !== Fit.none
        if (!isEnd) return
        value = text.slice(start + 1, end - 1)
      } else if (isDigit(code)) {
        let number = 0
        for (let char = code; isDigit(char); char = text.charCodeAt(++end)) number = number * 10 + char - 0x30
        if (end - start > 15 || code === 0x30 && end > start + 1) return
        value = number
      } else {
        const name = literalNames.get(code)
        if (name === undefined || !isAt(text, start, name)) return
        end += name.length
        value = literal(name)
      }
      if (here !== anywhere && !(takes(here, typeOf(value)) && here.pattern === undefined && !here.isRegex)) return

      const next = text.charCodeAt(end)
      const isText = typeof value === "string"
      if (next === 0x2c ? !isText && isDigit(text.charCodeAt(end + 1)) : !isText && next !== 0x7d) return
      frame.key = key
      frame.firstKey ??= key
      if (first !== 0x22) edit(isQuoted ? "quotes" : "bare-key", at, text.slice(at, afterKey))
      if (code === 0x27) edit("quotes", start, text.slice(start, end))
      if (code < 0x5b && code > 0x40) edit("literal", start, text.slice(start, end), String(value))
      target[key as never] = (hasEscapes ? content(value as string, start) : value) as never
      offset = end
      state = State.after
      comma = -1
      lastString = isText ? start : -1
      isOpenEnded = !isText || mayGoOn(end - 1)
      if (next !== 0x2c) return
      comma = offset++
      state = State.key
      offset = at = skipLines(text, offset)
    }
  }

  /** A key stands here, or the end of the object. */
  const member = (): void => {
    const frame = top!
    const at = offset
    const first = text.charCodeAt(at)
    if (at === keyStart || isKeyAt(at)) {
      const isQuoted = first === 0x22 || first === 0x27
      const name = keyText(isQuoted ? at + 1 : at, keyEnd)
      offset = isQuoted ? keyEnd + 1 : keyEnd
      frame.key = name
      if (first !== 0x22) edit(isQuoted ? "quotes" : "bare-key", at, text.slice(at, offset))
      return begin(name, at)
    }
    if (first === 0x22 || isQuote(first) && !text.startsWith("```", at)) return quotedKey(closersOf(first) ?? "\"")
    const code = punctuation(first)
    if (isCloser(code)) return close(code)
    if (code === 0x2c) {
      edit("comma", offset++, ",", "")
      return
    }
    if (text.startsWith("...", at) || first === 0x2026) return refuse("elided")
    if (code === 0x7b && frame.parent?.isList === true && comma !== -1) {
      // The next item begins, and this one was not closed.
      offset = comma
      comma = -1
      popMissing()
      return
    }
    if (code === 0x7b && frame.depth === 1 && frame.firstKey === undefined && comma === -1) {
      edits.add("surplus-open", offset++, frame.parent, "{", "")
      return
    }
    let end = at
    while (isWordCode(text.charCodeAt(end))) end++
    if (end === at || text.charCodeAt(end) !== 0x3a) {
      bareKey.lastIndex = at
      end = bareKey.test(text) ? bareKey.lastIndex : at
    }
    if (end === at) return refuse("garbage")
    const name = keyText(at, end)
    frame.key = name
    offset = end
    if (offset < limit && isQuote(text.charCodeAt(offset))) {
      if (stringPrefix.test(name) && !/[:=]/.test(text[skipSpaces(text, offset + 1)] ?? "")) {
        edit("quotes", at, name, "")
        return
      }
      edit("quotes", at, "", text[offset++])
    } else {
      edit("bare-key", at, name)
    }
    begin(name, at)
  }

  /** A key as one string for all its occurrences: the text of most keys is met before. */
  const keyText = (start: number, end: number): string => {
    const length = end - start
    if (length > 32 || length === 0) return text.slice(start, end)
    const slot = (length * 7 + text.charCodeAt(start) * 3 + text.charCodeAt(end - 1)) & 0xff
    const known = names[slot]
    return known !== undefined && known.length === length && isAt(text, start, known)
      ? known
      : names[slot] = text.slice(start, end)
  }

  const quotedKey = (closers: string): void => {
    const at = offset
    const quote = text.charCodeAt(at)
    const isPlain = quote === 0x22
    let hasEscapes = false
    let end = at + 1
    for (; end < limit; end++) {
      const code = text.charCodeAt(end)
      if (code === 0x5c) {
        hasEscapes = true
        end++
      } else if (quote === 0x27 && code !== 0x27) {
        continue
      } else if (isPlain ? code === 0x22 || code === 0x201d && !options.isJson : closers.includes(text[end]!)) {
        if (options.isJson || canEndKey(end + 1)) break
        if (code === 0x22 && isPlain) return unclosedKey(at, end)
      }
    }
    if (end >= limit) return unclosedKey(at, limit)
    const raw = keyText(at + 1, end)
    top!.key = raw
    offset = end + 1
    if (!isPlain) edit("quotes", at, text.slice(at, end + 1))
    begin(hasEscapes ? content(raw, at) : raw, at)
  }

  /** Whether what follows a quote can follow a key. */
  const canEndKey = (from: number): boolean => {
    const at = skipSpaces(text, from)
    const code = punctuation(text.charCodeAt(at))
    if (code === 0x3a || code === 0x3d || at >= limit || code === 0x2c || isCloser(code) || isComment(text, at)) {
      return true
    }
    valueStart.lastIndex = at
    return at > from && valueStart.test(text)
  }

  /** A key without its closing quote: its name, up to a colon before `end`. */
  const unclosedKey = (at: number, end: number): void => {
    const content = text.slice(at + 1, end)
    const found = keyThenColon.exec(content)
    // A key and a colon that were cut off may as well be the beginning of a longer key.
    if (found === null || end >= limit && !startsValue(skipSpaces(text, at + 1 + found[0].length))) {
      if (end < limit) return refuse("garbage", at)
      offset = limit
      return finish()
    }
    top!.key = found[1]!
    edit("quotes", at, "", text[at])
    offset = at + found[0].length
    begin(found[1]!, at)
  }

  /** The member of that key begins. */
  const begin = (name: string, at: number): void => {
    let frame = top!
    let key = name
    const { place } = frame
    if (place !== anywhere && place.isClosed && !options.isJson && place.members?.has(key) === false) {
      const owner = findObject(frame.parent, (open) => expects(open, key))
      if (owner !== undefined) {
        popTo(owner, at)
        frame = owner
      }
    }
    if (Object.hasOwn(frame.target, key) && texts === 0) {
      if (startsNextItem(frame, key)) {
        const saved = offset
        edit("missing-item", at, "", "}, {")
        offset = at
        pop()
        push(0x7d, 0)
        offset = saved
        frame = top!
      } else if (!options.isJson) {
        refuse("duplicate-key", at)
      }
    }
    if (key === "__proto__") {
      if (texts === 0) refuse("forbidden-key", at)
      key = ""
    }
    frame.firstKey ??= key
    frame.key = key
    comma = -1
    state = State.value
    separate(at)
  }

  /** Whether the first key of an item that is complete begins the next item. */
  const startsNextItem = (frame: Frame, key: string): boolean => {
    const { required } = frame.place
    return frame.firstKey === key && frame.parent?.isList === true && required.size > 0 &&
      [...required].every((name) => Object.hasOwn(frame.target, name))
  }

  /** Moves on over what separates a key from its value. */
  const separate = (at: number): void => {
    const end = offset
    if (text.charCodeAt(offset) === 0x3a) {
      offset++
      return
    }
    skip()
    if (offset >= limit) return
    separator.lastIndex = offset
    const found = separator.exec(text)?.[0]
    if (found !== undefined) {
      edit("separator", offset, found, ":")
      offset += found.length
      return
    }
    const first = text.charCodeAt(offset)
    if (punctuation(first) === 0x3a) {
      if (first !== 0x3a) edit("separator", offset, text[offset], ":")
      offset++
      return
    }
    if (!startsValue() || !/^[\p{L}\p{N}_$-]{1,128}$/u.test(top!.key)) return refuse("no-value", at)
    edit("separator", end, "", ":")
  }

  /** The text is over. */
  const finish = (): void => {
    const frame = top
    if (frame === undefined) return refuse("no-json")
    const isWhole = state === State.after && !isOpenEnded
    if (!isWhole) {
      if (!options.closesTruncated) return refuse("truncated", limit)
      edit("cut", limit, undefined, undefined, "lossy")
    }
    truncatedAt = limit
    offset = limit
    while (top !== undefined) popMissing()
  }
  return read
}

/** How long the end of a text is in which brackets are counted. */
const maxTail = 512
const onlyClosers = /^[\s}\])]*$/
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** How long a text is that is held against a pattern: one of polynomial time must not have more. */
const maxPattern = 1000

/** How far a quote is looked for character by character, before the engine's own search costs less. */
const maxNear = 64
