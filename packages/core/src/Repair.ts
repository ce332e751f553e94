/**
 * Turns a call that failed to parse into one that may parse. A repair only proposes: what it returns is parsed and validated
 * like any call, and its edits stay on the call.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Edit } from "./Edit.ts"
import * as InputSchema from "./InputSchema.ts"
import { nameCandidate } from "./internal/nameCandidate.ts"
import { recoverText } from "./internal/recoverText.ts"
import { attemptRepair } from "./internal/repairAttempt.ts"
import * as JsonRecovery from "./JsonRecovery.ts"
import type { JsonSchema, UnsupportedSchema } from "./JsonSchemaValidator.ts"
import { type InputLimitExceeded, Limits, type LimitValues } from "./Limits.ts"
import type { RawToolCall } from "./RawToolCall.ts"
import * as RepairText from "./RepairText.ts"
import * as StrictJson from "./StrictJson.ts"
import type { Kind } from "./Tool.ts"
import type { InvalidToolInput, NoSuchTool } from "./ToolCallError.ts"

/**
 * What a repair is shown of a tool: nothing that could run or call back.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolDescription {
  readonly name: string
  readonly kind: Kind
  readonly title: string | undefined
  readonly description: string | undefined
}

/**
 * What a repair is given.
 *
 * - `toolCall`: the failing call as it was proposed, or as an earlier repair of {@link orElse} or {@link attempts} left it.
 * - `error`: why it failed.
 * - `tools`: the step's tools by name; look up own properties only.
 * - `inputSchema`: the schema of a tool's input; `InputSchema.toJsonSchema` writes it as JSON Schema.
 * - `instructions`: the step's instructions, as text or as messages; `messages`: the step's messages, without the answer that
 *   holds the call.
 * - `check`: whether a call would parse; gives the failure if not. Nothing is refined or run.
 *
 * Source: the options of the AI SDKs' `ToolCallRepairFunction`; `check` is own. Interruption takes the place of the abort
 * signal.
 *
 * @category models
 * @since 0.1.0
 */
export interface RepairContext {
  readonly toolCall: RawToolCall
  readonly error: NoSuchTool | InvalidToolInput
  readonly tools: { readonly [name: string]: ToolDescription }
  readonly inputSchema: (toolName: string) => Effect.Effect<InputSchema.InputSchema, NoSuchTool>
  readonly instructions: string | ReadonlyArray<unknown> | undefined
  readonly messages: ReadonlyArray<unknown>
  readonly check: (toolCall: RawToolCall) => Effect.Effect<Option.Option<NoSuchTool | InvalidToolInput>>
}

/**
 * What a repair proposes. Only `toolName` and `input` are taken from it: the id must be that of the failing call, and
 * everything else stays as the model sent it. `edits` says what was changed.
 *
 * @category models
 * @since 0.1.0
 */
export interface RepairedToolCall extends RawToolCall {
  readonly edits?: ReadonlyArray<Edit> | undefined
}

