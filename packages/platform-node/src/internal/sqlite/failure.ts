/** What went wrong with the file of a store, in words that say what to do. */
import { StoreUnavailable } from "@countersign/core/RecordStore"
import * as Data from "effect/Data"

/** Another process has the lock: the same may succeed a moment later. */
export class Locked extends Data.TaggedError("Locked") {}

export const failureOf = (path: string) => (error: unknown): Locked | StoreUnavailable => {
  if (error instanceof StoreUnavailable) return error
  const { code, errcode } = error as { readonly code?: unknown; readonly errcode?: unknown }
  if (typeof errcode === "number") {
    // Extended result codes have the primary one in their last byte.
    const primary = errcode & 0xff
    if (locks.has(primary)) return new Locked()
    return new StoreUnavailable({ reason: `${path} ${sqlite.get(primary) ?? `cannot be used`} (SQLite ${errcode})` })
  }
  return new StoreUnavailable({
    reason: `${path} ${fileSystem.get(String(code)) ?? "cannot be used"} (${
      typeof code === "string" ? code : "no code"
    })`
  })
}

/** `SQLITE_BUSY`, `SQLITE_LOCKED` and `SQLITE_PROTOCOL`. */
const locks = new Set([5, 6, 15])

const unwritable =
  "cannot be written: let this process write the file, those beside it with -wal and -shm, and their folder"
const full = "cannot be written, the disk is full: make room"
const damaged = "is damaged, or no database: restore it from a backup"
const unopenable = "cannot be opened: its folder has to exist, and this process has to be allowed to write there"

const sqlite = new Map([
  [3, unwritable],
  [8, unwritable],
  [10, "cannot be read or written: look after the disk"],
  [11, damaged],
  [13, full],
  [14, unopenable],
  [26, damaged]
])

const fileSystem = new Map([
  ["EACCES", unwritable],
  ["EPERM", unwritable],
  ["EROFS", unwritable],
  ["ENOSPC", full],
  ["EDQUOT", full],
  ["ENOENT", unopenable],
  ["ENOTDIR", unopenable]
])
