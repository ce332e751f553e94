/**
 * From what a model proposed to a call that can run: the tool exists, the text is JSON, the input fits the schema, and has been
 * refined. In this order: find the tool, read the text, decode the input, on failure repair once and start again, refine.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { unescapeToken } from "effect/JsonPointer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Edit from "./Edit.ts"
import type { SchemaMismatch } from "./InputIssue.ts"
import { getOwn } from "./internal/ownProperty.ts"
import { attemptRepair } from "./internal/repairAttempt.ts"
import { reasonOf, runUserCode } from "./internal/userCode.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import type { JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { Limits, type LimitValues } from "./Limits.ts"
import type { RawToolCall } from "./RawToolCall.ts"
import type { Refinement, Refinements, Services as RefineServices } from "./Refinement.ts"
import type { Repair, RepairContext, RepairedToolCall } from "./Repair.ts"
import * as StrictJson from "./StrictJson.ts"
import * as Tool from "./Tool.ts"
import {
  InvalidToolInput,
  NoSuchTool,
  RefinementFailed,
  type ToolCallError,
  type ToolCallRefused,
  ToolCallRepairFailed,
  withCause
} from "./ToolCallError.ts"
import * as ToolSet from "./ToolSet.ts"

/**
 * What every call has. `input` is the one input that counts: decoded, repaired and refined. The others are kept to show and to
 * check it:
 *
 * - `rawInput`: as the model sent it.
 * - `inputSchemaInput`: the JSON value before schema and refinement changed it.
 * - `edits`: what repair changed; empty for a call that parsed as it came.
 *
 * `type`, `toolCallId`, `toolName`, `input`, `title`, `toolMetadata`, `providerExecuted`, `providerMetadata` and `dynamic` are the
 * AI SDK's tool call part; the rest does not go over the wire.
 *
 * @category models
 * @since 0.1.0
 */
export interface CallFields<Name extends string, Input> {
  readonly type: "tool-call"
  readonly toolCallId: string
  readonly toolName: Name
  readonly input: Input
  readonly rawInput: unknown
  readonly inputSchemaInput: unknown
  readonly edits: ReadonlyArray<Edit.Edit>
  readonly title?: string
  readonly toolMetadata?: unknown
  readonly providerExecuted?: boolean
  readonly providerMetadata?: unknown
  readonly invalid?: undefined
}

/**
 * A call to one of the tools, its input typed by the tool's schema.
 *
 * @category models
 * @since 0.1.0
 */
export type StaticToolCall<Tools extends ToolSet.ToolSet> = {
  readonly [Name in keyof Tools & string]: CallFields<Name, Tool.Input<Tools[Name]>> & { readonly dynamic?: undefined }
}[keyof Tools & string]

/**
 * A call to a tool whose input has no static type: one found at run time, or one that only the provider knows.
 *
 * @category models
 * @since 0.1.0
 */
export interface DynamicToolCall extends CallFields<string, unknown> {
  readonly dynamic: true
}

/**
 * A call that can run. `dynamic` tells the two kinds apart; then `toolName` types the input.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolCall<Tools extends ToolSet.ToolSet = ToolSet.ToolSet> = StaticToolCall<Tools> | DynamicToolCall

/**
 * A call that cannot run, to be answered with `error.message`. `toolName` and the provider's fields are those of the proposed
 * call; `input` is its JSON value where the text parses, else the text.
 *
 * Source: the AI SDK's invalid tool call part, `dynamic: true` included; `rawInput` is own.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvalidToolCall {
  readonly type: "tool-call"
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly rawInput: unknown
  readonly dynamic: true
  readonly invalid: true
  readonly error: ToolCallError | ToolCallRefused
  readonly title?: string
  readonly toolMetadata?: unknown
  readonly providerExecuted?: boolean
  readonly providerMetadata?: unknown
}

/**
 * What a call is parsed with.
 *
 * - `tools`: the step's tools; `undefined` where there are none.
 * - `repair`: asked once, when the tool is unknown or the input invalid. Not asked where there are no tools, where a limit was
 *   crossed, or where the tool's own schema is at fault.
 * - `refine`: by tool name, applied to a valid input.
 * - `context`: handed to refinements: `tools` by tool name, and `runtime`.
 * - `instructions` and `messages`: of the step, handed to the repair.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<
  Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {}
> {
  readonly tools: Tools | undefined
  readonly repair?: Repair<unknown, RepairR> | undefined
  readonly refine?: Refinements<Tools, any> & Refine & NoOther<Refine, Tools> | undefined
  readonly context?:
    | { readonly tools?: { readonly [toolName: string]: unknown }; readonly runtime?: unknown }
    | undefined
  readonly instructions?: string | ReadonlyArray<unknown> | undefined
  readonly messages?: ReadonlyArray<unknown> | undefined
}

/** A refinement of a tool that there is not would never run. */
type NoOther<Refine, Tools> = { readonly [Name in Exclude<keyof Refine, keyof Tools>]: never }

