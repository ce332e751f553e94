import { SchemaMismatch } from "@countersign/core/InputIssue"
import { UnsupportedSchema } from "@countersign/core/JsonSchemaValidator"
import { InputLimitExceeded } from "@countersign/core/Limits"
import { InvalidJson } from "@countersign/core/StrictJson"
import * as ToolCallError from "@countersign/core/ToolCallError"
import * as Schema from "effect/Schema"

const Reported = Schema.Union([
  ToolCallError.NoSuchTool,
  ToolCallError.InvalidToolInput,
  ToolCallError.ToolCallRepairFailed,
  ToolCallError.RefinementFailed,
  InvalidJson,
  InputLimitExceeded,
  SchemaMismatch,
  UnsupportedSchema
])

/** Every error that a line of output can carry. */
export type Reported = typeof Reported.Type

const encode = Schema.encodeSync(Schema.toCodecJson(Reported))

/** An error as it stands on a line of output: its tag, its message, and its fields. */
export const errorJson = (error: Reported): object => {
  const { _tag, ...fields } = encode(error) as { readonly _tag: string }
  return { _tag, message: error.message, ...fields }
}
