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
  typeof value === "string"
    ? Result.succeed({ type: "text", value })
    : Result.map(CanonicalJson.toJson(value ?? null), (json) => ({ type: "json", value: json }))

/**
 * The same result, told that a person changed the input: the history still has the input that the model proposed.
 *
 * @internal
 */
export const withEditNote = (output: Message.ToolResultOutput, effectiveInput: string): Message.ToolResultOutput => {
  const note = `A person changed the input of this call before approving it. It ran with: ${effectiveInput}`
  switch (output.type) {
    case "execution-denied":
      return output
    case "content":
      return { ...output, value: [{ type: "text", text: note }, ...output.value] }
    case "error-text":
    case "error-json":
      return errorOutput(`${note}\n${asText(output.value)}`)
    default:
      return { type: "content", value: [{ type: "text", text: note }, { type: "text", text: asText(output.value) }] }
  }
}

const asText = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value)
