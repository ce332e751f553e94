/** No secret is in what a program shows: logs, spans, errors, and what `inspect` and JSON make of its values. */
import * as Approval from "@countersign/core/Approval"
import * as ApprovalLedger from "@countersign/core/ApprovalLedger"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as Crypto from "@countersign/core/Crypto"
import * as RecordStore from "@countersign/core/RecordStore"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import * as ToolStep from "@countersign/core/ToolStep"
import * as WebCrypto from "@countersign/platform-workers/WebCrypto"
import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { inspect } from "node:util"
import * as McpHttp from "../src/McpHttp.ts"
import * as McpStdio from "../src/McpStdio.ts"
import * as NodeCountersign from "../src/NodeCountersign.ts"
import * as NodeCrypto from "../src/NodeCrypto.ts"
import { shown } from "./engines/shown.ts"

const secret = "kJ8#tOp-$ecret/of+23=bytes"
const bytes = new TextEncoder().encode(secret)

/** As it is, and as it would be on its way through something. */
const forms = [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(bytes).toString("hex"),
  Buffer.from(bytes).toString("base64"),
  Buffer.from(bytes).toString("base64url"),
  // As the elements of an array, or of a `Uint8Array` in JSON.
  [...bytes].join(", "),
  [...bytes].join(","),
  [...bytes].map((byte, index) => `"${index}":${byte}`).join(",")
]

const assertHidden = (text: string) => {
  for (const form of forms) assert.isFalse(text.includes(form), `it shows ${form}`)
}

const hides = <A, E>(name: string, program: () => Effect.Effect<A, E>) =>
  it.live(name, () => Effect.map(shown(program()), assertHidden))

/** What `inspect`, JSON and `String` make of a value. */
const texts = (value: unknown): string => {
  const json = (() => {
    try {
      return JSON.stringify(value)
    } catch {
      return ""
    }
  })()
  return [
    inspect(value, { depth: 30, showHidden: true, maxStringLength: null, maxArrayLength: null }),
    json,
    String(value)
  ]
    .join("\n")
}

const settings = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { SECRET: secret, SHORT: "short" } }))

const tools = ToolSet.make(Tool.make("pay", {
  needsApproval: true,
  inputSchema: Schema.Struct({ cents: Schema.Int }),
  execute: ({ cents }) => cents === 7 ? Effect.fail(new Error("no money")) : Effect.succeed("paid")
}))

const raw = (cents: number) => ({ toolCallId: `call ${cents}`, toolName: "pay", input: JSON.stringify({ cents }) })

/** Asks, answers, resumes, resumes again, and resumes what was forged. */
const flow = Effect.gen(function*() {
  const { messages, pending } = yield* ToolStep.run([raw(1), raw(7)], { tools, audience: "user 7" })
  const content = pending.map(({ approvalRequest: { approvalId } }) => ({
    type: "tool-approval-response",
    approvalId,
    approved: true
  }))
  const history = [...messages, { role: "tool", content }]
  const options = { tools, audience: "user 7" }
  const resumed = yield* Approval.resume({ messages: history, ...options })
  const again = yield* Approval.resume({ messages: history, ...options })
  const forged = JSON.parse(JSON.stringify(history).replace("\"cents\":1", "\"cents\":2"))
  const error = yield* Effect.flip(Approval.resume({ messages: forged, ...options }))
  yield* Effect.logDebug("resumed", resumed, error)
  return [messages, resumed, again, error, texts(error)]
})

const signers = {
  "from Config, as text": ApprovalSigner.layerConfig({ secrets: Config.Redacted("SECRET") }),
  "as bytes": ApprovalSigner.layer({ secrets: [Redacted.make(bytes)] }),
  "behind another one": ApprovalSigner.layer({
    secrets: [Redacted.make("another secret, of 33 bytes or so"), Redacted.make(secret)]
  })
}

const platforms = {
  "node:crypto": NodeCountersign.layerStore(RecordStore.layerMemory),
  "Web Crypto": Layer.provideMerge(
    ApprovalLedger.layerMemory(),
    Layer.merge(NodeCountersign.layerStore(RecordStore.layerMemory), WebCrypto.layer)
  )
}

describe("the forms", () => {
  it("would be found", () => {
    for (const value of [secret, { key: secret }, [...bytes], JSON.parse(JSON.stringify(bytes)), new Error(secret)]) {
      assert.throws(() => assertHidden(texts(value)), "it shows")
    }
  })

  it.live("would be found in a log, a span and a failure", () =>
    Effect.gen(function*() {
      for (
        const program of [
          Effect.logDebug("the secret", { secret }),
          Effect.withSpan(Effect.void, "span", { attributes: { secret } }),
          Effect.fail({ secret })
        ]
      ) {
        const text = yield* shown(program)
        assert.throws(() => assertHidden(text), "it shows")
      }
    }))
})

describe("the secret that signs", () => {
  for (const [platformName, platform] of Object.entries(platforms)) {
    for (const [signerName, signer] of Object.entries(signers)) {
      const layer = Layer.provideMerge(signer, platform).pipe(Layer.provide(settings))
      hides(`${signerName}, ${platformName}: asking, resuming, and what is forged`, () => Effect.provide(flow, layer))
      hides(
        `${signerName}, ${platformName}: the services`,
        () =>
          Effect.map(
            Effect.scoped(Layer.build(layer)),
            (context) => texts(context) + texts([...context.mapUnsafe.values()])
          )
      )
    }
  }

  hides("too short, or missing", () =>
    Effect.forEach(["SHORT", "MISSING"], (name) => {
      const secrets = Config.all([Config.Redacted("SECRET"), Config.Redacted(name)])
      const layer = Layer.provide(ApprovalSigner.layerConfig({ secrets }), [NodeCrypto.layer, settings])
      return Effect.map(Effect.exit(Effect.scoped(Layer.build(layer))), (exit) => {
        assert.strictEqual(exit._tag, "Failure")
        return texts(exit)
      })
    }))

  hides("as a key", () =>
    Effect.gen(function*() {
      const crypto = yield* Crypto.Crypto
      const key = yield* crypto.hmacSha256(Redacted.make(secret))
      return [texts(crypto), texts(key), texts(Redacted.make(secret))]
    }).pipe(Effect.provide(NodeCrypto.layer)))
})

describe("what an MCP server is given", () => {
  hides("as a header, where it is not there", () =>
    Effect.exit(Effect.scoped(McpHttp.make({
      name: "docs",
      url: "http://127.0.0.1:9/mcp",
      headers: { authorization: Redacted.make(`Bearer ${secret}`) }
    }))))

  hides(
    "as a variable, where it does not start",
    () =>
      Effect.exit(
        Effect.scoped(McpStdio.make({ name: "files", command: "no-such-program", env: { KEY: Redacted.make(secret) } }))
      )
  )
})
