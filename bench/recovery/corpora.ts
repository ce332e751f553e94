/** The malformed texts whose meaning was written down before any engine was run on them. */
import reportedCases from "../../packages/core/test/fixtures/cases/field-reports.json" with { type: "json" }
import repairCases from "../../packages/core/test/fixtures/cases/repair-corpus.json" with { type: "json" }
import schemaCases from "../../packages/core/test/fixtures/cases/schema-repair-corpus.json" with { type: "json" }
import type { Schema } from "./engines.ts"

/** A text, the values that are right for it, and whether it is right to refuse it. */
export interface Case {
  readonly id: string
  readonly text: string
  readonly schema?: Schema | undefined
  readonly values: ReadonlyArray<unknown>
  readonly mayRefuse: boolean
}

interface Answer {
  readonly value?: unknown
  readonly reject?: string
}

interface Report {
  readonly id: string
  readonly group: string
  readonly kind: string
  readonly input: string
  readonly schema?: Schema
  readonly expected: Answer & { readonly oneOf?: ReadonlyArray<Answer> }
}

const repairs = repairCases.map((entry): Case => ({
  id: entry.id,
  text: entry.input,
  values: [entry.intended, ...("alsoOk" in entry ? entry.alsoOk as ReadonlyArray<unknown> : [])],
  mayRefuse: false
}))

const schemaRepairs = schemaCases.map(({ id, input, right, schema }): Case => {
  const isRefusal = "$reject" in right
  return { id, text: input, schema, values: isRefusal ? [] : [right], mayRefuse: isRefusal }
})

const reports = (reportedCases as unknown as ReadonlyArray<Report>)
  .filter(({ group, kind }) => group === "a" && kind === "raw-args")
  .map(({ expected, id, input, schema }): Case => {
    const answers = expected.oneOf ?? [expected]
    return {
      id,
      text: input,
      schema,
      values: answers.flatMap((answer) => "value" in answer ? [answer.value] : []),
      mayRefuse: answers.some((answer) => "reject" in answer)
    }
  })

export const corpora: Record<string, ReadonlyArray<Case>> = {
  "repair corpus": repairs,
  "schema repair corpus": schemaRepairs,
  "field reports, group a": reports
}
