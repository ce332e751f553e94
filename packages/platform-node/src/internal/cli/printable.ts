const maxLength = 120

// Control and format characters, lone surrogates, line breaks, blanks other than the space, and all that a reader cannot see.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

/** Text from outside as it may be written to a terminal: on one line, no control characters, and not long. */
export const printable = (text: string): string => {
  const clipped = text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text
  return clipped.replace(invisible, escape)
}

const short = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]])

const escape = (character: string): string =>
  short.get(character) ??
    character.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
