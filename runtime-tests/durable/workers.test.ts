/**
 * examples/worker-workflow in the real workerd, with Cloudflare's own local engine for Workflows, killed with SIGKILL: while a run waits
 * for the person, and while calls that were approved are executed.
 */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { once } from "node:events"
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
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

/** The Worker, and one that dies where the header says so: when an answer is kept, before its run is told. */
const entry = `
import worker from "./worker.ts"
export * from "./worker.ts"

export default {
  fetch(request, env) {
    const get = () => { throw new Error("the Worker has died") }
    return worker.fetch(request, request.headers.has("die-untold") ? { ...env, REFUNDS: { get } } : env)
  }
}`

/** What runs use for hours and days. */
const patience = { lookEvery: "1 hour", timeToLive: "7 days" }

/** Builds the Worker with less patience. */
const bundleWith = async (less: Partial<typeof patience>): Promise<void> => {
  const { outputFiles: [output] } = await build({
    stdin: { contents: entry, resolveDir: example },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    logLevel: "error"
  })
  let text = output!.text
  for (const [name, time] of Object.entries({ ...patience, ...less })) {
    const declaration = `var ${name} = "${patience[name as keyof typeof patience]}";`
    assert.include(text, declaration)
    text = text.replace(declaration, `var ${name} = "${time}";`)
  }
  writeFileSync(bundle, text)
}

/** Cloudflare Access: its keys, and the tokens that it signs. */
const access = {
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }),
  audience: "the refunds",
  get keys(): string {
    return JSON.stringify({ keys: [{ ...this.publicKey.export({ format: "jwk" }), kid: "k1" }] })
  }
}

const token = (
  claims: { readonly [name: string]: unknown },
  { header = {}, key = access.privateKey }: { readonly header?: object; readonly key?: KeyObject } = {}
): string => {
  const exp = Math.trunc(Date.now() / 1000) + 600
  const signed = [
    { alg: "RS256", kid: "k1", ...header },
    { iss: payments.url, aud: [access.audience], exp, email: "ada@example.com", ...claims }
  ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".")
  return `${signed}.${sign("sha256", Buffer.from(signed), key).toString("base64url")}`
}

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
  const vars = JSON.stringify({
    APPROVAL_SECRET: "a secret that the tests sign with",
    ACCESS_TEAM: payments.url,
    ACCESS_AUDIENCE: access.audience,
    PAYMENTS_URL: payments.url
  })
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

const send = async (
  path: string,
  init: { readonly body?: string; readonly headers?: { readonly [name: string]: string } }
): Promise<Reply> => {
  const response = await fetch(`${server!.url}${path}`, init.body === undefined ? init : { method: "POST", ...init })
  return { status: response.status, body: await response.json() }
}

const headersOf = (user = "ada@example.com") => ({
  "cf-access-jwt-assertion": token({ email: user }),
  "content-type": "application/json"
})

const request = (path: string, body?: unknown, user?: string): Promise<Reply> =>
  send(path, { headers: headersOf(user), ...body === undefined ? {} : { body: JSON.stringify(body) } })

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
  const { questions } = await poll("/questions", ({ questions }) => questions.some(isOf))
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
  const { changes } = database
    .prepare("UPDATE records SET value = replace(value, ?, ?) WHERE tag = 'pending' AND instr(value, ?) > 0")
    .run(from, to, from)
  database.close()
  assert.strictEqual(changes, 1)
}

const refunded = { type: "text", value: "4900 cents refunded" }
const brokenOff = {
  type: "error-text",
  value: "The call was begun once and broken off. It may have had an effect, and was not run again."
}

