import { assert, describe, test } from "vitest"
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
    const call = await answer("remove", `{"id":1}`)
    assert.deepInclude(call, { invalid: true })
  })
})
