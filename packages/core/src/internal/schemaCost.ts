/**
 * How often a document can make an engine check one value: once for each schema that applies to it. Subschemas and
 * references that apply several schemas to one value, which in turn do the same to what it holds, multiply.
 */
import { defaults } from "../Limits.ts"
import type { Document } from "./schemaDocument.ts"
import { appliesInPlace, subschemas } from "./schemaKeywords.ts"

/** How often each schema is applied to what lies below a value: under one key, or (`*`) under every key. */
type Below = ReadonlyMap<string, ReadonlyMap<object, number>>

interface Costs {
  /** How many schemas apply to the value itself. */
  readonly here: number
  readonly below: Below
}

/**
 * More than this for one value is a schema that was made to take long. {@link checksBelow} is held against it too, by an
 * engine that cannot stop.
 *
 * @internal
 */
export const maxChecksAtOnce = 2000

const costsOf = (document: Document): (schema: object) => Costs => {
  const known = new Map<object, Costs>()
  const costs = (schema: object): Costs => {
    const cached = known.get(schema)
    if (cached !== undefined) return cached
    let here = 1
    const below = new Map<string, Map<object, number>>()
    const add = (key: string, child: unknown, count: number) => {
      if (typeof child !== "object" || child === null) return
      const children = below.get(key) ?? new Map<object, number>()
      below.set(key, children.set(child, (children.get(child) ?? 0) + count))
    }
    const addInPlace = (child: unknown) => {
      if (typeof child !== "object" || child === null) return
      const inner = costs(child)
      here += inner.here
      for (const [key, children] of inner.below) {
        for (const [grandchild, count] of children) add(key, grandchild, count)
      }
    }
    const { $ref, additionalProperties, items } = schema as Record<string, unknown>
    if (typeof $ref === "string") addInPlace(document.definitions[$ref.slice("#/$defs/".length)])
    for (const { schema: child, steps: [keyword, key] } of subschemas(schema)) {
      if (appliesInPlace(keyword!)) addInPlace(child)
      else if (keyword === "properties" || keyword === "prefixItems") {
        // What is named is not additional.
        const kind = keyword === "properties" ? "property" : "item"
        add(`${kind} ${key}`, child, 1)
        add(`${kind} ${key}`, keyword === "properties" ? additionalProperties : items, -1)
      } else {
        add(
          keyword === "propertyNames" ? keyword : /items$|contains/i.test(keyword!) ? "item *" : "property *",
          child,
          1
        )
      }
    }
    const out = { here, below }
    known.set(schema, out)
    return out
  }
  return costs
}

/**
 * The most schemas that apply to any one value, without what is above it.
 *
 * @internal
 */
export const checksAtOnce = (document: Document): number => {
  const costs = costsOf(document)
  let most = 0
  try {
    forEachSchema(document, (schema) => {
      most = Math.max(most, costs(schema).here)
    })
  } catch {
    // A chain of references that is longer than the stack.
    return Infinity
  }
  return most
}

/**
 * The most schemas that apply to any one value at any depth, all that is above it counted in. Gives up where they are too
 * many.
 *
 * @internal
 */
export const checksBelow = (document: Document): number => {
  const costs = costsOf(document)
  let most = new Map<object, number>()
  forEachSchema(document, (schema) => most.set(schema, 0))
  for (let depth = 0; depth < defaults.maxDepth; depth++) {
    const next = new Map<object, number>()
    let changed = false
    for (const [schema, before] of most) {
      const { below, here } = costs(schema)
      const sums = new Map<string, number>()
      for (const [key, children] of below) {
        let sum = 0
        for (const [child, count] of children) sum += count * most.get(child)!
        sums.set(key, sum)
      }
      let now = here
      for (const [key, sum] of sums) {
        const every = key.endsWith(" *") ? 0 : sums.get(key.replace(/ .*/s, " *")) ?? 0
        now = Math.max(now, sum + every)
      }
      if (now > maxChecksAtOnce) return now
      changed ||= now !== before
      next.set(schema, now)
    }
    if (!changed) break
    most = next
  }
  return Math.max(...most.values())
}

/** @internal */
export const forEachSchema = (document: Document, visit: (schema: Record<string, unknown>) => void): void => {
  const pending: Array<unknown> = [document.schema, ...Object.values(document.definitions)]
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (typeof schema !== "object" || schema === null) continue
    visit(schema as Record<string, unknown>)
    pending.push(...subschemas(schema).map((below) => below.schema))
  }
}
