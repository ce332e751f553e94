import { assert, describe, it } from "@effect/vitest"
import * as Command from "./countersign.ts"

const call = (fields: object) => ({ toolCallId: "1", toolName: "weather", ...fields })

const parse = async (lines: ReadonlyArray<unknown>, ...args: ReadonlyArray<string>) => {
  const output = await Command.run(["parse", ...Command.tools, ...args], Command.toLines(lines))
  return { ...output, lines: Command.jsonLines(output) }
}

describe.concurrent("countersign parse", () => {
  it("gives the call that runs, its status and its edits", async () => {
    const { lines, status, stderr } = await parse([
      call({ id: 7, input: "{\"city\":\"Oslo\"}" }),
      call({ id: { any: ["json", null] }, input: { city: "東京\u0000\u001b[0m\u2028🌸", days: 3 } }),
      call({ id: null, toolName: "Weather", input: "{city: '京都'}" }),
      { toolCallId: "4", toolName: "now" },
      { ...call({ type: "tool-call", input: "{\"city\":\"a\"}", dynamic: null }), source: "a log", at: 2 ** 60 }
    ])
    assert.deepStrictEqual(lines, [
      { id: 7, toolCallId: "1", toolName: "weather", status: "valid", input: { city: "Oslo" }, edits: [] },
      {
        id: { any: ["json", null] },
        toolCallId: "1",
        toolName: "weather",
        status: "valid",
        input: { city: "東京\u0000\u001b[0m\u2028🌸", days: 3 },
        edits: []
      },
      {
        id: null,
        toolCallId: "1",
        toolName: "weather",
        status: "repaired",
        input: { city: "京都" },
        edits: [
          { kind: "tool-name", before: "Weather", after: "weather" },
          ...lines[2].edits.slice(1)
        ]
      },
      { toolCallId: "4", toolName: "now", status: "valid", input: {}, edits: [] },
      { toolCallId: "1", toolName: "weather", status: "valid", input: { city: "a" }, edits: [] }
    ])
    assert.deepStrictEqual(lines[2].edits.slice(1).map(({ kind, offset }: any) => [kind, offset]), [
      ["bare-key", 1],
      ["quotes", 7]
    ])
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 0)
  })

  it("gives the tagged error of an invalid call, with its message, and exits with 1", async () => {
    const { lines, status, stderr } = await parse([
      call({ id: "a", input: "{\"city\":null,\"secret\":\"hunter2\"}" }),
      call({ id: "b", input: "{\"city\":\"Os" }),
      call({ id: "c", toolName: "constructor", input: {} }),
      call({ id: "d", input: "{\"city\":\"Oslo\",\"__pr\\u006fto__\":{}}" }),
      call({ id: "e", input: JSON.parse("{\"city\":\"Oslo\",\"__proto__\":{}}") })
    ])
    const { cause, message } = lines[0].error
    assert.deepStrictEqual(lines[0], {
      id: "a",
      toolCallId: "1",
      toolName: "weather",
      status: "invalid",
      input: { city: null, secret: "hunter2" },
      edits: [],
      error: { _tag: "InvalidToolInput", message, toolCallId: "1", toolName: "weather", cause }
    })
    assert.strictEqual(cause.total, 2)
    assert.deepInclude(cause.issues, { pointer: "/city", message: "expected string" })
    assert.match(message, /^Invalid input for tool weather: .*\/city: expected string/)
    assert.deepStrictEqual(
      lines.map(({ error, id, status }) => [id, status, error._tag, error.cause?._tag]),
      [
        ["a", "invalid", "InvalidToolInput", "SchemaMismatch"],
        ["b", "invalid", "InvalidToolInput", "InvalidJson"],
        ["c", "invalid", "NoSuchTool", undefined],
        ["d", "invalid", "InvalidToolInput", "InvalidJson"],
        ["e", "invalid", "InvalidToolInput", "InvalidJson"]
      ]
    )
    assert.deepStrictEqual(lines[2].error.availableTools, ["weather", "now"])
    assert.strictEqual(stderr, "")
    assert.strictEqual(status, 1)
  })

  it("repairs as --repair says, and reads what an MCP server lists", async () => {
    const lines = Command.toLines([
      call({ toolName: "Weather", input: "{\"city\":\"Oslo\"}" }),
      call({ input: "{city:\"Oslo\"}" }),
      // Guided by the schema, in a text and in a value.
      call({ input: "{\"city\":\"Oslo\",\"days\":\"3\"}" }),
      call({ input: { city: "Oslo", days: "3" } })
    ])
    const statuses = async (repair: string) =>
      Command.jsonLines(
        await Command.run(["parse", "--tools", Command.toolFiles["mcp.json"], "--repair", repair], lines)
      ).map(({ status }) => status)
    assert.deepStrictEqual(
      await Promise.all([statuses("standard"), statuses("jsonrepair"), statuses("none")]),
      [
        ["repaired", "repaired", "repaired", "repaired"],
        ["invalid", "repaired", "invalid", "invalid"],
        ["invalid", "invalid", "invalid", "invalid"]
      ]
    )
  })

  it("keeps the order, whatever the concurrency", async () => {
    const calls = Array.from({ length: 3000 }, (_, id) =>
      // Repairing takes longer than parsing.
      call({ id, input: id % 3 === 0 ? `{city: '${"x".repeat(id)}'}` : "{\"city\":\"Oslo\"}" }))
    const [one, many] = await Promise.all([parse(calls, "--concurrency", "1"), parse(calls, "--concurrency", "64")])
    assert.deepStrictEqual(many.lines.map(({ id }) => id), calls.map(({ id }: any) => id))
    assert.strictEqual(one.stdout, many.stdout)
  })

  it("reports a broken line with its number, and goes on", async () => {
    const { lines, status, stderr } = await parse([
      call({ input: { city: "Oslo" } }),
      "",
      "{\"toolCallId\":\"1\" secret",
      { id: "x", toolCallId: 5, toolName: "weather", input: "secret" },
      { id: 12, toolName: "weather" },
      [],
      "   ",
      "{\"id\":1,\"toolCallId\":\"1\",\"toolName\":\"weather\",\"input\":{\"days\":12345678901234567890}}",
      "{\"id\":12345678901234567890,\"toolCallId\":\"1\",\"toolName\":\"weather\"}",
      "{\"id\":{\"__proto__\":1},\"toolCallId\":\"1\",\"toolName\":\"now\",\"input\":{\"days\":12345678901234567890}}",
      call({ input: { city: "Oslo" } })
    ])
    const broken = (line: number, message: string, id: object = {}) => ({
      ...id,
      line,
      status: "invalid",
      error: { _tag: "InvalidLine", message }
    })
    assert.deepStrictEqual(lines.slice(1, -1), [
      broken(3, "not valid JSON: expected \",\" or \"}\" at character 18"),
      broken(4, "/toolCallId: expected string", { id: "x" }),
      broken(5, "/toolCallId: missing required key", { id: 12 }),
      broken(6, "expected a JSON object"),
      broken(8, lines[5].error.message, { id: 1 }),
      broken(9, lines[6].error.message),
      broken(10, lines[7].error.message)
    ])
    assert.match(lines[5].error.message, /^integer beyond 2\^53 at \/input\/days would lose digits/)
    assert.match(lines[6].error.message, /^integer beyond 2\^53 at \/id would lose digits/)
    assert.match(lines[7].error.message, /^\/id: forbidden key/)
    assert.strictEqual(lines.length, 9)
    assert.strictEqual(lines[8].status, "valid")
    assert.strictEqual(
      stderr,
      lines.slice(1, -1).map(({ error, line }) => `line ${line}: ${error.message}\n`).join("")
    )
    assert.notInclude(stderr, "secret")
    assert.strictEqual(status, 1)
  })

  it("reads CRLF, a byte order mark, no line feed at the end, and refuses bytes that are no UTF-8", async () => {
    const line = JSON.stringify(call({ input: { city: "Tromsø" } }))
    const output = await Command.run(
      ["parse", ...Command.tools],
      Buffer.concat([
        Buffer.from(`\uFEFF${line}\r\n\r\n`),
        Buffer.from(line.replace("ø", "\u00ff"), "latin1"),
        Buffer.from(`\n${line}`)
      ])
    )
    const lines = Command.jsonLines(output)
    assert.deepStrictEqual(lines.map(({ status }) => status), ["valid", "invalid", "valid"])
    assert.deepStrictEqual(lines[1], {
      line: 3,
      status: "invalid",
      error: { _tag: "InvalidLine", message: "not valid UTF-8" }
    })
    assert.strictEqual(output.stderr, "line 3: not valid UTF-8\n")
  })

  it("bounds long lines and deep values", async () => {
    const deep = `{"id":1,"toolCallId":"1","toolName":"weather","input":${"[".repeat(300_000)}${"]".repeat(300_000)}}`
    const { lines, status } = await parse([
      `{"toolCallId":"1","toolName":"${"x".repeat(17_000_000)}"}`,
      deep,
      deep.replace("\"id\":1", `"id":${"[".repeat(300_000)}${"]".repeat(300_000)}`),
      call({ input: "x".repeat(5_000_000) }),
      call({ input: { city: "ok" } })
    ])
    assert.deepStrictEqual(lines.map(({ error, line }) => [line, error?._tag, error?.cause?.limit]), [
      [1, "InvalidLine", undefined],
      [undefined, "InvalidToolInput", "maxDepth"],
      [3, "InvalidLine", undefined],
      [undefined, "InvalidToolInput", "maxInputLength"],
      [undefined, undefined, undefined]
    ])
    assert.match(lines[0].error.message, /^longer than \d+ bytes$/)
    assert.strictEqual(status, 1)
  })

  it("says that a tool's schema cannot be checked, and refuses its calls alone", async () => {
    const { "tools.json": path } = Command.files({
      "tools.json": { broken: { inputSchema: { type: "objekt" } }, good: { inputSchema: { type: "object" } } }
    })
    const output = await Command.run(
      ["parse", "--tools", path!],
      Command.toLines([call({ toolName: "broken" }), call({ toolName: "good" })])
    )
    const lines = Command.jsonLines(output)
    assert.deepStrictEqual(lines.map(({ status }) => status), ["invalid", "valid"])
    assert.strictEqual(lines[0].error.cause._tag, "UnsupportedSchema")
    assert.match(output.stderr, /^Input schema of tool broken cannot be checked: .*Calls to it are invalid\.\n$/)
  })
})
