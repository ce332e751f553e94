/** What an MCP server answers to `tools/call`, as a tool gives it. The server may answer anything: nothing here is taken for granted. */
import type { ToolResultOutput } from "../../Message.ts"
import { getOwn } from "../ownProperty.ts"

const blocksOf = (result: unknown): ReadonlyArray<unknown> | undefined => {
  const content = getOwn(result, "content")
  return Array.isArray(content) ? content : undefined
}

const textOf = (block: unknown): string | undefined => {
  const text = getOwn(block, "type") === "text" ? getOwn(block, "text") : undefined
  return typeof text === "string" ? text : undefined
}

/**
 * Whether the tool says that it failed. Any `isError` but false says so; none and null do not.
 *
 * @internal
 */
export const isFailure = (result: unknown): boolean => {
  const isError = getOwn(result, "isError")
  return isError !== undefined && isError !== null && isError !== false
}

/**
 * Why the tool failed, in its own words; what is no text is told as JSON.
 *
 * @internal
 */
export const failureText = (result: unknown): string =>
  blocksOf(result)?.map((block) => textOf(block) ?? JSON.stringify(block)).join("\n") || "no reason given"

/**
 * A result as the model reads it: one text as text, several blocks as content, a result without blocks as JSON.
 *
 * @internal
 */
export const toModelOutput = (result: unknown): ToolResultOutput => {
  const blocks = blocksOf(result) ?? []
  if (blocks.length === 0) return { type: "json", value: getOwn(result, "structuredContent") ?? result ?? null }
  const text = blocks.length === 1 ? textOf(blocks[0]) : undefined
  return text === undefined
    ? { type: "content", value: blocks.map(contentPart) }
    : { type: "text", value: text }
}

const contentPart = (block: unknown): unknown => {
  const text = textOf(block)
  if (text !== undefined) return { type: "text", text }
  const [type, data, mediaType] = ["type", "data", "mimeType"].map((key) => getOwn(block, key))
  const isMedia = (type === "image" || type === "audio") && typeof data === "string" && typeof mediaType === "string"
  return isMedia
    ? { type: type === "image" ? "image-data" : "file-data", data, mediaType }
    : { type: "text", text: JSON.stringify(block) }
}
