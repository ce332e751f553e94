/** What is used of a `TextDecoder`, which every runtime has. */
interface Decoder {
  decode(bytes: Uint8Array, options: { readonly stream: true }): string
}

type Decoders = new(encoding: "utf-8", options: { readonly ignoreBOM: true }) => Decoder

/**
 * Reads UTF-8 that comes in pieces, cut anywhere. U+FEFF is kept, at the beginning as well: workerd drops it at the beginning of each
 * piece if it is not told to keep it.
 *
 * @internal
 */
export const textOfBytes = (): (bytes: Uint8Array) => string => {
  const { TextDecoder } = globalThis as unknown as { readonly TextDecoder: Decoders }
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return (bytes) => decoder.decode(bytes, { stream: true })
}
