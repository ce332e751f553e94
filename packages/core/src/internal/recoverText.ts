/**
 * Recovery with a second opinion: where two readings of a text remain, the `jsonrepair` engine is asked for a third, and where that
 * one is another than ours, the edits say so.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { jsonrepair } from "jsonrepair"
import * as Edit from "../Edit.ts"
import type { InputSchema } from "../InputSchema.ts"
import * as JsonRecovery from "../JsonRecovery.ts"
import { type InputLimitExceeded, Limits, type LimitValues } from "../Limits.ts"
import * as StrictJson from "../StrictJson.ts"
import { writeJson } from "./writeJson.ts"

/** @internal */
export interface RecoverTextOptions {
  readonly schema: InputSchema | undefined
  readonly toolName?: string | undefined
  readonly truncated: "refuse" | "close" | undefined
}

/**
 * `None` where the text already says what is recovered, or where an empty value would be made of garbage.
 *
 * @internal
 */
export const recoverText = /* @__PURE__ */ Effect.fnUntraced(function*(
  text: string,
  options: RecoverTextOptions
): Effect.fn.Return<
  Option.Option<{ readonly value: unknown; readonly edits: ReadonlyArray<Edit.Edit>; readonly truncated: boolean }>,
  JsonRecovery.Unrecoverable | InputLimitExceeded
> {
  const limits = yield* Limits
  const recovered = yield* Effect.fromResult(JsonRecovery.recover(text, { ...options, limits }))
  const { alternative, edits, truncated, value } = recovered
  if (edits.length === 0 || isUnsaid(value, text)) return Option.none()
  const isDoubtful = alternative !== undefined && writeJson(alternative) !== writeJson(value) &&
    !isConfirmed(text, value, limits, options)
  return Option.some({ value, edits: isDoubtful ? [...edits, ambiguous(alternative, value)] : edits, truncated })
})

/**
 * Whether a value holds nothing, though the text that it was made of did not say so. Nothing that a model meant to say becomes an
 * empty input.
 *
 * @internal
 */
export const isUnsaid = (value: unknown, text: string): boolean =>
  (typeof value === "object" && value !== null ? Object.keys(value).length === 0 : (value ?? "") === "") &&
  !/\{\s*\}|\[\s*\]|null|None/.test(text)

/** Whether the engine reads the text as we do, once what it reads is brought to the schema as our own reading was. */
const isConfirmed = (
  text: string,
  taken: unknown,
  limits: LimitValues,
  { schema, toolName }: RecoverTextOptions
): boolean => {
  if (text.length > limits.maxRepairLength) return false
  try {
    const { value } = Result.getOrThrow(StrictJson.parse(jsonrepair(text), { limits, keepDigits: true }))
    const fitted = schema === undefined ? value : JsonRecovery.coerce(value, { schema, toolName, limits }).value
    return writeJson(fitted) === writeJson(taken)
  } catch {
    return false
  }
}

/** How much of a reading an edit shows, and how much of it before the first difference. */
const maxShown = 200
const maxCommon = 40

const ambiguous = (alternative: unknown, taken: unknown): Edit.Edit => {
  const readings = [writeJson(alternative), writeJson(taken)] as const
  const start = Math.max(0, Edit.between("", ...readings).offset! - maxCommon)
  const [before, after] = readings.map((json) =>
    `${start > 0 ? "…" : ""}${json.slice(start, start + maxShown)}${json.length > start + maxShown ? "…" : ""}`
  )
  return { kind: "ambiguous", before: before!, after: after!, risk: "ambiguous" }
}