/** A call whose input fits its schema, not yet refined. */
interface Decoded {
  readonly toolName: string
  readonly tool: Tool.Any | undefined
  readonly input: unknown
  readonly inputSchemaInput: unknown
  readonly edits: ReadonlyArray<Edit.Edit>
}

/**
 * Parses a proposed call.
 *
 * Fails with `NoSuchTool` or `InvalidToolInput`; with `ToolCallRepairFailed` where the repair itself failed; with
 * `RefinementFailed` where the refinement did. After a repair the failure is that of the repaired call.
 *
 * Source: the AI SDKs' `parseToolCall`; where they differ, `docs/differences.md` says which is followed.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const parse = (input: string) =>
 *   ToolCall.parse({ toolCallId: "1", toolName: "weather", input }, { tools }).pipe(
 *     Effect.provide(JsonSchemaValidator.layerRefuse)
 *   )
 *
 * Effect.runSync(parse("{\"city\":\"Oslo\"}")).input // => { city: "Oslo" }
 * Effect.runSync(Effect.flip(parse("{}"))).message // => "Invalid input for tool weather: /city: missing required key"
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse: <
  const Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {}
>(
  raw: RawToolCall,
  options: Options<Tools, RepairR, Refine>
) => Effect.Effect<ToolCall<Tools>, ToolCallError, JsonSchemaValidator | RepairR | RefineServices<Refine>> = Effect
  .fnUntraced(
    function*(raw, options) {
      const decoded = yield* decodeOrRepair(raw, options)
      const input = yield* refineInput(raw, decoded, options)
      // The input has been checked against the schema of the tool of that name, which is what the type says.
      return toToolCall(raw, { ...decoded, input }) as any
    }
  )

/**
 * Parses a proposed call and never fails: what cannot run comes back as an {@link InvalidToolCall}, to be answered.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as ToolCall from "@countersign/core/ToolCall"
 *
 * const raw = { toolCallId: "1", toolName: "weather", input: "{}" }
 * const program = ToolCall.parseOrInvalid(raw, { tools: {} })
 * const call = Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse))
 * call.invalid && call.error.message // => "Model tried to call unavailable tool 'weather'. No tools are available."
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parseOrInvalid = <
  const Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {}
>(
  raw: RawToolCall,
  options: Options<Tools, RepairR, Refine>
): Effect.Effect<ToolCall<Tools> | InvalidToolCall, never, JsonSchemaValidator | RepairR | RefineServices<Refine>> =>
  Effect.catch(
    parse(raw, options),
    (error) => Effect.map(Limits, (limits) => toInvalidToolCall(raw, options.tools, error, limits))
  )

/**
 * Parses the calls of one step, each as {@link parseOrInvalid} does: one bad call does not keep the others from running. The order
 * is kept. At most `concurrency` calls are worked on at a time, 8 if not given.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const calls = ["a", "b"].map((toolName) => ({ toolCallId: toolName, toolName, input: "" }))
 * const tools = ToolSet.make(Tool.make("b", { inputSchema: () => Tool.make("b").inputSchema }))
 * const program = ToolCall.parseAll(calls, { tools })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).map((call) => call.toolName) // => ["a", "b"]
 * ```
 *
 * @category parsing
 * @since 0.1.0
 */
export const parseAll = <
  const Tools extends ToolSet.ToolSet,
  RepairR = never,
  Refine extends Refinements<Tools, any> = {}
>(
  raws: ReadonlyArray<RawToolCall>,
  options: Options<Tools, RepairR, Refine> & { readonly concurrency?: number | undefined }
): Effect.Effect<
  Array<ToolCall<Tools> | InvalidToolCall>,
  never,
  JsonSchemaValidator | RepairR | RefineServices<Refine>
> => Effect.forEach(raws, (raw) => parseOrInvalid(raw, options), { concurrency: options.concurrency ?? 8 })

