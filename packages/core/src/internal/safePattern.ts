/**
 * Whether a regular expression can take exponential time on JavaScript's backtracking engine: whether some text can be
 * matched in two ways by one turn around a loop, as in `(a+)+`, `(a|a)*` or `(\w+\s?)*`.
 *
 * The pattern becomes an automaton with one state for each character it can read (Glushkov's construction). Two ways to
 * read one text are two paths between the same states; they are looked for in pairs of states.
 *
 * Sound for what it models. It counts a bounded repetition as a loop, except a short one, and sees look-around and
 * back-references as reading nothing and anything; so it refuses a few harmless patterns. It does not see polynomial time
 * (`.*.*=`), nor ambiguity without a loop (`a?a?a?…aaa…`).
 */

interface Part {
  readonly nullable: boolean
  /** The states that can read its first and its last character. */
  readonly first: ReadonlyArray<number>
  readonly last: ReadonlyArray<number>
  /** Whether all texts that it matches have one length. */
  readonly fixed: boolean
  /** Whether it holds what can match nothing in two ways, as `(?:a*|b*)`: a loop around it is ambiguous. */
  readonly twice: boolean
}

const empty: Part = { nullable: true, first: [], last: [], fixed: true, twice: false }

// A repetition with at most this many characters is written out; any other is a loop.
const maxStates = 400

// So many pairs of character sets are compared; the rest counts as overlapping.
const maxTests = 400

// A pattern with loops that is larger than this, or takes more steps to look through, is refused.
const maxEdges = 10_000
const maxSteps = 2_000_000

class Automaton {
  readonly atoms: Array<string> = []
  readonly next: Array<Array<number>> = []
  hasLoop = false
  isAmbiguous = false
  private at = 0
  private readonly source: string

  constructor(source: string) {
    this.source = source
  }

  alternatives(): Part {
    const parts = [this.sequence()]
    while (this.source[this.at] === "|") {
      this.at++
      parts.push(this.sequence())
    }
    if (parts.length === 1) return parts[0]!
    return {
      nullable: parts.some((part) => part.nullable),
      first: parts.flatMap((part) => part.first),
      last: parts.flatMap((part) => part.last),
      fixed: false,
      twice: parts.some((part) => part.twice) || parts.filter((part) => part.nullable).length > 1
    }
  }

  private sequence(): Part {
    let out = empty
    while (this.at < this.source.length && this.source[this.at] !== "|" && this.source[this.at] !== ")") {
      out = this.join(out, this.repeated())
    }
    return out
  }

  private repeated(): Part {
    const start = this.at
    const size = this.atoms.length
    const part = this.atom()
    const quantifier = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(this.source.slice(this.at, this.at + 24))
    if (quantifier === null) return part
    const after = this.at + quantifier[0].length
    const [text, least, range, most] = quantifier
    const min = text[0] === "+" ? 1 : Number(least ?? 0)
    const max = text[0] === "?" ? 1 : least === undefined || most === "" ? Infinity : Number(range ? most : least)
    const copies = max === Infinity ? min : max
    const isShort = max <= 1 || part.fixed || max === min && max <= 4
    let out = max === Infinity || !isShort ? this.loop(part) : part
    if (isShort && this.atoms.length + copies * (this.atoms.length - size) <= maxStates) {
      for (let count = copies - 1; count > 0; count--) {
        this.at = start
        out = this.join(this.atom(), count < min ? out : optional(out))
      }
    } else if (max !== Infinity && isShort) {
      out = this.loop(out)
    }
    this.at = after
    if (max === 0) return empty
    return {
      ...out,
      nullable: min === 0 || out.nullable,
      fixed: part.fixed && min === max,
      twice: out.twice || part.nullable && min > 1
    }
  }

