import type { PlatformError } from "effect/PlatformError"
import { getSystemErrorMessage } from "node:util"

const errnoOf = ({ reason }: PlatformError): NodeJS.ErrnoException | undefined =>
  reason.cause instanceof Error ? reason.cause : undefined

/** The system's name of an error, as in `ENOENT`. */
export const systemCode = (error: PlatformError): string | undefined => errnoOf(error)?.code

/** What the system says of an error, as in `no such file or directory`. */
export const systemMessage = (error: PlatformError): string => {
  const errno = errnoOf(error)?.errno
  return errno === undefined ? error.message : getSystemErrorMessage(errno)
}
