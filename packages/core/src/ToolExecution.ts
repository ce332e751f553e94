/**
 * Running the tool of a call that may run. Whatever the tool does, its call gets an answer: a failure, a crash, a timeout and a
 * result that is no JSON each become an error that the model can read.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { LedgerUnavailable, Outcome } from "./ApprovalLedger.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import { callContext } from "./internal/callContext.ts"
import { copyPlain } from "./internal/copyPlain.ts"
import { describe } from "./internal/describe.ts"
import { shownOutput } from "./internal/shownOutput.ts"
import { errorOutput, jsonOutput } from "./internal/toolOutput.ts"
import { reasonOf, runUserCode } from "./internal/userCode.ts"
import type { ToolResultOutput } from "./Message.ts"
import type * as Tool from "./Tool.ts"
import type { CallFields, Options as ParseOptions, ToolCall } from "./ToolCall.ts"
import * as ToolSet from "./ToolSet.ts"

/**
 * What is told about an execution. `callId`, `provider` and `modelId` are those of {@link Hooks}. The input is not told.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExecutionStart {
  readonly toolCallId: string
  readonly toolName: string
  readonly callId: string | undefined
  readonly provider?: string
  readonly modelId?: string
}

/**
 * As {@link ExecutionStart}, with what came of it and how long it took, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface ExecutionEnd extends ExecutionStart {
  readonly outcome: Outcome
  readonly durationMillis: number
}

/**
 * What to call around an execution, and the names to tell: `callId` of the run that the call belongs to, `provider` and `modelId` of
 * the model that made it. A hook that fails changes nothing.
 *
 * Source: the AI SDK's `onToolExecutionStart` and `onToolExecutionEnd`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hooks<R = never> {
  readonly callId?: string | undefined
  readonly model?: { readonly provider: string; readonly modelId: string } | undefined
  readonly onToolExecutionStart?: ((event: ExecutionStart) => Effect.Effect<unknown, unknown, R>) | undefined
  readonly onToolExecutionEnd?: ((event: ExecutionEnd) => Effect.Effect<unknown, unknown, R>) | undefined
}

/**
 * The answer to a call that ran.
 *
 * - `proposedInput`: the JSON that the model proposed.
 * - `approvedInput`: the JSON that a person approved; absent where nobody was asked. It differs from the first only where the person
 *   changed it.
 * - `effectiveInput`: what the tool was given.
 * - `output`, `value`, `usage`: see `ApprovalLedger.Outcome`.
 * - `isReplayed`: the call ran in an earlier resume, and this is its outcome.
 * - `unsettled`: the call ran, and the ledger could not keep its outcome: it is here only.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolResult extends Outcome {
  readonly toolCallId: string
  readonly toolName: string
  readonly proposedInput: unknown
  readonly approvedInput?: unknown
  readonly effectiveInput: unknown
  readonly isReplayed: boolean
  readonly unsettled?: LedgerUnavailable
  readonly dynamic?: true
}

/**
 * Whether an output says that the call failed.
 *
 * @example
 * ```ts
 * import * as ToolExecution from "@countersign/core/ToolExecution"
 *
 * ToolExecution.isError({ type: "error-text", value: "no such file" }) // => true
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isError = (output: ToolResultOutput): boolean =>
  output.type === "error-text" || output.type === "error-json"

/**
 * The sum of usages, by name. What is no finite number does not count, and no sum is larger than the largest one.
 *
 * @example
 * ```ts
 * import * as ToolExecution from "@countersign/core/ToolExecution"
 *
 * ToolExecution.sumUsage([{ tokens: 3 }, undefined, { tokens: 4, cents: 1 }]) // => { tokens: 7, cents: 1 }
 * ```
 *
 * @category combining
 * @since 0.1.0
 */
export const sumUsage = (usages: Iterable<Tool.Usage | undefined>): Tool.Usage => {
  const sums = new Map<string, number>()
  for (const usage of usages) {
    for (const [name, amount] of Object.entries(usage ?? {})) {
      if (Number.isFinite(amount)) sums.set(name, finite((sums.get(name) ?? 0) + amount))
    }
  }
  return Object.fromEntries(sums)
}

const finite = (sum: number): number => Math.min(Math.max(sum, -Number.MAX_VALUE), Number.MAX_VALUE)

