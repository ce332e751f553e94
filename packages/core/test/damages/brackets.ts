/** Brackets that are missing, too many, or at the wrong place. */
import { at, type Damages, isBracket, isContainer, isFilled, remove, whole } from "./places.ts"
import { hasPlainEnds } from "./texts.ts"

export const brackets: Damages = {
  "no closers at the end": {
    apply: whole((text, choices) => {
      let end = text.length
      for (let count = 1 + choices.below(4); count > 0 && /[\]}]/.test(text[end - 1]!); count--) {
        end = text.slice(0, end - 1).trimEnd().length
      }
      return text.slice(0, end)
    })
  },
  "no closer inside": {
    // A list in an object, in front of the next key or of the bracket of the object, or an object in a list, in front of the
    // bracket of the list or of the next object: without the others what follows would be read as a part of them.
    text: hasPlainEnds,
    apply: at(
      (token, index, tokens) => {
        const next = tokens[index + 1]
        if (token.kind !== "close" || next === undefined) return false
        return Array.isArray(token.value)
          ? token.inside === "{"
          : token.inside === "[" && isFilled(token) && (next.kind === "close" || tokens[index + 2]!.text === "{")
      },
      remove,
      { which: "one" }
    )
  },
  "surplus closers at the end": {
    apply: whole((text, choices) => text + choices.oneOf(["}", "]", "}}", "\n}", "]}", " ]", "}]"]))
  },
  "a surplus closer inside": {
    // One that closes the root too early, or that there is no bracket for.
    apply: at(
      ({ depth, inside, kind, value }, index, tokens) =>
        depth === 1 && tokens[index + 1]?.kind === "comma" && kind !== "comma" && kind !== "open" &&
        (inside === "[" || !isContainer(value) || kind === "close"),
      (token, choices) => {
        const closers = token.inside === "{" ? ["}", "]"] : ["]", "}"]
        token.text += choices.oneOf(closers)
      },
      { which: "one" }
    )
  },
  "doubled braces": {
    apply: (value, choices) => {
      const isAll = choices.below(2) === 0
      return at((token) => isBracket(token) && !Array.isArray(token.value) && (isAll || token.depth === 0), (token) => {
        token.text += token.text
      }, { which: "all" })(value, choices)
    }
  },
  "swapped closers": {
    apply: at(
      (token, index, tokens) =>
        token.kind === "close" && tokens[index + 1]?.kind === "close" && tokens[index + 1]!.text !== token.text,
      (token, _, index, tokens) => {
        const next = tokens[index + 1]!
        ;[token.text, next.text] = [next.text, token.text]
      },
      { which: "one" }
    )
  },
  "no opener": {
    apply: (value, choices) =>
      isContainer(value) && !Array.isArray(value)
        ? whole((text) => text.slice(1).trimStart().slice(0, choices.oneOf([undefined, -1])))(value, choices)
        : undefined
  }
}
