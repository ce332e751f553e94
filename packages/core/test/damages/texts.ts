/** Which strings keep their meaning when something around them is lost. */

// At the end of a string these are what stands between strings: of `["x" ", " "y"]` nobody knows which quotes open.
const edge = "[\\s,:;=+，：{}[\\]()]"
const plainEnds = new RegExp(`^(?!${edge})[^]*(?<!${edge})$`, "u")
export const hasPlainEnds = (text: string): boolean => text === "" || plainEnds.test(text)

export const literalAtStart = /^(?:true|false|null|none|nil|nan|undefined|inf|infinity)\b/i
export const isName = (key: string): boolean => /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)

/** A text that keeps its meaning without its opening quote: no literal or number, no comment, nothing of JSON. */
const isPlain = (text: string): boolean =>
  /^\p{L}[^"'`“”\\{}[\]:,=#\p{Cc}\u00a0\u2028\ufeff，：|<>+;]*$/u.test(text) && hasPlainEnds(text) &&
  !literalAtStart.test(text) && !/\/[/*]|[*]\/|\.\.\.|…/.test(text)
export const isPhrase = (text: string): boolean => isPlain(text) && !/ (?:true|false|null|none)\b/i.test(text)

/**
 * A text that can only end where what follows begins: nothing of JSON but a comma or a colon, and not both, or it would be the
 * next member. A list could go on after a comma.
 */
export const endsWithoutQuote = (text: string, inside: "{" | "[" | ""): boolean =>
  text !== "" && hasPlainEnds(text) && !/["'`“”\\{}[\]\p{Cc}，：]|,[^]*:/u.test(text) &&
  !(inside === "[" && text.includes(","))
