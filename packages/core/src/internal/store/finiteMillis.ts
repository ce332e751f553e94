import * as Duration from "effect/Duration"

/**
 * A time of the options of a layer, in milliseconds. One that a record could not be kept for is a fault of the program.
 *
 * @internal
 */
export const finiteMillis = (name: string, given: Duration.Input, least: number): number => {
  const value = Duration.toMillis(given)
  if (value >= least && value < Infinity) return value
  throw new RangeError(`${name} has to be a finite time of at least ${least} ms`)
}
