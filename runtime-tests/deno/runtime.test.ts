import { assert, describe, it } from "@effect/vitest"

describe("runtime", () => {
  it("is really Deno", () => {
    const deno = (globalThis as { Deno?: { version: { deno: string; v8: string } } }).Deno
    assert.match(deno!.version.deno, /^\d+\.\d+\.\d+/)
  })
})