/**
 * Runs the tool of a call, and gives what came of it. Never fails. The tool must have `execute`: without it nothing can run, and that
 * is a defect.
 *
 * - The tool gets a copy of the input.
 * - A failure is told by its message, a crash only by its kind.
 * - After `timeout` the execution is interrupted.
 * - The span `execute_tool` has the tool's name and the call's ID, and no content.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolExecution from "@countersign/core/ToolExecution"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("read", { execute: () => Effect.fail(new Error("no such file")) }))
 * const program = Effect.gen(function*() {
 *   const call = yield* ToolCall.parse({ toolCallId: "c1", toolName: "read", input: "{}" }, { tools })
 *   return yield* ToolExecution.execute(call, { tools })
 * })
 * Effect.runSync(Effect.provide(program, CfworkerJsonSchema.layer)).output
 * // => { type: "error-text", value: "Error: no such file" }
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const execute: <const Tools extends ToolSet.ToolSet, HookR = never>(
  call: ToolCall<Tools>,
  options: Hooks<HookR> & {
    readonly tools: Tools
    readonly context?: ParseOptions<Tools>["context"]
    readonly messages?: ReadonlyArray<unknown> | undefined
  }
) => Effect.Effect<Outcome, never, HookR | Tool.Services<Tools[keyof Tools]>> = Effect.fnUntraced(
  function*(call, options) {
    const { input, toolCallId, toolName }: CallFields<string, unknown> = call
    const tool = ToolSet.get(options.tools, toolName)
    if (tool?.execute === undefined) {
      return yield* Effect.die(new TypeError(`tool ${toolName} has no execute`))
    }
    const start: ExecutionStart = {
      toolCallId,
      toolName,
      callId: options.callId,
      ...options.model
    }
    yield* tell(options.onToolExecutionStart, start)
    const startedAt = yield* Clock.currentTimeMillis
    const usages: Array<Tool.Usage> = []
    const run = runUserCode(() =>
      tool.execute!(copyPlain(input), {
        ...callContext(toolCallId, toolName, options),
        reportUsage: (usage) => Effect.sync(() => usages.push({ ...usage }))
      })
    )
    const answer = yield* withTimeout(run, tool).pipe(
      Effect.map((value) => answerOf(tool, toolCallId, input, value)),
      // Who interrupts the resume interrupts it here; a tool that interrupts itself has only failed.
      Effect.catchCause((cause) => Effect.as(Effect.yieldNow, { output: errorOutput(failureText(cause)) })),
      // A tracer is told what the span ends with: a function shows nothing of it.
      Effect.map((answer) => () => answer),
      Effect.withSpan("execute_tool", {
        attributes: { "gen_ai.tool.name": toolName, "gen_ai.tool.call.id": toolCallId }
      })
    )
    const usage = sumUsage(usages)
    const outcome: Outcome = { ...answer(), ...Object.keys(usage).length === 0 ? {} : { usage } }
    const durationMillis = (yield* Clock.currentTimeMillis) - startedAt
    yield* tell(options.onToolExecutionEnd, { ...start, outcome, durationMillis })
    return outcome
  }
) as any

const tell = <Event, R>(
  hook: ((event: Event) => Effect.Effect<unknown, unknown, R>) | undefined,
  event: Event
): Effect.Effect<void, never, R> =>
  hook === undefined ? Effect.void : Effect.catchCause(
    Effect.asVoid(runUserCode(() => hook(copyPlain(event) as Event))),
    () => Effect.void
  )

const withTimeout = <R>(run: Effect.Effect<unknown, unknown, R>, { name, timeout }: Tool.Any) =>
  timeout === undefined ? run : Effect.timeoutOrElse(run, {
    duration: timeout,
    orElse: () =>
      Effect.fail(`Tool ${name} was stopped after ${Duration.toMillis(timeout)} ms. It may have had an effect.`)
  })

const answerOf = (tool: Tool.Any, toolCallId: string, input: unknown, value: unknown): Outcome => {
  const json = CanonicalJson.toJson(value ?? null)
  const kept = Result.isSuccess(json) ? { value: json.success } : {}
  const failed = (fault: string) => ({ ...kept, output: errorOutput(`Tool ${tool.name} ran, and its result ${fault}`) })
  if (tool.toModelOutput === undefined) {
    return Result.isSuccess(json)
      ? { ...kept, output: jsonOutput(value, json.success) }
      : failed(`is ${json.failure.message}`)
  }
  const output = shownOutput(tool, { toolCallId, input: copyPlain(input), output: value })
  return output === undefined ? failed("cannot be shown.") : { ...kept, output }
}

/** A failure was written to be read; of a crash only the kind is told. */
const failureText = (cause: Cause.Cause<unknown>): string => {
  const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (failure === undefined) return `The tool failed: ${reasonOf(cause)}`
  return failure instanceof Error && failure.message !== "" ? `${failure.name}: ${failure.message}` : describe(failure)
}
