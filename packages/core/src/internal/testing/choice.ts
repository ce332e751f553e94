import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

/**
 * Whole numbers from 0 to `max` - 1.
 *
 * @internal
 */
export const below = (max: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: max - 1 })))

/** @internal */
export const oneOf = <A>(choices: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(below(choices.length), (index) => choices[index]!)
