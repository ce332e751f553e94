import * as DurableLedger from "@countersign/core/DurableLedger"
import { type Key, RecordStore, type StoreUnavailable, type Write } from "@countersign/core/RecordStore"
import { ledgerContract, storeContract } from "@countersign/core/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll } from "vitest"
import { approvalsContract } from "../../core/test/approvalsContract.ts"
import * as NodeCrypto from "../src/NodeCrypto.ts"
import * as SqliteStore from "../src/SqliteStore.ts"
import * as SmallDisk from "./sqlite/smallDisk.ts"

const directory = mkdtempSync(join(tmpdir(), "countersign-sqlite-"))
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const newPath = (): string => join(directory, `${++files}.db`)

const newWrite = (more: Partial<Write> = {}): Write => ({
  value: "{}",
  version: crypto.randomUUID(),
  expected: undefined,
  tag: "kept",
  ttlMillis: 60_000,
  ...more
})
const keyOf = (id: string): Key => ({ collection: "records", id })

const get = (id = "a") => Effect.flatMap(RecordStore, (store) => store.get(keyOf(id)))
const set = (id = "a", more: Partial<Write> = {}) =>
  Effect.flatMap(RecordStore, (store) => store.set(keyOf(id), newWrite(more)))
const list = Effect.flatMap(RecordStore, (store) => store.list({ collection: "records", tag: "kept", limit: 1000 }))

/** Opens the file, runs, and closes it. */
const within =
  (path: string, options: Partial<SqliteStore.Options> = {}) =>
  <A, E>(effect: Effect.Effect<A, E, RecordStore>): Effect.Effect<A, E> =>
    Effect.provide(effect, Layer.fresh(SqliteStore.layer({ path, ...options })))

const refused = Effect.fnUntraced(function*<A>(
  effect: Effect.Effect<A, StoreUnavailable, RecordStore>,
  reason: RegExp
) {
  const error = yield* Effect.orDie(Effect.flip(effect))
  assert.strictEqual(error._tag, "StoreUnavailable")
  assert.match(error.reason, reason)
})

/** Whatever is asked of the store is refused. */
const allRefused = Effect.fnUntraced(function*(reason: RegExp) {
  yield* refused(get(), reason)
  yield* refused(set(), reason)
  yield* refused(list, reason)
})

/** What another program does to the file. */
const tamper = (path: string, sql: string): void => {
  const database = new DatabaseSync(path)
  try {
    database.exec(sql)
  } finally {
    database.close()
  }
}

const countRecords = (path: string): unknown => {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    return database.prepare("SELECT count(*) AS count FROM records").get()!["count"]
  } finally {
    database.close()
  }
}

describe("the contract of a store", () => {
  const path = newPath()
  storeContract(() => SqliteStore.layer({ path }))
})

describe("the inbox", () => {
  const path = newPath()
  approvalsContract(() => SqliteStore.layer({ path }))
})

describe("the contract of a ledger", () => {
  const path = newPath()
  // Its tests let days pass, in which a short lease is renewed many thousand times.
  ledgerContract((options) =>
    DurableLedger.layer({ lease: "1 hour", ...options }).pipe(
      Layer.provide([SqliteStore.layer({ path }), NodeCrypto.layer])
    )
  )
})

describe("the file", () => {
  it.effect("is made at the first use, for its owner alone", () =>
    Effect.gen(function*() {
      const path = newPath()
      yield* Effect.gen(function*() {
        yield* RecordStore
        assert.isFalse(existsSync(path))
        assert.isUndefined(yield* get())
        for (const file of [path, `${path}-wal`]) assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      }).pipe(within(path))
    }))

  it.effect("is kept by an end and a new start", () =>
    Effect.gen(function*() {
      const path = newPath()
      assert.isTrue(yield* within(path)(set("a", { value: "kept" })))
      assert.strictEqual((yield* within(path)(get()))?.value, "kept")
      assert.isFalse(yield* within(path)(set()))
    }))

  it.effect("makes room of what has expired", () =>
    Effect.gen(function*() {
      const path = newPath()
      yield* Effect.gen(function*() {
        for (let id = 0; id < 200; id++) yield* set(`old ${id}`, { ttlMillis: 1000 })
        yield* set("long")
        yield* TestClock.adjust(1000)
        for (let id = 0; id < 100; id++) yield* set(`new ${id}`)
        assert.strictEqual((yield* list).length, 101)
      }).pipe(within(path))
      assert.strictEqual(countRecords(path), 101)
    }))

  it.effect("is refused when the layer is closed", () =>
    Effect.gen(function*() {
      const path = newPath()
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(SqliteStore.layer({ path }), scope)
      yield* Effect.provide(set(), context)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.provide(allRefused(/closed/), context)
    }))
})

