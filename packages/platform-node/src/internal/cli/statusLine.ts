import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** One line of stderr, on a terminal, that is written over. Needs no escape sequence: what is longer is covered with blanks. */
export interface StatusLine {
  /** Shows a text in place of the last one; nothing for an empty text. */
  readonly show: (text: string) => Effect.Effect<void>
  /** Leaves what is shown, and goes to the next line. */
  readonly keep: Effect.Effect<void>
}

export const make: Effect.Effect<StatusLine, never, Stdio.Stdio> = Effect.map(Stdio.Stdio, (stdio) => {
  const write = (text: string) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr()))
  let shown = ""
  return {
    show: (text) =>
      Effect.suspend(() => {
        if (text === "" && shown === "") return Effect.void
        const line = `\r${text.padEnd(shown.length)}${text === "" ? "\r" : ""}`
        shown = text
        return write(line)
      }),
    keep: write("\n")
  }
})
