/**
 * @since 0.1.0
 */
export * as McpHttp from "./McpHttp.ts"
export * as McpStdio from "./McpStdio.ts"
export * as NodeCountersign from "./NodeCountersign.ts"
export * as NodeCrypto from "./NodeCrypto.ts"
export * as PgStore from "./PgStore.ts"
export * as RedisStore from "./RedisStore.ts"
export * as SchemaJit from "./SchemaJit.ts"
export * as SqliteStore from "./SqliteStore.ts"
