import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { bundle } from "./bundle.ts"
import { node } from "./node.ts"
import { expected } from "./program.ts"

const bareRealm = join(import.meta.dirname, "bareRealm.js")

const globals = [
  "TextDecoder",
  "TextEncoder",
  "URL",
  "clearTimeout",
  "crypto",
  "queueMicrotask",
  "setTimeout",
  "structuredClone"
]

describe("no host", () => {
  it.live("core needs no global of Node's, such as process or Buffer", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* node([bareRealm, yield* bundle]), { globals, outcome: expected })
    }))

  it.live("core needs no crypto.subtle", () =>
    Effect.gen(function*() {
      const result = yield* node([bareRealm, yield* bundle, "crypto.subtle"])
      assert.deepStrictEqual(result, { globals, outcome: expected })
    }))

  it.live("core needs no crypto at all", () =>
    Effect.gen(function*() {
      const result = yield* node([bareRealm, yield* bundle, "crypto"])
      assert.deepStrictEqual(result, { globals: globals.filter((name) => name !== "crypto"), outcome: expected })
    }))
})
