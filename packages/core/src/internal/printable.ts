// Control characters, and those that change how the text around them is shown.
// oxlint-disable-next-line no-control-regex
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/**
 * A name that somebody else chose, as a message can show it: at most `maxLength` characters, nothing that could pass for another
 * line or another text.
 *
 * @internal
 */
export const printable = (text: string, maxLength: number): string =>
  (text.length > maxLength ? `${text.slice(0, maxLength)}…` : text)
    .replace(invisible, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
