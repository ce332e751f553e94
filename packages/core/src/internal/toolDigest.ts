import * as Effect from "effect/Effect"
import * as CanonicalJson from "../CanonicalJson.ts"
import { Crypto } from "../Crypto.ts"
import type { InputSchema } from "../InputSchema.ts"
import type * as Tool from "../Tool.ts"
import { schemaText } from "./schemaText.ts"

/** A tool is made once and asked about often. */
const digests = new WeakMap<Tool.Any, string>()

/**
 * The digest of a tool's definition: description, input schema and title. Of a tool with a raw JSON Schema it is the AI SDK's
 * fingerprint.
 *
 * @internal
 */
export const toolDigest = Effect.fnUntraced(function*(tool: Tool.Any): Effect.fn.Return<string, never, Crypto> {
  const known = digests.get(tool)
  if (known !== undefined) return known
  const digest = yield* CanonicalJson.digestOfText(yield* Crypto, definitionText(tool))
  digests.set(tool, digest)
  return digest
})

/** As the AI SDK writes it, the title that is none included, which makes it no JSON. */
const definitionText = ({ description, inputSchema, title }: Tool.Any): string => {
  // Of a function only that it is one.
  const type = description === undefined ? "none" : typeof description
  return `{"description":${JSON.stringify({ type, value: description })},"inputSchema":${
    inputSchemaText(inputSchema)
  },"title":${JSON.stringify(title)}}`
}

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
        return CanonicalJson.stringify(written.jsonSchema ?? standardJsonSchema(written.schema) ?? null)
    }
  } catch {
    return "null"
  }
}

const standardJsonSchema = (schema: { readonly "~standard": object }): unknown => {
  const { jsonSchema } = schema["~standard"] as {
    readonly jsonSchema?: { readonly input: (options: { readonly target: string }) => unknown }
  }
  return jsonSchema?.input({ target: "draft-07" })
}
