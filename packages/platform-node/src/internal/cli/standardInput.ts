/**
 * The bytes of standard input.
 */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { fstatSync } from "node:fs"
import { bytesUpTo } from "./bytesUpTo.ts"
import { CommandFailed } from "./commandFailed.ts"
import { systemMessage } from "./systemMessage.ts"

export const bytes: Stream.Stream<Uint8Array, CommandFailed, Stdio.Stdio> = Stream.unwrap(
  Effect.flatMap(Stdio.Stdio, ({ stdin }) => {
    const fail = (reason: string) => new CommandFailed({ status: 2, message: `cannot read standard input: ${reason}` })
    return isDirectory()
      ? Effect.fail(fail("it is a directory. Give it a file: countersign parse --tools tools.json < calls.jsonl"))
      : Effect.succeed(Stream.mapError(stdin, (error) => fail(systemMessage(error))))
  })
)

/** Node takes a directory for an empty file. */
const isDirectory = (): boolean => {
  try {
    return fstatSync(0).isDirectory()
  } catch {
    return false
  }
}

/** Everything, as long as it is at most `maxBytes` bytes; one byte more than that otherwise. */
export const upTo = (maxBytes: number) => bytesUpTo(bytes, maxBytes)
