import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type LedgerServer, makeServer } from "./ledgerServer.ts"

interface Answer {
  readonly _tag: string
  readonly outcome?: { readonly output: unknown }
}

const settled = (approval: string): Answer => ({
  _tag: "Settled",
  outcome: { output: { type: "text", value: `done: ${approval}` } }
})

const ask = async (
  url: string,
  method: "GET" | "POST",
  approvals: ReadonlyArray<string>
): Promise<ReadonlyArray<Answer>> => {
  const response = await fetch(`${url}/${approvals.join(",")}`, { method })
  return await response.json() as ReadonlyArray<Answer>
}

const inBatches = (approvals: ReadonlyArray<string>, size: number): ReadonlyArray<ReadonlyArray<string>> =>
  Array.from({ length: approvals.length / size }, (_, index) => approvals.slice(index * size, (index + 1) * size))

/** As clients do that all try to resume the same approvals at the same time. */
const race = async (
  urls: ReadonlyArray<string>,
  batches: ReadonlyArray<ReadonlyArray<string>>,
  clients: number,
  each: (approval: string, answer: Answer) => void
): Promise<void> => {
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    for (const approvals of batches) {
      const answers = await ask(urls[client % urls.length]!, "POST", approvals)
      answers.forEach((answer, index) => each(approvals[index]!, answer))
    }
  }))
}

describe("a ledger in a Durable Object", () => {
  let server: LedgerServer
  beforeAll(async () => {
    server = await makeServer()
  })
  afterAll(() => server.remove())

  it("gives each of 1,000 approvals to one of ten clients of two Workers", { timeout: 180_000 }, async () => {
    const urls = await server.start()
    const approvals = Array.from({ length: 1_000 }, (_, index) => `race-${index}`)
    const tags = new Map<string, number>()
    await race(urls, inBatches(approvals, 25), 10, (_approval, { _tag }) => tags.set(_tag, (tags.get(_tag) ?? 0) + 1))
    assert.strictEqual(tags.get("Claimed"), 1_000, JSON.stringify([...tags]))
    assert.strictEqual((tags.get("Running") ?? 0) + tags.get("Settled")!, 9_000, JSON.stringify([...tags]))
    for (const approval of approvals) assert.strictEqual(server.executions.get(approval), 1, approval)
    for (const batch of inBatches(approvals, 100)) {
      assert.deepStrictEqual(await ask(urls[0]!, "GET", batch), batch.map(settled))
    }
  })

  it("runs nothing twice and loses no outcome when workerd is killed, 20 times", { timeout: 180_000 }, async () => {
    const answered = new Set<string>()
    const approvals = Array.from(
      { length: 20 },
      (_, round) => Array.from({ length: 100 }, (_, index) => `kill-${round}-${index}`)
    )
    for (const [round, names] of approvals.entries()) {
      const urls = await server.start()
      const racing = race(urls, inBatches(names, 1), 4, (approval, { _tag }) => {
        if (_tag === "Claimed" || _tag === "Settled") answered.add(approval)
      })
      // The connections of the clients break.
      const ended = racing.catch(() => {})
      await sleep(20 + 7 * round)
      await server.kill()
      await ended
    }
    const urls = await server.start()
    // The leases of the last owners run out.
    await sleep(1_100)
    const tags = new Set<string>()
    for (const names of approvals) {
      const executions = names.map((approval) => server.executions.get(approval) ?? 0)
      const found = await ask(urls[1]!, "GET", names)
      // Whoever tries again is told what is known, and runs only what has not begun.
      const again = await ask(urls[0]!, "POST", names)
      for (const [index, approval] of names.entries()) {
        const { _tag } = found[index]!
        tags.add(_tag)
        assert.isAtMost(executions[index]!, _tag === "Unknown" ? 0 : 1, approval)
        if (answered.has(approval)) assert.deepStrictEqual(found[index], settled(approval))
        assert.strictEqual(again[index]!._tag, _tag === "Unknown" ? "Claimed" : _tag, approval)
        assert.strictEqual(server.executions.get(approval) ?? 0, _tag === "Unknown" ? 1 : executions[index], approval)
      }
    }
    assert.isTrue(tags.has("Settled") && tags.has("Indeterminate"), [...tags].join())
  })
})