describe("several processes", () => {
  it.live("may open a new file at the same moment", () =>
    Effect.gen(function*() {
      const path = newPath()
      const names = Array.from({ length: 10 }, (_, index) => `process ${index}`)
      const children = names.map((name) =>
        fork(new URL("sqlite/opener.ts", import.meta.url), [path, name], { execArgv: ["--no-warnings"] })
      )
      const next = (child: ChildProcess) =>
        Effect.promise(() => Promise.race([once(child, "message"), once(child, "exit")])).pipe(
          Effect.map(([message]) => message)
        )
      const all = { concurrency: "unbounded" } as const
      assert.deepStrictEqual(yield* Effect.forEach(children, next, all), names.map(() => "ready"))
      for (const child of children) child.send("go")
      const made = yield* Effect.forEach(children, next, all)
      assert.deepStrictEqual(made.map(([own]) => own), names.map(() => true))
      assert.strictEqual(made.filter(([, shared]) => shared).length, 1)
    }))

  it.live("wait for a lock, for a time", () =>
    Effect.gen(function*() {
      const path = newPath()
      yield* within(path)(set())
      const other = new DatabaseSync(path)
      yield* Effect.gen(function*() {
        other.exec("BEGIN IMMEDIATE")
        yield* refused(set("b"), /locked by another process/)
        // Who reads does not wait.
        assert.isDefined(yield* get())
        assert.strictEqual((yield* list).length, 1)
      }).pipe(within(path, { lockTimeout: "30 millis" }))
      yield* Effect.gen(function*() {
        const waiting = yield* Effect.forkChild(set("b"))
        yield* Effect.sleep("30 millis")
        assert.isUndefined(waiting.pollUnsafe())
        other.exec("COMMIT")
        assert.isTrue(yield* Fiber.join(waiting))
      }).pipe(within(path))
      other.close()
    }))
})

describe("is refused, and comes back", () => {
  it.effect("without a folder", () =>
    Effect.gen(function*() {
      const folder = join(directory, "no folder")
      yield* Effect.gen(function*() {
        yield* allRefused(/its folder has to exist/)
        mkdirSync(folder)
        assert.isTrue(yield* set())
      }).pipe(within(join(folder, "a.db")))
    }))

  it.effect("with a file that has another name as well", () =>
    Effect.gen(function*() {
      const [path, other] = [newPath(), newPath()]
      assert.isTrue(yield* within(path)(set()))
      linkSync(path, other)
      for (const one of [path, other]) yield* within(one)(allRefused(/several hard links/))
      rmSync(other)
      yield* within(path)(Effect.map(get(), (found) => assert.isDefined(found)))
    }))

  it.effect("with a path that is no file's", () =>
    Effect.gen(function*() {
      yield* within(directory)(allRefused(/is not a file/))
      yield* within(join(directory, "\0"))(allRefused(/cannot be used/))
      const file = newPath()
      writeFileSync(file, "")
      yield* within(join(file, "a.db"))(allRefused(/its folder has to exist/))
    }))

  for (const suffix of ["", "-wal", "-shm"]) {
    it.effect(`while the file${suffix} is removed`, () =>
      Effect.gen(function*() {
        const path = newPath()
        yield* Effect.gen(function*() {
          yield* set("a")
          renameSync(`${path}${suffix}`, `${path}.away`)
          yield* allRefused(/removed or replaced/)
          renameSync(`${path}.away`, `${path}${suffix}`)
          assert.isDefined(yield* get())
          // Nothing of what was refused was written.
          assert.strictEqual((yield* list).length, 1)
          assert.isTrue(yield* set("b"))
        }).pipe(within(path))
      }))
  }

  it.effect("when the file is another one", () =>
    Effect.gen(function*() {
      const [path, other] = [newPath(), newPath()]
      yield* within(other)(set("b"))
      yield* Effect.gen(function*() {
        yield* set("a")
        renameSync(other, path)
        yield* allRefused(/removed or replaced/)
      }).pipe(within(path))
    }))
})

