/** What went wrong with a store in Postgres, in words that say what to do. */
import { StoreUnavailable } from "@countersign/core/RecordStore"
import { hasProperty } from "effect/Predicate"
import type { SqlError } from "effect/sql/SqlError"

/**
 * The words are chosen here, by the code: what a server or a driver says may hold names and values. `table` is as the caller gave it.
 *
 * @internal
 */
export const failureOf = (table: string) => ({ reason }: SqlError): StoreUnavailable => {
  const code = hasProperty(reason.cause, "code") && typeof reason.cause.code === "string"
    ? reason.cause.code
    : undefined
  const words = (code === undefined ? undefined : states.get(code) ?? classes.get(code.slice(0, 2))) ??
    reasons.get(reason._tag) ?? "could not do what it was asked: see its log"
  return new StoreUnavailable({ reason: `Postgres, table ${table}: ${words} (${code ?? reason._tag})` })
}

/** By the error codes of Postgres, its appendix A. */
const states = new Map([
  ["25006", "it is read-only: connect to the primary"],
  ["42P01", "the table is missing: let the process start anew, and make it"],
  [
    "42501",
    "the role may not do this: grant it SELECT, INSERT, UPDATE and DELETE on the table, or CREATE on the schema"
  ],
  ["3F000", "the schema does not exist: create it"],
  ["53100", "its disk is full: make room"],
  ["53300", "it has no connection left: raise max_connections, or make the pools smaller"],
  ["57014", "the statement was canceled: see what holds a lock on the table"]
])

/** By the first two characters of such a code. */
const classes = new Map([
  ["08", "the connection was lost: see that it runs and can be reached"],
  ["22", "it does not take the text of this record: its database has to be UTF8"],
  ["28", "it does not let this client in: see user and password"],
  ["3D", "the database does not exist: create it"],
  ["42", "the table is not the one that this store makes: choose another name"],
  ["53", "it has no memory or disk left: see its log"],
  ["57", "it is starting or shutting down: try again"],
  ["58", "its disk fails: see its log"],
  ["XX", "its data is damaged: see its log, and restore it from a backup"]
])

/** By the kind of error, where the server gave no code. */
const reasons = new Map([
  ["ConnectionError", "it cannot be reached: see that it runs, and the address of the client"],
  ["AuthenticationError", "it does not let this client in: see user and password"]
])
