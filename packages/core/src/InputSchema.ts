/**
 * One input schema, however it was written: an Effect Schema, any Standard Schema v1 (zod, valibot, arktype) or a raw JSON
 * Schema.
 *
 * It gives a decoder that is compiled once, on first use, and the JSON Schema that a model is shown. Nothing is compiled when
 * the schema is declared.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import { SchemaMismatch, toPointer } from "./InputIssue.ts"
import { findNonFinite, hasAtMost } from "./internal/boundedWalk.ts"
import { fromEffectIssue, maxThorough, parseOptions, thoroughOptions } from "./internal/effectIssues.ts"
import { fromStandardIssue } from "./internal/standardIssues.ts"
import { type Dialect, type JsonSchema, JsonSchemaValidator, UnsupportedSchema } from "./JsonSchemaValidator.ts"

const TypeId = "~@countersign/core/InputSchema"

/**
 * How a schema was written: what {@link toJsonSchema} reads.
 *
 * @category models
 * @since 0.1.0
 */
export type Written =
  | { readonly _tag: "EffectSchema"; readonly schema: Schema.Codec<any, any> }
  | { readonly _tag: "StandardSchema"; readonly schema: StandardSchemaV1; readonly jsonSchema: JsonSchema | undefined }
  | { readonly _tag: "JsonSchema"; readonly schema: JsonSchema; readonly dialect: Dialect | undefined }

/**
 * A normalised input schema.
 *
 * - `written`: how it was written.
 * - `decode`: a JSON value to the typed input. Fails with every place that does not fit.
 * - `validate`: whether an already decoded input, as a refinement returns it, still fits.
 *
 * @category models
 * @since 0.1.0
 */
export interface InputSchema<out A = unknown> {
  readonly [TypeId]: typeof TypeId
  readonly written: () => Written
  readonly decode: (value: unknown) => Effect.Effect<A, SchemaMismatch | UnsupportedSchema, JsonSchemaValidator>
  readonly validate: (input: unknown) => Effect.Effect<A, SchemaMismatch | UnsupportedSchema, JsonSchemaValidator>
}

/**
 * What a tool's input schema can be written as. A function is a schema that is built on first use.
 *
 * @category models
 * @since 0.1.0
 */
export type Source =
  | InputSchema
  | Schema.Codec<any, any>
  | StandardSchemaV1
  | { readonly [keyword: string]: unknown }
  | boolean
  | (() => Source)

/**
 * The decoded input of a schema, however it was written; `unknown` for raw JSON Schema.
 *
 * @category models
 * @since 0.1.0
 */
export type Input<S> = S extends InputSchema<infer A> ? A
  : S extends Schema.Codec<infer A, any> ? A
  : S extends StandardSchemaV1<any, infer A> ? A
  : S extends () => infer Lazy ? Input<Lazy>
  : unknown

