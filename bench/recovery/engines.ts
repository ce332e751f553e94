/** What reads malformed JSON, ours and others'. */
import * as JsonRecovery from "@countersign/core/JsonRecovery"
import { parsePartialJson } from "ai"
import * as bestEffort from "best-effort-json-parser"
import * as Result from "effect/Result"
import { build } from "esbuild"
import { jsonrepair } from "jsonrepair"
import { fileURLToPath } from "node:url"
import { Allow, parse as parsePartial } from "partial-json"

export type Schema = { readonly [keyword: string]: unknown }

/** Gives the value of a text. Refuses by throwing, or with `undefined`, which JSON cannot hold. */
export interface Engine {
  (text: string, schema?: Schema): unknown
}

export const recover = (truncated: "refuse" | "close"): Engine => (text, schema) => {
  const recovered = JsonRecovery.recover(text, { schema, truncated })
  return Result.isSuccess(recovered) ? recovered.success.value : undefined
}

// It reports what it makes of a text to the console.
bestEffort.disableErrorLogging()

// It is published as TypeScript, which Node does not run from a package.
const bundled = await build({
  entryPoints: [fileURLToPath(import.meta.resolve("jaison"))],
  bundle: true,
  format: "esm",
  write: false
})
const { jaison } = await import(
  `data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0]!.contents).toString("base64")}`
) as { readonly jaison: Engine }

/** None of them takes a schema. */
export const peers: Record<string, Engine> = {
  "jsonrepair": (text) => JSON.parse(jsonrepair(text)),
  "partial-json": (text) => parsePartial(text, Allow.ALL),
  "best-effort-json-parser": (text) => bestEffort.parse(text),
  "jaison": (text) => jaison(text),
  "ai parsePartialJson": async (text) => (await parsePartialJson(text)).value
}
