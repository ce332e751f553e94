import { assert, describe, it } from "@effect/vitest"
import * as SchemaCache from "../src/internal/cli/schemaCache.ts"

describe("schemaCache", () => {
  it("gives the same schema for the same text, of those that were used last", () => {
    const get = SchemaCache.make()
    const first = get({ type: "string" })
    assert.strictEqual(get({ type: "string" }), first)
    assert.notStrictEqual(get({ type: "number" }), first)
    for (let index = 0; index < 126; index++) get({ const: index })
    assert.strictEqual(get({ type: "string" }), first)
    for (let index = 0; index < 128; index++) get({ const: -index })
    assert.notStrictEqual(get({ type: "string" }), first)
  })

  it("does not hold a schema that is very long", () => {
    const get = SchemaCache.make()
    const long = { description: "x".repeat(100_000) }
    assert.notStrictEqual(get(long), get(long))
  })
})
