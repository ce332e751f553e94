/**
 * Whether twice the text takes twice the time, whatever the text is, and what becomes of a great many levels. What seems to take
 * longer is measured again, for longer, before it is said: one pause of the machine is enough to seem so.
 */
import * as JsonRecovery from "@countersign/core/JsonRecovery"
import * as Limits from "@countersign/core/Limits"
import * as Result from "effect/Result"
import { measure, type MeasureOptions, median, medianMultiple, print } from "../interleave.ts"
import { progress, progressDone } from "../progress.ts"
import { within } from "../within.ts"
import { type Hostile, hostile, nested } from "./hostile.ts"
import { malformed } from "./malformed.ts"

const megabyte = 1024 * 1024
const levels = 100_000

/** Twice the text may take this many times as long. */
const bar = 2.5

/** A text that takes more seconds than this is given up. */
const patience = 3

/** How to measure a text, by the milliseconds that its first reading took. Slow readings hold many calls of what they are made of. */
const howOften = (took: number): MeasureOptions => ({
  rounds: took > 300 ? 1 : 3,
  milliseconds: 3,
  warmUp: took > 20 ? 0 : 20
})

/** No text of a megabyte has more levels, nor more characters. */
const limits: Limits.LimitValues = { ...Limits.defaults, maxInputLength: 2 * megabyte, maxDepth: 2 * megabyte }

type Generators = Record<string, Hostile>
type Options = (generator: Hostile) => JsonRecovery.RecoverOptions

const all: Generators = {
  ...Object.fromEntries(
    Object.entries(malformed).map(([kind, make]) => [
      kind,
      { schema: make(0).schema, make: (length: number) => make(length).text }
    ])
  ),
  ...hostile,
  ...nested
}

const anyDepth: Record<string, Options> = {
  "no schema": () => ({ limits }),
  "with a schema": ({ schema }) => ({ schema, limits })
}

const ways: Record<string, Options> = { "256 levels": () => ({}), ...anyDepth }

const recover = (text: string, options: JsonRecovery.RecoverOptions) =>
  JsonRecovery.recover(text, { truncated: "close", ...options })

const thrown = "threw "

/** What recovery ends in, without the value. */
const outcome = (text: string, options: JsonRecovery.RecoverOptions): string => {
  try {
    const recovered = recover(text, options)
    if (Result.isSuccess(recovered)) return "value"
    return recovered.failure._tag === "Unrecoverable" ? recovered.failure.reason : recovered.failure._tag
  } catch (error) {
    return `${thrown}${error}`
  }
}

interface Halves {
  readonly half: string
  readonly whole: string
}

interface Growth {
  readonly ratio: number
  readonly milliseconds: number
}

const measureGrowth = async (
  { half, whole }: Halves,
  run: (text: string) => unknown,
  options: MeasureOptions
): Promise<Growth> => {
  const again = async (options: MeasureOptions): Promise<Growth> => {
    const times = await measure({ half: () => run(half), whole: () => run(whole) }, options)
    return { ratio: medianMultiple(times["whole"]!, times["half"]!), milliseconds: median(times["whole"]!) }
  }
  const growth = await again(options)
  return growth.ratio > bar ? await again({ ...options, rounds: 7 }) : growth
}

/** `JSON.parse` of the well-formed text, or of the text itself if there is none. */
const nativeGrowth = ({ half, whole }: Halves, options: JsonRecovery.RecoverOptions): Promise<Growth> => {
  const wellFormed = (text: string): string => {
    try {
      return JSON.stringify(Result.getOrThrow(recover(text, options)).value)
    } catch {
      return text
    }
  }
  return measureGrowth({ half: wellFormed(half), whole: wellFormed(whole) }, (text) => {
    try {
      return JSON.parse(text)
    } catch {
      return undefined
    }
  }, { rounds: 7, milliseconds: 3, warmUp: 20 })
}

const printGrowth = async (title: string, generators: Generators, ways: Record<string, Options>): Promise<void> => {
  const columns: Record<string, Record<string, string>> = {}
  const over: Array<string> = []
  for (const [way, options] of Object.entries(ways)) {
    const ratios: Record<string, string> = columns[way] = {}
    const times: Record<string, string> = columns[`${way}: ms`] = {}
    const outcomes: Record<string, string> = columns[`${way}: end`] = {}
    for (const [name, generator] of Object.entries(generators)) {
      progress(`linearity: ${way}, ${name}`)
      const own = options(generator)
      const texts: Halves = { half: generator.make(megabyte / 2), whole: generator.make(megabyte) }
      const ended = await within(patience * 1000, () => outcome(texts.whole, own))
      const growth = ended && await measureGrowth(texts, (text) => outcome(text, own), howOften(ended.took))
      ratios[name] = growth?.ratio.toFixed(2) ?? ""
      times[name] = growth?.milliseconds.toFixed(1) ?? `over ${patience} s`
      outcomes[name] = ended?.answer ?? ""
      if (ended?.answer.startsWith(thrown)) over.push(`${name}, ${way}: ${ended.answer}`)
      if (growth === undefined) over.push(`${name}, ${way}: over ${patience} s`)
      else if (growth.ratio > bar) {
        const { ratio } = await nativeGrowth(texts, own)
        over.push(`${name}, ${way}: ${growth.ratio.toFixed(2)}; JSON.parse itself: ${ratio.toFixed(2)}`)
      }
    }
  }
  progressDone()
  print(title, columns)
  console.log(`\nOver ${bar}, given up, or thrown:\n${over.join("\n") || "none"}`)
}

const printLevels = async (): Promise<void> => {
  const columns: Record<string, Record<string, string>> = {}
  for (const [way, options] of Object.entries(ways)) {
    const column: Record<string, string> = columns[way] = {}
    for (const [name, generator] of Object.entries(nested)) {
      progress(`linearity: ${levels} levels, ${way}, ${name}`)
      const text = generator.makeLevels(levels)
      const ended = await within(patience * 1000, () => outcome(text, options(generator)))
      column[name] = ended?.answer ?? `over ${patience} s`
    }
  }
  progressDone()
  print(`${levels} levels`, columns)
}

export const linearity = async (): Promise<void> => {
  const title = "Time for 1 MB as a multiple of the time for 512 KB, milliseconds for 1 MB, and what it ends in"
  await printGrowth(title, all, anyDepth)
  await printGrowth(`${title}, with the usual limits`, nested, { "256 levels": ways["256 levels"]! })
  await printLevels()
}
