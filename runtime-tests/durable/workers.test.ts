/**
 * examples/worker-workflow in the real workerd, with Cloudflare's own local engine for Workflows, killed with SIGKILL: while a run waits
 * for the person, and while calls that were approved are executed.
 */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { globSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../../scripts/packages.ts"

const example = join(root, "examples/worker-workflow")
const folder = mkdtempSync(join(tmpdir(), "countersign-workflow-"))
const bundle = join(folder, "worker.js")

/** Where the tool's effects are counted, by order. It outlives the Worker. */
const payments = {
  byOrder: new Map<number, number>(),
  /** Called for each payment, before it is answered. */
  onPayment: async (_order: number): Promise<void> => {},
  server: undefined as Server | undefined,
  get url(): string {
    return `http://127.0.0.1:${(payments.server!.address() as AddressInfo).port}`
  }
}

const paid = (order: number): number => payments.byOrder.get(order) ?? 0

let server: { readonly url: string; readonly process: ChildProcess } | undefined

const start = async (): Promise<void> => {
  const vars = JSON.stringify({ APPROVAL_SECRET: "a secret that the tests sign with", PAYMENTS_URL: payments.url })
  const child = spawn(
    process.execPath,
    [
      join(import.meta.dirname, "workersServer.ts"),
      join(example, "wrangler.jsonc"),
      bundle,
      join(folder, "state"),
      vars
    ],
    // A process group of its own, so that workerd is killed with it.
    { stdio: ["pipe", "pipe", "inherit"], detached: true }
  )
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) {
    if (!line.startsWith("http://")) continue
    server = { url: line, process: child }
    child.stdout!.resume()
    return
  }
  throw new Error("the Worker ended before it listened")
}

/** Neither the server nor workerd can write another byte. */
const kill = async (): Promise<void> => {
  if (server === undefined) return
  const { process: child } = server
  server = undefined
  const exit = once(child, "exit")
  process.kill(-child.pid!, "SIGKILL")
  await exit
}

interface Reply {
  readonly status: number
  readonly body: any
}

