import type { SerializedConfig } from "vitest"
import { testTimeout } from "../testTimeout.ts"

/** Set by the bundler: on CI an `it.only` that was left behind fails. */
declare const ALLOW_ONLY: boolean

/** A worker has no file system, so inline snapshots work there and snapshot files are refused. */
const snapshotEnvironment = {
  getVersion: () => "1",
  getHeader: () => "",
  resolvePath: async (file: string) => `${file}.snap`,
  resolveRawPath: async (_file: string, raw: string) => raw,
  readSnapshotFile: async () => null,
  saveSnapshotFile: async (file: string) => {
    throw new Error(`cannot write ${file} inside workerd`)
  },
  removeSnapshotFile: async () => {}
}

/** The part of Vitest's configuration that its runner reads. */
export const runnerConfig = {
  root: "/",
  testTimeout,
  hookTimeout: testTimeout,
  teardownTimeout: testTimeout,
  maxConcurrency: 5,
  allowOnly: ALLOW_ONLY,
  passWithNoTests: false,
  retry: 0,
  setupFiles: [],
  tags: [],
  expect: {},
  experimental: { importDurations: { limit: 0 } },
  sequence: { hooks: "stack", setupFiles: "list", concurrent: false, shuffle: false, seed: 0 },
  snapshotOptions: { updateSnapshot: "none", expand: false, snapshotEnvironment }
} as unknown as SerializedConfig

/** What Vitest's runner looks for under `globalThis.__vitest_worker__`. */
export const workerState = {
  config: runnerConfig,
  ctx: { pool: "workerd" },
  environment: { name: "workerd" },
  durations: {},
  providedContext: {},
  rpc: { snapshotSaved: async () => {} },
  onCleanup: () => {}
}
