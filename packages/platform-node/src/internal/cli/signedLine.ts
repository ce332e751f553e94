/**
 * The line that is signed, as `sign` and `verify` read it.
 */
import type { SignedFields } from "@countersign/core/ApprovalSigner"
import { Limits } from "@countersign/core/Limits"
import * as StrictJson from "@countersign/core/StrictJson"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { InvalidLine } from "./invalidLine.ts"
import * as LineFields from "./lineFields.ts"

export const fields = {
  id: Schema.optionalKey(Schema.Unknown),
  approvalId: Schema.String,
  toolCallId: Schema.String,
  toolName: Schema.String,
  input: Schema.Unknown
}

/** The fields in which no number may lose a digit. */
export const exact: ReadonlySet<string> = new Set(["id", "input"])

/** The fields of a line that a signature covers. An input that no tool call could have is none. */
export const signedFields = Effect.fnUntraced(function*(line: SignedFields & { readonly id?: unknown }) {
  const { approvalId, input, toolCallId, toolName } = line
  const refusal = StrictJson.inspect(input, yield* Limits)
  if (refusal !== undefined) {
    return yield* new InvalidLine({ message: `/input: ${refusal.message}`, ...LineFields.idOf(line) })
  }
  return { approvalId, toolCallId, toolName, input }
})
