/** The chat of examples/chat-approvals: what it prints, and that it stops. */
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as Tool from "@countersign/core/Tool"
import * as ToolSet from "@countersign/core/ToolSet"
import * as NodeCountersign from "@countersign/platform-node/NodeCountersign"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { spawnSync } from "node:child_process"
import { assert, describe, it } from "vitest"
import { chat, type ModelAnswer } from "../../examples/chat-approvals/chat.ts"
import { root } from "../../scripts/packages.ts"

const play = (...args: ReadonlyArray<string>): string => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["examples/chat-approvals/run.ts", ...args], {
    cwd: root,
    encoding: "utf8"
  })
  assert.strictEqual(status, 0, stderr)
  return stdout
}

describe("examples/chat-approvals", () => {
  it("runs what was approved", () => {
    const output = play()
    assert.include(output, "the person sees: refund {\"order\":7,\"cents\":4900}")
    assert.include(
      output,
      "{\"type\":\"tool-output-available\",\"toolCallId\":\"call_2\",\"output\":\"4900 cents refunded\"}"
    )
  })

  it("tells the model of what was denied", () => {
    const output = play("no")
    assert.include(output, "{\"type\":\"tool-output-denied\",\"toolCallId\":\"call_2\"}")
    assert.include(output, "not this one")
    assert.notInclude(output, "cents refunded")
  })

  describe("C05: a model that cannot get a call right", () => {
    const tools = ToolSet.make(Tool.make("look", {
      inputSchema: Schema.Struct({ at: Schema.String }),
      execute: () => Effect.succeed("seen")
    }))
    const ask = (inputs: ReadonlyArray<string>): Promise<number> => {
      let asked = 0
      const model = (): Effect.Effect<ModelAnswer> =>
        Effect.sync(() => {
          const input = inputs[asked]
          asked++
          return {
            text: "",
            calls: input === undefined ? [] : [{ toolCallId: `c${asked}`, toolName: "look", input }],
            finishReason: "tool-calls"
          }
        })
      const uiMessages = [{ id: "m1", role: "user" as const, parts: [{ type: "text" as const, text: "look" }] }]
      const chunks = Stream.runDrain(chat({ uiMessages, tools, model, audience: "user 7" }))
      const layer = Layer.merge(NodeCountersign.layer, ApprovalSigner.layerUnsigned)
      return Effect.runPromise(Effect.as(Effect.provide(chunks, layer), undefined)).then(() => asked)
    }

    it("is not asked for ever, whatever is wrong each time", async () => {
      assert.strictEqual(await ask(["{bad1", "{bad2", "{bad3", "{bad4"]), 2)
    })

    it("may go on after a call that was right", async () => {
      assert.strictEqual(await ask(["{bad1", "{\"at\":\"x\"}", "{bad2", "{\"at\":\"y\"}"]), 5)
    })
  })
})