/**
 * A repair: `None` leaves the original failure as it is; a failure or a crash becomes `ToolCallRepairFailed`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 * import type { Repair } from "@countersign/core/Repair"
 *
 * const quotes: Repair = ({ toolCall }) =>
 *   Effect.succeed(Option.some({ ...toolCall, input: String(toolCall.input).replaceAll("'", "\"") }))
 * quotes.length // => 1
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export interface Repair<out E = never, out R = never> {
  (context: RepairContext): Effect.Effect<Option.Option<RepairedToolCall>, E, R>
}

/**
 * Asks `that` where `self` has no answer or fails, and where the answer of `self` does not parse: then with that answer as the
 * failing call, and its error. The edits of both are kept. Where `that` has nothing to add, the answer of `self` stands.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const repair = Repair.orElse(Repair.toolName, Repair.recovery())
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "Weather", input: "{\"city\":\"Oslo\",}" }
 * const program = ToolCall.parse(raw, { tools, repair })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).input // => { city: "Oslo" }
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const orElse: {
  <E2, R2>(that: Repair<E2, R2>): <E, R>(self: Repair<E, R>) => Repair<E2, R | R2>
  <E, R, E2, R2>(self: Repair<E, R>, that: Repair<E2, R2>): Repair<E2, R | R2>
} = dual(
  2,
  <E, R, E2, R2>(self: Repair<E, R>, that: Repair<E2, R2>): Repair<E2, R | R2> =>
    Effect.fnUntraced(function*(context) {
      const first = yield* Effect.result(self(context))
      if (Result.isFailure(first) || Option.isNone(first.success)) return yield* that(context)
      const next = yield* after(context, first.success.value)
      return next === undefined ? first.success : Option.some(join(first.success.value, yield* that(next)))
    })
)

/**
 * Repairs up to `n` times: while the answer does not parse, the repair is asked again, with its answer as the failing call and
 * the new error. The edits of all attempts are kept, and the last answer stands. Without this combinator a call is repaired once.
 *
 * Throws a `RangeError` where `n` is not a whole number from 1 up.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Repair from "@countersign/core/Repair"
 *
 * // A model may make another mistake when it corrects the first.
 * const ask = (request: Repair.ModelRequest) => Effect.succeed(request.prompt)
 * const repair = Repair.orElse(Repair.standard, Repair.attempts(Repair.fromModel(ask), 2))
 * typeof repair // => "function"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const attempts: {
  (n: number): <E, R>(self: Repair<E, R>) => Repair<E, R>
  <E, R>(self: Repair<E, R>, n: number): Repair<E, R>
} = dual(2, <E, R>(self: Repair<E, R>, n: number): Repair<E, R> => {
  if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`attempts must be a whole number from 1 up, got ${n}`)
  return Effect.fnUntraced(function*(context) {
    // The first attempt is the caller's own, and is traced there.
    let answer = yield* self(context)
    for (let attempt = 2; attempt <= n && Option.isSome(answer); attempt++) {
      const next = yield* after(context, answer.value)
      if (next === undefined) break
      const better = yield* attemptRepair(self, next, attempt)
      if (Option.isNone(better)) break
      answer = Option.some(join(answer.value, better))
    }
    return answer
  })
})

/**
 * What comes after an answer: the answer as the failing call, with its own error; nothing where it parses, or where no repair is
 * asked because a limit was crossed or the tool's own schema is at fault.
 */
const after = (
  context: RepairContext,
  { edits: _, ...toolCall }: RepairedToolCall
): Effect.Effect<RepairContext | undefined> =>
  Effect.map(
    context.check(toolCall),
    Option.match({
      onNone: () => undefined,
      onSome: (error) =>
        error._tag === "NoSuchTool" || error.cause._tag === "InvalidJson" || error.cause._tag === "SchemaMismatch"
          ? { ...context, toolCall, error }
          : undefined
    })
  )

/** One answer, of two of which the second goes on from the first. */
const join = (first: RepairedToolCall, second: Option.Option<RepairedToolCall>): RepairedToolCall =>
  Option.isNone(second) ? first : { ...second.value, edits: [...editsOf(first), ...editsOf(second.value)] }

/** A repair that names no edits still made one. */
const editsOf = ({ edits }: RepairedToolCall): ReadonlyArray<Edit> => edits?.length ? edits : [{ kind: "custom" }]