describe("leaves alone", () => {
  const untouched = (name: string, path: string, reason: RegExp) =>
    it.effect(name, () =>
      Effect.gen(function*() {
        const before = readFileSync(path)
        yield* within(path)(allRefused(reason))
        assert.isTrue(readFileSync(path).equals(before))
      }))

  const withTable = newPath()
  tamper(withTable, "CREATE TABLE records (a)")
  untouched("the database of another application", withTable, /another application/)

  const withApplicationId = newPath()
  tamper(withApplicationId, "PRAGMA application_id = 7")
  untouched("a database that says whose it is", withApplicationId, /another application/)

  const text = newPath()
  writeFileSync(text, "This is no database, and is longer than the header of one. ".repeat(100))
  untouched("a file that is no database", text, /damaged, or no database/)

  it.effect("what a newer version has written", () =>
    Effect.gen(function*() {
      const path = newPath()
      yield* within(path)(set())
      tamper(path, "PRAGMA user_version = 2")
      yield* within(path)(allRefused(/another version/))
    }))
})

describe("permissions", () => {
  const nobody = 65_534

  /** A folder of a user who is not root, and whoever runs the test as that user. */
  const test = (name: string, program: (folder: string) => Effect.Effect<void, StoreUnavailable>) =>
    it.effect(name, () =>
      Effect.suspend(() => {
        const folder = mkdtempSync(join(tmpdir(), "countersign-sqlite-"))
        const isRoot = process.geteuid?.() === 0
        if (isRoot) {
          chownSync(folder, nobody, nobody)
          process.seteuid?.(nobody)
        }
        return Effect.ensuring(
          program(folder),
          Effect.sync(() => {
            if (isRoot) process.seteuid?.(0)
            rmSync(folder, { recursive: true })
          })
        )
      }))

  test("of the file", (folder) =>
    Effect.gen(function*() {
      const path = join(folder, "a.db")
      yield* within(path)(set("a"))
      chmodSync(path, 0o444)
      yield* within(path)(refused(set("b"), /let this process write/))
      chmodSync(path, 0o000)
      yield* within(path)(allRefused(/has to be allowed to write/))
      // SQLite gives them the permissions of the database.
      for (const suffix of ["", "-wal", "-shm"]) if (existsSync(path + suffix)) chmodSync(path + suffix, 0o600)
      assert.isTrue(yield* within(path)(set("b")))
    }))

  test("of the folder", (folder) =>
    Effect.gen(function*() {
      chmodSync(folder, 0o555)
      yield* Effect.gen(function*() {
        yield* allRefused(/let this process write/)
        chmodSync(folder, 0o700)
        assert.isTrue(yield* set("a"))
      }).pipe(within(join(folder, "a.db")))
    }))
})

