/** Schemas of zod 4 of random make. */
import { z } from "zod"
import type { Choices } from "./choices.ts"

type AnySchema = z.ZodType

/** What an enum of TypeScript is when it runs. */
const Level = { 1: "low", low: 1, high: "HIGH" } as const

const tree = z.object({
  name: z.string(),
  get children(): z.ZodOptional<z.ZodArray<any>> {
    return z.array(tree).optional()
  }
})

const list: AnySchema = z.lazy(() => z.union([z.tuple([z.string(), list]), z.null()]))

const leaves: ReadonlyArray<(choices: Choices) => AnySchema> = [
  () => z.string(),
  (choices) => z.string().min(choices.below(9)).max(choices.below(9)),
  () => z.string().regex(/^a\/b$/i).startsWith("W w").endsWith("😀").includes("/"),
  (choices) =>
    choices.oneOf([z.email(), z.url(), z.uuid(), z.cuid2(), z.ipv4(), z.cidrv6(), z.base64(), z.jwt(), z.emoji()]),
  (choices) => choices.oneOf([z.iso.datetime(), z.iso.date(), z.iso.time(), z.iso.duration(), z.e164()]),
  () => z.stringFormat("even", (text) => text.length % 2 === 0),
  () => z.number(),
  (choices) => z.number().min(choices.below(9)).lt(100).multipleOf(0.5),
  (choices) => choices.oneOf([z.int(), z.int32(), z.float32(), z.number().positive()]),
  () => z.bigint(),
  () => z.boolean(),
  () => z.stringbool(),
  () => z.date(),
  () => z.null(),
  () => z.undefined(),
  () => z.void(),
  () => z.never(),
  () => z.nan(),
  () => z.any(),
  () => z.unknown(),
  () => z.symbol(),
  () => z.json(),
  () => z.file(),
  () => z.literal("left"),
  () => z.literal(["a", 1, null, true]),
  () => z.literal(undefined),
  () => z.enum(["left", "Right", "up-down"]),
  () => z.enum(Level),
  () => z.templateLiteral(["id-", z.int()]),
  () => z.custom<string>(),
  () => z.coerce.number(),
  () => tree,
  () => list
]

const names = ["path", "file_path", "maxBytes", "x", "a b", "é", "anyOf", "constructor", "__proto__", "10"]

const maxDepth = 4

/** A schema of at most four levels. */
export const zod4OfChoices = (choices: Choices, depth = 0): AnySchema => {
  const inner = () => zod4OfChoices(choices, depth + 1)
  const leaf = () => choices.oneOf(leaves)(choices)
  const object = () => {
    const shape = Object.fromEntries(choices.some(names).map((name) => [name, inner()]))
    return choices.oneOf<() => z.ZodObject>([
      () => z.object(shape),
      () => z.strictObject(shape),
      () => z.looseObject(shape),
      () => z.object(shape).partial(),
      () => z.object(shape).catchall(inner())
    ])()
  }
  const makes: ReadonlyArray<() => AnySchema> = [
    object,
    leaf,
    object,
    () => z.array(inner()),
    () => z.array(inner()).min(1).max(9),
    () => z.tuple([inner(), leaf()]),
    () => z.tuple([leaf()], inner()),
    () => z.record(z.string(), inner()),
    () => z.record(z.enum(["a", "b"]), inner()),
    () => z.partialRecord(z.enum(["a", "b"]), inner()),
    () => z.record(z.string().regex(/^x-/), inner()),
    () => z.map(inner(), inner()),
    () => z.set(inner()),
    () => z.union([inner(), inner()]),
    () =>
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("a") }),
        z.object({ kind: z.literal("b"), inner: inner() })
      ]),
    () => z.intersection(inner(), inner()),
    () => z.intersection(object(), object()),
    () => inner().nullable(),
    () => inner().optional(),
    () => leaf().nullish(),
    () => inner().default(null),
    () => leaf().default({ list: [1, "two"] }),
    () => inner().prefault({ a: 1 }),
    () => inner().catch(undefined),
    () => inner().readonly(),
    () => inner().brand("brand"),
    () => z.promise(inner()),
    () => inner().transform(String),
    () => inner().refine(Boolean),
    () => z.preprocess(String, inner()),
    () => inner().pipe(z.any()),
    () => z.lazy(() => made),
    () => z.object({ first: made, second: made, third: z.array(made) }),
    () => inner().meta({ id: `shared-${choices.below(1_000_000)}`, title: "Shared", examples: [1] })
  ]
  const made = depth >= maxDepth ? leaf() : choices.oneOf([leaf, object])()
  const schema = depth >= maxDepth ? made : choices.oneOf(makes)()
  return choices.below(4) === 1 ? schema.describe(choices.oneOf(["what it is", "", "a\u202eb"])) : schema
}
