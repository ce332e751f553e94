import type { ApprovalContext } from "../Tool.ts"
import { getOwn } from "./ownProperty.ts"

/**
 * What a function of a tool learns about the call that it serves.
 *
 * @internal
 */
export const callContext = (
  toolCallId: string,
  toolName: string,
  { context, messages }: {
    readonly context?:
      | { readonly tools?: { readonly [toolName: string]: unknown }; readonly runtime?: unknown }
      | undefined
    readonly messages?: ReadonlyArray<unknown> | undefined
  }
): ApprovalContext => ({
  toolCallId,
  messages: messages ?? [],
  toolContext: getOwn(context?.tools, toolName),
  runtimeContext: context?.runtime
})
