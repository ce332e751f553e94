/**
 * From the text of a line to its fields, checked and exact.
 */
import * as InputSchema from "@countersign/core/InputSchema"
import { type JsonSchemaValidator } from "@countersign/core/JsonSchemaValidator"
import { Limits, type LimitValues } from "@countersign/core/Limits"
import * as StrictJson from "@countersign/core/StrictJson"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { InvalidLine } from "./invalidLine.ts"

/** What a line may look like, and in which of its fields no number may lose a digit. */
export interface Shape<Fields extends Schema.Struct.Fields> {
  readonly schema: Schema.Struct<Fields> & Schema.Codec<Schema.Struct<Fields>["Type"], any>
  readonly exact: ReadonlySet<string>
}

/** Reads one line; fields that the shape does not name are ignored. */
export const reader = <Fields extends Schema.Struct.Fields>(
  { exact, schema }: Shape<Fields>
): (text: string) => Effect.Effect<Schema.Struct<Fields>["Type"], InvalidLine, JsonSchemaValidator> => {
  const shape = InputSchema.fromEffectSchema(schema)
  const names = Object.keys(schema.fields)
  return Effect.fnUntraced(function*(text) {
    const limits = yield* Limits
    const value = parse(text, exact, limits)
    if (Result.isFailure(value)) {
      return yield* new InvalidLine({ message: value.failure.message, ...readableId(text, limits) })
    }
    const line = value.success
    if (!isObject(line)) {
      return yield* new InvalidLine({ message: "expected a JSON object" })
    }
    const known: Record<string, unknown> = {}
    for (const name of names) {
      const field = Object.hasOwn(line, name) ? line[name] : undefined
      // Many languages write an absent field as null.
      if (field !== undefined && (field !== null || exact.has(name))) known[name] = field
    }
    const refusal = StrictJson.inspect(known["id"] ?? null, limits)
    if (refusal !== undefined) return yield* new InvalidLine({ message: `/id: ${refusal.message}` })
    return yield* Effect.mapError(
      shape.validate(known),
      (error) => new InvalidLine({ message: error.message, ...readableId(text, limits) })
    )
  })
}

/**
 * A field that nests too deeply, or holds a forbidden key, is refused later, with an error that says more. Where a rounded
 * number can do no harm, in a JSON Schema or in a field that is ignored, it is rounded as everywhere else.
 */
const parse = (text: string, exact: ReadonlySet<string>, limits: LimitValues): Result.Result<unknown, Error> => {
  const read = StrictJson.parse(text, {
    limits: { ...limits, maxInputLength: Infinity, maxDepth: limits.maxDepth + 1 },
    keepDigits: true
  })
  if (Result.isSuccess(read)) {
    const { edits, value } = read.success
    if (edits.length === 0) return Result.succeed(value)
    const lost = edits.find(({ pointer }) => exact.has(pointer?.split("/")[1] ?? ""))
    return lost === undefined
      ? Result.succeed(JSON.parse(text))
      : Result.fail(new StrictJson.InvalidJson({ reason: "unsafe-integer", pointer: lost.pointer ?? "" }))
  }
  const { failure } = read
  const line = failure._tag === "InputLimitExceeded" || failure.reason === "forbidden-key"
    ? parseLoosely(text)
    : undefined
  // What came after the place at which reading stopped has not been checked, so one of the exact fields must be refused.
  const isRefusedLater = line !== undefined &&
    [...exact].some((name) => Object.hasOwn(line, name) && StrictJson.inspect(line[name], limits) !== undefined)
  return isRefusedLater ? Result.succeed(line) : Result.fail(failure)
}

const parseLoosely = (text: string): { readonly [field: string]: unknown } | undefined => {
  try {
    const line: unknown = JSON.parse(text)
    return isObject(line) ? line : undefined
  } catch {
    return undefined
  }
}

const isObject = (u: unknown): u is { readonly [field: string]: unknown } =>
  typeof u === "object" && u !== null && !Array.isArray(u)

/** The `id` of a broken line, if it can be given back as it came. */
const readableId = (text: string, limits: LimitValues): { readonly id?: unknown } => {
  const line = parseLoosely(text)
  if (line === undefined || !Object.hasOwn(line, "id")) return {}
  const { id } = line
  if (StrictJson.inspect(id, limits) !== undefined) return {}
  return Result.isSuccess(StrictJson.parse(JSON.stringify(id), { limits })) ? { id } : {}
}

/** The `id` of a line as its answer repeats it. */
export const idOf = (line: { readonly id?: unknown }): { readonly id?: unknown } =>
  Object.hasOwn(line, "id") ? { id: line.id } : {}
