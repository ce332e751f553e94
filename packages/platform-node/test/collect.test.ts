import { assert, describe, it } from "@effect/vitest"
import * as Command from "./countersign.ts"

const call = (toolCallId: string, input: unknown = { cents: 5 }) => ({
  type: "tool-call",
  toolCallId,
  toolName: "pay",
  input
})
const question = (approvalId: string, toolCallId: string) => ({ type: "tool-approval-request", approvalId, toolCallId })
const answer = (approvalId: string, approved: unknown = true) => ({
  type: "tool-approval-response",
  approvalId,
  approved
})
const result = (toolCallId: string) => ({
  type: "tool-result",
  toolCallId,
  toolName: "pay",
  output: { type: "text", value: "paid" }
})
const asked = [
  { role: "user", content: "pay" },
  { role: "assistant", content: [call("c1"), question("a1", "c1")] }
]
const approved = [...asked, { role: "tool", content: [answer("a1")] }]

const collect = async (input: unknown, ...args: ReadonlyArray<string>) => {
  const text = typeof input === "string" || input instanceof Uint8Array ? input : JSON.stringify(input)
  const output = await Command.run(["collect", ...args], text)
  const answers = Command.jsonLines(output)
  assert.lengthOf(answers, 1, output.stderr)
  return { ...output, json: answers[0] }
}

const nothing = { approved: [], denied: [], awaiting: [], superseded: [], stale: [], ambiguous: [] }
const approvedC1 = [{ toolCall: call("c1"), approvalRequest: question("a1", "c1"), approvalResponse: answer("a1") }]

