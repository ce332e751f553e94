/**
 * Makes a JSON value fit the schema where the schema refuses it as it is and leaves no doubt about what was meant.
 *
 * What is required is never made up, a member that the schema does not know is never left out, and a value that fits stays the
 * same. Whether the outcome fits is for the schema to say.
 *
 * The kinds of edits:
 *
 * - `number`, `boolean`, `null`: a string that is written like one became one.
 * - `text`: a whole number where only a string is taken became its digits.
 * - `decoded`: a string where only a list or an object is taken was JSON.
 * - `wrapped`: a single value became a list of one.
 * - `unwrapped`: a list of one object became the object.
 * - `enum`: a value that one of those in the schema is but for its case and separators.
 * - `null-optional`: null for a member that may be absent and does not take null was left out.
 * - `key-style`: a key that the one of an absent member is but for its case and separators.
 * - `envelope`: arguments with the call around them.
 * - `no-arguments`: null for all arguments where none is required became an empty object.
 */
import { nameCandidate } from "../nameCandidate.ts"
import { setOwn } from "../ownProperty.ts"
import { anywhere, itemAt, memberAt, type Place, takes, Type, typeOf } from "./place.ts"

/** @internal */
export interface CoerceOptions {
  readonly toolName?: string | undefined
  /** `path` is only valid during the call. */
  readonly onEdit: (
    kind: string,
    path: ReadonlyArray<string | number>,
    before: unknown,
    after: unknown,
    risk?: "ambiguous"
  ) => void
  /** Reads a text as JSON, malformed or not; `undefined` where it is none. */
  readonly decode: (text: string, place: Place) => unknown
}

type Path = Array<string | number>
type Members = Record<string | number, unknown>

/** Below this depth everything stays as it is. */
const maxDepth = 1000

/**
 * The value has to be a tree. It stays as it is: where something changes, the outcome has a copy.
 *
 * @internal
 */
export const coerce = (value: unknown, place: Place, options: CoerceOptions): unknown => {
  const path: Path = []

  const visit = (at: unknown, where: Place): unknown => {
    if (where === anywhere || path.length > maxDepth) return at
    const fitted = fit(at, where, path, options)
    if (typeof fitted !== "object" || fitted === null || !takes(where, typeOf(fitted))) return fitted
    const isList = Array.isArray(fitted)
    const before = (isList ? fitted : fitMembers(fitted, where, path, options)) as Members
    let after = before
    const visitMember = (key: string | number, inside: Place): void => {
      path.push(key)
      const member = visit(before[key], inside)
      path.pop()
      if (member === before[key]) return
      if (after === before) after = (isList ? fitted.slice() : { ...before }) as Members
      setOwn(after, key, member)
    }
    if (isList) { for (let index = 0; index < fitted.length; index++) visitMember(index, itemAt(where, index)) }
    else for (const key of Object.keys(before)) visitMember(key, memberAt(where, key))
    return after
  }

  return visit(fitRoot(value, place, options), place)
}

const isObject = (value: unknown): value is Members => typeOf(value) === Type.object

const isTaken = (value: unknown, { isInteger, types, values }: Place): boolean => {
  const type = typeOf(value)
  return (types & type) !== 0 && (type >= Type.array || values === undefined || values.includes(value)) &&
    !(isInteger && type === Type.number && !Number.isInteger(value))
}

