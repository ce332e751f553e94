/**
 * What a schema says about one place, for a reader that has to decide what a malformed text or a value that does not fit was
 * meant to be.
 *
 * A place guides, it does not validate: it takes everything that the schema takes, and may take more. What it says is worked out
 * when it is first asked for, and once, so a large schema costs only what the text touches, and a circular one ends.
 */

/**
 * The types of JSON as bits.
 *
 * @internal
 */
export const Type = { null: 1, boolean: 2, number: 4, string: 8, array: 16, object: 32, any: 63 } as const

/** @internal */
export interface Place {
  /** The bits of the types that a value may have. */
  readonly types: number
  /** Whether of numbers only whole ones are taken. */
  readonly isInteger: boolean
  /** The members of an object that are known by name; `undefined` where none are. */
  readonly members: ReadonlyMap<string, Place> | undefined
  readonly required: ReadonlySet<string>
  /** Whether members of other names are refused. */
  readonly isClosed: boolean
  /** A member without a place of its own. */
  readonly rest: Place
  /** Any item of a list. */
  readonly items: Place
  /** The first items of a tuple one by one. */
  readonly prefix: ReadonlyArray<Place>
  /** All values that are taken, where they are few. */
  readonly values: ReadonlyArray<unknown> | undefined
  /** What a string has to match; never a pattern of exponential time. */
  readonly pattern: RegExp | undefined
  /** Whether a string has to be a regular expression. */
  readonly isRegex: boolean
}

/** How many places are worked out because of one at most, as by references to references. */
const maxNesting = 64
let nesting = 0

class LazyPlace implements Place {
  private make: (() => Place) | undefined
  private made: Place | undefined

  constructor(make: () => Place) {
    this.make = make
  }

  private get known(): Place {
    return this.made ?? this.work()
  }

  private work(): Place {
    const make = this.make!
    this.make = undefined
    // For whoever asks while it is worked out: a schema that refers to itself.
    this.made = nothingKnown
    if (nesting < maxNesting) {
      nesting++
      // A schema may be any object at all; one that cannot be read says nothing.
      try {
        const made = make()
        this.made = made instanceof LazyPlace ? made.known : made
      } catch {}
      nesting--
    }
    return this.made
  }

  get types() {
    return this.known.types
  }
  get isInteger() {
    return this.known.isInteger
  }
  get members() {
    return this.known.members
  }
  get required() {
    return this.known.required
  }
  get isClosed() {
    return this.known.isClosed
  }
  get rest() {
    return this.known.rest
  }
  get items() {
    return this.known.items
  }
  get prefix() {
    return this.known.prefix
  }
  get values() {
    return this.known.values
  }
  get pattern() {
    return this.known.pattern
  }
  get isRegex() {
    return this.known.isRegex
  }
}

/** @internal */
export const lazily = (make: () => Place): Place => new LazyPlace(make)

/**
 * A place about which nothing is known.
 *
 * @internal
 */
export const anywhere: Place = lazily(() => nothingKnown)

const nothingKnown: Place = {
  types: Type.any,
  isInteger: false,
  members: undefined,
  required: new Set(),
  isClosed: false,
  rest: anywhere,
  items: anywhere,
  prefix: [],
  values: undefined,
  pattern: undefined,
  isRegex: false
}

/**
 * A place of which something is known.
 *
 * @internal
 */
export const known = (facts: Partial<Place>): Place => ({ ...nothingKnown, ...facts })

/**
 * The bit of a value's type.
 *
 * @internal
 */
export const typeOf = (value: unknown): number =>
  value === null ? Type.null : Array.isArray(value) ? Type.array : Type[typeof value as keyof typeof Type] ?? 0

/** @internal */
export const typesOf = (values: ReadonlyArray<unknown>): number =>
  values.reduce<number>((types, value) => types | typeOf(value), 0)

/** @internal */
export const takes = (place: Place, type: number): boolean => (place.types & type) !== 0

/** @internal */
export const memberAt = (place: Place, name: string): Place => place.members?.get(name) ?? place.rest

/** @internal */
export const itemAt = (place: Place, index: number): Place => place.prefix[index] ?? place.items

