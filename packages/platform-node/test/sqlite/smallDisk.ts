/** A disk in memory that is full soon, and can be made read-only. To mount one takes root. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface SmallDisk {
  readonly directory: string
  readonly makeReadOnly: () => void
  readonly remove: () => void
}

export const mount = (kilobytes: number): SmallDisk => {
  const directory = mkdtempSync(join(tmpdir(), "countersign-disk-"))
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", directory], { stdio: "pipe" })
  return {
    directory,
    makeReadOnly: () => execFileSync("mount", ["-o", "remount,ro", directory]),
    remove: () => {
      spawnSync("umount", ["--lazy", directory])
      rmdirSync(directory)
    }
  }
}

/** Why this machine cannot mount one; `undefined` when it can. */
export const missing: string | undefined = (() => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "not root on Linux"
  try {
    mount(64).remove()
    return undefined
  } catch {
    return "mount is not allowed"
  }
})()
