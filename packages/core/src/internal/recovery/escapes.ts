/**
 * From what stands between two quotes to the text that was meant. What JSON does not escape like that keeps its backslash: a path of
 * Windows and a regular expression lose nothing.
 */

/** @internal */
export interface Content {
  readonly text: string
  /** Another reading that is as good. */
  readonly other: string | undefined
  /** What had to be decided. */
  readonly kind: "escape" | "path" | undefined
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  // What JSON has no escape for, but other languages and other quotes have.
  ..."\"'`´“”„‘’«»\\/".split("").map((char) => [char, char] as const)
])
const numeric = /u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})/y

const drive = /(?:^|[\s"'`=(,;])(?:[A-Z]:\\(?!\\)|[a-z]:\\(?![\\nrt]))/
const share = /^\\\\[\w.-]{1,64}\\[\w.$-]/
const relative = /^[\w.~ -]{0,64}(?:\\[\w.~ -]{1,64}){1,64}$/

/** Whether a path of Windows stands in the text, with backslashes that are not escaped. */
const hasDrive = (raw: string): boolean => raw.includes(":\\") && drive.test(raw)

/**
 * Whether backslashes in a text that ends with one were not escaped: a path of Windows, or what is no escape of JSON.
 *
 * @internal
 */
export const isUnescaped = (raw: string): boolean => hasDrive(raw) || !unescape(raw.slice(0, -1)).isValid

/**
 * Decodes the content of a string that holds a backslash; `hasQuotes` where it also holds quotes that are not escaped.
 *
 * @internal
 */
export const decode = (raw: string, hasQuotes = false): Content => {
  const { hasLetters, isValid, text } = unescape(raw, hasQuotes)
  const isDrive = hasDrive(raw)
  if (isValid && !isDrive) return { text, other: undefined, kind: undefined }
  const literal = literally(raw)
  // No text has a backspace in it.
  if (isValid && !/\\[bf]/.test(raw)) return { text, other: literal, kind: undefined }
  const isShare = !isValid && share.test(raw)
  if (isDrive || isShare || relative.test(raw)) {
    return { text: isShare ? `\\${literal}` : literal, other: isValid ? text : undefined, kind: "path" }
  }
  if (!hasLetters || text === literal) return { text, other: undefined, kind: "escape" }
  return /\\[bf]/.test(raw) ? { text: literal, other: text, kind: "escape" } : { text, other: literal, kind: "escape" }
}

// oxlint-disable-next-line no-control-regex
const control = /[\0-\u001f]/

/**
 * Whether a text holds a character that JSON has only as an escape.
 *
 * @internal
 */
export const hasControl = (text: string): boolean => control.test(text)

/**
 * The content with every backslash meant as one, except before a quote and before a backslash.
 *
 * @internal
 */
export const literally = (raw: string): string => raw.replace(/\\([\\"'`])/g, "$1")

/** How long a text is that is given to JSON.parse first: a failure costs more than a short text. */
const minNative = 256

interface Unescaped {
  readonly text: string
  /** Whether every escape is one of JSON. */
  readonly isValid: boolean
  /** Whether there are escapes that may be meant as a backslash and a letter. */
  readonly hasLetters: boolean
}

const unescape = (raw: string, hasQuotes = false): Unescaped => {
  if (raw.length > minNative && !hasQuotes && !raw.includes("\n")) {
    try {
      return { text: JSON.parse(`"${raw}"`) as string, isValid: true, hasLetters: true }
    } catch {
      // Not as in JSON.
    }
  }
  let text = ""
  let from = 0
  let isValid = true
  let hasLetters = false
  for (let at = raw.indexOf("\\"); at !== -1; at = raw.indexOf("\\", from)) {
    text += raw.slice(from, at)
    from = at + 2
    const code = raw.charCodeAt(at + 1)
    if (code === 0x6e) {
      text += "\n"
      hasLetters = true
      continue
    }
    if (code === 0x22 || code === 0x5c) {
      text += code === 0x22 ? "\"" : "\\"
      continue
    }
    const letter = raw[at + 1] ?? ""
    const escaped = escapes.get(letter)
    if (escaped !== undefined) {
      text += escaped
      hasLetters ||= escaped !== letter
      isValid &&= escaped !== letter || "\"'`\\/".includes(letter)
      continue
    }
    numeric.lastIndex = at + 1
    const found = letter === "u" || letter === "x" ? numeric.exec(raw) : null
    if (found === null) {
      isValid = false
      text += `\\${letter}`
      continue
    }
    const point = Number.parseInt(found[1] ?? found[2] ?? found[3]!, 16)
    text += point > 0xffff && point <= 0x10ffff ? String.fromCodePoint(point) : String.fromCharCode(point)
    from = numeric.lastIndex
    hasLetters ||= letter === "x"
    isValid &&= found[2] !== undefined
  }
  return { text: text + raw.slice(from), isValid, hasLetters }
}

const halfEscape = /\\(?:u[0-9a-fA-F]{0,3})?$/
const halfPair = /(?:\\u[dD][89abAB][0-9a-fA-F]{2}|[\ud800-\udbff])$/

/**
 * The content without half an escape at its end, where the text was cut off.
 *
 * @internal
 */
export const withoutHalfEscape = (raw: string): string => without(halfPair, without(halfEscape, raw))

const without = (pattern: RegExp, raw: string): string => {
  const end = raw.length - (pattern.exec(raw.slice(-6))?.[0].length ?? 0)
  return isEscaped(raw, end) ? raw : raw.slice(0, end)
}

/** Whether the character at `at` belongs to the backslash before it. */
const isEscaped = (raw: string, at: number): boolean => {
  let run = 0
  while (raw[at - run - 1] === "\\") run++
  return run % 2 === 1
}
