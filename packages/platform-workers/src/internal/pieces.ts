/**
 * A text in pieces of at most `size` code units, for an engine that bounds what it keeps at one place. No piece ends within a character.
 * An empty text is one empty piece.
 *
 * @internal
 */
export const pieces = (text: string, size: number): ReadonlyArray<string> => {
  const found: Array<string> = []
  let start = 0
  do {
    let end = start + size
    // Above the size of a piece by one, rather than none of a pair.
    if (end < text.length && text.codePointAt(end - 1)! > 0xffff) end++
    found.push(text.slice(start, end))
    start = end
  } while (start < text.length)
  return found
}
