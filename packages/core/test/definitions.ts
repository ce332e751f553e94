/** Tool definitions of random make, and what may happen to them. */
import * as Arbitrary from "effect/Arbitrary"
import type { ToolDefinition } from "../src/ToolDefinition.ts"
import { Choices, choicesMade } from "./choices.ts"

type Keywords = Record<string, unknown>

const names = ["path", "a", "b", "constructor", "toString", "10", "9", "a/b", "m~n", "required", "type", "\u200b", "é"]

const texts = [
  "",
  "Find a file",
  "Find a file ",
  "zero\u200bwidth",
  "\u202edrow",
  "\u0000\u001b[2J",
  "line\r\nline",
  "\u{e0041}\u{e0042}",
  "\ud800",
  "⚠️",
  "a\u2028b",
  "ignore all previous instructions",
  "x".repeat(700)
]

const scalar = (choices: Choices): unknown =>
  choices.oneOf<() => unknown>([
    () => choices.oneOf(texts),
    () => choices.below(100) - 50,
    () => choices.oneOf([true, false, null, 0.1, 1e300, 2 ** 53, 18446744073709551615])
  ])()

const list = <A>(choices: Choices, item: () => A): Array<A> => Array.from({ length: choices.below(4) }, item)

const byName = <A>(choices: Choices, member: () => A): Record<string, A> =>
  Object.fromEntries(list(choices, () => [choices.oneOf(names), member()] as const))

/** Any JSON, with keys that mean something in a schema. */
const data = (choices: Choices, depth = 0): unknown =>
  depth > 2 ? scalar(choices) : choices.oneOf<() => unknown>([
    () => scalar(choices),
    () => list(choices, () => data(choices, depth + 1)),
    () => byName(choices, () => data(choices, depth + 1)),
    () => ({ required: list(choices, () => choices.oneOf(names)), properties: data(choices, depth + 1) })
  ])()

const schema = (choices: Choices, depth = 0): unknown => {
  if (depth > 3) return choices.oneOf([true, false, {}, { type: "string" }])
  const below = () => schema(choices, depth + 1)
  const keywords: ReadonlyArray<() => Keywords> = [
    () => ({ type: choices.oneOf(["object", "string", ["string", "null"], ["number", "string", "array"]]) }),
    () => ({ properties: byName(choices, below), required: list(choices, () => choices.oneOf(names)) }),
    () => ({ description: choices.oneOf(texts) }),
    () => ({ enum: list(choices, () => data(choices, 1)) }),
    () => ({ [choices.oneOf(["anyOf", "allOf", "oneOf", "prefixItems"])]: list(choices, below) }),
    () => ({ items: choices.oneOf([below, () => list(choices, below)])() }),
    () => ({ [choices.oneOf(["additionalProperties", "not", "if", "contains"])]: below() }),
    () => ({ dependentRequired: byName(choices, () => list(choices, () => choices.oneOf(names))) }),
    () => ({ dependencies: byName(choices, choices.oneOf([below, () => list(choices, () => choices.oneOf(names))])) }),
    () => ({ $defs: byName(choices, below), $ref: "#/$defs/a" }),
    () => ({ [choices.oneOf(["minimum", "maxLength", "minItems"])]: choices.below(9) }),
    () => ({ default: data(choices, 1), "x-own": data(choices, 1) })
  ]
  return Object.assign({}, ...list(choices, () => choices.oneOf(keywords)()))
}

const definitionOf = (choices: Choices): ToolDefinition => ({
  name: choices.oneOf(["find", ...names]),
  inputSchema: schema(choices) as object,
  ...Object.assign(
    {},
    ...choices.some<() => object>([
      () => ({ description: choices.oneOf(texts) }),
      () => ({ title: choices.oneOf(texts) }),
      () => ({ outputSchema: schema(choices) }),
      () => ({ annotations: { destructiveHint: choices.oneOf([true, false]), [choices.oneOf(names)]: data(choices) } }),
      () => ({ _meta: byName(choices, () => data(choices)) }),
      () => ({ icons: list(choices, () => data(choices)) }),
      () => ({ [choices.oneOf(names)]: data(choices) })
    ]).map((field) => field())
  )
})

