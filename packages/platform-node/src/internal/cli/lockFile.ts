/**
 * The lockfile on disk.
 */
import type { Crypto } from "@countersign/core/Crypto"
import * as ToolLock from "@countersign/core/ToolLock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import { CommandFailed } from "./commandFailed.ts"
import { logLine } from "./logLine.ts"
import { systemCode, systemMessage } from "./systemMessage.ts"

/** Reads a lockfile, if there is one. */
export const find = Effect.fnUntraced(function*(path: string): Effect.fn.Return<
  Option.Option<ToolLock.ToolLock>,
  CommandFailed,
  FileSystem.FileSystem | Crypto
> {
  const fileSystem = yield* FileSystem.FileSystem
  const fail = (reason: string) => new CommandFailed({ status: 2, message: `${path}: ${reason}` })
  const text = yield* fileSystem.readFileString(path).pipe(
    Effect.map(Option.some),
    Effect.catch((error) =>
      systemCode(error) === "ENOENT" ? Effect.succeedNone : Effect.fail(fail(systemMessage(error)))
    )
  )
  if (Option.isNone(text)) return Option.none()
  return Option.some(yield* Effect.mapError(ToolLock.parse(text.value), ({ message }) => fail(logLine(message))))
})

/** Writes a lockfile. */
export const write = Effect.fnUntraced(function*(path: string, lock: ToolLock.ToolLock): Effect.fn.Return<
  void,
  CommandFailed,
  FileSystem.FileSystem
> {
  const fileSystem = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    fileSystem.writeFileString(path, ToolLock.stringify(lock)),
    (error) => new CommandFailed({ status: 2, message: `${path}: ${systemMessage(error)}` })
  )
})
