/** The file of a store. Everything is synchronous, waits for no lock, and throws what SQLite and the file system throw. */
import {
  type Key,
  type ListedRecord,
  type ListOptions,
  type StoredRecord,
  StoreUnavailable,
  type Write
} from "@countersign/core/RecordStore"
import * as Exit from "effect/Exit"
import { closeSync, openSync, statSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { prepareSchema } from "./schema.ts"

export interface Change {
  readonly key: Key
  readonly write: Write
}

export interface Database {
  readonly get: (key: Key, now: number) => StoredRecord | undefined
  /** In one transaction: what is thrown has changed nothing. */
  readonly setAll: (changes: ReadonlyArray<Change>, now: number) => ReadonlyArray<Exit.Exit<boolean, StoreUnavailable>>
  readonly list: (options: ListOptions, now: number) => ReadonlyArray<ListedRecord>
  readonly close: () => void
}

type Row = Record<string, unknown>

export const open = (path: string): Database => {
  // Loaded when it is needed: Node warns that it is new.
  const sqlite = process.getBuiltinModule("node:sqlite")
  if (sqlite === undefined) {
    throw new StoreUnavailable({ reason: "this runtime has no node:sqlite: use Node 22.19 or newer" })
  }
  const opened = ensureFile(path)
  const database = new sqlite.DatabaseSync(path, { timeout: 0 })
  try {
    // A commit is on the disk, on macOS as well.
    database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA cell_size_check = ON")
    prepareSchema(database, path)
    const files = filesAt(path)
    if (files[0] !== opened) throw replaced(path)
    return makeDatabase(database, path, files.join())
  } catch (error) {
    database.close()
    throw error
  }
}

const makeDatabase = (database: DatabaseSync, path: string, files: string): Database => {
  const find = database.prepare("SELECT value, version, kept_until FROM records WHERE collection = ? AND id = ?")
  const findVersion = database.prepare("SELECT version, kept_until FROM records WHERE collection = ? AND id = ?")
  const put = database.prepare(
    "REPLACE INTO records (collection, id, tag, version, value, kept_until) VALUES (?, ?, ?, ?, ?, ?)"
  )
  const remove = database.prepare("DELETE FROM records WHERE collection = ? AND id = ?")
  const listing = database.prepare(
    `SELECT id, value, version, kept_until FROM records INDEXED BY records_by_tag
     WHERE collection = ? AND tag = ? AND id > ? AND kept_until > ? ORDER BY id LIMIT ?`
  )
  const sweep = database.prepare(
    `DELETE FROM records WHERE (collection, id) IN
     (SELECT collection, id FROM records WHERE kept_until <= ? ORDER BY kept_until LIMIT ?)`
  )

  /** Who opens the path after that has other files, and may claim what is claimed in these. */
  const ensureSameFiles = (): void => {
    if (filesAt(path).join() !== files) throw replaced(path)
  }

  const isAlive = (row: Row | undefined, now: number): row is Row => {
    if (row === undefined) return false
    if (typeof row["kept_until"] !== "number") throw corruptRecord(path)
    return row["kept_until"] > now
  }

  const textOf = (row: Row, column: string): string => {
    const text = row[column]
    if (typeof text !== "string") throw corruptRecord(path)
    return text
  }

  const recordOf = (row: Row): StoredRecord => ({ value: textOf(row, "value"), version: textOf(row, "version") })

  const set = ({ key: { collection, id }, write }: Change, now: number): boolean => {
    const found = findVersion.get(collection, id)
    const version = isAlive(found, now) ? textOf(found, "version") : undefined
    if (version === write.version) return true
    if (version !== write.expected) return false
    if (write.ttlMillis <= 0) {
      remove.run(collection, id)
    } else {
      const keptUntil = Math.min(Math.ceil(now + write.ttlMillis), Number.MAX_SAFE_INTEGER)
      put.run(collection, id, write.tag, write.version, write.value, keptUntil)
    }
    return true
  }

  /** Of a record that is corrupt, without an end to the other changes. */
  const exitOf = (change: Change, now: number): Exit.Exit<boolean, StoreUnavailable> => {
    try {
      return Exit.succeed(set(change, now))
    } catch (error) {
      if (error instanceof StoreUnavailable) return Exit.fail(error)
      throw error
    }
  }

  return {
    get: ({ collection, id }, now) => {
      ensureSameFiles()
      const found = find.get(collection, id)
      return isAlive(found, now) ? recordOf(found) : undefined
    },
    setAll: (changes, now) => {
      database.exec("BEGIN IMMEDIATE")
      try {
        const exits = changes.map((change) => exitOf(change, now))
        // Twice what may have been added: the file stays as large as what lives in it once was.
        sweep.run(now, 2 * changes.length)
        ensureSameFiles()
        database.exec("COMMIT")
        return exits
      } catch (error) {
        // Of some errors SQLite makes an end itself.
        if (database.isTransaction) database.exec("ROLLBACK")
        throw error
      }
    },
    list: ({ after = "", collection, limit, tag }, now) => {
      ensureSameFiles()
      return listing.all(collection, tag, after, now, limit).map((row) => ({ id: textOf(row, "id"), ...recordOf(row) }))
    },
    close: () => database.close()
  }
}

const corruptRecord = (path: string) =>
  new StoreUnavailable({ reason: `a record in ${path} is corrupt: restore the file from a backup` })

const replaced = (path: string) =>
  new StoreUnavailable({
    reason: `${path}, its -wal or its -shm was removed or replaced while it was open: ` +
      "put it back, or restart every process that uses it"
  })

/** Which file a path leads to. */
const fileAt = (path: string): string | undefined => {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
  return stat && `${stat.dev}:${stat.ino}`
}

/** The database, its log, and the memory that its processes share: none of them is replaced while one of these is at it. */
const filesAt = (path: string) => [fileAt(path), fileAt(`${path}-wal`), fileAt(`${path}-shm`)] as const

/** Makes the file where there is none, for its owner alone: it holds what tools are called with. */
const ensureFile = (path: string): string | undefined => {
  if (fileAt(path) === undefined) {
    try {
      closeSync(openSync(path, "wx", 0o600))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  } else if (!statSync(path).isFile()) {
    throw new StoreUnavailable({ reason: `${path} is not a file: give the store the path of one` })
  }
  // Under another name it would have another log: who opens it there does not see what is claimed here.
  if (statSync(path, { throwIfNoEntry: false })?.nlink !== 1) {
    throw new StoreUnavailable({ reason: `${path} is one of several hard links to its file: remove the others` })
  }
  return fileAt(path)
}
