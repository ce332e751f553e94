// Control and format characters, lone surrogates, line breaks, blanks other than the space, and all that Unicode lets a reader not see.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

/**
 * A name that somebody else chose, as a message can show it: at most `maxLength` characters, nothing that could pass for another
 * line or another text.
 *
 * @internal
 */
export const printable = (text: string, maxLength: number): string =>
  (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)
    .replace(invisible, (char) => char.split("").map(escaped).join(""))
