/**
 * The one tool that a misspelt name can only have meant.
 *
 * @internal
 */
export const nameCandidate = (name: string, names: ReadonlyArray<string>): string | undefined => {
  // Control tokens of a chat template, and all that follows them.
  const token = name.indexOf("<|")
  const spoken = token === -1 ? name : name.slice(0, token)
  if (spoken.length > maxLength) return undefined
  const bare = withoutDecoration(spoken)
  const keys = new Set([comparable(spoken), comparable(bare)].filter((key) => key !== ""))
  // What looks like decoration may be a part of a name.
  const candidates = names.filter((candidate) =>
    keys.has(comparable(candidate)) || keys.has(comparable(withoutDecoration(candidate)))
  )
  if (candidates.length <= 1) return candidates[0]
  const isPlain = candidates.every((candidate) =>
    withoutDecoration(candidate) === candidate &&
    (comparable(candidate) === comparable(bare) || comparable(candidate) !== comparable(spoken))
  )
  return isPlain && candidates.includes(bare) ? bare : undefined
}

/** Longer than any provider lets a name be. */
const maxLength = 256

const withoutDecoration = (name: string): string =>
  name
    .trim()
    .replace(/^["'`]+|["'`]+$/g, "")
    // The namespace that chat templates give to all tools alike.
    .replace(/^(?:to=)?(?:functions?|tools?|default_api)[.:/]/i, "")
    // The position of the call, empty call parentheses, and what ends a sentence.
    .replace(/:\d+$/, "")
    .replace(/\(\s*\)$/, "")
    .replace(/[.:;,]+$/, "")
    .trim()

/** Providers allow few characters in a name, and everybody replaces the others in another way. */
const comparable = (name: string): string => name.toLowerCase().replace(/[\s_\-.:/]+/g, "")
