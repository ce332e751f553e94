/**
 * UTF-8 by hand: no runtime's `TextEncoder` is at hand here, whatever the runtime has.
 */

/**
 * The bytes of a text. A lone surrogate becomes U+FFFD, as in `TextEncoder`.
 *
 * @internal
 */
export const encodeUtf8 = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length * 3)
  let length = 0
  for (const character of text) {
    const read = character.codePointAt(0)!
    const code = read >= 0xd800 && read <= 0xdfff ? 0xfffd : read
    if (code < 0x80) {
      bytes[length++] = code
    } else if (code < 0x800) {
      bytes[length++] = 0xc0 | code >> 6
      bytes[length++] = 0x80 | code & 0x3f
    } else if (code < 0x10000) {
      bytes[length++] = 0xe0 | code >> 12
      bytes[length++] = 0x80 | code >> 6 & 0x3f
      bytes[length++] = 0x80 | code & 0x3f
    } else {
      bytes[length++] = 0xf0 | code >> 18
      bytes[length++] = 0x80 | code >> 12 & 0x3f
      bytes[length++] = 0x80 | code >> 6 & 0x3f
      bytes[length++] = 0x80 | code & 0x3f
    }
  }
  return bytes.slice(0, length)
}