describe("damage", () => {
  /** A file of many pages. */
  const filled = Effect.fnUntraced(function*() {
    const path = newPath()
    yield* within(path)(
      Effect.forEach(Array.from({ length: 100 }), (_, id) => set(`${id}`, { value: "v".repeat(2000) }))
    )
    return path
  })

  it.effect("of the header", () =>
    Effect.gen(function*() {
      const path = yield* filled()
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 0, 100)
      writeFileSync(path, bytes)
      yield* within(path)(allRefused(/damaged, or no database/))
    }))

  it.effect("of pages", () =>
    Effect.gen(function*() {
      const path = yield* filled()
      const bytes = readFileSync(path)
      bytes.fill(0xff, 4096)
      writeFileSync(path, bytes)
      yield* within(path)(allRefused(/damaged, or no database/))
    }))

  it.effect("of the end", () =>
    Effect.gen(function*() {
      const path = yield* filled()
      truncateSync(path, 8192)
      yield* within(path)(allRefused(/damaged, or no database/))
    }))

  /** The types of the columns are checked by the table, so that it takes a table without types to have others. */
  const untyped = (path: string, sql: string) => {
    tamper(
      path,
      `
      CREATE TABLE other (collection, id, tag, version, value, kept_until, PRIMARY KEY (collection, id)) WITHOUT ROWID;
      INSERT INTO other SELECT collection, id, tag, version, value, kept_until FROM records;
      DROP TABLE records;
      ALTER TABLE other RENAME TO records;
      CREATE INDEX records_by_tag ON records (collection, tag, id);
      ${sql}`
    )
  }

  for (const column of ["value", "version", "kept_until"]) {
    for (const value of ["NULL", "x'ff00'", column === "kept_until" ? "'text'" : "12", "9007199254740993"]) {
      it.effect(`of a record: ${column} is ${value}`, () =>
        Effect.gen(function*() {
          const path = newPath()
          yield* within(path)(Effect.andThen(set("a"), set("b")))
          untyped(path, `UPDATE records SET ${column} = ${value} WHERE id = 'a'`)
          yield* Effect.gen(function*() {
            yield* refused(get("a"), /corrupt|cannot be used/)
            if (column !== "value") yield* refused(set("a"), /corrupt|cannot be used/)
            assert.isDefined(yield* get("b"))
          }).pipe(within(path))
        }))
    }
  }

  it.effect("of a record is nothing to those that are written with it", () =>
    Effect.gen(function*() {
      const path = newPath()
      yield* within(path)(set("a"))
      untyped(path, "UPDATE records SET version = NULL")
      const exits = yield* within(path)(
        Effect.forEach(["b", "a", "c"], (id) => Effect.exit(set(id)), { concurrency: "unbounded" })
      )
      assert.deepStrictEqual(exits.map((exit) => Exit.isSuccess(exit) && exit.value), [true, false, true])
    }))
})

const onSmallDisk = (name: string, program: (disk: SmallDisk.SmallDisk) => Effect.Effect<void, StoreUnavailable>) =>
  it.effect.skipIf(SmallDisk.missing !== undefined)(
    SmallDisk.missing === undefined ? name : `${name} (${SmallDisk.missing})`,
    () => Effect.acquireUseRelease(Effect.sync(() => SmallDisk.mount(512)), program, (disk) => Effect.sync(disk.remove))
  )

describe("a disk", () => {
  onSmallDisk("that is full is refused, until there is room", ({ directory }) =>
    Effect.gen(function*() {
      const path = join(directory, "a.db")
      const other = join(directory, "other")
      yield* Effect.gen(function*() {
        assert.isTrue(yield* set("first"))
        yield* Effect.sync(() => {
          try {
            writeFileSync(other, new Uint8Array(1_000_000))
          } catch {
            // It is full now.
          }
        })
        let written = 0
        const fill = Effect.suspend(() => set(`${written}`, { value: "v".repeat(3000) }))
        yield* refused(
          Effect.forever(Effect.tap(fill, () => Effect.sync(() => written++))),
          /disk is full/
        )
        // What was written before is there, and what was refused is not.
        assert.isDefined(yield* get("first"))
        assert.isUndefined(yield* get(`${written}`))
        rmSync(other)
        assert.isTrue(yield* set(`${written}`))
        assert.strictEqual((yield* list).length, written + 2)
      }).pipe(within(path))
    }))

  onSmallDisk(
    "that is full when the file is made is refused, until there is room",
    ({ directory }) =>
      Effect.gen(function*() {
        const other = join(directory, "other")
        try {
          writeFileSync(other, new Uint8Array(1_000_000))
        } catch {
          // It is full now.
        }
        yield* Effect.gen(function*() {
          yield* allRefused(/disk is full/)
          rmSync(other)
          assert.isTrue(yield* set())
        }).pipe(within(join(directory, "a.db")))
      })
  )

  onSmallDisk("that cannot be written is refused", ({ directory, makeReadOnly }) =>
    Effect.gen(function*() {
      const path = join(directory, "a.db")
      yield* within(path)(set())
      makeReadOnly()
      yield* within(path)(refused(set("b"), /has to be allowed to write|let this process write/))
      yield* within(join(directory, "b.db"))(allRefused(/let this process write/))
    }))
})
