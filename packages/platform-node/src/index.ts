/**
 * @since 0.1.0
 */
export * as McpHttp from "./McpHttp.ts"
export * as McpStdio from "./McpStdio.ts"
export * as NodeCountersign from "./NodeCountersign.ts"
export * as NodeCrypto from "./NodeCrypto.ts"
