import { assert, describe, it } from "@effect/vitest"
import * as Command from "./countersign.ts"

const repair = (text: string | Uint8Array, ...args: ReadonlyArray<string>) => Command.run(["repair", ...args], text)

const { "broken.json": broken, "schema.json": schema } = Command.files({
  "schema.json": { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  "broken.json": { type: "objekt" }
}) as { readonly "schema.json": string; readonly "broken.json": string }

describe.concurrent("countersign repair", () => {
  it("writes the value to stdout and the edits to stderr", async () => {
    assert.deepStrictEqual(await repair("\uFEFF{\n  city: '東京',\n}\n"), {
      status: 0,
      stdout: "{\"city\":\"東京\"}\n",
      stderr: "jsonrepair at 4: city: '東京', -> \"city\": \"東京\"\n"
    })
    assert.deepStrictEqual(await repair(" [1, {\"a\": null}] "), {
      status: 0,
      stdout: "[1,{\"a\":null}]\n",
      stderr: ""
    })
  })

  it("escapes what a terminal would obey, and clips what is long", async () => {
    const { stderr, stdout } = await repair(`['\u202e\n\t${"x".repeat(500)}']`)
    assert.match(stderr, /^jsonrepair at 1: '\\u202e\\n\\tx+… \(505 characters\) -> "/)
    // oxlint-disable-next-line no-control-regex
    assert.notMatch(stderr.trimEnd(), /[\u0000-\u001f\u202e]/)
    assert.isBelow(stderr.length, 400)
    assert.strictEqual(JSON.parse(stdout)[0].length, 503)
  })

  it("refuses what does not fit the schema", async () => {
    const [fits, refused, unreadable] = await Promise.all([
      repair("{city: 'Oslo'}", "--schema", schema),
      repair("{town: 'Oslo'}", "--schema", schema),
      repair("{city: 'Oslo'}", "--schema", broken)
    ])
    assert.deepStrictEqual([fits.status, fits.stdout], [0, "{\"city\":\"Oslo\"}\n"])
    assert.deepStrictEqual(refused, {
      status: 1,
      stdout: "",
      stderr: "countersign: refused: /city: missing required key\n"
    })
    assert.strictEqual(unreadable.status, 2)
    assert.match(unreadable.stderr, /^countersign: --schema .*broken\.json: Input schema cannot be checked: /)
  })

  it("refuses a text that was cut off, unless told to close it", async () => {
    const text = "{\"city\": \"Os\n"
    const [refused, closed] = await Promise.all([repair(text), repair(text, "--truncated", "close")])
    assert.deepStrictEqual(refused, {
      status: 1,
      stdout: "",
      stderr: "countersign: refused: the text was cut off. To close what is open in it, use --truncated close\n"
    })
    assert.deepStrictEqual([closed.status, closed.stdout], [0, "{\"city\":\"Os\"}\n"])
    assert.include(closed.stderr, "jsonrepair at 12: (nothing) -> \"}\n")
    assert.include(closed.stderr, "the text was cut off")
  })

  it("refuses nothing, other bytes, and too much", async () => {
    const [empty, bytes, large] = await Promise.all([
      repair(""),
      repair(Buffer.from([0x22, 0xff, 0x22])),
      repair(Buffer.alloc(20_000_000, " "))
    ])
    assert.deepStrictEqual([empty.status, bytes.status, large.status], [1, 1, 1])
    assert.strictEqual(bytes.stderr, "countersign: refused: not valid UTF-8\n")
    assert.match(large.stderr, /^countersign: refused: Input exceeds maxInputLength/)
    assert.strictEqual(empty.stdout + bytes.stdout + large.stdout, "")
  })
})

describe.concurrent("countersign repair --jsonl", () => {
  it("repairs one text a line; a line's own schema wins", async () => {
    const number = { type: "object", properties: { city: { type: "number", maximum: 9223372036854775807n } } }
    const numberText = JSON.stringify(number, (_, value) => typeof value === "bigint" ? Number(value) : value)
    const lines = [
      { id: 1, text: "{\"city\":\"Oslo\"}" },
      { id: { a: 1 }, text: "{city: '京都'}" },
      { id: 3, text: "{town: 'Oslo'}" },
      `{"id":4,"text":"{city: 5}","schema":${numberText.replace("9223372036854776000", "9223372036854775807")}}`,
      { id: 5, text: "{city: '5'}", schema: JSON.parse(numberText) },
      { id: 6, text: "[1", schema: true },
      { id: 7, text: "x", schema: 5 },
      { id: 8, text: 5 },
      { text: "{\"city\":\"Oslo\"}", schema: { type: "objekt" } },
      "{"
    ]
    const output = await Command.run(["repair", "--jsonl", "--schema", schema], Command.toLines(lines))
    const written = Command.jsonLines(output)
    assert.deepStrictEqual(written.slice(0, 2), [
      { id: 1, status: "ok", value: { city: "Oslo" }, edits: [], truncated: false },
      {
        id: { a: 1 },
        status: "ok",
        value: { city: "京都" },
        edits: [{ kind: "jsonrepair", offset: 1, before: "city: '京都'", after: "\"city\": \"京都\"" }],
        truncated: false
      }
    ])
    assert.deepStrictEqual(
      written.map(({ error, id, line, status }) => [id ?? line, status, error?._tag]),
      [
        [1, "ok", undefined],
        [{ a: 1 }, "ok", undefined],
        [3, "refused", "SchemaMismatch"],
        [4, "ok", undefined],
        [5, "refused", "SchemaMismatch"],
        [6, "refused", "InvalidJson"],
        [7, "refused", "InvalidLine"],
        [8, "refused", "InvalidLine"],
        [undefined, "refused", "UnsupportedSchema"],
        [10, "refused", "InvalidLine"]
      ]
    )
    assert.deepStrictEqual(Object.keys(written[2]), ["id", "status", "error"])
    assert.deepStrictEqual(output.stderr.split("\n").map((line) => line.split(":")[0]), [
      "line 7",
      "line 8",
      "line 10",
      ""
    ])
    assert.strictEqual(output.status, 1)
  })

  it("exits with 0 where every line is fine", async () => {
    const output = await Command.run(
      ["repair", "--jsonl", "--truncated", "close", "--engine", "jsonrepair"],
      "{\"id\":1,\"text\":\"[1, 2\"}"
    )
    assert.deepStrictEqual(Command.jsonLines(output).map(({ truncated, value }) => [value, truncated]), [[
      [1, 2],
      true
    ]])
    assert.deepStrictEqual([output.status, output.stderr], [0, ""])
  })
})