/**
 * The input of a call as a message history needs it: providers reject a history in which a call's input is not a JSON object, so
 * anything else becomes `{}`. What the model really sent stays in `rawInput`.
 *
 * @example
 * ```ts
 * import * as ToolCall from "@countersign/core/ToolCall"
 *
 * ToolCall.historyInput({ input: { city: "Oslo" } }) // => { city: "Oslo" }
 * ToolCall.historyInput({ input: "{\"city\":" }) // => {}
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const historyInput = (call: { readonly input: unknown }): object =>
  typeof call.input === "object" && call.input !== null && !Array.isArray(call.input) ? call.input : {}

const decodeOrRepair = Effect.fnUntraced(function*<
  Tools extends ToolSet.ToolSet,
  RepairR,
  Refine extends Refinements<Tools, any>
>(
  raw: RawToolCall,
  options: Options<Tools, RepairR, Refine>
): Effect.fn.Return<
  Decoded,
  NoSuchTool | InvalidToolInput | ToolCallRepairFailed,
  JsonSchemaValidator | RepairR
> {
  const { repair, tools } = options
  const first = yield* Effect.result(decode(raw, tools))
  if (Result.isSuccess(first)) return first.success
  const error = first.failure
  if (repair === undefined || tools === undefined || !isRepairable(error)) return yield* Effect.fail(error)

  const failed = (reason: string, cause: unknown) =>
    withCause(
      new ToolCallRepairFailed({
        toolCallId: raw.toolCallId,
        toolName: raw.toolName,
        reason,
        originalError: error
      }),
      cause
    )
  const context = yield* repairContext(raw, tools, error, options)
  const answer = yield* attemptRepair(repair, context, 1).pipe(
    Effect.catchCause((cause) => Effect.fail(failed(reasonOf(cause), Cause.squash(cause))))
  )
  if (!Option.isOption(answer)) {
    return yield* Effect.fail(failed("it answered with something that is not a tool call", answer))
  }
  if (Option.isNone(answer)) return yield* Effect.fail(error)
  const repaired = readAnswer(raw, answer.value)
  if (repaired === undefined) {
    return yield* Effect.fail(failed("it answered with something that is not a tool call", undefined))
  }
  if (repaired.toolCallId !== raw.toolCallId) {
    return yield* Effect.fail(failed("it answered with the id of another call", repaired.toolCallId))
  }
  if (isBlank(repaired.input)) return yield* Effect.fail(error)
  const second = yield* decode(proposal(raw, repaired), tools)
  return { ...second, edits: [...repaired.edits, ...second.edits] }
})

/** Repairs are written by users, in JavaScript too: what comes back may be anything, and is read once. */
const readAnswer = (raw: RawToolCall, answer: RepairedToolCall) => {
  try {
    const { edits, input, toolCallId, toolName } = answer
    if (typeof toolName !== "string") return undefined
    const known = Array.isArray(edits) ? edits.filter((edit) => typeof edit?.kind === "string") : []
    return { toolCallId, toolName, input, edits: known.length > 0 ? known : [unnamedEdit(raw, input)] }
  } catch {
    return undefined
  }
}

/** A repair that names no edits still made one. */
const unnamedEdit = (raw: RawToolCall, input: unknown): Edit.Edit =>
  typeof raw.input === "string" && typeof input === "string"
    ? Edit.between("custom", raw.input, input)
    : { kind: "custom" }

/** Of a repaired call only the name and the input count; who runs it is not for a repair to say. */
const proposal = (raw: RawToolCall, repaired: Pick<RawToolCall, "toolName" | "input">): RawToolCall => ({
  ...raw,
  toolName: repaired.toolName,
  input: repaired.input
})

const isRepairable = (error: NoSuchTool | InvalidToolInput): boolean =>
  error._tag === "NoSuchTool" || error.cause._tag === "InvalidJson" || error.cause._tag === "SchemaMismatch"

const isBlank = (input: unknown): boolean => input === undefined || typeof input === "string" && input.trim() === ""

