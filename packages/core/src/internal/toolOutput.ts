import * as Result from "effect/Result"
import * as CanonicalJson from "../CanonicalJson.ts"
import type * as Message from "../Message.ts"
import { withoutUndefined } from "./withoutUndefined.ts"

/** @internal */
export const errorOutput = (value: string): Message.ToolResultOutput => ({ type: "error-text", value })

/** @internal */
export const deniedOutput = (reason: string | undefined): Message.ToolResultOutput =>
  withoutUndefined({ type: "execution-denied", reason })

/**
 * What a tool gave, as the model reads it: a string as text, the rest as JSON, nothing as `null`.
 *
 * @internal
 */
export const valueOutput = (value: unknown): Result.Result<Message.ToolResultOutput, CanonicalJson.NotJson> =>
  Result.map(CanonicalJson.toJson(value ?? null), (json) => jsonOutput(value, json))

/** @internal */
export const jsonOutput = (value: unknown, json: unknown): Message.ToolResultOutput =>
  typeof value === "string" ? { type: "text", value } : { type: "json", value: json }

/**
 * The same result, told that a person changed the input: the history still has the input that the model proposed.
 *
 * @internal
 */
export const withEditNote = (output: Message.ToolResultOutput, effectiveInput: string): Message.ToolResultOutput => {
  if (output.type === "execution-denied") return output
  const note = `A person changed the input before approving. It ran with: ${effectiveInput}`
  if (output.type === "content") return { ...output, value: [{ type: "text", text: note }, ...output.value] }
  const value = `${note}\n${typeof output.value === "string" ? output.value : JSON.stringify(output.value)}`
  return { type: output.type.startsWith("error") ? "error-text" : "text", value }
}