describe.concurrent("countersign collect", () => {
  it("sorts what a history holds of approvals", async () => {
    const { json, status, stderr } = await collect([
      { role: "assistant", content: [call("c0")] },
      { role: "user", content: "and the others" },
      {
        role: "assistant",
        content: [
          ...["c1", "c2", "c3", "c4", "c5"].map((toolCallId) => call(toolCallId)),
          ...["c1", "c2", "c3", "c4"].map((toolCallId) => question(`of ${toolCallId}`, toolCallId)),
          call("c6"),
          question("of c6", "c6")
        ]
      },
      { role: "tool", content: [result("c3")] },
      {
        role: "tool",
        content: [
          answer("of c1"),
          answer("of c2", false),
          answer("of c3"),
          answer("of c4"),
          answer("of c4", false)
        ]
      }
    ])
    assert.deepStrictEqual(Object.keys(json), Object.keys(nothing))
    const ids = (list: ReadonlyArray<any>) => list.map(({ toolCall }) => toolCall.toolCallId)
    assert.deepStrictEqual(ids(json.approved), ["c1", "c4"])
    assert.deepStrictEqual(ids(json.denied), ["c2"])
    assert.deepStrictEqual(ids(json.awaiting), ["c5", "c6"])
    assert.deepStrictEqual(json.awaiting[1], { toolCall: call("c6"), approvalRequest: question("of c6", "c6") })
    assert.deepStrictEqual(ids(json.superseded), ["c0"])
    assert.deepStrictEqual(ids(json.stale), ["c3"])
    assert.deepStrictEqual(json.ambiguous, [{
      _tag: "AmbiguousApproval",
      message: "The call was not run: its approval was answered with both yes and no. Propose the call again.",
      approvalId: "of c4",
      toolCallId: "c4",
      reason: "responses"
    }])
    assert.deepStrictEqual([status, stderr], [0, ""])
  })

  it("takes the messages in an object, and after a byte order mark", async () => {
    const outputs = await Promise.all([
      collect(approved),
      collect({ id: "chat", messages: approved, trigger: "submit-message" }),
      collect(`\uFEFF${JSON.stringify(approved, null, 2)}\n`)
    ])
    for (const { json } of outputs) assert.deepStrictEqual(json, { ...nothing, approved: approvedC1 })
    assert.deepStrictEqual((await collect([])).json, nothing)
  })

  it("takes the UI messages that useChat posts", async () => {
    const part = { type: "tool-pay", toolCallId: "c1", state: "approval-responded", input: { cents: 5 } }
    const { json } = await collect({
      id: "chat",
      messages: [
        { id: "m1", role: "user", parts: [{ type: "text", text: "pay" }] },
        {
          id: "m2",
          role: "assistant",
          parts: [{ type: "step-start" }, { ...part, approval: { id: "a1", approved: true } }]
        }
      ]
    })
    assert.deepStrictEqual(json, { ...nothing, approved: approvedC1 })
  })

  it("leaves out the result of a tool that is gone", async () => {
    const part = {
      type: "dynamic-tool",
      dynamic: false,
      toolName: "now",
      toolCallId: "c1",
      state: "output-available",
      input: {},
      output: "12:00",
      approval: { id: "a1", approved: true }
    }
    const messages = [{ role: "assistant", parts: [part] }]
    const [without, known] = await Promise.all([collect(messages), collect(messages, ...Command.tools)])
    const outputOf = ({ json }: { readonly json: any }) => json.stale[0].existingToolResult.output.value
    assert.strictEqual(outputOf(without), "Tool output omitted because the tool is no longer available.")
    assert.strictEqual(outputOf(known), "12:00")
  })

  it("counts no question of the messages where the server kept its own", async () => {
    const kept = { toolCall: call("c1", { cents: 7 }), approvalRequest: question("a1", "c1") }
    const [own, beside, none] = await Promise.all([
      collect({ messages: approved, requests: [{ _tag: "Pending", ...kept }] }),
      collect({ messages: [], requests: [kept], responses: [answer("a1", false)] }),
      collect({ messages: approved, requests: [] })
    ])
    assert.deepStrictEqual(own.json.approved, [{ ...kept, approvalResponse: answer("a1") }])
    assert.deepStrictEqual(beside.json, { ...nothing, denied: [{ ...kept, approvalResponse: answer("a1", false) }] })
    assert.deepStrictEqual([none.status, none.json.error._tag], [1, "InvalidToolApproval"])
  })

  it("leaves out answers that the conversation has passed over, unless told to run them", async () => {
    const messages = [...approved, { role: "user", content: "wait" }]
    const [refused, run] = await Promise.all([collect(messages), collect(messages, "--superseded", "run")])
    assert.deepStrictEqual(refused.json, {
      ...nothing,
      superseded: [{ toolCall: call("c1"), approvalRequest: question("a1", "c1") }]
    })
    assert.deepStrictEqual(run.json.approved, approvedC1)
  })

  it("answers with the error where an answer belongs to nothing", async () => {
    const cases: ReadonlyArray<readonly [parts: ReadonlyArray<unknown>, error: object, message: RegExp]> = [
      [
        [answer("a2")],
        { _tag: "InvalidToolApproval", approvalId: "a2", reason: "unknown" },
        /references unknown approvalId: "a2"/
      ],
      [
        [answer("a1", "yes")],
        { _tag: "InvalidToolApproval", approvalId: "a1", reason: "malformed" },
        /"a1" has to say approved/
      ],
      [
        [answer("a3")],
        { _tag: "ToolCallNotFoundForApproval", approvalId: "a3", toolCallId: "c3" },
        /"c3" not found for approval request "a3"/
      ]
    ]
    for (const [content, expected, message] of cases) {
      const { json, status, stderr } = await collect([
        { role: "assistant", content: [call("c1"), question("a1", "c1"), question("a3", "c3")] },
        { role: "tool", content }
      ])
      const { message: said, ...error } = json.error
      assert.deepStrictEqual([Object.keys(json), error, status], [["error"], expected, 1])
      assert.match(said, message)
      assert.strictEqual(stderr, `countersign: ${said}\n`)
    }
  })

  it("takes a history of 10 MB", async () => {
    const text = "paid ".repeat(200)
    const steps = Array.from({ length: 10_000 }, (_, index) => [
      { role: "assistant", content: [call(`old ${index}`)] },
      { role: "tool", content: [{ ...result(`old ${index}`), output: { type: "text", value: text } }] }
    ])
    const input = JSON.stringify([...steps.flat(), ...approved])
    assert.isAbove(input.length, 10_000_000)
    assert.deepStrictEqual((await collect(input)).json, { ...nothing, approved: approvedC1 })
  })
})

