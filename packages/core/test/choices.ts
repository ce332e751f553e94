/** A sequence of random choices, so that what is built of them gets smaller when the sequence does. */
import * as Arbitrary from "effect/Arbitrary"
import { below } from "./arbitraries.ts"

/** Choices that were made before; when they are used up, the first of everything is chosen. */
export class Choices {
  readonly #made: ReadonlyArray<number>
  #next = 0

  constructor(made: ReadonlyArray<number>) {
    this.#made = made
  }

  /** A whole number from 0 to `max` - 1. */
  below(max: number): number {
    return (this.#made[this.#next++] ?? 0) % max
  }

  oneOf<A>(options: ReadonlyArray<A>): A {
    return options[this.below(options.length)]!
  }

  /** One of the options, every one, or each by chance but never none. */
  some<A>(options: ReadonlyArray<A>): ReadonlyArray<A> {
    const how = this.below(3)
    if (how === 1) return options
    const first = this.oneOf(options)
    return how === 0 ? [first] : options.filter((option) => option === first || this.below(2) === 1)
  }
}

/** What a `Choices` is made of. */
export const choicesMade: Arbitrary.Arbitrary<Array<number>> = Arbitrary.array(below(65_536), {
  minLength: 80,
  maxLength: 200
})

/** Choices that are the same at every run. */
export const repeatable = (seed: number): () => Choices => {
  let state = seed
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 16
  }
  return () => new Choices(Array.from({ length: 20 + next() % 100 }, next))
}
