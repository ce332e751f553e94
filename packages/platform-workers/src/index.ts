/**
 * @since 0.1.0
 */
export * as WebCrypto from "./WebCrypto.ts"
export * as WorkersCountersign from "./WorkersCountersign.ts"