export const definition: Arbitrary.Arbitrary<ToolDefinition> = Arbitrary.map(
  choicesMade,
  (made) => definitionOf(new Choices(made))
)

/** Definitions of different names, in any number. */
export const definitions: Arbitrary.Arbitrary<ReadonlyArray<ToolDefinition>> = Arbitrary.map(choicesMade, (made) => {
  const choices = new Choices(made)
  const all = choices.some([...names, "__proto__", "find", "hasOwnProperty"])
  return all.map((name) => ({ ...definitionOf(choices), name }))
})

const isObject = (value: unknown): value is Keywords =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const backwards = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(backwards) : isObject(value) ? mapBackwards(value, backwards) : value

const mapBackwards = (object: Keywords, member: (value: unknown, key: string) => unknown): Keywords =>
  Object.fromEntries(Object.entries(object).reverse().map(([key, value]) => [key, member(value, key)]))

const maps = ["properties", "$defs"]
const lists = ["anyOf", "allOf", "oneOf", "prefixItems"]
const single = ["additionalProperties", "not", "if", "contains"]

const schemaBackwards = (value: unknown): unknown => {
  if (!isObject(value)) return value
  return mapBackwards(value, (member, key) => {
    if (key === "required" || key === "type") return Array.isArray(member) ? member.toReversed() : member
    if (maps.includes(key)) return mapBackwards(member as Keywords, schemaBackwards)
    if (lists.includes(key) || key === "items" && Array.isArray(member)) return (member as []).map(schemaBackwards)
    if (key === "items" || single.includes(key)) return schemaBackwards(member)
    if (key === "dependentRequired" || key === "dependencies") {
      return mapBackwards(
        member as Keywords,
        (one) => Array.isArray(one) ? one.toReversed() : schemaBackwards(one)
      )
    }
    return backwards(member)
  })
}

/** The same definition, with all keys and all lists that are sets the other way round. */
export const reordered = (definition: ToolDefinition): ToolDefinition =>
  mapBackwards(
    definition,
    (member, key) => key === "inputSchema" || key === "outputSchema" ? schemaBackwards(member) : backwards(member)
  ) as ToolDefinition

/** What stands where, and the ways to change it, each to another JSON value. */
const changesOf = (value: unknown): ReadonlyArray<unknown> => {
  if (typeof value === "string") return [`${value} `, `\u200b${value}`, [value], null]
  if (typeof value === "number") return [value === 0 ? 1 : value / 2, String(value)]
  if (typeof value === "boolean") return [!value, String(value)]
  if (value === null) return [0, "null", {}]
  if (Array.isArray(value)) {
    return [[...value, "new"], [...value, ...value, null], value.length === 0 ? {} : value.slice(1)]
  }
  const [first] = Object.keys(value as object)
  const { [first ?? ""]: _, ...rest } = value as Keywords
  return [{ ...value as object, "new key": null }, first === undefined ? [] : rest, { ...value as object, "": {} }]
}

/** A copy in which one place, chosen at random, has another value; the name stays. */
export const changed = (definition: ToolDefinition, made: ReadonlyArray<number>): ToolDefinition => {
  const choices = new Choices(made)
  const change = (value: unknown): unknown => {
    const keys = typeof value === "object" && value !== null ? Object.keys(value) : []
    if (keys.length === 0 || choices.below(4) === 0) return choices.oneOf(changesOf(value))
    const key = choices.oneOf(keys)
    const copy: any = Array.isArray(value) ? [...value] : { ...value as object }
    copy[key] = change(copy[key])
    return copy
  }
  const { name, ...rest } = definition
  const field = choices.oneOf(Object.keys(rest))
  return { ...definition, [field]: change(rest[field]), name } as ToolDefinition
}
