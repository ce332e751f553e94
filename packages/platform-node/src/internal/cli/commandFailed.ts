import * as Data from "effect/Data"

/** What the exit status says: 1, some input was refused; 2, the command could not do its work. */
export type ExitStatus = 1 | 2

/** Ends the command with an exit status, and a message for stderr where one has not been written already. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly status: ExitStatus
  readonly message: string
}> {}

/** Some input was refused, which was said where it happened. */
export const refused = new CommandFailed({ status: 1, message: "" })
