import * as ApprovalError from "@countersign/core/ApprovalError"
import { LedgerUnavailable } from "@countersign/core/ApprovalLedger"
import { InvalidSignature } from "@countersign/core/ApprovalSigner"
import { CryptoUnavailable } from "@countersign/core/Crypto"
import { SchemaMismatch } from "@countersign/core/InputIssue"
import { Unrecoverable } from "@countersign/core/JsonRecovery"
import { UnsupportedSchema } from "@countersign/core/JsonSchemaValidator"
import { InputLimitExceeded } from "@countersign/core/Limits"
import { McpError } from "@countersign/core/Mcp"
import { InvalidJson } from "@countersign/core/StrictJson"
import * as ToolCallError from "@countersign/core/ToolCallError"
import * as Schema from "effect/Schema"

const Reported = Schema.Union([
  ToolCallError.NoSuchTool,
  ToolCallError.InvalidToolInput,
  ToolCallError.ToolCallRepairFailed,
  ToolCallError.RefinementFailed,
  ToolCallError.ToolCallRefused,
  InvalidJson,
  Unrecoverable,
  InputLimitExceeded,
  SchemaMismatch,
  UnsupportedSchema,
  ApprovalError.InvalidToolApproval,
  ApprovalError.ToolCallNotFoundForApproval,
  ApprovalError.AmbiguousApproval,
  ApprovalError.ApprovalExpired,
  ApprovalError.InvalidApprovalClaims,
  ApprovalError.ToolDrifted,
  ApprovalError.EditsNotAllowed,
  ApprovalError.ApprovalAlreadyUsed,
  InvalidSignature,
  LedgerUnavailable,
  CryptoUnavailable,
  McpError
])

/** Every error that an answer of the command can carry. */
export type Reported = typeof Reported.Type

const encode = Schema.encodeSync(Schema.toCodecJson(Reported))

/** An error as it stands in an answer: its tag, its message, and its fields. */
export const errorJson = (error: Reported): object => {
  const { _tag, ...fields } = encode(error) as { readonly _tag: string }
  return { _tag, message: error.message, ...fields }
}
