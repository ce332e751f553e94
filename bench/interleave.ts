import { measure } from "mitata"

/**
 * Measures candidates side by side: in every round each runs once, in turning order, so that what slows the machine down slows
 * all of them. Gives the median over the rounds of each candidate's time as a multiple of the first one's.
 */
export const interleave = async (
  candidates: Record<string, () => unknown>,
  rounds = 15
): Promise<Record<string, number>> => {
  const names = Object.keys(candidates)
  const times = new Map<string, Array<number>>(names.map((name) => [name, []]))
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + round + 1) % names.length]!
      const { p50 } = await measure(
        async () => await candidates[name]!(),
        { min_cpu_time: 10_000_000, min_samples: 5 } as any
      )
      // The first round warms up.
      if (round >= 0) times.get(name)!.push(p50)
    }
  }
  const base = times.get(names[0]!)!
  return Object.fromEntries(
    names.map((name) => [name, median(times.get(name)!.map((time, round) => time / base[round]!))])
  )
}

const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

/** Prints rows of ratios under their columns. */
export const print = (title: string, rows: Record<string, Record<string, number>>): void => {
  const columns = Object.keys(rows)
  const names = Object.keys(rows[columns[0]!]!)
  const width = Math.max(...names.map((name) => name.length))
  console.log(`\n${title}`)
  console.log("".padEnd(width) + columns.map((column) => column.padStart(18)).join(""))
  for (const name of names) {
    console.log(name.padEnd(width) + columns.map((column) => rows[column]![name]!.toFixed(2).padStart(18)).join(""))
  }
}
