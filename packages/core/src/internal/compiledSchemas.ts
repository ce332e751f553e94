/**
 * What both JSON Schema layers share: make the document sound, compile it with the first engine that takes it, and keep
 * the result for as long as the schema object lives.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import {
  type Dialect,
  type JsonSchema,
  JsonSchemaValidator,
  type UnsupportedSchema,
  type Validate
} from "../JsonSchemaValidator.ts"
import { type Document, toDocument } from "./schemaDocument.ts"

/** @internal */
export type Engine = (document: Document) => Result.Result<Validate, UnsupportedSchema>

type Compiled = Result.Result<Validate, UnsupportedSchema>

/** @internal */
export const layerEngine = (engine: Engine): Layer.Layer<JsonSchemaValidator> =>
  Layer.sync(JsonSchemaValidator)(() => {
    const cache = new WeakMap<object, Map<Dialect | undefined, Compiled>>()
    const compile = (schema: JsonSchema, dialect: Dialect | undefined): Compiled =>
      Result.flatMap(toDocument(schema, dialect), engine)
    return {
      compile: (schema, dialect) =>
        Effect.suspend(() => {
          if (typeof schema !== "object" || schema === null) return Effect.fromResult(compile(schema, dialect))
          let byDialect = cache.get(schema)
          if (byDialect === undefined) cache.set(schema, byDialect = new Map())
          let compiled = byDialect.get(dialect)
          if (compiled === undefined) byDialect.set(dialect, compiled = compile(schema, dialect))
          return Effect.fromResult(compiled)
        })
    }
  })
