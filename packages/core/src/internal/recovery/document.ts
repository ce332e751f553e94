/**
 * From a text to the value that was meant: found in the text, read, chosen among several, and made to fit the schema.
 */
import type { Edit } from "../../Edit.ts"
import { toPointer } from "../../InputIssue.ts"
import { getOwn } from "../ownProperty.ts"
import { trimEnd } from "./characters.ts"
import { choose, isEmpty } from "./choose.ts"
import { coerce } from "./coerce.ts"
import { EditLog } from "./editLog.ts"
import { anywhere, type Place, takes, Type } from "./place.ts"
import { mayBeRaw, onlyText, withoutFence } from "./rawText.ts"
import { Refused } from "./refused.ts"
import { afterFence, hasWords, readRoots, type Root, skipTags } from "./roots.ts"
import { decodeWhole } from "./wholeText.ts"

/** @internal */
export interface DocumentOptions {
  readonly place: Place
  readonly toolName: string | undefined
  readonly maxDepth: number
  /** The text is JSON. */
  readonly isJson: boolean
  /** What to do where the text ends inside something. */
  readonly closesTruncated: boolean
  /** Where two readings remain, take the one that is not preferred. */
  readonly prefersOther: boolean
  /** How often what was read may be a text to read again. */
  readonly maxEncodings: number
}

/** @internal */
export interface ReadDocument {
  readonly value: unknown
  readonly edits: ReadonlyArray<Edit>
  /** Where the text was cut off, if it was. */
  readonly truncatedAt: number | undefined
  /** Whether there was a place where two readings remained. */
  readonly isForked: boolean
}

const envelopeKeys = ["arguments", "args", "input", "parameters", "params", "kwargs"]

/** @internal */
export const readDocument = (text: string, options: DocumentOptions): ReadDocument => {
  const { isJson, place } = options
  const start = isJson ? 0 : skipTags(text, 0)
  if (start >= text.length) throw new Refused("no-json", 0)
  const decoded = isJson ? undefined : decodeWhole(text, start)
  if (decoded !== undefined) return readAgain(decoded, start, options)
  const name = onlyText(place)
  if (isJson || name === undefined || !mayBeRaw(text, start, name) || afterFence(text, start) !== start) {
    return readValue(text, start, options)
  }
  let read: ReadDocument | undefined
  try {
    read = readValue(text, start, options)
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal
  }
  if (read !== undefined && getOwn(read.value, name) !== undefined) {
    // Without quotes around the name it may as well be an object in the code.
    if (/['“`]/.test(text[text.indexOf(name) - 1] ?? "")) return read
    throw new Refused("garbage", start)
  }
  const edit: Edit = { kind: "raw-text", offset: start, pointer: toPointer([name]), risk: "ambiguous" }
  return { value: { [name]: withoutFence(text) }, edits: [edit], truncatedAt: undefined, isForked: false }
}

const readValue = (text: string, start: number, options: DocumentOptions): ReadDocument => {
  const { place, toolName } = options
  const edits = new EditLog()
  const names = toolName === undefined ? envelopeKeys : [...envelopeKeys, toolName]
  const hasEnvelope = place.members !== undefined && !takes(place, Type.array)
  const roots = readRoots(text, start, edits, {
    ...options,
    envelopeKeys: new Set(hasEnvelope ? names.filter((key) => !place.members!.has(key)) : [])
  })
  const root = choose(roots, text, place)
  if (roots.length > 1) edits.add("documents", root.start, undefined)
  const { truncatedAt } = roots[roots.length - 1]!
  if (truncatedAt !== undefined && (roots.length > 1 || isEmpty(root.value))) {
    throw new Refused("truncated", text.length)
  }
  const fitted = fit(root.value, options)
  const isObject = typeof fitted.value === "object" && fitted.value !== null
  if (!options.isJson && (!isObject || roots.length === 1 && isEmpty(fitted.value) && isInProse(text, root))) {
    throw new Refused("no-json", root.start)
  }
  return {
    value: fitted.value,
    edits: [...edits.all(), ...fitted.edits],
    truncatedAt,
    isForked: roots.some(({ isForked }) => isForked)
  }
}

/**
 * The value as the schema takes it, as far as that is certain.
 *
 * @internal
 */
export const fit = (
  value: unknown,
  options: DocumentOptions
): { readonly value: unknown; readonly edits: ReadonlyArray<Edit> } => {
  const { place, toolName } = options
  const edits: Array<Edit> = []
  if (place === anywhere) return { value, edits }
  const fitted = coerce(value, place, {
    toolName,
    onEdit: (kind, path, before, after, risk) => {
      const edit: Edit = { kind, pointer: toPointer(path), before: written(before), after: written(after) }
      edits.push(risk === undefined ? edit : { ...edit, risk })
    },
    decode: (text, at) => decode(text, { ...options, place: at, toolName: undefined })?.value
  })
  const name = onlyText(place)
  const isAlone = typeof fitted === "string" && name !== undefined && !takes(place, Type.string)
  if (!isAlone || /^\s*[{[]/.test(fitted)) return { value: fitted, edits }
  edits.push({ kind: "wrapped", pointer: toPointer([name]), risk: "ambiguous" })
  return { value: { [name]: fitted }, edits }
}

const maxExcerpt = 200

const written = (value: unknown): string => {
  const text = typeof value === "object" && value !== null ? "…" : JSON.stringify(value) ?? ""
  return text.length > maxExcerpt ? `${text.slice(0, maxExcerpt)}…` : text
}

const isInProse = (text: string, { end, start }: Root): boolean =>
  hasWords(text.slice(0, start)) || hasWords(text.slice(end))

/** Reads a text that was encoded as a whole: its offsets are those of another text. */
const readAgain = (text: string, start: number, options: DocumentOptions): ReadDocument => {
  const read = decode(text, options)
  if (read === undefined) throw new Refused("garbage", start)
  const edits = read.edits.map(({ offset: _, ...edit }) => edit)
  return { ...read, edits: [{ kind: "decoded", offset: start, pointer: "" }, ...edits] }
}

/** Reads a text that stood in the text; `undefined` where it is nothing to read. */
const decode = (text: string, options: DocumentOptions): ReadDocument | undefined => {
  const trimmed = text.trimStart()
  const isJson = isStrict(text)
  const isWritten = /^(?:[{[]|```)/.test(trimmed) || isJson && trimmed.startsWith("\"")
  if (options.maxEncodings === 0 || !isWritten) return undefined
  try {
    // What is inside of a string that is complete was not cut off.
    return readDocument(text, { ...options, isJson, closesTruncated: false, maxEncodings: options.maxEncodings - 1 })
  } catch (refusal) {
    if (refusal instanceof Refused && refusal.reason !== "forbidden-key") return undefined
    throw refusal
  }
}

const objectStart = /^\{\s*["}]/
const objectEnd = /["\d\]}{el]\s*\}\s*$|^\s*\}\s*$/

/**
 * Whether a text is JSON.
 *
 * @internal
 */
export const isStrict = (text: string): boolean => {
  // A failure of JSON.parse costs more than a short text: most of what is no JSON shows it at one of its ends.
  if (
    text.startsWith("{") && !(objectStart.test(text) && objectEnd.test(text.slice(trimEnd(text, 0, text.length) - 64)))
  ) {
    return false
  }
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