describe.concurrent("what is no history", () => {
  const big = "12345678901234567890"
  const inCall = (input: string) =>
    `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"pay","input":{"n":${input}}}]}]`
  const uiPart = (more: string) =>
    `[{"role":"assistant","parts":[{"type":"tool-pay","toolCallId":"c1","state":"input-available",${more}}]}]`
  const deep = `${"[".repeat(300)}${"]".repeat(300)}`
  const digits = (place: string) => new RegExp(`^integer beyond 2\\^53 at ${place} would lose digits`)
  const cases: ReadonlyArray<readonly [what: string, input: string | Uint8Array, message: RegExp]> = [
    ["nothing", "", /^not valid JSON: expected a JSON value at character 0$/],
    ["a text that was cut off", "[{\"role\":", /^not valid JSON: expected a JSON value at character 9$/],
    ["two values", "[]\n[]", /^not valid JSON: expected .* at character 3$/],
    ["a number", "5", /^expected a JSON array of messages, or an object with an array "messages"$/],
    ["an object without messages", "{}", /^expected a JSON array of messages/],
    ["messages that are no list", "{\"messages\":{}}", /^expected a JSON array of messages/],
    ["what is no message", "[{\"role\":\"user\"},1]", /^\/1: expected a message with a "role"$/],
    ["what is no message in an object", "{\"messages\":[null]}", /^\/messages\/0: expected a message with a "role"$/],
    [
      "messages of both kinds",
      "[{\"role\":\"user\",\"parts\":[]},{\"role\":\"user\",\"content\":\"\"}]",
      /^\/1: expected a UI message with "parts", as others are$/
    ],
    ["questions that are null", "{\"messages\":[],\"requests\":null}", /^\/requests: expected array$/],
    [
      "a question without its call",
      "{\"messages\":[],\"requests\":[{\"approvalRequest\":{}}]}",
      /\/requests\/0\/toolCall: missing/
    ],
    ["an answer without an ID", "{\"messages\":[],\"responses\":[{}]}", /\/responses\/0\/approvalId: missing/],
    ["what is not UTF-8", Uint8Array.of(0x22, 0xff, 0x22), /^not valid UTF-8$/],
    ["a key that reaches a prototype", inCall("{\"__proto__\":{}}"), /^forbidden key at \/0\/content\/0\/input\/n/],
    ["an input that lies too deep", inCall(deep), /^Input exceeds maxDepth/],
    ["a number that is none", "[{\"role\":\"user\",\"content\":1e400}]", /^number out of range at \/0\/content$/],
    ["an input whose digits get lost", inCall(big), digits("/0/content/0/input/n")],
    [
      "an input in an object",
      `{"messages":${inCall(big)}}`,
      digits("/messages/0/content/0/input/n")
    ],
    ["an input in a UI message", uiPart(`"input":${big}`), digits("/0/parts/0/input")],
    [
      "an input that a person changed",
      uiPart(`"approval":{"id":"a1","approved":true,"input":[${big}]}`),
      digits("/0/parts/0/approval/input/0")
    ],
    [
      "a question that the server kept",
      `{"messages":[],"requests":[{"approvalRequest":{"type":"tool-approval-request","approvalId":"a","toolCallId":"c"},` +
      `"toolCall":{"type":"tool-call","toolCallId":"c","toolName":"pay","input":{"n":${big}}}}]}`,
      digits("/requests/0/toolCall/input/n")
    ]
  ]
  for (const [what, input, message] of cases) {
    it(what, async () => {
      const { json, status, stderr } = await collect(input)
      assert.deepStrictEqual([Object.keys(json), json.error._tag, status], [["error"], "InvalidHistory", 1])
      assert.match(json.error.message, message)
      assert.strictEqual(stderr, `countersign: ${json.error.message}\n`)
    })
  }

  it("is not a history with a large number where no input stands", async () => {
    const { json, status } = await collect(JSON.stringify(approved).replace("\"role\"", `"at":${big},"role"`))
    assert.deepStrictEqual([json.approved, status], [approvedC1, 0])
  })
})