/**
 * Gives a call to an unknown tool the name of the one tool that it can only have meant: case, spaces and the separators `-`, `_`,
 * `.`, `:` and `/` aside, and without a prefix such as `functions.`, a suffix such as `:0` or `()`, quotes, or control tokens from
 * `<|` on. Two candidates are none.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("get_weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "functions.Get-Weather:0", input: "{\"city\":\"Oslo\"}" }
 * const program = ToolCall.parse(raw, { tools, repair: Repair.toolName })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).toolName // => "get_weather"
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const toolName: Repair = ({ error, toolCall, tools }) => {
  const name = error._tag === "NoSuchTool" ? nameCandidate(toolCall.toolName, Object.keys(tools)) : undefined
  return Effect.succeed(
    name === undefined
      ? Option.none()
      : Option.some({
        ...toolCall,
        toolName: name,
        edits: [{ kind: "tool-name", before: toolCall.toolName, after: name }]
      })
  )
}

/**
 * Recovers the arguments of a call with `JsonRecovery`, guided by the tool's schema: text that is not JSON, and text that is JSON and
 * does not fit. It proposes the value that was meant, without a second parse.
 *
 * Where two readings of the text remain, the `jsonrepair` package is asked as well, on text of at most `Limits.maxRepairLength`
 * characters. If it does not read the text as recovery does, the last of the edits is `ambiguous`, with both readings and a `risk`:
 * `ApprovalPolicy.escalateRepaired` then asks a person.
 *
 * No answer where the text cannot be recovered without a guess, where it was cut off, unless `truncated` is `"close"`, where nothing
 * is to be changed, and where garbage would become an empty input. What is no object is an answer only where the tool takes it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("find", { inputSchema: Schema.Struct({ zip: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "find", input: "{zip: 02134}" }
 * const program = ToolCall.parse(raw, { tools, repair: Repair.recovery() })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).input // => { zip: "02134" }
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const recovery = (
  options?: { readonly truncated?: RepairText.Truncated | undefined }
): Repair<InputLimitExceeded> =>
  Effect.fnUntraced(function*({ check, error, inputSchema, toolCall }) {
    const { input, toolName } = toolCall
    if (typeof input !== "string" || error._tag !== "InvalidToolInput") return Option.none()
    const schema = Option.getOrUndefined(yield* Effect.option(inputSchema(toolName)))
    const recovered = yield* Effect.catchTag(
      recoverText(input, { schema, toolName, truncated: options?.truncated }),
      "Unrecoverable",
      () => Effect.succeedNone
    )
    if (Option.isNone(recovered)) return Option.none()
    const { edits, value } = recovered.value
    const proposed = proposal(toolCall, value, edits)
    return isObject(value) || Option.isNone(yield* check(proposed)) ? Option.some(proposed) : Option.none()
  })

/** A value that is a text has to be written as one: the text of an input is that of its JSON. */
const proposal = (toolCall: RawToolCall, value: unknown, edits: ReadonlyArray<Edit>): RepairedToolCall => ({
  ...toolCall,
  input: typeof value === "string" ? JSON.stringify(value) : value,
  edits
})

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Brings arguments that came as a value, and do not fit, to the tool's schema, as {@link recovery} does with text: texts that hold a
 * number, a list or an object, wrappers around the arguments, `null` for an optional member. What fits is left alone.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("wait", { inputSchema: Schema.Struct({ seconds: Schema.Int }) }))
 * const raw = { toolCallId: "1", toolName: "wait", input: { seconds: "30" } }
 * const program = ToolCall.parse(raw, { tools, repair: Repair.coerce })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).input // => { seconds: 30 }
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const coerce: Repair = /* @__PURE__ */ Effect.fnUntraced(function*({ error, inputSchema, toolCall }) {
  const { input, toolName } = toolCall
  if (typeof input === "string" || error._tag !== "InvalidToolInput" || error.cause._tag !== "SchemaMismatch") {
    return Option.none()
  }
  const schema = yield* Effect.option(inputSchema(toolName))
  const limits = yield* Limits
  const taken = StrictJson.take(input, limits)
  if (Option.isNone(schema) || Result.isFailure(taken)) return Option.none()
  const { edits, value } = JsonRecovery.coerce(taken.success, { schema: schema.value, toolName, limits })
  return edits.length === 0 ? Option.none() : Option.some(proposal(toolCall, value, edits))
})

/**
 * Repairs the argument text of a call by a repair of text. Only text that is not JSON is handed to it; what it returns must be
 * a JSON object that is not empty, or there is no answer.
 *
 * @example
 * ```ts
 * import * as Repair from "@countersign/core/Repair"
 * import * as RepairText from "@countersign/core/RepairText"
 *
 * const closing = Repair.fromText(RepairText.jsonrepair({ truncated: "close" }))
 * typeof closing // => "function"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromText = <E, R>(repair: RepairText.RepairText<E, R>): Repair<E, R> =>
  Effect.fnUntraced(function*({ error, inputSchema, toolCall }) {
    const { input, toolName } = toolCall
    if (typeof input !== "string" || error._tag !== "InvalidToolInput") return Option.none()
    const cause = error.cause
    if (cause._tag !== "InvalidJson" || cause.reason !== "syntax") return Option.none()
    const schema = Option.getOrUndefined(yield* Effect.option(inputSchema(toolName)))
    const answer = Option.getOrUndefined(yield* repair(input, cause, schema))
    if (answer === undefined || !isFilledObject(answer, yield* Limits)) return Option.none()
    const { edits, text, value } = answer
    return Option.some({ ...toolCall, input: text ?? value, edits })
  })

// Digits are not judged here: where they may be kept depends on the schema, which parsing the proposal asks.
const isFilledObject = ({ text, value }: RepairText.RepairedText, limits: LimitValues): boolean => {
  const meant = text === undefined
    ? value
    : Result.getOrUndefined(StrictJson.parse(text, { limits, keepDigits: true }))?.value
  return isObject(meant) && Object.keys(meant).length > 0
}

/**
 * Repairs argument text with the `jsonrepair` package, as {@link RepairText.jsonrepair} says: bounded, and refusing a text that
 * was cut off.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "weather", input: "{city: 'Oslo'}" }
 * const program = ToolCall.parse(raw, { tools, repair: Repair.jsonrepair })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).input // => { city: "Oslo" }
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const jsonrepair: Repair<InputLimitExceeded> = /* @__PURE__ */ fromText(/* @__PURE__ */ RepairText.jsonrepair())

