/**
 * What recovery costs, by kind of damage and by size, as a multiple of `JSON.parse` of the well-formed text: of what
 * `JSON.stringify` makes of the value that was meant. What is not that value is marked, since a wrong answer may be a quick one.
 */
import { isDeepStrictEqual } from "node:util"
import { interleave, type MeasureOptions, print } from "../interleave.ts"
import { progress, progressDone } from "../progress.ts"
import { within } from "../within.ts"
import { type Engine, peers, recover } from "./engines.ts"
import { malformed } from "./malformed.ts"

const kilobyte = 1024
const sizes = [4, 16, 64, 1024]

/** An engine that takes more seconds than this for one text is stopped there. */
const patience = 1

const own = "JsonRecovery"
const engines: Record<string, Engine> = {
  [own]: (text) => recover("close")(text),
  "with the schema": recover("close"),
  ...peers
}

interface Run {
  readonly ratio: number
  readonly verdict: "" | "wrong" | "refused"
}

/** `undefined` for what takes too long. */
type Runs = Record<string, Run | undefined>

const verdictOf = (value: unknown, intended: unknown): Run["verdict"] =>
  value === undefined ? "refused" : isDeepStrictEqual(value, intended) ? "" : "wrong"

/** One call that does not throw. */
const attempt = (engine: Engine, ...input: Parameters<Engine>) => (): unknown => {
  try {
    return engine(...input)
  } catch {
    return undefined
  }
}

/** A large text is read once a round: each reading holds many calls of what it is made of. */
const howOften = (length: number): MeasureOptions =>
  length < 256 * kilobyte ? { rounds: 11, warmUp: 20 } : { rounds: 3, warmUp: 0 }

const measureKind = async (kind: string, length: number): Promise<Runs> => {
  const { intended, schema, text } = malformed[kind]!(length)
  const wellFormed = JSON.stringify(intended)
  const candidates: Record<string, () => unknown> = { "JSON.parse": () => JSON.parse(wellFormed) }
  const verdicts: Record<string, Run["verdict"]> = {}
  for (const [name, engine] of Object.entries(engines)) {
    const run = attempt(engine, text, schema)
    const ended = await within(patience * 1000, run)
    if (ended === undefined) continue
    verdicts[name] = verdictOf(ended.answer, intended)
    candidates[name] = run
  }
  const ratios = await interleave(candidates, { ...howOften(length), milliseconds: 3 })
  return Object.fromEntries(
    Object.keys(engines).map((name) => [
      name,
      name in verdicts ? { ratio: ratios[name]!, verdict: verdicts[name]! } : undefined
    ])
  )
}

const cell = (run: Run | undefined): string =>
  run === undefined ? `over ${patience} s` : `${run.ratio.toFixed(2)}${run.verdict && ` ${run.verdict}`}`

const printSize = (title: string, byKind: Record<string, Runs>): void => {
  const kinds = Object.entries(byKind)
  const columns: Record<string, Record<string, string>> = {}
  for (const name of Object.keys(engines)) {
    columns[name] = Object.fromEntries(kinds.map(([kind, runs]) => [kind, cell(runs[name])]))
  }
  print(title, columns)

  const slowest = kinds.flatMap(([kind, runs]) => runs[own] ? [{ kind, times: runs[own].ratio }] : [])
    .sort((left, right) => right.times - left.times)[0]
  // A refusal may come early, so it is compared with none.
  const closest =
    kinds.flatMap(([kind, { [own]: ours, jsonrepair }]) =>
      ours && jsonrepair && jsonrepair.verdict !== "refused" ? [{ kind, times: jsonrepair.ratio / ours.ratio }] : []
    ).sort((left, right) => left.times - right.times)[0]
  if (slowest) console.log(`${own}: at most ${slowest.times.toFixed(2)} times JSON.parse (${slowest.kind})`)
  if (closest) console.log(`jsonrepair: at least ${closest.times.toFixed(2)} times ${own} (${closest.kind})`)
}

const warmUp = async (): Promise<void> => {
  for (const kind of Object.keys(malformed)) {
    progress(`speed: warming up, ${kind}`)
    await measureKind(kind, 2 * kilobyte)
  }
}

/** `size` in kilobytes. */
export const speed = async (size?: number): Promise<void> => {
  await warmUp()
  for (const each of size === undefined ? sizes : [size]) {
    const byKind: Record<string, Runs> = {}
    for (const kind of Object.keys(malformed)) {
      progress(`speed: ${each} KB, ${kind}`)
      byKind[kind] = await measureKind(kind, each * kilobyte)
    }
    progressDone()
    printSize(`Malformed text of ${each} KB to its value, as a multiple of JSON.parse of the well-formed text`, byKind)
  }
}
