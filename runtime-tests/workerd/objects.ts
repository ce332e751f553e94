/** The Durable Objects that tests find in the bindings of their Worker. */
import { RecordStoreObject } from "@countersign/platform-workers/RecordStoreObject"

export { RecordStoreObject }

/** How many more objects fail; those to come know as well. */
let failures = 0

/** One that can be told to fail, and to say what it holds. It has no answer for a write of the record `never`. */
export class FrailObject extends RecordStoreObject {
  /** Ends the object, with whatever it is at. */
  end(): void {
    this.ctx.abort("told to end")
  }

  /** So many times, what is written ends the object before it answers. */
  fail(times: number): void {
    failures = times
  }

  override async set(...args: Parameters<RecordStoreObject["set"]>): Promise<boolean> {
    if (args[0].id === "never") await new Promise(() => {})
    const isWritten = await super.set(...args)
    if (failures > 0) {
      failures--
      await this.ctx.storage.sync()
      this.ctx.abort("told to fail")
    }
    return isWritten
  }

  /** How many rows there are, expired ones as well. */
  rows(): { readonly records: number; readonly parts: number } {
    const count = (table: string) =>
      this.ctx.storage.sql.exec<{ readonly rows: number }>(`SELECT count(*) AS rows FROM ${table}`).toArray()[0]!.rows
    return { records: count("records"), parts: count("parts") }
  }

  damage(): void {
    this.ctx.storage.sql.exec("DELETE FROM parts")
  }
}
