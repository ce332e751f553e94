/**
 * How often and how long to measure: `rounds`, the `milliseconds` of each candidate in each round, and those to warm it up.
 * Where `warmUp` is 0, the candidates are warm, and one call fills a round.
 */
export interface MeasureOptions {
  readonly rounds?: number
  readonly milliseconds?: number
  readonly warmUp?: number
}

/**
 * Measures candidates side by side: in every round each runs once, in turning order, so that what slows the machine down slows
 * all of them. Gives the milliseconds of one call of each candidate, round by round.
 */
export const measure = async (
  candidates: Record<string, () => unknown>,
  { milliseconds = 10, rounds = 15, warmUp = 200 }: MeasureOptions = {}
): Promise<Record<string, ReadonlyArray<number>>> => {
  const runs = Object.entries(candidates).map(([name, run]) => ({ name, run, calls: 1, times: [] as Array<number> }))
  for (const candidate of warmUp > 0 ? runs : []) {
    candidate.calls = Math.ceil(milliseconds / await warmTime(candidate.run, warmUp))
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < runs.length; turn++) {
      const { calls, run, times } = runs[(turn + round) % runs.length]!
      times.push(await time(run, calls))
    }
  }
  return Object.fromEntries(runs.map(({ name, times }) => [name, times]))
}

/** The median over the rounds of each candidate's time as a multiple of the first one's. */
export const interleave = async (
  candidates: Record<string, () => unknown>,
  options?: MeasureOptions
): Promise<Record<string, number>> => {
  const times = await measure(candidates, options)
  const base = times[Object.keys(times)[0]!]!
  return Object.fromEntries(Object.entries(times).map(([name, own]) => [name, medianMultiple(own, base)]))
}

/** The median over the rounds of one time as a multiple of the other in the same round. */
export const medianMultiple = (times: ReadonlyArray<number>, base: ReadonlyArray<number>): number =>
  median(times.map((time, round) => time / base[round]!))

export const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[values.length >> 1]!

/** Milliseconds of one call: the mean of that many. */
const time = async (run: () => unknown, calls: number): Promise<number> => {
  const start = performance.now()
  for (let call = 0; call < calls; call++) {
    const answer = run()
    if (answer instanceof Promise) await answer
  }
  return (performance.now() - start) / calls
}

/** Milliseconds of one call, after as many as that warm it up. */
const warmTime = async (run: () => unknown, warmUp: number): Promise<number> => {
  for (let calls = 1;; calls *= 2) {
    const each = await time(run, calls)
    if (each * calls >= warmUp / 2) return each
  }
}

/** Prints rows of ratios, or of words, under their columns. */
export const print = (title: string, columns: Record<string, Record<string, number | string>>): void => {
  const names = Object.keys(Object.values(columns)[0]!)
  const lines = [
    ["", ...names],
    ...Object.entries(columns).map(([column, cells]) => [
      column,
      ...names.map((name) => {
        const cell = cells[name]!
        return typeof cell === "number" ? cell.toFixed(2) : cell
      })
    ])
  ]
  const widths = lines.map((cells) => Math.max(...cells.map(({ length }) => length)))
  console.log(`\n${title}`)
  for (let row = 0; row <= names.length; row++) {
    const cells = lines.map((column, index) =>
      index === 0 ? column[row]!.padEnd(widths[0]!) : column[row]!.padStart(widths[index]! + 2)
    )
    console.log(cells.join("").trimEnd())
  }
}
