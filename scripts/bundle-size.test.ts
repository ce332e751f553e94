import { assert, describe, test } from "vitest"
import approvalsJsonSchema from "../bench/bundle/approvals-json-schema.ts"
import approvals from "../bench/bundle/approvals.ts"
import effectSchema from "../bench/bundle/effect-schema.ts"
import jsonSchema from "../bench/bundle/json-schema.ts"

/** What is measured must be what runs: each of the measured Workers parses, repairs and refines. */
describe.each([["effect-schema", effectSchema], ["json-schema", jsonSchema]])("%s", (_name, worker) => {
  const answer = async (toolName: string, input: string): Promise<any> => {
    const body = JSON.stringify({ toolCallId: "1", toolName, input })
    const response = await worker.fetch(new Request("https://localhost", { method: "POST", body }))
    return await response.json()
  }

  test("parses and refines", async () => {
    const call = await answer("search", `{"query":"tea","limit":99}`)
    assert.deepInclude(call, { toolName: "search", input: { query: "tea", limit: 10 }, edits: [] })
  })

  test("repairs the text and the name", async () => {
    const call = await answer("Remove", `{id: 'a1'}`)
    assert.deepInclude(call, { toolName: "remove", input: { id: "a1" } })
    assert.isNotEmpty(call.edits)
  })

  test("refuses what does not fit", async () => {
    const call = await answer("remove", `{"id":null}`)
    assert.deepInclude(call, { invalid: true })
  })
})

describe.each([["approvals", approvals], ["approvals-json-schema", approvalsJsonSchema]])("%s", (_name, worker) => {
  const post = async (content: unknown): Promise<any> => {
    const response = await worker.fetch(
      new Request("https://localhost", { method: "POST", body: JSON.stringify(content) })
    )
    return await response.json()
  }

  test("asks a person about a repaired call, and runs what was approved", async () => {
    const asked = await post({ raw: { toolCallId: "1", toolName: "Pay", input: `{cents: 5, to: "a",}` } })
    assert.deepInclude(asked, { _tag: "Pending" })
    assert.isNotEmpty(asked.approvalRequest.approvalDescriptor.edits)
    const { approvalRequest, toolCall } = asked
    const answer = { type: "tool-approval-response", approvalId: approvalRequest.approvalId, approved: true }
    const history = (call: object) => [
      { role: "assistant", content: [call, approvalRequest] },
      { role: "tool", content: [answer] }
    ]
    const { results } = await post({ messages: history(toolCall) })
    assert.deepStrictEqual(results[0].output, { type: "text", value: "paid 5 to a" })
    const tampered = history({ ...toolCall, input: { cents: 500, to: "a" } })
    assert.instanceOf(await post({ messages: tampered }).catch((error: unknown) => error), Error)
  })
})