beforeAll(async () => {
  await bundleWith({})
  payments.server = createServer(async (incoming, outgoing) => {
    if (incoming.url === "/cdn-cgi/access/certs") return outgoing.end(access.keys)
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
    const { body: { questions } } = await request("/questions")
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
    const eve = "eve@example.com"
    assert.strictEqual((await answer(run, false, eve)).status, 404)
    assert.deepStrictEqual((await request("/questions", undefined, eve)).body, { questions: [] })
    assert.strictEqual((await request(`/refunds/${run.id}`, undefined, eve)).status, 404)
    assert.strictEqual((await answer({ approvalId: run.approvalId.replace("cs1.", "cs1.1") })).status, 404)
    assert.strictEqual(paid(3), 0)
    await answer(run)
    assert.deepStrictEqual(await outputOf(run), refunded)
    assert.strictEqual(paid(3), 1)
    assert.notInclude(JSON.stringify(await request(`/refunds/${run.id}`)), "signature")
  })

  it("takes an answer from nobody whom Access has not signed in", async () => {
    const run = await ask(5)
    const body = JSON.stringify({ approvalId: run.approvalId, approved: true })
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const unsigned = `${token({}).split(".").slice(0, 2).join(".")}.`
    for (
      const assertion of [
        "",
        "a.b.c",
        unsigned,
        token({}, { key: privateKey }),
        token({}, { header: { alg: "none" } }),
        token({}, { header: { kid: "k2" } }),
        token({ aud: ["another application"] }),
        token({ iss: "https://other.example" }),
        token({ exp: Math.trunc(Date.now() / 1000) - 1 }),
        token({ email: "" })
      ]
    ) {
      const headers = {
        ...headersOf(),
        "cf-access-jwt-assertion": assertion,
        "cf-access-authenticated-user-email": "ada@example.com"
      }
      assert.strictEqual((await send("/answers", { body, headers })).status, 401, assertion)
    }
    assert.strictEqual((await request("/questions")).body.questions[0].approvalId, run.approvalId)
    await answer(run, false)
  })

  it("takes no answer that a page of another site could send, or that says yes and no", async () => {
    const run = await ask(6)
    const body = JSON.stringify({ approvalId: run.approvalId, approved: true })
    const asText = { ...headersOf(), "content-type": "text/plain" }
    assert.strictEqual((await send("/answers", { body, headers: asText })).status, 415)
    assert.strictEqual((await send("/refunds", { body: "{\"order\":1}", headers: asText })).status, 415)
    for (
      const text of [body.replace("{", "{\"approved\":false,"), `${"[".repeat(100_000)}${"]".repeat(100_000)}`, "{"]
    ) {
      assert.strictEqual((await send("/answers", { body: text, headers: headersOf() })).status, 400)
    }
    assert.strictEqual((await request("/questions")).body.questions[0].approvalId, run.approvalId)
    await answer(run, false)
  })

  it("runs nothing of a question that was changed in the store, and shows the others", async () => {
    const [changed, damaged, other] = [await ask(4), await ask(7), await ask(8)]
    await kill()
    changeRecords("\"cents\":4900,\"order\":4}", "\"cents\":490000,\"order\":4}")
    changeRecords("\"order\":7}", "\"order\": 7}")
    await start()
    const shown: Array<string> = []
    let next: string | undefined
    do {
      const { body } = await request(
        `/questions?limit=1${next === undefined ? "" : `&after=${encodeURIComponent(next)}`}`
      )
      assert.isAtMost(body.questions.length, 1)
      shown.push(...body.questions.map(({ text }: any) => text))
      next = body.next
    } while (next !== undefined)
    assert.deepStrictEqual(shown, [
      "refund {\"cents\":490000,\"order\":4}",
      "refund {\"cents\":4900,\"order\":8}"
    ])
    const { body, status: refused } = await answer(damaged)
    assert.strictEqual(refused, 503)
    assert.include(body.error, "corrupt")

    assert.strictEqual((await answer(changed)).status, 200)
    const { error, status } = await endOf(changed)
    assert.strictEqual(status, "errored")
    assert.include(error, "its signature does not fit")
    assert.strictEqual(paid(4), 0)
    // It has ended, and the same answer is of no use.
    assert.strictEqual((await answer(changed)).status, 410)
    await answer(other, false)
  })

  it("looks for an answer of which it was not told", async () => {
    await kill()
    await bundleWith({ lookEvery: "1 second" })
    await start()
    const run = await ask(9)
    const body = JSON.stringify({ approvalId: run.approvalId, approved: true })
    assert.strictEqual((await send("/answers", { body, headers: { ...headersOf(), "die-untold": "1" } })).status, 503)
    assert.deepStrictEqual((await request("/questions")).body, { questions: [] })
    assert.deepStrictEqual(await outputOf(run), refunded)
    assert.strictEqual(paid(9), 1)
    assert.strictEqual((await answer(run)).status, 200)
  })

  it("ends where nobody answers in time", async () => {
    await kill()
    await bundleWith({ lookEvery: "1 second", timeToLive: "4 seconds" })
    await start()
    const { body: { id } } = await request("/refunds", { order: 10 })
    const { error, status } = await poll(`/refunds/${id}`, ({ status }) => status === "errored")
    assert.strictEqual(status, "errored")
    assert.include(error, "nobody answered in time")
    assert.strictEqual(paid(10), 0)
    await kill()
    await bundleWith({})
    await start()
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