const request = async (path: string, body?: unknown, user = "ada@example.com"): Promise<Reply> => {
  const response = await fetch(`${server!.url}${path}`, {
    headers: { "cf-access-authenticated-user-email": user },
    ...body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
  })
  return { status: response.status, body: await response.json() }
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const poll = async (path: string, isDone: (body: any) => boolean): Promise<any> => {
  for (;;) {
    const { body } = await request(path)
    if (isDone(body)) return body
    await pause(50)
  }
}

interface Run {
  readonly id: string
  readonly order: number
  readonly approvalId: string
}

/** Starts a run, and waits until the person sees its question. */
const ask = async (order: number): Promise<Run> => {
  const { body: { id } } = await request("/refunds", { order })
  const isOf = ({ text }: any): boolean => text === `refund {"cents":4900,"order":${order}}`
  const questions = await poll("/questions", (questions) => questions.some(isOf))
  return { id, order, approvalId: questions.find(isOf).approvalId }
}

const answer = ({ approvalId }: Pick<Run, "approvalId">, approved = true, user?: string): Promise<Reply> =>
  request("/answers", { approvalId, approved }, user)

const endOf = ({ id }: Run): Promise<any> =>
  poll(`/refunds/${id}`, ({ status }) => status === "complete" || status === "errored")

/** What the model is told at the end. */
const outputOf = async (run: Run): Promise<any> => {
  const { messages, status } = await endOf(run)
  assert.strictEqual(status, "complete")
  return messages.at(-1).content.at(-1).output
}

/** As somebody does who can write to the store, and does not have the secret. */
const changeRecords = (from: string, to: string): void => {
  const [file] = globSync("**/*-RecordStoreObject/*.sqlite", { cwd: join(folder, "state") })
    .filter((path) => !path.endsWith("metadata.sqlite"))
  const database = new DatabaseSync(join(folder, "state", file!))
  const { changes } = database.prepare("UPDATE records SET value = replace(value, ?, ?) WHERE tag = 'pending'").run(
    from,
    to
  )
  database.close()
  assert.strictEqual(changes, 1)
}

const refunded = { type: "text", value: "4900 cents refunded" }
const brokenOff = {
  type: "error-text",
  value: "The call was begun once and broken off. It may have had an effect, and was not run again."
}

beforeAll(async () => {
  await build({
    entryPoints: [join(example, "worker.ts")],
    outfile: bundle,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    logLevel: "error"
  })
  payments.server = createServer(async (incoming, outgoing) => {
    const { order } = JSON.parse(Buffer.concat(await Array.fromAsync(incoming)).toString())
    payments.byOrder.set(order, paid(order) + 1)
    await payments.onPayment(order)
    outgoing.end("{}")
  })
  await once(payments.server.listen(0, "127.0.0.1"), "listening")
  await start()
})

afterAll(async () => {
  await kill()
  payments.server?.closeAllConnections()
  payments.server?.close()
  rmSync(folder, { recursive: true })
})

describe("examples/worker-workflow", () => {
  it("goes on after a crash with the question that it asked before, and runs what was approved once", async () => {
    const run = await ask(1)
    await kill()
    await start()
    const { body: questions } = await request("/questions")
    assert.deepStrictEqual(questions.map(({ approvalId }: any) => approvalId), [run.approvalId])

    assert.strictEqual(paid(1), 0)
    assert.strictEqual((await answer(run)).status, 200)
    assert.deepStrictEqual(await outputOf(run), refunded)
    assert.strictEqual((await answer(run)).status, 200)
    assert.strictEqual((await answer(run, false)).status, 409)
    assert.strictEqual(paid(1), 1)
  })

  it("runs nothing after a no", async () => {
    const run = await ask(2)
    await answer(run, false)
    assert.strictEqual((await answer(run)).status, 409)
    assert.strictEqual((await outputOf(run)).type, "execution-denied")
    assert.strictEqual(paid(2), 0)
  })

  it("refuses the answer of somebody else, and to a question that is not there, and goes on waiting", async () => {
    const run = await ask(3)
    assert.strictEqual((await answer(run, false, "eve@example.com")).status, 403)
    assert.deepStrictEqual((await request("/questions", undefined, "eve@example.com")).body, [])
    assert.strictEqual((await answer({ approvalId: run.approvalId.replace("cs1.", "cs1.1") })).status, 404)
    assert.strictEqual(paid(3), 0)
    await answer(run)
    assert.deepStrictEqual(await outputOf(run), refunded)
    assert.strictEqual(paid(3), 1)
  })

  it("runs nothing of a question that was changed in the store", async () => {
    const run = await ask(4)
    await kill()
    changeRecords("4900", "490000")
    await start()
    assert.strictEqual((await answer(run)).status, 200)
    const { error, status } = await endOf(run)
    assert.strictEqual(status, "errored")
    assert.include(error, "its signature does not fit")
    assert.strictEqual(paid(4), 0)
  })

  it("is killed amid many executions: runs none twice, and says of what was cut off that it may have run", {
    timeout: 60_000
  }, async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, (_, index) => ask(100 + index)))
    const finished = runs.slice(0, 5)
    await Promise.all(finished.map((run) => answer(run)))
    for (const run of finished) assert.deepStrictEqual(await outputOf(run), refunded)

    // At the kill some are settled, some are answered and not begun, some are at it, and some are not answered. One is surely at it.
    let cutOff: number | undefined
    let begun = 0
    const killed = new Promise<void>((resolve) => {
      payments.onPayment = async (order) => {
        begun++
        if (begun === 20) {
          cutOff = order
          resolve(kill())
        }
        await (cutOff === undefined ? pause(20) : killed)
      }
    })
    for (const [sent, run] of runs.slice(5).entries()) {
      while (sent - begun > 8 && cutOff === undefined) await pause(1)
      if (cutOff !== undefined) break
      void answer(run).catch(() => {})
    }
    await killed
    payments.onPayment = async () => {}
    await start()

    // Cloudflare wakes a run that was cut off. Its local engine waits for an event: the person says yes once more.
    await Promise.all(runs.map((run) => answer(run)))
    const outputs = await Promise.all(runs.map(outputOf))
    for (const [index, output] of outputs.entries()) {
      const { order } = runs[index]!
      assert.isAtMost(paid(order), 1)
      if (output.type === "text") assert.strictEqual(paid(order), 1)
      assert.deepStrictEqual(output, output.type === "text" ? refunded : brokenOff)
    }
    assert.deepStrictEqual(outputs[cutOff! - 100], brokenOff)
  })
})