/**
 * Whether a value is a normalised input schema.
 *
 * @example
 * ```ts
 * import * as InputSchema from "@countersign/core/InputSchema"
 *
 * InputSchema.isInputSchema(InputSchema.fromJsonSchema({ type: "object" })) // => true
 * InputSchema.isInputSchema({ type: "object" }) // => false
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isInputSchema = (u: unknown): u is InputSchema => Predicate.hasProperty(u, TypeId)

/**
 * Normalises a schema, however it was written.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as InputSchema from "@countersign/core/InputSchema"
 *
 * const schema = InputSchema.make(Schema.Struct({ city: Schema.String }))
 * schema.written()._tag // => "EffectSchema"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <const S extends Source>(source: S): InputSchema<Input<S>> => fromSource(source) as any

const fromSource = (source: Source): InputSchema => {
  if (isInputSchema(source)) return source
  if (Schema.isSchema(source)) return fromEffectSchema(source as Schema.Codec<unknown>)
  if (isStandardSchema(source)) return fromStandardSchema(source)
  if (typeof source === "function") return fromLazy(source)
  return fromJsonSchema(source)
}

const isStandardSchema = (u: unknown): u is StandardSchemaV1 => Predicate.hasProperty(u, "~standard")

const fromLazy = (build: () => Source): InputSchema => {
  const get = memo(() => fromSource(build()))
  const built = Effect.try({ try: get, catch: crashed })
  return {
    [TypeId]: TypeId,
    written: () => get().written(),
    decode: (value) => Effect.flatMap(built, (schema) => schema.decode(value)),
    validate: (input) => Effect.flatMap(built, (schema) => schema.validate(input))
  }
}

/**
 * An Effect Schema. Values are decoded from JSON by its canonical JSON codec, so a `Schema.Date` takes an ISO string. Keys
 * that the schema does not name are refused, not stripped: an approver must see what runs.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as InputSchema from "@countersign/core/InputSchema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 *
 * const schema = InputSchema.fromEffectSchema(Schema.Struct({ city: Schema.String }))
 * const run = Effect.provide(Effect.flip(schema.decode({ town: "Oslo" })), JsonSchemaValidator.layerRefuse)
 * Effect.runSync(run).message // => "/town: unexpected key; /city: missing required key"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromEffectSchema = <A, I>(schema: Schema.Codec<A, I>): InputSchema<A> => {
  const closed = isEmptyStruct(schema) ? noMembers as unknown as Schema.Codec<A, I> : schema
  const run = (codec: () => Schema.Codec<A, unknown>) => {
    const parser = memo(() => SchemaParser.decodeUnknownEffect(codec()))
    const parse = (value: unknown, options: SchemaAST.ParseOptions) => Effect.suspend(() => parser()(value, options))
    return (value: unknown) =>
      parse(value, parseOptions).pipe(
        // Most inputs fit. One that does not is read again, to tell everything, where that cannot be endless.
        Effect.catch((issue) => hasAtMost(value, maxThorough) ? parse(value, thoroughOptions) : Effect.fail(issue)),
        Effect.mapError((issue) => SchemaMismatch.fromIssues(fromEffectIssue(issue, value))),
        Effect.catchDefect((defect) => Effect.fail(crashed(defect))),
        Effect.flatMap(refuseNonFinite)
      )
  }
  return {
    [TypeId]: TypeId,
    written: () => ({ _tag: "EffectSchema", schema: closed }),
    decode: run(() => Schema.toCodecJson(closed) as Schema.Codec<A, unknown>),
    validate: run(() => Schema.toType(closed))
  }
}

/** To Effect an empty struct is any value but null and undefined; to a tool it means that there are no arguments. */
const isEmptyStruct = ({ ast }: Schema.Top): boolean =>
  ast._tag === "Objects" && ast.propertySignatures.length === 0 && ast.indexSignatures.length === 0 &&
  ast.encoding === undefined && ast.checks === undefined

const noMembers = Schema.Record(Schema.String, Schema.Never)

/** `Schema.Number` also reads the strings "NaN" and "Infinity", which a model must not put in place of a number. */
const refuseNonFinite = <A>(input: A): Effect.Effect<A, SchemaMismatch> => {
  const path = findNonFinite(input)
  return path === undefined
    ? Effect.succeed(input)
    : Effect.fail(SchemaMismatch.fromIssues([{ pointer: toPointer(path), message: "expected a finite number" }]))
}

