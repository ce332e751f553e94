/**
 * What it costs to fingerprint tools, beside the AI SDK, as a multiple of `JSON.stringify` and a native hash of the same definitions:
 * `node fingerprint.ts`. Tools are new at each call, except again.
 */
import type { Crypto } from "@countersign/core/Crypto"
import * as Fingerprint from "@countersign/core/Fingerprint"
import * as Tool from "@countersign/core/Tool"
import type { ToolSet } from "@countersign/core/ToolSet"
import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { fingerprintTools, jsonSchema, tool } from "ai"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { hash } from "node:crypto"
import { z } from "zod"
import { interleave, print } from "./interleave.ts"

const definition = (index: number) => ({
  name: `read_${index}`,
  title: `Read ${index}`,
  description: `Reads file ${index} and gives its content, or the part of it that is asked for`,
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: `Where file ${index} is` },
      head: { type: "integer", minimum: 0 },
      tail: { type: "integer", minimum: 0 },
      encoding: { type: "string", enum: ["utf8", "latin1"] }
    },
    required: ["path"],
    additionalProperties: false
  }
})

const zodSchema = (index: number) =>
  z.object({
    path: z.string().describe(`Where file ${index} is`),
    head: z.int().min(0).optional(),
    tail: z.int().min(0).optional(),
    encoding: z.enum(["utf8", "latin1"]).optional()
  })

const many = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index))

const byName = (tools: ReadonlyArray<Tool.Any>): ToolSet => Object.fromEntries(tools.map((tool) => [tool.name, tool]))

/** Of a copy nothing is known yet. */
const renewed = (tools: ReadonlyArray<Tool.Any>): ToolSet =>
  byName(tools.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema } })))

const fingerprint = <E>(tools: ToolSet, layer: Layer.Layer<Crypto, E>) =>
  Effect.runPromise(Effect.provide(Fingerprint.fingerprint(tools), layer))

/** Long enough that each candidate pays for what it leaves to be collected. */
const options = { milliseconds: 50, rounds: 21 }

/** As they come from a server. */
const definitionsOf = (count: number): ReadonlyArray<ReturnType<typeof definition>> =>
  JSON.parse(JSON.stringify(many(count, definition)))

const stringifyAndHash = (definitions: ReadonlyArray<object>) => () => {
  for (const definition of definitions) hash("sha256", JSON.stringify(definition), "base64url")
}

const rawRows = (count: number) => {
  const definitions = definitionsOf(count)
  const tools = definitions.map(({ name, ...options }) => Tool.make(name, options))
  const sdkTools = Object.fromEntries(
    definitions.map(({ inputSchema, name, ...options }) => [
      name,
      tool({ ...options, inputSchema: jsonSchema(inputSchema as {}) })
    ])
  )
  return interleave({
    "JSON.stringify and a native hash": stringifyAndHash(definitions),
    "countersign, node:crypto": () => fingerprint(renewed(tools), NodeCrypto.layer),
    "countersign, Web Crypto": () => fingerprint(renewed(tools), WebCrypto.layer),
    "ai": () => fingerprintTools(sdkTools as any)
  }, options)
}

const zodRows = (count: number) => {
  const definitions = definitionsOf(count)
  const tools = definitions.map(({ name, ...options }, index) =>
    Tool.make(name, { ...options, inputSchema: zodSchema(index) })
  )
  const sdkTools = Object.fromEntries(
    definitions.map(({ inputSchema: _, name, ...options }, index) => [
      name,
      tool({ ...options, inputSchema: zodSchema(index) })
    ])
  )
  return interleave({
    "JSON.stringify and a native hash": stringifyAndHash(definitions),
    "countersign": () => fingerprint(renewed(tools), NodeCrypto.layer),
    "countersign, again": () => fingerprint(byName(tools), NodeCrypto.layer),
    "ai, each time": () => fingerprintTools(sdkTools as any)
  }, options)
}

const columns = async (rows: (count: number) => Promise<Record<string, number>>) => ({
  "1,000 tools": await rows(1000),
  "10,000 tools": await rows(10_000)
})

const raw = await columns(rawRows)
print("Tools with JSON Schemas to fingerprints, as a multiple of JSON.stringify and a native hash", raw)
print("How many times as long ai takes, as countersign with node:crypto", {
  "1,000 tools": { ai: raw["1,000 tools"]["ai"]! / raw["1,000 tools"]["countersign, node:crypto"]! },
  "10,000 tools": { ai: raw["10,000 tools"]["ai"]! / raw["10,000 tools"]["countersign, node:crypto"]! }
})
print("Tools with zod schemas to fingerprints, as the same multiple", await columns(zodRows))
