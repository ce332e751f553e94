/** What the file of a store looks like, and whether a file is one. */
import { StoreUnavailable } from "@countersign/core/RecordStore"
import type { DatabaseSync } from "node:sqlite"

/** `CSgn`, in the header of the file. */
const applicationId = 0x4353676e

/** Is raised when the tables change. */
const schemaVersion = 1

const schema = `
  CREATE TABLE records (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    tag TEXT NOT NULL,
    version TEXT NOT NULL,
    value TEXT NOT NULL,
    kept_until INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX records_by_tag ON records (collection, tag, id);
  CREATE INDEX records_by_end ON records (kept_until);
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`

/** Makes the tables where there are none. Throws what SQLite throws, and `StoreUnavailable` where the file is for something else. */
export const prepareSchema = (database: DatabaseSync, path: string): void => {
  const isNew = isEmpty(database, path)
  // Cannot be changed within a transaction: of processes that open a new file at the same time, each changes it.
  const { journal_mode: mode } = database.prepare("PRAGMA journal_mode = WAL").get()!
  if (mode !== "wal") {
    throw new StoreUnavailable({ reason: `${path} is on a file system without shared memory: put it on a local disk` })
  }
  if (!isNew) return
  database.exec("BEGIN IMMEDIATE")
  // Another process may have been faster.
  if (isEmpty(database, path)) database.exec(schema)
  database.exec("COMMIT")
}

const isEmpty = (database: DatabaseSync, path: string): boolean => {
  const number = (name: string) => database.prepare(`PRAGMA ${name}`).get()?.[name]
  const application = number("application_id")
  const version = number("user_version")
  if (application === applicationId) {
    if (version === schemaVersion) return false
    throw new StoreUnavailable({
      reason: `${path} was made by another version of @countersign/platform-node: use that one or a newer one`
    })
  }
  const tables = database.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.["count"]
  if (application === 0 && version === 0 && tables === 0) return true
  throw new StoreUnavailable({
    reason: `${path} is the database of another application: give the store a file of its own`
  })
}
