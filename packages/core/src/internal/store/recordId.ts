import * as Effect from "effect/Effect"
import { Crypto } from "../../Crypto.ts"
import { base64Url } from "../base64Url.ts"

const maxLength = 200

/**
 * An ID that somebody else chose, as one that every engine takes: well-formed, without control characters, of at most 250 characters.
 * Two IDs never become one. A short one stays readable behind `=`; of a long one there is a digest behind `#`.
 *
 * @internal
 */
export const recordId = Effect.fnUntraced(function*(id: string): Effect.fn.Return<string, never, Crypto> {
  // JSON escapes lone surrogates, and all control characters but these.
  const text = JSON.stringify(id).slice(1, -1).replace(
    /[\u007f-\u009f]/g,
    (char) => `\\u00${char.charCodeAt(0).toString(16)}`
  )
  if (text.length <= maxLength) return `=${text}`
  const crypto = yield* Crypto
  return `#${base64Url(yield* crypto.sha256(text))}`
})
