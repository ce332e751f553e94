import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Outcome } from "../../ApprovalLedger.ts"
import { openStruct } from "../openStruct.ts"

/**
 * What a ledger keeps of a claim. Times are in milliseconds since 1970.
 *
 * @internal
 */
export interface ClaimRecord {
  readonly callDigest: string
  readonly keptUntil: number
  readonly state:
    | { readonly _tag: "Running"; readonly owner: string; readonly leasedUntil: number }
    | { readonly _tag: "Abandoned" }
    | { readonly _tag: "Settled"; readonly outcome: Outcome }
}

// What a tool shows to a model is as it says, of whatever type: here it only has to be there.
const isClaimRecord = Schema.is(Schema.Struct({
  callDigest: Schema.String,
  keptUntil: Schema.Finite,
  state: Schema.Union([
    Schema.Struct({ _tag: Schema.Literal("Running"), owner: Schema.String, leasedUntil: Schema.Finite }),
    Schema.Struct({ _tag: Schema.Literal("Abandoned") }),
    Schema.Struct({
      _tag: Schema.Literal("Settled"),
      outcome: Schema.Struct({
        output: openStruct({ type: Schema.String }),
        value: Schema.optionalKey(Schema.Unknown),
        usage: Schema.optionalKey(Schema.Record(Schema.String, Schema.Finite))
      })
    })
  ])
})) as (value: unknown) => value is ClaimRecord

/**
 * None where somebody else has written the text.
 *
 * @internal
 */
export const decode = (text: string): Option.Option<ClaimRecord> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Option.none()
  }
  return isClaimRecord(value) ? Option.some(value) : Option.none()
}

/**
 * None where the record cannot be read back: its outcome is no JSON, or too deep for it.
 *
 * @internal
 */
export const encode = (record: ClaimRecord): Option.Option<string> => {
  try {
    const text = JSON.stringify(record)
    return Option.as(decode(text), text)
  } catch {
    return Option.none()
  }
}
