/** The README's programs run as pasted, and print what it says. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root } from "../../scripts/packages.ts"
import { example, paste } from "./examples.ts"
import { serve, type Served } from "./workerd.ts"

const run = async (command: string, ...args: ReadonlyArray<string>): Promise<string> => {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" }
  })
  return stdout
}

describe("README", () => {
  it("Node", async () => {
    const { output, program } = example("Node")
    assert.isDefined(output)
    assert.strictEqual(await run(process.execPath, paste("node.ts", program)), output!)
  })

  it("A person approves", async () => {
    const { output, program } = example("A person approves")
    assert.isDefined(output)
    assert.strictEqual(await run(process.execPath, paste("approve.ts", program)), output!)
  })

  it("Deno", async () => {
    const { output, program } = example("Deno")
    assert.isDefined(output)
    const deno = join(root, "node_modules/.bin/deno")
    assert.strictEqual(await run(deno, "run", "-A", "--no-remote", paste("deno.ts", program)), output!)
  })

  describe("Cloudflare Workers", () => {
    let served: Served
    beforeAll(async () => {
      served = await serve(paste("worker.ts", example("Cloudflare Workers").program))
    })
    afterAll(() => served?.stop())

    const post = async (body: string): Promise<readonly [status: number, answer: any]> => {
      const response = await fetch(served.url, { method: "POST", body })
      return [response.status, await response.json()]
    }

    it("answers with the call that can run", async () => {
      const call = { toolCallId: "1", toolName: "Search", input: "{query: 'cats', limit: 5}" }
      const [status, answer] = await post(JSON.stringify(call))
      assert.strictEqual(status, 200)
      assert.deepInclude(answer, { toolName: "search", input: { query: "cats", limit: 5 } })
      assert.deepStrictEqual(answer.edits.map((edit: { readonly kind: string }) => edit.kind), [
        "tool-name",
        "bare-key",
        "quotes",
        "bare-key"
      ])
    })

    it("answers with a typed refusal", async () => {
      for (
        const input of [
          "{\"query\":\"\"}",
          "{\"query\":\"x\",\"limit\":51}",
          "{\"query\":\"x\",\"extra\":1}",
          "{\"query\":\"x"
        ]
      ) {
        const [status, answer] = await post(JSON.stringify({ toolCallId: "1", toolName: "search", input }))
        assert.deepStrictEqual([status, answer.error], [422, "InvalidToolInput"], input)
      }
      assert.deepStrictEqual((await post("not JSON"))[0], 422)
    })
  })
})
