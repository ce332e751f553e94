/** The program of examples/durable-approval, as processes on a Postgres of their own. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import type * as Workflow from "effect/workflow/Workflow"
import { build } from "esbuild"
import { spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { proposed, Refund } from "../../examples/durable-approval/refund.ts"
import { client } from "../../examples/durable-approval/services.ts"
import { root } from "../../scripts/packages.ts"
import * as Postgres from "../engines/Postgres.ts"

/** What the processes run, and what they find in their environment. */
class Program extends Context.Service<Program, {
  readonly file: string
  readonly settings: Record<string, string>
}>()("Program") {}

/** The name by which Postgres tells the connections of the program from those of the tests. */
const program = "refunds"

/** In one file, which starts in a fifth of a second. */
const bundle = Effect.gen(function*() {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "countersign-refunds-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true }))
  )
  const file = join(folder, "run.mjs")
  yield* Effect.promise(() =>
    build({
      entryPoints: [join(root, "examples/durable-approval/run.ts")],
      outfile: file,
      bundle: true,
      platform: "node",
      format: "esm",
      // Of the driver of Postgres, which is CommonJS.
      banner: { js: "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url)" },
      logLevel: "error"
    })
  )
  return file
})

/** What the tests themselves ask of the Postgres at a port, and the program. */
export const layer = (port: Effect.Effect<number>) =>
  Layer.unwrap(Effect.map(port, (port) => {
    const url = new URL(`postgres://127.0.0.1:${port}/${Postgres.database}`)
    url.username = Postgres.username
    url.password = Postgres.password
    const sql = PgClient.layer({ url: Redacted.make(url.href) })
    const settings = { DATABASE_URL: url.href, APPROVAL_SECRET: "a secret of at least 16 bytes" }
    const engine = Layer.provide(client, ConfigProvider.layer(ConfigProvider.fromUnknown(settings)))
    url.searchParams.set("application_name", program)
    const started = Effect.map(bundle, (file) => ({ file, settings: { ...settings, DATABASE_URL: url.href } }))
    return Layer.mergeAll(sql, engine, Layer.effect(Program)(started))
  }))

const start = Effect.fnUntraced(function*(args: ReadonlyArray<string>) {
  const { file, settings } = yield* Program
  return yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [file, ...args], {
        env: { ...process.env, ...settings },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const ended = new Promise<number | null>((done) => child.once("close", done))
      const printed = { text: "", errors: "" }
      child.stdout.setEncoding("utf8").on("data", (text: string) => printed.text += text)
      child.stderr.setEncoding("utf8").on("data", (text: string) => printed.errors += text)
      const kill = Effect.promise(() => {
        child.kill("SIGKILL")
        return ended
      })
      return { printed, kill, ended: Effect.promise(() => ended) }
    }),
    ({ kill }) => kill
  )
})

/** Runs a command to its end, and gives what it printed. */
export const run = (...args: ReadonlyArray<string>) =>
  Effect.scoped(Effect.gen(function*() {
    const { ended, printed } = yield* start(args)
    return (yield* ended) === 0 ? printed.text.trim() : yield* Effect.fail(printed.text + printed.errors)
  }))

/** Tries again until it is so: what is waited for is another process. */
export const eventually = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, Schedule.spaced("100 millis"))

/** Starts a process that works until it is killed. */
export const work = start(["work"])

type Work = Effect.Success<typeof work>

/** The letters about an order that a process has sent. */
export const lettersOf = ({ printed }: Work, order: number): ReadonlyArray<string> =>
  [...printed.text.matchAll(/^To .* refund (\{.*\})\n(\S+)\n/gm)]
    .flatMap(([, input, letter]) => JSON.parse(input!).order === order ? [letter!] : [])

/** Proposes a refund of an order, and gives the letter about it. */
export const ask = Effect.fnUntraced(function*(work: Work, order: number) {
  yield* run("propose", String(order), "4900")
  return yield* eventually(Effect.suspend(() => Effect.fromNullishOr(lettersOf(work, order)[0])))
})

/** How often an order was refunded. */
export const refundsOf = Effect.fnUntraced(function*(order: number) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT * FROM refunds WHERE order_number = ${order}`).length
})

/** What the engine knows of the run of an order, as JSON, as soon as there is something. */
const seen = Effect.fnUntraced(
  function*(order: number, isMeant: (result: Workflow.Result<unknown, unknown>) => boolean) {
    const executionId = yield* Refund.executionId(proposed(String(order)))
    const result = Effect.flatMap(Refund.poll(executionId), Effect.fromOption)
    return JSON.stringify(yield* eventually(Effect.filterOrFail(result, isMeant)))
  }
)

export const waitOf = (order: number) => seen(order, ({ _tag }) => _tag === "Suspended")
export const endOf = (order: number) => seen(order, ({ _tag }) => _tag === "Complete")

/** Holds a table until it is released: whoever writes to it next waits, and whoever is killed then is killed at just that point. */
export const hold = Effect.fnUntraced(function*(table: string) {
  const sql = yield* SqlClient.SqlClient
  const connection = yield* sql.reserve
  const release = connection.executeRaw("ROLLBACK", [])
  yield* Effect.addFinalizer(() => Effect.ignore(release))
  yield* connection.executeRaw("BEGIN", [])
  yield* connection.executeRaw(`LOCK TABLE ${table} IN SHARE MODE`, [])
  return {
    release,
    /** Ends when somebody waits for the table. */
    awaited: eventually(Effect.filterOrFail(
      sql`SELECT 1 FROM pg_locks WHERE NOT granted AND relation = ${table}::regclass`,
      (rows) => rows.length > 0
    ))
  }
})

/** Kills a process, and what its connections were doing, as when its machine is lost. */
export const kill = Effect.fnUntraced(function*({ kill }: Work) {
  yield* kill
  const sql = yield* SqlClient.SqlClient
  yield* sql`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = ${program}`
})
