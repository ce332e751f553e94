import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

interface Coverage {
  readonly result: ReadonlyArray<{
    readonly url: string
    readonly functions: ReadonlyArray<{
      readonly functionName: string
      readonly ranges: ReadonlyArray<{ readonly count: number }>
    }>
  }>
}

/** The named functions that ran while Node evaluated the code, by the URL of their module, as V8 counted them. */
export const calledFunctions = (code: string): Effect.Effect<ReadonlyMap<string, ReadonlyArray<string>>> =>
  Effect.acquireUseRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "countersign-coverage-"))),
    (directory) =>
      Effect.promise(async () => {
        await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], {
          env: { PATH: process.env["PATH"], NODE_V8_COVERAGE: directory },
          cwd: import.meta.dirname
        })
        const [file] = await readdir(directory)
        const { result }: Coverage = JSON.parse(await readFile(join(directory, file!), "utf8"))
        return new Map(result.map(({ functions, url }) => [url, functions.filter(isCalled).map((_) => _.functionName)]))
      }),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )

const isCalled = ({ functionName, ranges }: Coverage["result"][number]["functions"][number]): boolean =>
  functionName !== "" && ranges[0]!.count > 0
