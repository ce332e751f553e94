/**
 * The words of a command line, or nothing where it has none or a quote is not closed. Quotes of either kind keep blanks together.
 * There is no shell: nothing else means anything, so a backslash is one, as in the paths of Windows.
 */
export const words = (text: string): ReadonlyArray<string> | undefined => {
  const found: Array<string> = []
  let isBetween = true
  for (const [all, double, single, plain] of text.matchAll(/"([^"]*)"|'([^']*)'|([^\s"']+)|\s+|["']/g)) {
    const part = double ?? single ?? plain
    if (part === undefined && !/^\s/.test(all)) return undefined
    if (part !== undefined) found.push(isBetween ? part : `${found.pop()}${part}`)
    isBetween = part === undefined
  }
  return found.length === 0 || found[0] === "" ? undefined : found
}
