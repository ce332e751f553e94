/**
 * Lines of JSON in, lines of JSON out: one for each, in the same order, in memory that does not grow with their number.
 */
import { Limits } from "@countersign/core/Limits"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { refused } from "./commandFailed.ts"
import { InvalidLine } from "./invalidLine.ts"
import { idOf } from "./lineFields.ts"
import * as LineSplitter from "./lineSplitter.ts"
import * as Progress from "./progress.ts"
import * as StandardInput from "./standardInput.ts"
import * as StandardOutput from "./standardOutput.ts"

/** What one line comes to; `status` is its field of that name. */
export interface Answer {
  readonly status: string
  readonly [field: string]: unknown
}

/**
 * What is done with each line.
 *
 * - `answer`: fails where the text is not a line that the command reads.
 * - `bad`: the status of a line that could not be read, and of one that makes the command exit with 1.
 * - `concurrency`: how many lines are worked on at a time.
 */
export interface Job<R> {
  readonly answer: (text: string) => Effect.Effect<Answer, InvalidLine, R>
  readonly bad: string
  readonly concurrency: number
}

/** An input of the longest length, each character of which takes the three bytes that UTF-8 needs, or an escape. */
const maxLineBytes = (maxInputLength: number): number => 4 * maxInputLength + 65_536

const splitLines = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, maxBytes: number) =>
  Stream.mapAccum(
    bytes,
    () => LineSplitter.make(maxBytes),
    (splitter, chunk) => [splitter, splitter.push(chunk)] as const,
    { onHalt: (splitter) => splitter.end() }
  )

interface Outcome {
  readonly answer: Answer
  readonly message: string | undefined
}

/** Works off standard input. Fails, quietly, where a line was bad. */
export const run = Effect.fnUntraced(function*<R>({ answer, bad, concurrency }: Job<R>) {
  const { maxInputLength } = yield* Limits
  const progress = yield* Progress.make

  const unread = (number: number, error: InvalidLine): Outcome => ({
    answer: {
      ...idOf(error),
      line: number,
      status: bad,
      error: { _tag: error._tag, message: error.message }
    },
    message: `line ${number}: ${error.message}`
  })
  const outcome = (line: LineSplitter.Line): Effect.Effect<Outcome, never, R> =>
    line.broken !== undefined
      ? Effect.succeed(unread(line.number, new InvalidLine({ message: line.broken })))
      : Effect.match(answer(line.text), {
        onFailure: (error) => unread(line.number, error),
        onSuccess: (answer) => ({ answer, message: undefined })
      })

  yield* StandardOutput.write(Stream.mapArrayEffect(
    splitLines(StandardInput.bytes, maxLineBytes(maxInputLength)),
    // All the lines of one read are answered before the next read: that bounds what is held.
    Effect.fnUntraced(function*(lines) {
      const outcomes = yield* Effect.forEach(lines, outcome, { concurrency })
      yield* progress.add(outcomes.map(({ answer }) => answer.status), outcomes.flatMap(({ message }) => message ?? []))
      return [outcomes.map(({ answer }) => `${JSON.stringify(answer)}\n`).join("")] as const
    })
  )).pipe(Effect.ensuring(progress.end))
  if (progress.count(bad) > 0) return yield* refused
})
