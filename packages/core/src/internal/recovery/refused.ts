/**
 * How the reading of a malformed text ends early: thrown inside of the recovery, and turned into a failure at its border.
 */

/** @internal */
export const reasons = [
  "no-json",
  "truncated",
  "garbage",
  "no-value",
  "elided",
  "string-end",
  "two-values",
  "duplicate-key",
  "forbidden-key",
  "unsafe-integer",
  "number-out-of-range"
] as const

/** @internal */
export type Reason = typeof reasons[number]

/**
 * What the text says would have to be guessed.
 *
 * @internal
 */
export class Refused {
  readonly reason: Reason
  readonly offset: number
  constructor(reason: Reason, offset: number) {
    this.reason = reason
    this.offset = offset
  }
}

/** @internal */
export class TooDeep {
  readonly depth: number
  constructor(depth: number) {
    this.depth = depth
  }
}