/** Whether a pattern repeats no group, and at most two other things: what is more may take exponential or polynomial time. */
const isCheap = (source: string): boolean =>
  !/\)[*+?{]/.test(source) && source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, "x").split(/[*+{]/).length <= 3

/**
 * The pattern of a string, unless it may take exponential time.
 *
 * @internal
 */
export const patternOf = (source: unknown, flags: string): RegExp | undefined => {
  try {
    return typeof source === "string" && isCheap(source) ? new RegExp(source, flags) : undefined
  } catch {
    return undefined
  }
}

type Combine = (places: ReadonlyArray<Place>) => Place

/** A place that is left as it is stays the same place, so that a schema which refers to itself has an end. */
const combined = (places: ReadonlyArray<Place>, combine: Combine): Place => {
  const all = new Set(places)
  if (combine === unite && all.has(anywhere)) return anywhere
  all.delete(anywhere)
  const distinct = [...all]
  return distinct.length > 1 ? lazily(() => combine(distinct)) : distinct[0] ?? anywhere
}

const combinedMembers = (
  places: ReadonlyArray<Place>,
  membersOf: (place: Place, name: string) => Place | ReadonlyArray<Place>,
  combine: Combine
): ReadonlyMap<string, Place> | undefined => {
  const members = new Map<string, Place>()
  for (const name of places.flatMap((place) => [...place.members?.keys() ?? []])) {
    members.set(name, lazily(() => combine(places.flatMap((place) => membersOf(place, name)))))
  }
  return members.size > 0 ? members : undefined
}

/** What is only known where one place alone may be meant. */
const only = (places: ReadonlyArray<Place>): Place => places.length === 1 ? places[0]! : anywhere

/**
 * The place that takes what one of the places takes.
 *
 * A member that some of the places know by name is anything that it may be in one of them.
 *
 * @internal
 */
export const unite = (all: ReadonlyArray<Place>): Place => {
  const places = [...new Set(all)]
  if (places.length < 2) return places[0] ?? anywhere
  const taking = (type: number) => places.filter((place) => takes(place, type))
  const objects = taking(Type.object)
  const lists = taking(Type.array)
  const numbers = taking(Type.number)
  const { isRegex, pattern } = only(taking(Type.string))
  return {
    types: places.reduce((types, place) => types | place.types, 0),
    isInteger: numbers.length > 0 && numbers.every((place) => place.isInteger),
    members: combinedMembers(
      objects,
      ({ isClosed, members, rest }, name) => members?.get(name) ?? (isClosed ? [] : rest),
      unite
    ),
    required: new Set([...objects[0]?.required ?? []].filter((name) => objects.every((one) => one.required.has(name)))),
    isClosed: objects.length > 0 && objects.every((place) => place.isClosed),
    rest: combined(objects.flatMap(({ isClosed, rest }) => isClosed ? [] : rest), unite),
    items: combined(lists.map((place) => place.items), unite),
    prefix: only(lists).prefix,
    values: places.every((place) => place.values !== undefined)
      ? [...new Set(places.flatMap((place) => place.values!))]
      : undefined,
    pattern,
    isRegex
  }
}

/**
 * The place that takes what all of the places take.
 *
 * @internal
 */
export const meet = (places: ReadonlyArray<Place>): Place => {
  if (places.length < 2) return places[0] ?? anywhere
  const known = (part: "values" | "pattern") => places.find((place) => place[part] !== undefined) ?? anywhere
  return {
    types: places.reduce((types, place) => types & place.types, Type.any as number),
    isInteger: places.some((place) => place.isInteger),
    members: combinedMembers(places, ({ members }, name) => members?.get(name) ?? [], meet),
    required: new Set(places.flatMap((place) => [...place.required])),
    isClosed: places.some((place) => place.isClosed),
    rest: combined(places.map((place) => place.rest), meet),
    items: combined(places.map((place) => place.items), meet),
    prefix: places.find((place) => place.prefix.length > 0)?.prefix ?? [],
    values: known("values").values,
    pattern: known("pattern").pattern,
    isRegex: places.some((place) => place.isRegex)
  }
}
