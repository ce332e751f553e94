import * as Effect from "effect/Effect"
import * as CanonicalJson from "../CanonicalJson.ts"
import { Crypto } from "../Crypto.ts"
import type { InputSchema } from "../InputSchema.ts"
import type * as Tool from "../Tool.ts"
import { definitionText } from "./definitionText.ts"
import { draft07 } from "./draft07.ts"
import { schemaText } from "./schemaText.ts"

/** A tool is made once and asked about often. */
const digests = new WeakMap<Tool.Any, string>()

/**
 * The digest of a tool's definition that an approval pins: description, input schema and title. Of a tool with a raw JSON Schema it
 * is the AI SDK's fingerprint. What writes the JSON Schema of an Effect Schema, or of zod 3, is too large for a Worker that only
 * asks: `Fingerprint` has it.
 *
 * @internal
 */
export const toolDigest = Effect.fnUntraced(function*(tool: Tool.Any): Effect.fn.Return<string, never, Crypto> {
  const known = digests.get(tool)
  if (known !== undefined) return known
  const text = definitionText(tool.description, inputSchemaText(tool.inputSchema), JSON.stringify(tool.title))
  const digest = yield* CanonicalJson.digestOfText(yield* Crypto, text)
  digests.set(tool, digest)
  return digest
})

/** Where a schema cannot be written, it is pinned as that: what comes in is checked by it in any case. */
const inputSchemaText = (inputSchema: InputSchema): string => {
  try {
    const written = inputSchema.written()
    switch (written._tag) {
      case "JsonSchema":
        return CanonicalJson.stringify(written.schema)
      case "EffectSchema":
        return schemaText(written.schema.ast)
      case "StandardSchema":
        return CanonicalJson.stringify(written.jsonSchema ?? draft07(written.schema))
    }
  } catch {
    return "null"
  }
}
