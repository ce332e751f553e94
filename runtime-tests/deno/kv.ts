import type { KvLike } from "@countersign/platform-workers/DenoKvStore"

export interface Kv extends KvLike {
  set(key: ReadonlyArray<string | number>, value: unknown): Promise<unknown>
  delete(key: ReadonlyArray<string | number>): Promise<void>
  close(): void
}

/** The types of this project are Node's. */
export const { openKv } = (globalThis as unknown as { readonly Deno: { openKv(path: string): Promise<Kv> } }).Deno
