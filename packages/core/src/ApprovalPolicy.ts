/**
 * Whether a call may run as it is, may not, or a person has to be asked first.
 *
 * A policy answers for valid calls only. It fails closed: a function that fails, crashes, or gives an answer that is not known
 * denies the call.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Edit } from "./Edit.ts"
import { callContext } from "./internal/callContext.ts"
import { copyPlain } from "./internal/copyPlain.ts"
import { getOwn } from "./internal/ownProperty.ts"
import { printable } from "./internal/printable.ts"
import { reasonOf, runUserCode } from "./internal/userCode.ts"
import type * as Tool from "./Tool.ts"
import type { CallFields, ToolCall } from "./ToolCall.ts"
import * as ToolSet from "./ToolSet.ts"

/**
 * The decision on one call.
 *
 * - `NotApplicable`: nobody has to be asked, and nothing is recorded.
 * - `Approved`, `Denied`: decided by the policy, and recorded as an automatic answer.
 * - `UserApproval`: a person decides.
 *
 * @category models
 * @since 0.1.0
 */
export type Status =
  | { readonly _tag: "NotApplicable" }
  | { readonly _tag: "Approved" | "Denied" | "UserApproval"; readonly reason: string | undefined }

/**
 * Nobody has to be asked.
 *
 * @example
 * ```ts
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 *
 * ApprovalPolicy.notApplicable._tag // => "NotApplicable"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const notApplicable: Status = { _tag: "NotApplicable" }

/**
 * The policy lets the call run.
 *
 * @example
 * ```ts
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 *
 * ApprovalPolicy.approved("reads only")._tag // => "Approved"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const approved = (reason?: string): Status => ({ _tag: "Approved", reason })

/**
 * The policy forbids the call.
 *
 * @example
 * ```ts
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 *
 * ApprovalPolicy.denied("outside working hours")._tag // => "Denied"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const denied = (reason?: string): Status => ({ _tag: "Denied", reason })

/**
 * A person decides.
 *
 * @example
 * ```ts
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 *
 * ApprovalPolicy.userApproval("more than 100 EUR")._tag // => "UserApproval"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const userApproval = (reason?: string): Status => ({ _tag: "UserApproval", reason })

/**
 * What a policy may answer: a {@link Status}, or the AI SDK's names and objects for them. `undefined` is not applicable.
 *
 * @category models
 * @since 0.1.0
 */
export type Answer =
  | Status
  | "not-applicable"
  | "approved"
  | "denied"
  | "user-approval"
  | { readonly type: "not-applicable" | "approved" | "denied" | "user-approval"; readonly reason?: string | undefined }
  | undefined

/**
 * A policy for all tools: one function, or answers and functions by tool name.
 *
 * A function decides alone; a tool's own `needsApproval` is then not asked. Of a record an entry decides alone, and a tool
 * without an entry is asked.
 *
 * Source: the AI SDK's `toolApproval`.
 *
 * @category models
 * @since 0.1.0
 */
export type ApprovalPolicy<Tools extends ToolSet.ToolSet = ToolSet.ToolSet, R = never> =
  | ((
    call: ToolCall<Tools>,
    context: Tool.ApprovalContext & { readonly tools: Tools }
  ) => Effect.Effect<Answer, unknown, R>)
  | {
    readonly [Name in keyof Tools]?:
      | Exclude<Answer, undefined>
      | ((input: Tool.Input<Tools[Name]>, context: Tool.ApprovalContext) => Effect.Effect<Answer, unknown, R>)
      | undefined
  }

/**
 * Asks the policy about a call. Never fails: what goes wrong denies the call, with the reason.
 *
 * The functions are given copies: what they change does not change the call.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("pay", { inputSchema: Schema.Struct({ cents: Schema.Int }) }))
 * const policy: ApprovalPolicy.ApprovalPolicy<typeof tools> = {
 *   pay: ({ cents }) => Effect.succeed(cents > 10_000 ? ApprovalPolicy.userApproval("more than 100 EUR") : undefined)
 * }
 * const program = Effect.gen(function*() {
 *   const call = yield* ToolCall.parse({ toolCallId: "1", toolName: "pay", input: "{\"cents\":20000}" }, { tools })
 *   return yield* ApprovalPolicy.resolve(call, { tools, policy })
 * })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse))._tag // => "UserApproval"
 * ```
 *
 * @category resolving
 * @since 0.1.0
 */
export const resolve = <const Tools extends ToolSet.ToolSet, R = never>(
  call: ToolCall<Tools>,
  options: {
    readonly tools: Tools
    readonly policy?: ApprovalPolicy<Tools, R> | undefined
    readonly context?:
      | { readonly tools?: { readonly [toolName: string]: unknown }; readonly runtime?: unknown }
      | undefined
    readonly messages?: ReadonlyArray<unknown> | undefined
  }
): Effect.Effect<Status, never, R> => {
  const { toolCallId, toolName }: CallFields<string, unknown> = call
  return decide(call, options.policy, options.tools, callContext(toolCallId, toolName, options))
}

