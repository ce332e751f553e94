/** What is suspicious in text that came into a definition. */
import { isObject } from "./role.ts"

/** All texts of a value, the keys of its objects among them. */
const textOf = (root: unknown): string => {
  const texts: Array<string> = []
  const add = (value: unknown): void => {
    if (typeof value === "string") texts.push(value)
    else if (Array.isArray(value)) value.forEach(add)
    else if (isObject(value)) Object.entries(value).forEach((entry) => entry.forEach(add))
  }
  add(root)
  return texts.join("\n")
}

const bidirectional = /\p{Bidi_Control}+/gu

/**
 * What shows nothing: format characters, tags, fillers, selectors, the blank Braille cell, controls but for tab and line ends.
 *
 * @internal
 */
export const unseen = /(?:[\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc})+/gu

/** In an emoji a selector and a joiner are seen. */
const emoji = /\p{Emoji}\p{Emoji_Modifier}?\ufe0f?(?:\u200d\p{Extended_Pictographic}\p{Emoji_Modifier}?\ufe0f?)*/gu

const link = /\bhttps?:\/\/[^\s"'<>]+/gi

const secret =
  "secrets?|passwords?|credentials?|private keys?|api[ _-]?keys?|\\.ssh|\\.env|id_rsa|conversation|chat history|system prompt"

/** What a tool says to a model rather than about itself. Of what stands between two words, only so much is read. */
const instructions = new RegExp(
  [
    String
      .raw`\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|other|all|instructions?)\b`,
    String.raw`\b(?:do not|don['’]t|never|without)\b.{0,30}\b(?:tell|mention|inform|reveal|show|notify|ask)(?:ing)?\b`,
    String.raw`\b(?:read|send|include|copy|upload|collect|pass|provide|forward|append)\b.{0,60}(?:${secret})\b`,
    String
      .raw`\b(?:before|after|instead of)\b.{0,20}\b(?:using|calling|running|invoking)\b.{0,20}\b(?:this|any|other|another)\b`,
    String.raw`\byou (?:must|are now)\b`,
    String.raw`<\/?(?:system|important|instructions?|secret|hidden|assistant|user)\b`
  ].join("|"),
  "gis"
)

const matches = (text: string, pattern: RegExp): string => (text.match(pattern) ?? []).join("\n")

/** As a model may read it: look-alikes of letters made those letters, what shows nothing left out. */
const plain = (text: string): string => text.normalize("NFKC").replace(unseen, "")

const kinds = {
  "bidirectional-text": (text: string) => matches(text, bidirectional),
  "invisible-text": (text: string) => matches(text.replace(emoji, "").replace(bidirectional, ""), unseen),
  "instructions": (text: string) => matches(plain(text), instructions),
  "link": (text: string) => matches(plain(text), link)
}

/** @internal */
export type TextWarning = keyof typeof kinds

/**
 * What is found in a value and was not found like this in the value that it replaces. Linear in both.
 *
 * @internal
 */
export const textWarnings = (before: unknown, after: unknown): ReadonlyArray<TextWarning> => {
  const text = textOf(after)
  if (text === "") return []
  const old = textOf(before)
  return (Object.keys(kinds) as Array<TextWarning>).filter((kind) => {
    const found = kinds[kind](text)
    return found !== "" && found !== kinds[kind](old)
  })
}
