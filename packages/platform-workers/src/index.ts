/**
 * @since 0.1.0
 */
export * as WorkersCountersign from "./WorkersCountersign.ts"
