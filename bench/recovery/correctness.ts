/**
 * How often each engine gives the value that was meant. JsonRecovery is given the schema where there is one. The others cannot take
 * one, and what they give is checked against it: what does not fit counts as refused, for all of them.
 */
import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
import { JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import { isDeepStrictEqual } from "node:util"
import { print } from "../interleave.ts"
import { progress, progressDone } from "../progress.ts"
import { type Case, corpora } from "./corpora.ts"
import { type Engine, peers, recover, type Schema } from "./engines.ts"

const engines: Record<string, Engine> = {
  "JsonRecovery, refuse": recover("refuse"),
  "JsonRecovery, close": recover("close"),
  ...peers,
  "JSON.parse": (text) => JSON.parse(text)
}

type Verdict = "right" | "wrong" | "refused"

const validator = Effect.runSync(Effect.provide(JsonSchemaValidator, CfworkerJsonSchema.layer))

const fits = (value: unknown, schema: Schema | undefined): boolean =>
  schema === undefined || Effect.runSync(validator.compile(schema, undefined))(value).length === 0

const judge = async (engine: Engine, { mayRefuse, schema, text, values }: Case): Promise<Verdict> => {
  let value: unknown
  try {
    value = await engine(text, schema)
  } catch {
    // A refusal: `value` stays undefined.
  }
  if (value === undefined || !fits(value, schema)) return mayRefuse ? "right" : "refused"
  return values.some((right) => isDeepStrictEqual(value, right)) ? "right" : "wrong"
}

export const correctness = async (): Promise<void> => {
  const columns: Record<string, Record<string, string>> = {}
  const missed: Array<string> = []
  for (const [corpus, cases] of Object.entries(corpora)) {
    const column: Record<string, string> = columns[`${corpus}: ${cases.length}`] = {}
    for (const [name, engine] of Object.entries(engines)) {
      progress(`correctness: ${corpus}, ${name}`)
      const counts: Record<Verdict, number> = { right: 0, wrong: 0, refused: 0 }
      for (const entry of cases) {
        const verdict = await judge(engine, entry)
        counts[verdict]++
        if (verdict !== "right" && name.startsWith("JsonRecovery")) missed.push(`${name}: ${entry.id} ${verdict}`)
      }
      column[name] = Object.values(counts).map((count) => String(count).padStart(3)).join(" /")
    }
  }
  progressDone()
  print("Right / silently wrong / refused", columns)
  console.log(`\nNot right:\n${missed.join("\n") || "none"}`)
}
