import type { InputSchema } from "@countersign/core/InputSchema"
import { InputLimitExceeded, Limits } from "@countersign/core/Limits"
import * as RepairText from "@countersign/core/RepairText"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { CommandFailed } from "./commandFailed.ts"
import type { Reported } from "./errorJson.ts"
import { shownEdits } from "./shownEdits.ts"
import { indented, spotOf } from "./spot.ts"
import * as StandardInput from "./standardInput.ts"
import * as StandardOutput from "./standardOutput.ts"
import * as Terminal from "./terminal.ts"

const refuse = (reason: string) => new CommandFailed({ status: 1, message: `refused: ${reason}` })

/** The longest text in UTF-8, with a byte order mark. */
const maxBytes = (maxInputLength: number): number => 3 * maxInputLength + 3

/**
 * Repairs all of standard input as one text. `closing` is the same repair, of texts that were cut off too: it tells whether that
 * is what a refused text lacks.
 */
export const repairWhole = Effect.fnUntraced(function*<E extends Reported, R>({ closing, repair, schema }: {
  readonly schema: InputSchema | undefined
  readonly repair: RepairText.RepairText<E, R>
  readonly closing: RepairText.RepairText<E, R>
}) {
  const text = yield* readText
  const repaired = yield* Effect.catch(
    RepairText.parse(text, { schema, repair }),
    Effect.fnUntraced(function*(error) {
      const closed = yield* Effect.option(RepairText.parse(text, { schema, repair: closing }))
      return yield* refuse(
        Option.isSome(closed)
          ? "the text was cut off. To close what is open in it, use --truncated close"
          : withSpot(error, text)
      )
    })
  )
  const colors = yield* Terminal.canColor
  for (const shown of shownEdits(repaired.edits, text, colors)) yield* Console.error(shown)
  if (repaired.truncated) yield* Console.error("the text was cut off: what was open has been closed")
  yield* StandardOutput.write(Stream.make(`${JSON.stringify(repaired.value)}\n`))
})

/** What is wrong, and where in the text, if that is known. */
const withSpot = (error: Reported, text: string): string => {
  const offset = error._tag === "InvalidJson" || error._tag === "Unrecoverable" ? error.offset : undefined
  if (offset === undefined) return error.message
  const { excerpt, mark } = spotOf(text, offset, 1)
  return [error.message, indented(excerpt), indented(mark)].join("\n")
}

const readText = Effect.gen(function*() {
  const { maxInputLength } = yield* Limits
  const bytes = yield* StandardInput.upTo(maxBytes(maxInputLength))
  if (bytes.length > maxBytes(maxInputLength)) {
    const error = new InputLimitExceeded({ limit: "maxInputLength", max: maxInputLength, size: bytes.length })
    return yield* refuse(error.message)
  }
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => refuse("not valid UTF-8")
  })
  // The line feed that ends a text file is none of the text: it would become part of a string that is closed.
  return text.replace(/\r?\n$/, "")
})
