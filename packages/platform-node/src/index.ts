/**
 * @since 0.1.0
 */
export * as NodeCountersign from "./NodeCountersign.ts"
export * as NodeCrypto from "./NodeCrypto.ts"
