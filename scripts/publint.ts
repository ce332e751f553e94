/** Checks the tarball of each built package with publint. Prints what it finds, and then exits with 1. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { pack } from "./pack.ts"

const destination = mkdtempSync(join(tmpdir(), "publint-"))
let failed = false
try {
  for (const { file, name } of pack(destination)) {
    const tarball = new Uint8Array(readFileSync(file)).buffer
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true })
    for (const message of messages) {
      console.log(`${name} ${message.type}: ${formatMessage(message, pkg, { color: false })}`)
      failed ||= message.type !== "suggestion"
    }
  }
} finally {
  rmSync(destination, { recursive: true })
}
if (failed) process.exit(1)
