import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { CommandFailed } from "./commandFailed.ts"
import { systemMessage } from "./systemMessage.ts"

/** Reads a JSON file that a flag names, or says what to do about it. */
export const read = Effect.fnUntraced(function*(flag: string, path: string): Effect.fn.Return<
  unknown,
  CommandFailed,
  FileSystem.FileSystem
> {
  const fileSystem = yield* FileSystem.FileSystem
  const fail = (reason: string) => new CommandFailed({ status: 2, message: `${flag} ${path}: ${reason}` })
  const text = yield* Effect.mapError(
    fileSystem.readFileString(path),
    (error) => fail(`${systemMessage(error)}. Give the path of a JSON file that can be read`)
  )
  return yield* Effect.try({
    try: () => JSON.parse(text.replace(/^\uFEFF/, "")) as unknown,
    catch: () => fail("not valid JSON. Check the file with a JSON parser")
  })
})