/**
 * A Standard Schema v1: zod, valibot, arktype and others. The library's own rules hold, among them what it does with
 * unknown keys.
 *
 * The JSON Schema is taken from `~standard.jsonSchema` where the library has it; for the others (zod 3, valibot) pass it as
 * the option `jsonSchema`, or a model cannot be shown the schema.
 *
 * A library checks what comes in, not what it made of it. So a refinement of a schema that transforms its input must return
 * something that the schema takes again.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as InputSchema from "@countersign/core/InputSchema"
 * import * as JsonSchemaValidator from "@countersign/core/JsonSchemaValidator"
 *
 * const standard = Schema.toStandardSchemaV1(Schema.Struct({ city: Schema.String }))
 * const schema = InputSchema.fromStandardSchema(standard, { jsonSchema: { type: "object" } })
 * const program = Effect.provide(schema.decode({ city: "Oslo" }), JsonSchemaValidator.layerRefuse)
 * Effect.runSync(program) // => { city: "Oslo" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStandardSchema = <A>(
  schema: StandardSchemaV1<any, A>,
  options?: { readonly jsonSchema?: JsonSchema | undefined }
): InputSchema<A> => {
  const decode = (value: unknown) =>
    runStandard(schema, value).pipe(
      Effect.flatMap((result) => {
        if (result.issues === undefined) {
          return Predicate.hasProperty(result, "value")
            ? Effect.succeed(result.value)
            : Effect.die(new TypeError("no result"))
        }
        const issues = Array.from(result.issues)
        const told = issues.slice(0, SchemaMismatch.maxIssues).map((issue) => fromStandardIssue(issue, value))
        return Effect.fail(SchemaMismatch.fromIssues(told, issues.length))
      }),
      // Whatever a library does that no library should do: its schema cannot be checked.
      Effect.catchDefect((defect) => Effect.fail(crashed(defect)))
    )
  return {
    [TypeId]: TypeId,
    written: () => ({ _tag: "StandardSchema", schema, jsonSchema: options?.jsonSchema }),
    decode,
    validate: decode
  }
}

const runStandard = <A>(schema: StandardSchemaV1<any, A>, value: unknown): Effect.Effect<StandardSchemaV1.Result<A>> =>
  Effect.suspend(() => {
    const result = schema["~standard"].validate(value)
    return Predicate.isPromiseLike(result) ? Effect.promise(() => result) : Effect.succeed(result)
  })

/**
 * A raw JSON Schema. It is always checked, by the `JsonSchemaValidator` in context; the input passes as it is.
 *
 * `dialect` is needed for `openapi-3.0` (`nullable`, boolean `exclusiveMinimum`), which a schema cannot declare itself.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CfworkerJsonSchema from "@countersign/core/CfworkerJsonSchema"
 * import * as InputSchema from "@countersign/core/InputSchema"
 *
 * const schema = InputSchema.fromJsonSchema({ type: "string", nullable: true }, { dialect: "openapi-3.0" })
 * Effect.runSync(Effect.provide(schema.decode(null), CfworkerJsonSchema.layer)) // => null
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromJsonSchema = (
  schema: JsonSchema,
  options?: { readonly dialect?: Dialect | undefined }
): InputSchema => {
  const decode = Effect.fnUntraced(function*(value: unknown) {
    const validate = yield* (yield* JsonSchemaValidator).compile(schema, options?.dialect)
    const issues = yield* Effect.try({ try: () => validate(value), catch: crashed })
    if (issues.length > 0) return yield* SchemaMismatch.fromIssues(issues)
    return value
  })
  return {
    [TypeId]: TypeId,
    written: () => ({ _tag: "JsonSchema", schema, dialect: options?.dialect }),
    decode,
    validate: decode
  }
}

/**
 * The JSON Schema that a model is shown. Fails where a schema has none: a library that gives none (zod 3, valibot), or a type
 * that JSON Schema cannot express.
 *
 * A function of its own, so that a program which only decodes does not carry the code that writes JSON Schemas.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as InputSchema from "@countersign/core/InputSchema"
 *
 * const schema = InputSchema.make(Schema.Struct({ city: Schema.String }))
 * Effect.runSync(InputSchema.toJsonSchema(schema)) // => { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false }
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const toJsonSchema = (schema: InputSchema): Effect.Effect<JsonSchema, UnsupportedSchema> =>
  Effect.try({
    try: () => writeJsonSchema(schema.written()),
    catch: (error) => new UnsupportedSchema({ reason: error instanceof Error ? error.message : String(error) })
  })

const writeJsonSchema = (written: Written): JsonSchema => {
  switch (written._tag) {
    case "JsonSchema":
      return written.schema
    case "EffectSchema": {
      const { definitions, schema } = Schema.toJsonSchemaDocument(written.schema, { onExcessProperty: "error" })
      return Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions }
    }
    case "StandardSchema": {
      if (written.jsonSchema !== undefined) return written.jsonSchema
      const standard = written.schema["~standard"] as Partial<StandardJSONSchemaV1["~standard"]>
      if (standard.jsonSchema === undefined) {
        throw new Error(`the schema library ${standard.vendor} gives no JSON Schema: pass one with fromStandardSchema`)
      }
      return standard.jsonSchema.input({ target: "draft-07" })
    }
  }
}

const crashed = (defect: unknown): UnsupportedSchema =>
  new UnsupportedSchema({ reason: `it crashed (${defect instanceof Error ? defect.name : typeof defect})` })

const memo = <A>(build: () => A): () => A => {
  let built: { readonly value: A } | undefined
  return () => (built ??= { value: build() }).value
}
