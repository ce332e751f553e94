import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StoredApproval } from "../../Approvals.ts"
import * as CanonicalJson from "../../CanonicalJson.ts"
import { ToolApprovalRequest, ToolCallPart } from "../../Message.ts"
import { optionalUnknown } from "../openStruct.ts"

/** @internal */
export const pendingApproval = Schema.Struct({ approvalRequest: ToolApprovalRequest, toolCall: ToolCallPart })

/** @internal */
export const answerFields = {
  approved: Schema.Boolean,
  reason: Schema.optionalKey(Schema.String),
  input: optionalUnknown
}

const storedFields = {
  ...pendingApproval.fields,
  addedAt: Schema.Finite,
  expiresAt: Schema.optionalKey(Schema.Finite),
  keptUntil: Schema.Finite,
  answer: Schema.optionalKey(
    Schema.Struct({ ...answerFields, answeredBy: Schema.String, answeredAt: Schema.Finite })
  )
}

/** @internal */
export const storedApproval: Schema.Codec<StoredApproval> = Schema.Struct(storedFields)

/**
 * What is kept: with an answer, the digest of the question that it answers.
 *
 * @internal
 */
export interface ApprovalRecord {
  readonly approval: StoredApproval
  readonly questionDigest: string | undefined
}

const isRecord: (value: unknown) => value is StoredApproval & { readonly questionDigest?: string } = Schema.is(
  Schema.Struct({ ...storedFields, questionDigest: Schema.optionalKey(Schema.String) })
)

/**
 * The text that is kept: canonical, so that {@link decode} can tell whether it was read as it was written.
 *
 * @internal
 */
export const encode = ({ approval, questionDigest }: ApprovalRecord): Result.Result<string, CanonicalJson.NotJson> =>
  CanonicalJson.encode(questionDigest === undefined ? approval : { ...approval, questionDigest })

/**
 * None where somebody else has written the text, or where it cannot be read exactly.
 *
 * @internal
 */
export const decode = (text: string): Option.Option<ApprovalRecord> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Option.none()
  }
  const isExact = Result.getOrUndefined(CanonicalJson.encode(value)) === text
  if (!isExact || !isRecord(value)) return Option.none()
  const { questionDigest, ...approval } = value
  return Option.some({ approval, questionDigest })
}