const decide = <Tools extends ToolSet.ToolSet, R>(
  call: ToolCall<Tools>,
  policy: ApprovalPolicy<Tools, R> | undefined,
  tools: Tools,
  context: Tool.ApprovalContext
): Effect.Effect<Status, never, R> => {
  if (typeof policy === "function") {
    return ask(() => policy(copyPlain(call) as ToolCall<Tools>, { ...context, tools }))
  }
  const { input, toolName }: CallFields<string, unknown> = call
  const entry = getOwn(policy, toolName) as
    | Answer
    | null
    | ((input: unknown, context: Tool.ApprovalContext) => Effect.Effect<Answer, unknown, R>)
  if (entry !== undefined && entry !== null) {
    return typeof entry === "function"
      ? ask(() => entry(copyPlain(input), context))
      : Effect.succeed(toStatus(entry))
  }
  const needsApproval = ToolSet.get(tools, toolName)?.needsApproval
  return typeof needsApproval === "function"
    ? ask(() => needsApproval(copyPlain(input), context) as Effect.Effect<boolean, unknown, R>, fromNeed)
    : Effect.succeed(fromNeed(needsApproval ?? false))
}

/**
 * A policy by which a person decides on calls whose repair may not have found what the model meant: those with an edit that has a
 * `risk`. On all others, and on what is denied, `policy` decides; without one, the tool's own `needsApproval`.
 *
 * With `edits: "all"` a person decides on every call that was repaired. The reason names the kinds of the edits, and nothing of the
 * input; the edits themselves are in the question.
 *
 * When an approved call is resumed, it has no edits any more: then `policy` alone is asked, and can only deny it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as ApprovalPolicy from "@countersign/core/ApprovalPolicy"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("note", { inputSchema: Schema.Struct({ text: Schema.String }) }))
 * const policy = ApprovalPolicy.escalateRepaired<typeof tools>()
 * const statusOf = (input: string) =>
 *   Effect.gen(function*() {
 *     const repair = Repair.recovery({ truncated: "close" })
 *     const call = yield* ToolCall.parse({ toolCallId: "1", toolName: "note", input }, { tools, repair })
 *     return yield* ApprovalPolicy.resolve(call, { tools, policy })
 *   }).pipe(Effect.provide(JsonSchemaValidator.layerRefuse), Effect.runSync)
 *
 * statusOf("{\"text\": \"buy milk\",}")._tag // => "NotApplicable"
 * // The end of the text was lost, and has been made up.
 * statusOf("{\"text\": \"buy mi")._tag // => "UserApproval"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const escalateRepaired = <Tools extends ToolSet.ToolSet = ToolSet.ToolSet, R = never>(
  policy?: ApprovalPolicy<Tools, R> | undefined,
  options?: { readonly edits?: "risky" | "all" | undefined }
): ApprovalPolicy<Tools, R> =>
(call, { tools, ...context }) =>
  Effect.map(decide(call, policy, tools, context), (status) => {
    const { edits }: CallFields<string, unknown> = call
    const shown = options?.edits === "all" ? edits : edits.filter(({ risk }) => risk !== undefined)
    if (shown.length === 0 || status._tag === "Denied") return status
    const reason = `the call was repaired: ${kindsOf(shown)}`
    return userApproval(
      status._tag === "UserApproval" && status.reason !== undefined ? `${status.reason}; ${reason}` : reason
    )
  })

const maxKinds = 10

/** A repair may be anybody's, and name its edits as it likes. */
const kindsOf = (edits: ReadonlyArray<Edit>): string => {
  const kinds = [
    ...new Set(edits.map(({ kind, risk }) => risk === undefined || risk === kind ? kind : `${kind} (${risk})`))
  ]
  const named = kinds.slice(0, maxKinds).map((kind) => printable(kind, 50)).join(", ")
  return kinds.length > maxKinds ? `${named} and others` : named
}

const ask = <R>(
  call: () => Effect.Effect<unknown, unknown, R>,
  read: (answer: unknown) => Status = toStatus
): Effect.Effect<Status, never, R> =>
  runUserCode(call).pipe(
    Effect.map(read),
    Effect.catchCause((cause) => Effect.succeed(denied(`the approval policy failed: ${reasonOf(cause)}`)))
  )

/** Not a boolean is no answer. */
const fromNeed = (need: unknown): Status =>
  need === true ? userApproval() : need === false ? notApplicable : unknownAnswer

const unknownAnswer = denied("the approval policy gave an answer that is not known")

const wireNames: ReadonlyMap<unknown, Status["_tag"]> = new Map([
  ["not-applicable", "NotApplicable"],
  ["approved", "Approved"],
  ["denied", "Denied"],
  ["user-approval", "UserApproval"]
])

const tags: ReadonlySet<unknown> = new Set(wireNames.values())

const toStatus = (answer: unknown): Status => {
  if (answer === undefined) return notApplicable
  const { _tag, reason, type } = (typeof answer === "object" && answer !== null ? answer : { type: answer }) as Record<
    string,
    unknown
  >
  const tag = tags.has(_tag) ? _tag as Status["_tag"] : wireNames.get(type)
  if (tag === undefined || reason !== undefined && typeof reason !== "string") return unknownAnswer
  return tag === "NotApplicable" ? notApplicable : { _tag: tag, reason }
}
