import type { McpError } from "@countersign/core/Mcp"
import type { Sdk } from "./connect.ts"

/** @internal */
export interface Fault {
  readonly reason: McpError["reason"]
  readonly detail?: string | undefined
}

/**
 * What was thrown, as far as it may be told: the client's texts about HTTP may have a URL or a page of HTML in them.
 *
 * @internal
 */
export const faultOf = (sdk: Sdk, operation: McpError["operation"], error: unknown): Fault => {
  if (error instanceof sdk.ProtocolError) return { reason: "refused", detail: `${error.message} (${error.code})` }
  if (error instanceof sdk.SdkHttpError) {
    const detail = `HTTP ${error.status}`
    if (operation === "connect") return { reason: "unreachable", detail }
    // So answers a server that does not know the session any more.
    return { reason: error.status === 404 ? "closed" : "refused", detail }
  }
  if (error instanceof sdk.SdkError) {
    const isClosed = error.code === sdk.SdkErrorCode.ConnectionClosed
    return isClosed ? { reason: "closed" } : { reason: "protocol", detail: error.message }
  }
  const code = codeOf(error) ?? (error instanceof Error ? codeOf(error.cause) : undefined)
  // What `fetch` throws is a TypeError.
  if (code !== undefined || error instanceof TypeError) return { reason: "unreachable", detail: code }
  return { reason: "protocol", detail: error instanceof Error ? error.message : undefined }
}

/** The code of an error of Node, such as `ENOENT` and `ECONNREFUSED`. */
const codeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === "string" ? code : undefined
}