/**
 * The repair to start with: {@link toolName}, then {@link recovery} of text and {@link coerce} for values; a call that needs a name
 * and other arguments gets both. Nobody is asked, and what would be a guess is left to fail.
 *
 * A repair of your own comes after it: `orElse(standard, mine)` is asked where `standard` has no answer, and where its answer still
 * does not fit, with that answer and its error.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "Weather", input: "{\"city\": \"Oslo\",}" }
 * const program = ToolCall.parse(raw, { tools, repair: Repair.standard })
 * const call = Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse))
 * call.edits.map((edit) => edit.kind) // => ["tool-name", "comma"]
 * ```
 *
 * @category repairing
 * @since 0.1.0
 */
export const standard: Repair = /* @__PURE__ */ orElse(
  toolName,
  /* @__PURE__ */ orElse(/* @__PURE__ */ recovery(), coerce)
)

/**
 * What a model is asked when it shall write an input anew. `prompt` is a question that is complete by itself; the rest is for
 * those who write their own.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelRequest {
  readonly prompt: string
  readonly toolCall: RawToolCall
  readonly error: InvalidToolInput
  readonly inputSchema: JsonSchema
  readonly instructions: string | ReadonlyArray<unknown> | undefined
  readonly messages: ReadonlyArray<unknown>
}

/**
 * Asks a model for the input again. The Effect answers with the text of the arguments; a code fence around it is taken off. It is
 * not asked about calls to tools that do not exist, and a blank answer is none.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 * import * as Repair from "@countersign/core/Repair"
 * import * as Tool from "@countersign/core/Tool"
 * import * as ToolCall from "@countersign/core/ToolCall"
 * import * as ToolSet from "@countersign/core/ToolSet"
 *
 * const repair = Repair.fromModel(() => Effect.succeed("{\"city\":\"Oslo\"}"))
 * const tools = ToolSet.make(Tool.make("weather", { inputSchema: Schema.Struct({ city: Schema.String }) }))
 * const raw = { toolCallId: "1", toolName: "weather", input: "{\"city\":0}" }
 * const program = ToolCall.parse(raw, { tools, repair })
 * Effect.runSync(Effect.provide(program, JsonSchemaValidator.layerRefuse)).input // => { city: "Oslo" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromModel = <E, R>(
  ask: (request: ModelRequest) => Effect.Effect<string, E, R>
): Repair<E | NoSuchTool | UnsupportedSchema, R> =>
  Effect.fnUntraced(function*({ error, inputSchema, instructions, messages, toolCall }) {
    if (error._tag !== "InvalidToolInput") return Option.none()
    const schema = yield* Effect.flatMap(inputSchema(toolCall.toolName), InputSchema.toJsonSchema)
    const answer = yield* ask({
      prompt: prompt(toolCall, error, schema),
      toolCall,
      error,
      inputSchema: schema,
      instructions,
      messages
    })
    const input = answer.replace(/^\s*```\w*\r?\n([^]*?)\r?\n?```\s*$/, "$1")
    if (input.trim() === "") return Option.none()
    return Option.some({ ...toolCall, input, edits: [{ kind: "model" }] })
  })

const prompt = (toolCall: RawToolCall, error: InvalidToolInput, schema: JsonSchema): string =>
  [
    `Your call to the tool ${JSON.stringify(toolCall.toolName)} cannot be used. ${error.message}`,
    `The arguments were:\n${typeof toolCall.input === "string" ? toolCall.input : JSON.stringify(toolCall.input)}`,
    `They have to fit this JSON Schema:\n${JSON.stringify(schema)}`,
    "Answer with the corrected arguments as one JSON object, and nothing else."
  ].join("\n\n")
