/** Schemas of zod 3 of random make, of every kind and with every check. */
import { z } from "zod3"
import type { Choices } from "./choices.ts"

type AnySchema = z.ZodTypeAny

/** What an enum of TypeScript is when it runs. */
const Level = { 1: "low", low: 1, high: "HIGH" } as const

type Check = (text: z.ZodString, choices: Choices) => z.ZodString

const checks: ReadonlyArray<Check> = [
  (text, choices) => text.min(choices.below(9)),
  (text, choices) => text.max(choices.below(9)),
  (text, choices) => text.length(choices.below(9)),
  (text) => text.email("not an address"),
  (text) => text.url(),
  (text) => text.uuid(),
  (text) => text.cuid(),
  (text) => text.cuid2(),
  (text) => text.ulid(),
  (text) => text.nanoid(),
  (text) => text.emoji(),
  (text) => text.jwt(),
  (text) => text.base64(),
  (text) => text.base64url(),
  (text) => text.datetime(),
  (text) => text.date(),
  (text) => text.time(),
  (text) => text.duration(),
  (text) => text.ip(),
  (text) => text.ip({ version: "v4" }),
  (text) => text.ip({ version: "v6" }),
  (text) => text.cidr(),
  (text) => text.cidr({ version: "v4" }),
  (text) => text.cidr({ version: "v6" }),
  (text) => text.trim().toLowerCase().toUpperCase(),
  (text) => text.regex(/^a\/b$/i),
  (text) => text.regex(new RegExp("")),
  (text, choices) => text.startsWith(choices.oneOf(affixes)),
  (text, choices) => text.endsWith(choices.oneOf(affixes)),
  (text, choices) => text.includes(choices.oneOf(affixes))
]

const affixes = ["", "www.", "W w", "a/b", "(é)", "😀", "\n", "[x]^$|", "\u2028"]

const texts = (choices: Choices): z.ZodString =>
  Array.from({ length: choices.below(4) }, () => choices.oneOf(checks)).reduce(
    (text, check) => check(text, choices),
    z.string()
  )

const leaves: ReadonlyArray<(choices: Choices) => AnySchema> = [
  texts,
  () => z.string(),
  () => z.number(),
  (choices) => z.number().min(choices.below(9)).max(100).multipleOf(0.5),
  (choices) => z.number().int().gt(choices.below(9)).lt(100).finite().safe(),
  () => z.number().min(-Infinity).nonnegative(),
  () => z.bigint(),
  () => z.bigint().min(1n),
  () => z.boolean(),
  () => z.date().min(new Date(0)),
  () => z.null(),
  () => z.undefined(),
  () => z.void(),
  () => z.never(),
  () => z.nan(),
  () => z.any(),
  () => z.unknown(),
  () => z.symbol(),
  () => z.function(),
  () => z.literal("left"),
  () => z.literal(1.5),
  () => z.literal(true),
  () => z.literal(null),
  () => z.literal(undefined),
  () => z.literal(1n),
  () => z.literal(["left"] as unknown as string),
  () => z.enum(["left", "Right", "up-down"]),
  () => z.enum(["left", "other"]),
  () => z.nativeEnum(Level),
  () => z.nativeEnum({ a: "A", b: "B" }),
  () => z.instanceof(Date),
  () => z.custom<string>(),
  () => z.preprocess(() => refuse(), z.string()),
  () => z.union([z.void(), z.symbol()]),
  () => z.intersection(z.void(), z.symbol()),
  () => tree,
  () => list
]

/** Also asked for `undefined`, to see whether it is optional. */
const refuse = (): never => {
  throw new Error("never")
}

interface Tree {
  readonly name: string
  readonly children?: ReadonlyArray<Tree> | undefined
}

const tree: z.ZodType<Tree> = z.object({ name: z.string(), children: z.lazy(() => z.array(tree)).optional() })

const list: AnySchema = z.lazy(() => z.union([z.tuple([z.string(), list]), z.null()]))

const names = ["path", "file_path", "maxBytes", "x", "a b", "é", "anyOf", "constructor", "__proto__", "10"]

const maxDepth = 4

/** A schema of at most four levels. */
export const zod3OfChoices = (choices: Choices, depth = 0): AnySchema => {
  const inner = () => zod3OfChoices(choices, depth + 1)
  const leaf = () => choices.oneOf(leaves)(choices)
  const object = () => {
    const shape = z.object(Object.fromEntries(choices.some(names).map((name) => [name, inner()])))
    return choices.oneOf<() => z.ZodObject<any, any, any>>([
      () => shape,
      () => shape.strict(),
      () => shape.passthrough(),
      () => shape.strip(),
      () => shape.partial(),
      () => shape.catchall(inner())
    ])()
  }
  const makes: ReadonlyArray<() => AnySchema> = [
    object,
    leaf,
    object,
    () => z.array(inner()),
    () => z.array(inner()).min(1).max(9),
    () => z.array(inner()).length(2),
    () => z.array(inner()).nonempty(),
    () => z.tuple([inner(), leaf()]),
    () => z.tuple([leaf()]).rest(inner()),
    () => z.record(inner()),
    () => z.record(z.enum(["a", "b"]), inner()),
    () => z.record(texts(choices).describe("a key"), inner()),
    () => z.record(texts(choices).describe("a key").brand("key"), inner()),
    () => z.record(z.number(), inner()),
    () => z.map(inner(), inner()),
    () => z.set(inner()),
    () => z.set(leaf()).min(1).max(3),
    () => z.union([inner(), inner()]),
    () => z.union([leaf(), leaf(), leaf()]),
    () => z.union([z.literal("a"), z.literal("b"), z.literal("a"), z.literal(1), z.literal(null)]),
    () => z.union([z.literal("a").describe("A"), z.literal(null)]),
    () => z.union([z.enum(["a", "b"]), z.enum(["b", "c"])]),
    () =>
      z.discriminatedUnion("kind", [
        z.object({ kind: z.literal("a") }),
        z.object({ kind: z.literal("b"), inner: inner() })
      ]),
    () => z.intersection(inner(), inner()),
    () => z.intersection(object(), z.intersection(object().strict(), object().passthrough())),
    () => inner().nullable(),
    () => leaf().nullable(),
    () => inner().optional(),
    () => leaf().nullish(),
    () => inner().default(null),
    () => leaf().default(() => ({ list: [1, "two", undefined], at: new Date(0), none: undefined })),
    () => inner().catch(undefined),
    () => inner().readonly(),
    () => inner().brand("brand"),
    () => inner().promise(),
    () => inner().transform(String),
    () => inner().refine(Boolean),
    () => z.preprocess(String, inner()),
    () => inner().pipe(inner()),
    () => z.void().pipe(inner()),
    () => z.lazy(() => made),
    () => z.object({ first: made, second: made, third: z.array(made) })
  ]
  const made = depth >= maxDepth ? leaf() : choices.oneOf([leaf, object])()
  const schema = depth >= maxDepth ? made : choices.oneOf(makes)()
  return choices.below(4) === 1 ? schema.describe(choices.oneOf(["what it is", "", "a\u202eb"])) : schema
}
