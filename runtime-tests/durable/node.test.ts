/** examples/durable-approval: whenever its process is killed, nothing is paid twice, and the run ends. */
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as RecordStore from "@countersign/core/RecordStore"
import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as TestClock from "effect/testing/TestClock"
import * as TestConsole from "effect/testing/TestConsole"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import { answer, layer as workflow, LetterCode, manager, Refund } from "../../examples/durable-approval/refund.ts"
import * as Postgres from "../engines/Postgres.ts"
import { suite } from "../engines/suite.ts"
import {
  ask,
  endOf,
  eventually,
  hold,
  kill,
  layer as program,
  lettersOf,
  refundsOf,
  run,
  waitOf,
  work
} from "./nodeRefunds.ts"

const timeout = 120_000

/** The tables in which the ledger and the engine write, the latter what came of an activity. */
const ledger = "countersign_records"
const journal = "cluster_replies"

const refunded = "4900 cents refunded"
const brokenOff = "It may have had an effect, and was not run again."

/** The workflow in this process, where days are gone by in a moment. */
const inMemory = workflow.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      WorkflowEngine.layerMemory,
      ApprovalSigner.layerUnsigned,
      NodeCountersign.layerStore(RecordStore.layerMemory)
    )
  )
)

suite("examples/durable-approval", Postgres, (server) => {
  layer(program(Effect.sync(() => server().port)), { timeout, excludeTestServices: true })((it) => {
    it.effect("a yes is refunded once, and a no not at all", () =>
      Effect.gen(function*() {
        const process = yield* work
        const letter = yield* ask(process, 1)
        yield* waitOf(1)
        yield* run("answer", "yes", letter)
        assert.include(yield* endOf(1), refunded)
        assert.strictEqual(yield* refundsOf(1), 1)
        assert.include(yield* run("look", "1"), refunded)

        yield* run("answer", "no", yield* ask(process, 2))
        assert.include(yield* endOf(2), "execution-denied")
        assert.strictEqual(yield* refundsOf(2), 0)
      }), timeout)

    it.effect("killed while it waits, and answered while no process is there", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 3)
        yield* waitOf(3)
        yield* kill(first)
        yield* kill(yield* work)
        yield* run("answer", "yes", letter)
        const second = yield* work
        assert.include(yield* endOf(3), refunded)
        assert.strictEqual(yield* refundsOf(3), 1)
        // The question was written down: nobody is asked again.
        assert.deepStrictEqual(lettersOf(second, 3), [])
      }), timeout)

    it.effect("proposed and answered twice, the first answer counts", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 4)
        yield* run("propose", "4", "9900")
        yield* kill(first)
        yield* Effect.all([run("answer", "yes", letter), run("answer", "yes", letter)], { concurrency: 2 })
        const before = `${manager} said yes before`
        assert.include(yield* Effect.flip(run("answer", "no", letter)), before)
        const second = yield* work
        const end = yield* endOf(4)
        assert.include(end, refunded)
        yield* run("answer", "yes", letter)
        assert.include(yield* Effect.flip(run("answer", "no", letter)), before)
        // Whatever the late answer might set off has been set off when another run has ended.
        yield* run("answer", "yes", yield* ask(second, 5))
        yield* endOf(5)
        assert.strictEqual(yield* endOf(4), end)
        assert.strictEqual(yield* refundsOf(4), 1)
      }), timeout)

    it.effect("an answer without the question does not take the place of the person's", () =>
      Effect.gen(function*() {
        const process = yield* work
        const letter = yield* ask(process, 6)
        const other = yield* ask(process, 7)
        const refusalOf = (forged: string, by: string) =>
          Effect.map(
            Effect.flip(Effect.flatMap(decodeLetter(forged), (fields) => answer(fields, { approved: false, by }))),
            ({ _tag }) => _tag
          )
        for (
          const forged of [
            forge(letter, (fields) => fields.toolCall.input.cents = 1),
            forge(letter, (fields) => fields.approvalRequest.approvalId = "a1"),
            forge(letter, (fields) => delete fields.approvalRequest.signature)
          ]
        ) assert.strictEqual(yield* refusalOf(forged, manager), "InvalidSignature")
        assert.strictEqual(yield* refusalOf(letter, "somebody@shop.example"), "InvalidApprovalClaims")
        // Signed, but the question of another run.
        const { executionId } = yield* decodeLetter(letter)
        yield* run("answer", "no", forge(other, (fields) => fields.executionId = executionId))

        yield* run("answer", "yes", letter)
        assert.include(yield* endOf(6), refunded)
        assert.strictEqual(yield* refundsOf(6), 1)
        yield* waitOf(7)
      }), timeout)

    it.effect("what was changed in the database is not paid", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 13)
        yield* waitOf(13)
        yield* kill(first)
        const sql = yield* SqlClient.SqlClient
        const changed = yield* sql`
          UPDATE ${sql(journal)} SET payload = replace(payload, '4900', '990000')
          WHERE payload LIKE '%call_13%' AND payload LIKE '%4900%' RETURNING id`
        assert.strictEqual(changed.length, 1)
        yield* run("answer", "yes", letter)
        yield* work
        assert.include(yield* endOf(13), "InvalidSignature")
        assert.strictEqual(yield* refundsOf(13), 0)
      }), timeout)

    it.effect("killed between the answer and the claim: runs after the restart", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 8)
        const held = yield* hold(ledger)
        yield* run("answer", "yes", letter)
        yield* held.awaited
        yield* kill(first)
        yield* held.release
        assert.strictEqual(yield* refundsOf(8), 0)
        yield* work
        assert.include(yield* endOf(8), refunded)
        assert.strictEqual(yield* refundsOf(8), 1)
      }), timeout)

    it.effect("killed between the claim and the payment: is not run again", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 9)
        const held = yield* hold("refunds")
        yield* run("answer", "yes", letter)
        yield* held.awaited
        yield* kill(first)
        yield* held.release
        yield* work
        assert.include(yield* endOf(9), brokenOff)
        assert.strictEqual(yield* refundsOf(9), 0)
      }), timeout)

    it.effect("killed between the payment and its settlement: is not run again", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 10)
        const heldRefunds = yield* hold("refunds")
        yield* run("answer", "yes", letter)
        yield* heldRefunds.awaited
        const heldLedger = yield* hold(ledger)
        yield* heldRefunds.release
        yield* heldLedger.awaited
        yield* paid(10)
        yield* kill(first)
        yield* heldLedger.release
        assert.strictEqual(yield* refundsOf(10), 1)
        yield* work
        assert.include(yield* endOf(10), brokenOff)
        assert.strictEqual(yield* refundsOf(10), 1)
      }), timeout)

    it.effect("killed after the settlement: the ledger gives the outcome to the run", () =>
      Effect.gen(function*() {
        const first = yield* work
        const letter = yield* ask(first, 11)
        const heldRefunds = yield* hold("refunds")
        yield* run("answer", "yes", letter)
        yield* heldRefunds.awaited
        const heldJournal = yield* hold(journal)
        yield* heldRefunds.release
        yield* heldJournal.awaited
        yield* kill(first)
        yield* heldJournal.release
        assert.strictEqual(yield* refundsOf(11), 1)
        yield* work
        assert.include(yield* endOf(11), refunded)
        assert.strictEqual(yield* refundsOf(11), 1)
      }), timeout)

    it.effect("a question that nobody answers is denied after seven days", () =>
      Effect.gen(function*() {
        const call = { toolCallId: "call_12", toolName: "refund", input: "{\"order\":12,\"cents\":4900}" }
        const executionId = yield* Refund.execute(call, { discard: true })
        const state = Effect.map(Refund.poll(executionId), (found) => JSON.stringify(found))
        yield* TestClock.adjust("6 days")
        assert.include(yield* state, "Suspended")
        const [, letter] = String((yield* TestConsole.logLines)[0]).split("\n")
        const fields = yield* decodeLetter(letter)
        yield* TestClock.adjust("1 day")
        assert.include(yield* state, "nobody answered in time")
        const refused = yield* Effect.flip(answer(fields, { approved: true, by: manager }))
        assert.strictEqual(refused._tag, "ApprovalExpired")
      }).pipe(Effect.provide(inMemory), Effect.provide([TestClock.layer(), TestConsole.layer])))
  })
})

const paid = (order: number) => eventually(Effect.filterOrFail(refundsOf(order), (count) => count === 1))

const decodeLetter = Schema.decodeUnknownEffect(LetterCode)

const forge = (letter: string, change: (fields: any) => unknown): string => {
  const fields = JSON.parse(Buffer.from(letter, "base64url").toString())
  change(fields)
  return Buffer.from(JSON.stringify(fields)).toString("base64url")
}