  private atom(): Part {
    const rest = this.source.slice(this.at)
    const group = /^\((?:\?(?:<[^=!>]*>|[a-z]*(?:-[a-z]*)?:|(<?[=!])))?/.exec(rest)
    if (group !== null) {
      this.at += group[0].length
      const inner = this.alternatives()
      this.at++
      return group[1] === undefined ? inner : empty
    }
    const assertion = /^(?:[\^$]|\\[bB])/.exec(rest)
    if (assertion !== null) {
      this.at += assertion[0].length
      return empty
    }
    const text = atomText.exec(rest)![0]
    this.at += text.length
    const isReference = /^\\(?:[1-9]|k<)/.test(text)
    this.atoms.push(isReference ? "[^]" : text)
    this.next.push([])
    const state = this.atoms.length - 1
    const part = { nullable: false, first: [state], last: [state], fixed: true, twice: false }
    return isReference ? { ...this.loop(part), nullable: true, fixed: false } : part
  }

  private join(left: Part, right: Part): Part {
    this.link(left.last, right.first)
    return {
      nullable: left.nullable && right.nullable,
      first: left.nullable ? [...left.first, ...right.first] : left.first,
      last: right.nullable ? [...left.last, ...right.last] : right.last,
      fixed: left.fixed && right.fixed,
      twice: left.twice || right.twice
    }
  }

  private loop(part: Part): Part {
    this.link(part.last, part.first)
    this.hasLoop = true
    this.isAmbiguous ||= part.twice
    return { ...part, fixed: false }
  }

  private link(from: ReadonlyArray<number>, to: ReadonlyArray<number>): void {
    for (const state of from) this.next[state]!.push(...to)
  }
}

const optional = (part: Part): Part => ({ ...part, nullable: true, fixed: false })

const atomText =
  /^(?:\[(?:\\[^]|[^\]\\])*\]|\\(?:u\{[^}]*\}|u[dD][89abAB]..\\u[dD][c-fC-F]..|u.{4}|x..|[pP]\{[^}]*\}|c.|k<[^>]*>|[1-9]\d*|[^])|[^])/u

/** For each state the loop that it is in: states of one loop lead to each other. */
const loops = (next: ReadonlyArray<ReadonlyArray<number>>): Array<number> => {
  const reach = next.map((_, state) => {
    const seen = new Set<number>()
    const pending = [...next[state]!]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      pending.push(...next[at]!)
    }
    return seen
  })
  return next.map((_, state) => next.findIndex((__, other) => reach[state]!.has(other) && reach[other]!.has(state)))
}

/** Characters of which each two sets in the pattern share one, if they share any. */
const witnesses = (source: string): string => {
  if (/\\[pP]/.test(source)) return every()
  const points = new Set(Array.from({ length: 128 }, (_, point) => point))
  const written = source.replace(
    /\\u\{?([\da-fA-F]+)\}?|\\x(..)/g,
    (_, long: string, short: string) => String.fromCodePoint(Math.min(parseInt(long ?? short, 16), 0x10ffff))
  )
  for (const character of `${written}\u00a0\u1680\u2000\u200a\u2028\u202f\u205f\u3000\ufeff💩`) {
    const point = character.codePointAt(0)!
    for (const near of [point - 1, point, point + 1]) points.add(Math.max(0, Math.min(near, 0x10ffff)))
  }
  return String.fromCodePoint(...points)
}

let all: string | undefined
const every = (): string =>
  all ??= Array.from(
    { length: 0x1100 },
    (_, high) => String.fromCodePoint(...Array.from({ length: 0x100 }, (__, low) => high * 0x100 + low))
  ).join("")

/** @internal */
export const mayTakeExponentialTime = (source: string): boolean => {
  try {
    const automaton = new Automaton(source)
    automaton.alternatives()
    return automaton.hasLoop && (automaton.isAmbiguous || isAmbiguous(source, automaton))
  } catch {
    // Nested deeper than the stack.
    return true
  }
}

const isAmbiguous = (source: string, { atoms, next }: Automaton): boolean => {
  if (next.reduce((edges, states) => edges + states.length, 0) > maxEdges) return true
  const loopOf = loops(next)
  const inLoop = next.map((states, from) => states.filter((to) => loopOf[from] !== -1 && loopOf[to] === loopOf[from]))
  if (inLoop.some((states) => new Set(states).size < states.length)) return true

  const flags = /\(\?[a-z-]+:/.test(source) ? "isu" : "u"
  const characters = witnesses(source)
  const known = new Map<string, boolean>()
  const overlap = (left: number, right: number): boolean => {
    if (left === right) return true
    const test = `(?=${atoms[left]})${atoms[right]}`
    let out = known.get(test)
    if (out === undefined) known.set(test, out = known.size > maxTests || new RegExp(test, flags).test(characters))
    return out
  }
  // Pairs of different states that one text leads to, from one state.
  const seen = new Set<number>()
  const pending: Array<readonly [number, number]> = []
  let steps = 0
  const step = (left: number, right: number): boolean => {
    steps += inLoop[left]!.length * inLoop[right]!.length
    if (steps > maxSteps) return true
    for (const a of inLoop[left]!) {
      for (const b of inLoop[right]!) {
        if (a === b) {
          if (left !== right) return true
        } else if (overlap(a, b) && !seen.has(a * atoms.length + b)) {
          seen.add(a * atoms.length + b)
          pending.push([a, b])
        }
      }
    }
    return false
  }
  for (let state = 0; state < atoms.length; state++) {
    if (step(state, state)) return true
  }
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    if (step(...pair)) return true
  }
  return false
}
