/** Effect Schemas of random make: what an input may be, and what its JSON has to be turned into. */
import * as Schema from "effect/Schema"
import type { Choices } from "./choices.ts"

type AnySchema = Schema.Codec<any, any>

const Level = { low: 1, high: "HIGH" } as const

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}

const Tree = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

const leaves: ReadonlyArray<AnySchema> = [
  Schema.String,
  Schema.Finite,
  Schema.Number.check(Schema.isFinite()),
  Schema.Int,
  Schema.Boolean,
  Schema.Null,
  Schema.Json,
  Schema.Literals(["left", "Right", "up-down"]),
  Schema.Literals([1, 2, "3"]),
  Schema.Literal(true),
  Schema.Enum(Level),
  Schema.Date,
  Schema.BigInt,
  Schema.FiniteFromString,
  Schema.TemplateLiteral(["id-", Schema.Int]),
  Schema.String.check(Schema.isPattern(/^[a-z]{1,8}$/)),
  Schema.NonEmptyString,
  Tree
]

const names = ["path", "file_path", "maxBytes", "x", "a b", "é"]

const maxDepth = 3

/** A schema of at most three levels. */
export const schemaOfChoices = (choices: Choices, depth = 0): AnySchema => {
  const inner = () => schemaOfChoices(choices, depth + 1)
  const member = (): AnySchema =>
    choices.oneOf<(schema: AnySchema) => any>([(schema) => schema, Schema.optionalKey, Schema.optional])(inner())
  const struct = () => Schema.Struct(Object.fromEntries(choices.some(names).map((name) => [name, member()])))
  const leaf = () => choices.oneOf(leaves)
  if (depth >= maxDepth) return leaf()
  return choices.oneOf<() => AnySchema>([
    struct,
    leaf,
    struct,
    () => Schema.Array(inner()),
    () => Schema.NonEmptyArray(inner()),
    () => Schema.Tuple([inner(), Schema.optionalKey(leaf())]),
    () => Schema.TupleWithRest(Schema.Tuple([leaf()]), [inner()]),
    () => Schema.Record(Schema.String, inner()),
    () => Schema.Record(Schema.TemplateLiteral(["x-", Schema.String]), leaf()),
    () => Schema.StructWithRest(struct(), [Schema.Record(Schema.String, Schema.Json)]),
    () => Schema.Union([inner(), inner()]),
    () => Schema.NullOr(inner()),
    () => {
      const schema = inner()
      return Schema.suspend(() => schema)
    }
  ])()
}
