/**
 * @since 0.1.0
 */
export * as DenoKvStore from "./DenoKvStore.ts"
export * as DurableObjectStore from "./DurableObjectStore.ts"
export * as WebCrypto from "./WebCrypto.ts"
export * as WorkersCountersign from "./WorkersCountersign.ts"
