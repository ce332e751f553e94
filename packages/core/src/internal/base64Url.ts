const codes = Array.from(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
  (char) => char.charCodeAt(0)
)

/**
 * Base64url without padding, of as few bytes as a digest has. Effect's own, which goes by way of base64, takes four times as long; a
 * fingerprint would wait for it as long as for its hash.
 *
 * @internal
 */
export const base64Url = (bytes: Uint8Array): string => {
  const chars: Array<number> = []
  for (let at = 0; at < bytes.length; at += 3) {
    // What is beyond the end counts as zero.
    const bits = bytes[at]! << 16 | bytes[at + 1]! << 8 | bytes[at + 2]!
    chars.push(codes[bits >> 18]!, codes[bits >> 12 & 63]!, codes[bits >> 6 & 63]!, codes[bits & 63]!)
  }
  return String.fromCharCode(...chars.slice(0, Math.ceil(bytes.length * 4 / 3)))
}