const literals: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
  ["none", null]
])
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const jsonText = /^\s*(?:```\w*\s*)?[[{]/
const nothingOrTexts = /^(?:|-|none|null|nil|n\/a|undefined|empty)$|[,;\n]/i

/** The number, unless it is whole and beyond 2^53, where digits are lost. */
const numberOf = (text: string): number | undefined => {
  const number = jsonNumber.test(text) ? Number(text) : Infinity
  return Number.isSafeInteger(number) || number % 1 !== 0 && Number.isFinite(number) ? number : undefined
}

/** One value by itself; its members come later. */
const fit = (value: unknown, place: Place, path: Path, { decode, onEdit }: CoerceOptions): unknown => {
  if (isTaken(value, place)) return value
  const become = (kind: string, after: unknown, risk?: "ambiguous"): unknown => {
    onEdit(kind, path, value, after, risk)
    return after
  }
  if (typeof value === "string") {
    const meanings = [
      textsOf(place.values ?? none).get(bare(value)),
      numberOf(value),
      literals.get(value.toLowerCase())
    ]
    const meant = meanings.find((one) => isTaken(one, place))
    if (meant !== undefined) {
      return become(typeof meant === "string" ? "enum" : meant === null ? "null" : typeof meant, meant)
    }
    if (jsonText.test(value)) {
      const decoded = takes(place, Type.array | Type.object) ? decode(value, place) : undefined
      return typeOf(decoded) >= Type.array && takes(place, typeOf(decoded)) ? become("decoded", decoded) : value
    }
    if (nothingOrTexts.test(value)) return value
  }
  if (Number.isSafeInteger(value) && isTaken(String(value), place)) return become("text", String(value))
  if (takes(place, Type.array)) {
    const isItem = value !== null && place.prefix.length < 2 && takes(itemAt(place, 0), typeOf(value))
    return isItem ? become("wrapped", [value]) : value
  }
  const isOneObject = Array.isArray(value) && value.length === 1 && isObject(value[0]) && takes(place, Type.object)
  return isOneObject ? become("unwrapped", value[0], "ambiguous") : value
}

/** A text without its case and what separates the words in it. A sign is no separator. */
const bare = (text: string): string =>
  text.trim().toLowerCase().replace(/(?<=\p{L})[\s_-]+(?=[\p{L}\d])|(?<=\d)[\s_-]+(?=\p{L})/gu, "")

const none: ReadonlyArray<never> = []

type Texts = ReadonlyMap<string, string | undefined>

/** By its bare form each text, `undefined` where several have the same. */
const byBareForm = (texts: Iterable<unknown>): Texts => {
  const found = new Map<string, string | undefined>()
  for (const text of texts) {
    if (typeof text !== "string") continue
    const form = bare(text)
    found.set(form, found.has(form) ? undefined : text)
  }
  return found
}

const knownTexts = new WeakMap<object, Texts>()

/** The same for the names or the values of a place, worked out once. */
const textsOf = (known: ReadonlyMap<string, Place> | ReadonlyArray<unknown>): Texts => {
  let texts = knownTexts.get(known)
  if (texts === undefined) knownTexts.set(known, texts = byBareForm(known instanceof Map ? known.keys() : known))
  return texts
}

/** The object with the keys that are meant, and without null for what may be absent. */
const fitMembers = (value: object, place: Place, path: Path, { onEdit }: CoerceOptions): object => {
  const { isClosed, members, required } = place
  if (members === undefined) return value
  const keys = Object.keys(value)
  const isAbsent = (name: string) => !Object.hasOwn(value, name) && (isClosed || required.has(name))
  const strange = keys.filter((key) => !members.has(key))
  const unknown = byBareForm(strange.length > 0 && [...members.keys()].some(isAbsent) ? strange : none)
  const nameOf = (key: string): string => {
    const form = unknown.size > 0 ? bare(key) : ""
    const name = unknown.get(form) === key ? textsOf(members).get(form) : undefined
    return name !== undefined && isAbsent(name) ? name : key
  }
  const isFiller = (key: string, name: string): boolean => {
    const where = (value as Members)[key] === null && !required.has(name) ? members.get(name) : undefined
    return where !== undefined && !takes(where, Type.null)
  }
  if (keys.every((key) => nameOf(key) === key && !isFiller(key, key))) return value
  const outcome = {}
  for (const key of keys) {
    const name = nameOf(key)
    path.push(key)
    if (name !== key) onEdit("key-style", path, key, name)
    if (isFiller(key, name)) onEdit("null-optional", path, null, undefined)
    else setOwn(outcome, name, (value as Members)[key])
    path.pop()
  }
  return outcome
}

const maxEnvelopes = 3
const maxEnvelopeKeys = 8
const argumentKey = /^(?:arguments|args|input|parameters|params|kwargs)$/
const nameKey = /^(?:name|tool|tool_name|function)$/
const companionKey = /^(?:type|id)$/

/** The arguments as a whole: out of the call around them, or none. */
const fitRoot = (value: unknown, place: Place, options: CoerceOptions): unknown => {
  if (value === null && place.types === Type.object && place.required.size === 0) {
    options.onEdit("no-arguments", [], null, {})
    return {}
  }
  const fitted = fit(value, place, [], options)
  let outcome = fitted
  let isCertain = true
  for (let level = 0; level < maxEnvelopes; level++) {
    const envelope = opened(outcome, place, options)
    if (envelope === undefined) break
    outcome = envelope.content
    isCertain &&= envelope.isCertain
  }
  if (outcome !== fitted) options.onEdit("envelope", [], fitted, outcome, isCertain ? undefined : "ambiguous")
  return outcome
}

interface Envelope {
  readonly content: object
  /** Whether more than one key for arguments tells that it is one. */
  readonly isCertain: boolean
}

/** What is in an envelope: an object with a key for arguments that the schema does not know, and beside it only what names a call. */
const opened = (value: unknown, place: Place, { decode, toolName }: CoerceOptions): Envelope | undefined => {
  if (!isObject(value) || !takes(place, Type.object)) return undefined
  const { isClosed, members, required } = place
  const fits = !isClosed && [...required].every((name) => Object.hasOwn(value, name))
  if (fits || Object.keys(value).length > maxEnvelopeKeys) return undefined
  const names = textsOf(members ?? none)
  const { function: inner, ...around } = value
  const holdsCall = isObject(inner) && !names.has("function") &&
    Object.keys(around).every((key) => companionKey.test(key))
  const call: Members = holdsCall ? { ...around, ...inner } : value
  const keys = Object.keys(call)

  const isTool = (name: unknown) =>
    toolName !== undefined && typeof name === "string" && nameCandidate(name, [toolName]) !== undefined
  const key = keys.find((one) => argumentKey.test(one) || isTool(one))
  if (key === undefined || names.has(bare(key))) return undefined
  const beside = keys.filter((one) => one !== key)
  const isNamed = beside.some((one) => nameKey.test(one))
  const isCall = beside.every((one) =>
    typeof call[one] === "string" &&
    // A parameter may have the name of a key beside: the tool's own name tells them apart.
    (isNamed && toolName !== undefined || !names.has(bare(one))) &&
    (nameKey.test(one) ? toolName === undefined || isTool(call[one]) : companionKey.test(one))
  )
  const member = call[key]
  const content = isCall && typeof member === "string" && jsonText.test(member) ? decode(member, place) : member
  return isCall && isObject(content) ? { content, isCertain: isNamed || isTool(key) } : undefined
}
