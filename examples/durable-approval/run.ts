/**
 * The commands around refund.ts, each a process of its own on one Postgres:
 *
 *   work                       runs the workflows, until it is ended
 *   propose <order> <cents>    what a model would call
 *   answer yes|no <letter>     what a person says to the question that `work` has sent
 *   look <order>               what has come of it
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Refund from "./refund.ts"
import { client, worker } from "./services.ts"

const propose = (order: string, cents: string) =>
  Refund.Refund.execute(Refund.proposed(order, cents), { discard: true })

/** In a server `by` is whoever is signed in. */
const answer = Effect.fnUntraced(function*(word: string, code: string) {
  if (word !== "yes" && word !== "no") return yield* Effect.fail("An answer is yes or no")
  const letter = yield* Schema.decodeUnknownEffect(Refund.LetterCode)(code)
  yield* Refund.answer(letter, { approved: word === "yes", by: Refund.manager })
})

const look = Effect.fnUntraced(function*(order: string) {
  const found = yield* Refund.Refund.poll(yield* Refund.Refund.executionId(Refund.proposed(order)))
  if (Option.isNone(found)) return yield* Console.log("unknown, or just begun")
  if (found.value._tag === "Suspended") return yield* Console.log("waits for an answer")
  yield* Console.log(JSON.stringify(yield* found.value.exit))
})

const [command, first = "", second = ""] = process.argv.slice(2)

const program = Effect.gen(function*() {
  switch (command) {
    case "work":
      return yield* Layer.launch(worker)
    case "propose":
      return yield* Effect.provide(propose(first, second), client)
    case "answer":
      return yield* Effect.provide(answer(first, second), client)
    case "look":
      return yield* Effect.provide(look(first), client)
  }
  return yield* Effect.fail("The commands are work, propose, answer and look")
})

NodeRuntime.runMain(program)