const decode = Effect.fnUntraced(function*(
  raw: RawToolCall,
  tools: ToolSet.ToolSet | undefined
): Effect.fn.Return<Decoded, NoSuchTool | InvalidToolInput, JsonSchemaValidator> {
  const { toolCallId, toolName } = raw
  const tool = tools === undefined ? undefined : ToolSet.get(tools, toolName)
  if (tool === undefined && !(raw.providerExecuted === true && raw.dynamic === true)) {
    return yield* new NoSuchTool({
      toolCallId,
      toolName,
      ...tools === undefined ? {} : { availableTools: ToolSet.names(tools) }
    })
  }
  const invalid = (cause: InvalidToolInput["cause"]) =>
    new InvalidToolInput({
      toolCallId,
      toolName,
      cause: cause._tag === "UnsupportedSchema" ? Tool.named(cause, toolName) : cause
    })
  const limits = yield* Limits
  const read = readInput(raw.input, limits)
  if (Result.isFailure(read)) {
    const error = read.failure
    if (tool === undefined || error._tag !== "InvalidJson" || error.reason !== "unsafe-integer") {
      return yield* Effect.fail(invalid(error))
    }
    return yield* Effect.mapError(decodeKeepingDigits(raw.input as string, tool, limits, error), invalid)
  }
  return yield* Effect.mapError(decodeValue(read.success.value, tool, toolName), invalid)
})

const readInput = (input: unknown, limits: LimitValues): ReturnType<typeof StrictJson.parse> => {
  if (isBlank(input)) return Result.succeed({ value: {}, edits: [] })
  if (typeof input === "string") return StrictJson.parse(input, { limits })
  const copy = StrictJson.take(input, limits)
  return Result.map(copy, (value) => ({ value, edits: [] }))
}

const decodeValue = (
  value: unknown,
  tool: Tool.Any | undefined,
  toolName: string,
  edits: ReadonlyArray<Edit.Edit> = []
): Effect.Effect<Decoded, SchemaMismatch | UnsupportedSchema, JsonSchemaValidator> => {
  // The decoder gets a value of its own: a validator that changes what it is given must not change what is kept.
  const inputSchemaInput = StrictJson.clone(value)
  return Effect.map(
    tool === undefined ? Effect.succeed(value) : tool.inputSchema.decode(value),
    (input) => ({ toolName, tool, input, inputSchemaInput, edits })
  )
}

/** How many integers beyond 2^53 one input may hold; each costs a decoding. */
const maxKeptDigits = 16

/**
 * An integer beyond 2^53 reaches a place as the string of its digits where the schema takes that string and takes no number:
 * where it takes both, or anything, a number must not become a string.
 */
const decodeKeepingDigits = Effect.fnUntraced(function*(
  text: string,
  tool: Tool.Any,
  limits: LimitValues,
  refusal: StrictJson.InvalidJson
): Effect.fn.Return<Decoded, InvalidToolInput["cause"], JsonSchemaValidator> {
  const { edits, value } = yield* Effect.fromResult(StrictJson.parse(text, { limits, keepDigits: true }))
  if (edits.length > maxKeptDigits) return yield* Effect.fail(refusal)
  const original = StrictJson.clone(value)
  const decoded = yield* Effect.mapError(
    decodeValue(value, tool, tool.name, edits),
    (cause) => cause._tag === "UnsupportedSchema" ? cause : refusal
  )
  for (const edit of edits) {
    const asNumber = yield* Effect.result(tool.inputSchema.decode(withNumberAt(original, edit)))
    if (Result.isSuccess(asNumber)) return yield* Effect.fail(refusal)
  }
  return decoded
})

const withNumberAt = (value: unknown, { before, pointer }: Edit.Edit): unknown => {
  const steps = pointer!.split("/").slice(1).map(unescapeToken)
  const last = steps.pop()
  if (last === undefined) return Number(before)
  const copy = StrictJson.clone(value)
  const parent = steps.reduce<any>((member, step) => member[step], copy)
  parent[last] = Number(before)
  return copy
}

const repairContext = Effect.fnUntraced(function*<Tools extends ToolSet.ToolSet>(
  raw: RawToolCall,
  tools: Tools,
  error: NoSuchTool | InvalidToolInput,
  options: Options<Tools, any, any>
): Effect.fn.Return<RepairContext, never, JsonSchemaValidator> {
  const services = yield* Effect.context<JsonSchemaValidator>()
  const descriptions: Record<string, RepairContext["tools"][string]> = Object.create(null)
  for (const name of ToolSet.names(tools)) {
    const tool = ToolSet.get(tools, name)
    if (tool === undefined) continue
    const { description, kind, title } = tool
    descriptions[name] = { name, kind, title, description: typeof description === "string" ? description : undefined }
  }
  return {
    // A copy: what a repair changes in place must not change the call that its answer is compared with.
    toolCall: Object.freeze({ ...raw }),
    error,
    tools: descriptions,
    inputSchema: (toolName) => {
      const tool = ToolSet.get(tools, toolName)
      return tool === undefined
        ? Effect.fail(new NoSuchTool({ toolCallId: raw.toolCallId, toolName, availableTools: ToolSet.names(tools) }))
        : Effect.succeed(tool.inputSchema)
    },
    instructions: options.instructions,
    messages: options.messages ?? [],
    check: (toolCall) =>
      decode(proposal(raw, toolCall), tools).pipe(
        Effect.match({ onFailure: Option.some, onSuccess: () => Option.none() }),
        Effect.provideContext(services)
      )
  }
})

