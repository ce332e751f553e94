/** docs/ledgers.md: its programs for Postgres and Redis run as they stand there. */
import { ApprovalLedger } from "@countersign/core/ApprovalLedger"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { root } from "../../scripts/packages.ts"
import * as Postgres from "../engines/Postgres.ts"
import * as Redis from "../engines/Redis.ts"
import { suite } from "../engines/suite.ts"
import { paste } from "./examples.ts"

const guide = readFileSync(join(root, "docs/ledgers.md"), "utf8")

const program = (heading: string): string => {
  const section = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`))
  const found = /^```ts\n([^]*?)^```$/m.exec(section ?? "")?.[1]
  assert.isDefined(found, heading)
  return found!
}

const claim = { approvalId: "a1", callDigest: "d", expiresAt: undefined, idempotent: false }

const claimAndSettle = Effect.scoped(Effect.gen(function*() {
  const ledger = yield* ApprovalLedger
  const { _tag } = yield* ledger.claim(claim)
  if (_tag === "Claimed") yield* ledger.settle(claim, { output: { type: "text", value: "paid" } })
  return _tag
}))

/** Twice, as two processes one after another. */
const claimTwice = async (name: string, heading: string, env: Record<string, string>) => {
  const { layer }: { readonly layer: Layer.Layer<ApprovalLedger, unknown> } = await import(
    paste(`${name}.ts`, program(heading))
  )
  const once = Effect.provide(claimAndSettle, layer).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )
  return [await Effect.runPromise(once), await Effect.runPromise(once)]
}

describe("docs/ledgers.md", () => {
  suite("Postgres", Postgres, (server) => {
    it("claims once", async () => {
      const url = `postgres://${Postgres.username}:${Postgres.password}@127.0.0.1:${server().port}/${Postgres.database}`
      const claims = await claimTwice("ledger-postgres", "Node: Postgres", { DATABASE_URL: url })
      assert.deepStrictEqual(claims, ["Claimed", "Settled"])
    })
  })

  suite("Redis", Redis, (server) => {
    it("claims once", async () => {
      const url = `redis://:${Redis.password}@127.0.0.1:${server().port}`
      const claims = await claimTwice("ledger-redis", "Node: Redis", { REDIS_URL: url })
      assert.deepStrictEqual(claims, ["Claimed", "Settled"])
    })
  })
})
