/**
 * The ways in which an answer to a question about a tool call does not lead to its execution.
 *
 * Three of them refuse a whole resume, because the history or the answers are not what this server made:
 * {@link InvalidToolApproval}, {@link ToolCallNotFoundForApproval}, and `InvalidSignature` of `ApprovalSigner`. The others
 * concern one call; their messages are written for the model, and repeat no input. Only {@link ApprovalAlreadyUsed} with `running`
 * fails the resume as well, after the other calls have run.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { printable } from "./internal/printable.ts"

const shown = (name: string): string => printable(name, 200)

/** For the model, which can propose the call again. */
const notRun = (fault: string): string => `The call was not run: ${fault}. Propose the call again.`

/**
 * An answer names no question that was asked (`unknown`), or does not say yes or no (`malformed`): `approved` is neither `true` nor
 * `false`.
 *
 * Source: name, field and the first text as in the AI SDK's `InvalidToolApprovalError`; `malformed` is own, there every truthy
 * value approves.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const error = new ApprovalError.InvalidToolApproval({ approvalId: "a1", reason: "malformed" })
 * error.message // => "Tool approval response to \"a1\" has to say approved: true or false."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToolApproval
  extends Schema.TaggedError<InvalidToolApproval>("@countersign/core/ApprovalError/InvalidToolApproval")(
    "InvalidToolApproval",
    { approvalId: Schema.String, reason: Schema.Literals(["unknown", "malformed"]) }
  )
{
  override get message(): string {
    const id = shown(this.approvalId)
    return this.reason === "unknown"
      ? `Tool approval response references unknown approvalId: "${id}". ` +
        "No matching tool-approval-request found in message history."
      : `Tool approval response to "${id}" has to say approved: true or false.`
  }
}

/**
 * A question that was answered is in the history, and the call that it is about is not.
 *
 * Source: the AI SDK's `ToolCallNotFoundForApprovalError`.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const error = new ApprovalError.ToolCallNotFoundForApproval({ approvalId: "a1", toolCallId: "c1" })
 * error.message // => "Tool call \"c1\" not found for approval request \"a1\"."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolCallNotFoundForApproval extends Schema.TaggedError<ToolCallNotFoundForApproval>(
  "@countersign/core/ApprovalError/ToolCallNotFoundForApproval"
)(
  "ToolCallNotFoundForApproval",
  { approvalId: Schema.String, toolCallId: Schema.String }
) {
  override get message(): string {
    return `Tool call "${shown(this.toolCallId)}" not found for approval request "${shown(this.approvalId)}".`
  }
}

/**
 * It cannot be told what was approved:
 *
 * - `responses`: the answers to the question contradict each other.
 * - `tool-call-id`: two different calls that wait for a result have this ID.
 * - `approval-id`: the question's ID was used for two calls.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const fields = { approvalId: "a1", toolCallId: "c1", reason: "responses" } as const
 * new ApprovalError.AmbiguousApproval(fields).message
 * // => "The call was not run: its approval was answered with both yes and no. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class AmbiguousApproval
  extends Schema.TaggedError<AmbiguousApproval>("@countersign/core/ApprovalError/AmbiguousApproval")(
    "AmbiguousApproval",
    {
      approvalId: Schema.String,
      toolCallId: Schema.String,
      reason: Schema.Literals(["responses", "tool-call-id", "approval-id"])
    }
  )
{
  override get message(): string {
    return notRun(ambiguities[this.reason])
  }
}

const ambiguities: Record<AmbiguousApproval["reason"], string> = {
  responses: "its approval was answered with both yes and no",
  "tool-call-id": "another call has its tool call ID",
  "approval-id": "another call has its approval ID"
}

/**
 * The approval is resumed, or comes to its turn, when it has expired: answered too late, or kept too long. `expiredAt` is in
 * milliseconds since 1970.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const error = new ApprovalError.ApprovalExpired({ approvalId: "a1", toolCallId: "c1", expiredAt: 0 })
 * error.message
 * // => "The approval of the call has expired. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalExpired extends Schema.TaggedError<ApprovalExpired>(
  "@countersign/core/ApprovalError/ApprovalExpired"
)("ApprovalExpired", { approvalId: Schema.String, toolCallId: Schema.String, expiredAt: Schema.Number }) {
  override get message(): string {
    // Whether it has run before is no longer known.
    return "The approval of the call has expired. Propose the call again."
  }
}

/**
 * What the approval's ID claims does not fit:
 *
 * - `missing`: it claims nothing, and this server only takes IDs that do.
 * - `malformed`: it starts like one of Countersign's and is none.
 * - `audience`: the question was put to somebody else, or what it says that the model sent was changed.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const fields = { approvalId: "a1", toolCallId: "c1", reason: "audience" } as const
 * new ApprovalError.InvalidApprovalClaims(fields).message
 * // => "The call was not run: its approval was asked of somebody else, or about another input. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidApprovalClaims
  extends Schema.TaggedError<InvalidApprovalClaims>("@countersign/core/ApprovalError/InvalidApprovalClaims")(
    "InvalidApprovalClaims",
    {
      approvalId: Schema.String,
      toolCallId: Schema.String,
      reason: Schema.Literals(["missing", "malformed", "audience"])
    }
  )
{
  override get message(): string {
    return notRun(claimFaults[this.reason])
  }
}

const claimFaults: Record<InvalidApprovalClaims["reason"], string> = {
  missing: "its approval ID claims nothing",
  malformed: "its approval ID is malformed",
  audience: "its approval was asked of somebody else, or about another input"
}

/**
 * The tool is not the one that the question was about: its description, title or input schema has changed since.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const error = new ApprovalError.ToolDrifted({ approvalId: "a1", toolCallId: "c1", toolName: "pay" })
 * error.message // => "The call was not run: tool pay has changed since it was approved. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolDrifted extends Schema.TaggedError<ToolDrifted>("@countersign/core/ApprovalError/ToolDrifted")(
  "ToolDrifted",
  { approvalId: Schema.String, toolCallId: Schema.String, toolName: Schema.String }
) {
  override get message(): string {
    return notRun(`tool ${shown(this.toolName)} has changed since it was approved`)
  }
}

/**
 * The answer changes the input, and the tool does not have `allowEdits`.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const error = new ApprovalError.EditsNotAllowed({ approvalId: "a1", toolCallId: "c1", toolName: "pay" })
 * error.message // => "The call was not run: its input was changed while approving, which tool pay does not allow. Propose the call again."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class EditsNotAllowed extends Schema.TaggedError<EditsNotAllowed>(
  "@countersign/core/ApprovalError/EditsNotAllowed"
)("EditsNotAllowed", { approvalId: Schema.String, toolCallId: Schema.String, toolName: Schema.String }) {
  override get message(): string {
    return notRun(`its input was changed while approving, which tool ${shown(this.toolName)} does not allow`)
  }
}

/**
 * The approval cannot be used now, because it has been:
 *
 * - `running`: another resume is executing it. Resume again when that has finished, to get its outcome.
 * - `indeterminate`: an execution was begun, and nobody knows how it ended. It is not run again unless its tool is `idempotent`.
 * - `other-call`: it was used for another call or another input.
 *
 * @example
 * ```ts
 * import * as ApprovalError from "@countersign/core/ApprovalError"
 *
 * const fields = { approvalId: "a1", toolCallId: "c1", reason: "running" } as const
 * new ApprovalError.ApprovalAlreadyUsed(fields).message
 * // => "The call is being run by another resume. Resume again when that has finished."
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalAlreadyUsed
  extends Schema.TaggedError<ApprovalAlreadyUsed>("@countersign/core/ApprovalError/ApprovalAlreadyUsed")(
    "ApprovalAlreadyUsed",
    {
      approvalId: Schema.String,
      toolCallId: Schema.String,
      reason: Schema.Literals(["running", "indeterminate", "other-call"])
    }
  )
{
  override get message(): string {
    return uses[this.reason]
  }
}

const uses: Record<ApprovalAlreadyUsed["reason"], string> = {
  running: "The call is being run by another resume. Resume again when that has finished.",
  indeterminate: "The call was begun once and broken off. It may have had an effect, and was not run again.",
  "other-call": "The approval of the call was used before, with another input."
}