const refineInput = Effect.fnUntraced(function*<
  Tools extends ToolSet.ToolSet,
  Refine extends Refinements<Tools, any>
>(
  raw: RawToolCall,
  decoded: Decoded,
  options: Options<Tools, any, Refine>
): Effect.fn.Return<unknown, RefinementFailed, JsonSchemaValidator | RefineServices<Refine>> {
  const { tool, toolName } = decoded
  const refine = getOwn(options.refine, toolName) as
    | Refinement<unknown, unknown, RefineServices<Refine>>
    | undefined
  if (refine === undefined) return decoded.input
  const failed = (reason: string, cause: unknown) =>
    withCause(new RefinementFailed({ toolCallId: raw.toolCallId, toolName, reason }), cause)
  const refined = yield* runUserCode(() =>
    refine(decoded.input, {
      toolCallId: raw.toolCallId,
      toolName,
      tool,
      toolContext: getOwn(options.context?.tools, toolName),
      runtimeContext: options.context?.runtime
    })
  ).pipe(Effect.catchCause((cause) => Effect.fail(failed(reasonOf(cause), Cause.squash(cause)))))
  if (tool === undefined || tool.inputSchema.written()._tag === "JsonSchema") {
    // Such an input is JSON, and has to stay JSON.
    const refusal = StrictJson.inspect(refined, yield* Limits)
    if (refusal !== undefined) return yield* Effect.fail(failed(`its result is ${refusal.message}`, refusal))
  }
  if (tool === undefined) return refined
  // What a JSON Schema lets through, it lets through as it is: the call must not share it with the refinement.
  const owned = tool.inputSchema.written()._tag === "JsonSchema" ? StrictJson.clone(refined) : refined
  return yield* Effect.mapError(
    tool.inputSchema.validate(owned),
    (cause) => failed(`its result does not fit the input schema: ${cause.message}`, cause)
  )
})

type ProviderField = "providerExecuted" | "providerMetadata"

const callFields = (raw: RawToolCall, tool: Tool.Any | undefined) =>
  withoutUndefined<Pick<InvalidToolCall, "type" | "toolCallId" | "title" | "toolMetadata" | ProviderField>>({
    type: "tool-call",
    toolCallId: raw.toolCallId,
    title: tool?.title,
    toolMetadata: tool?.metadata ?? undefined,
    providerExecuted: raw.providerExecuted,
    providerMetadata: raw.providerMetadata
  })

const toToolCall = (raw: RawToolCall, { edits, input, inputSchemaInput, tool, toolName }: Decoded) => ({
  ...callFields(raw, tool),
  toolName,
  input,
  rawInput: raw.input ?? "",
  inputSchemaInput,
  edits,
  ...tool === undefined || tool.kind === "dynamic" ? { dynamic: true as const } : {}
})

const toInvalidToolCall = (
  raw: RawToolCall,
  tools: ToolSet.ToolSet | undefined,
  error: ToolCallError,
  limits: LimitValues
): InvalidToolCall => ({
  ...callFields(raw, tools === undefined ? undefined : ToolSet.get(tools, raw.toolName)),
  toolName: raw.toolName,
  input: shownInput(raw.input, limits),
  rawInput: raw.input ?? "",
  dynamic: true,
  invalid: true,
  error
})

/** The JSON value of the input where there is one, else its text; never `undefined`, which JSON would drop. */
const shownInput = (input: unknown, limits: LimitValues): unknown => {
  if (typeof input === "string") {
    return Result.match(StrictJson.parse(input, { limits }), {
      onFailure: () => input,
      onSuccess: ({ value }) => value
    })
  }
  if (input === undefined) return ""
  return Result.getOrElse(StrictJson.take(input, limits), () => ({}))
}
