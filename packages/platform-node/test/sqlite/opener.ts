/** A process that opens the file of a store when it is told to, and makes two records: its own, and one that all of them want. */
import { RecordStore } from "@countersign/core/RecordStore"
import * as Effect from "effect/Effect"
import * as SqliteStore from "../../src/SqliteStore.ts"

const [path = "", name = ""] = process.argv.slice(2)

const program = Effect.gen(function*() {
  const store = yield* RecordStore
  const write = { value: name, version: name, expected: undefined, tag: "opened", ttlMillis: 60_000 }
  return [
    yield* store.set({ collection: "openers", id: name }, write),
    yield* store.set({ collection: "openers", id: "all" }, write)
  ]
})

process.once("message", () => {
  void Effect.runPromise(Effect.provide(program, SqliteStore.layer({ path }))).then((made) => {
    process.send?.(made)
    process.disconnect()
  })
})
process.send?.("ready")
