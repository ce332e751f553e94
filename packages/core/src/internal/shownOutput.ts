import * as Result from "effect/Result"
import * as CanonicalJson from "../CanonicalJson.ts"
import type { ToolResultOutput } from "../Message.ts"
import type * as Tool from "../Tool.ts"
import { getOwn } from "./ownProperty.ts"

/**
 * What a tool's `toModelOutput` makes of its result. What throws, or gives no output, gives nothing.
 *
 * @internal
 */
export const shownOutput = (
  tool: Tool.Any,
  options: Parameters<NonNullable<Tool.Any["toModelOutput"]>>[0]
): ToolResultOutput | undefined => {
  try {
    const output = Result.getOrUndefined(CanonicalJson.toJson(tool.toModelOutput!(options)))
    return isOutput(output) ? output : undefined
  } catch {
    return undefined
  }
}

/** Of a type that is known, the fields have to fit: whoever reads the result takes them for what they are. */
const isOutput = (output: unknown): output is ToolResultOutput => {
  const type = getOwn(output, "type")
  const value = getOwn(output, "value")
  if (typeof type !== "string") return false
  if (type.endsWith("text")) return typeof value === "string"
  if (type.endsWith("json")) return value !== undefined
  return type !== "content" || Array.isArray(value)
}
