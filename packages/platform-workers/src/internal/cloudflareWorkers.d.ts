/**
 * What is used of the Workers runtime's own module. A program that uses it takes its types from `wrangler types` or from
 * `@cloudflare/workers-types`; this file is not part of what is published for it.
 */
declare module "cloudflare:workers" {
  export const env: Record<string, unknown>

  export abstract class DurableObject {
    protected readonly ctx: DurableObjectState
    protected readonly env: unknown
    constructor(ctx: DurableObjectState, env: unknown)
    alarm?(): void | Promise<void>
  }

  export interface DurableObjectState {
    readonly storage: DurableObjectStorage
    abort(reason?: string): void
  }

  export interface DurableObjectStorage {
    readonly sql: {
      exec<Row extends Record<string, string | number | null | ArrayBuffer>>(
        query: string,
        ...bindings: Array<string | number>
      ): Iterable<Row> & { toArray(): Array<Row> }
    }
    transactionSync<A>(run: () => A): A
    getAlarm(): Promise<number | null>
    setAlarm(time: number): Promise<void>
    sync(): Promise<void>
  }
}
