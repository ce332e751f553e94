import * as Data from "effect/Data"

/**
 * A line of input is not one that the command reads. `id` is the line's own, where it could be read; `message` repeats
 * nothing of the line but places in it.
 */
export class InvalidLine extends Data.TaggedError("InvalidLine")<{
  readonly message: string
  readonly id?: unknown
}> {}
