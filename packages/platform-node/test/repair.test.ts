import { assert, describe, it } from "@effect/vitest"
import * as Command from "./countersign.ts"

const repair = (text: string | Uint8Array, ...args: ReadonlyArray<string>) => Command.run(["repair", ...args], text)

const { "broken.json": broken, "schema.json": schema } = Command.files({
  "schema.json": { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  "broken.json": { type: "objekt" }
}) as { readonly "schema.json": string; readonly "broken.json": string }

describe.concurrent("countersign repair", () => {
  it("writes the value to stdout and the edits to stderr, with the spot of each", async () => {
    const text = "\uFEFF{\n  city: '東京',\n}\n"
    assert.deepStrictEqual(await repair(text, "--engine", "jsonrepair"), {
      status: 0,
      stdout: "{\"city\":\"東京\"}\n",
      stderr: "jsonrepair at 2:3: city: '東京', -> \"city\": \"東京\"\n      city: '東京',\n      ^^^^^^^^^^^^^\n"
    })
    const recovered = await repair(text)
    assert.deepStrictEqual([recovered.status, recovered.stdout], [0, "{\"city\":\"東京\"}\n"])
    assert.match(recovered.stderr, /^bare-key at 2:3.*\n {6}city: '東京',\n {6}\^\^\^\^\n/)
    assert.match(recovered.stderr, /\ncomma at 2:13.*\n {6}city: '東京',\n {18}\^\n$/)
    assert.deepStrictEqual(await repair(" [1, {\"a\": null}] "), {
      status: 0,
      stdout: "[1,{\"a\":null}]\n",
      stderr: ""
    })
  })

  it("escapes what a terminal would obey, and clips what is long", async () => {
    const text = `['\u202e\n\t${"x".repeat(500)}']`
    const [{ stderr, stdout }, recovered] = await Promise.all([repair(text, "--engine", "jsonrepair"), repair(text)])
    assert.match(stderr, /^jsonrepair at 1:2: '\\u202e\\n\\tx+… \(505 characters\) -> "/)
    for (const shown of [stderr, recovered.stderr]) {
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(shown.replaceAll("\n", ""), /[\u0000-\u001f\u202e]/)
      for (const line of shown.split("\n")) assert.isBelow(line.length, 400)
    }
    assert.strictEqual(JSON.parse(stdout)[0].length, 503)
    assert.strictEqual(recovered.stdout, stdout)
  })

  it("shows a bounded number of edits", async () => {
    const { stderr, stdout } = await repair(`{${Array.from({ length: 57 }, (_, index) => `k${index}: 1`).join(",")}}`)
    assert.strictEqual(Object.keys(JSON.parse(stdout)).length, 57)
    assert.strictEqual(stderr.split("\n").filter((line) => line.startsWith("bare-key")).length, 20)
    assert.match(stderr, /\nand 37 more\n$/)
  })

  it("refuses what does not fit the schema", async () => {
    const [fits, guided, refused, unreadable] = await Promise.all([
      repair("{city: 'Oslo'}", "--schema", schema),
      repair("{city: 007}", "--schema", schema),
      repair("{town: 'Oslo'}", "--schema", schema),
      repair("{city: 'Oslo'}", "--schema", broken)
    ])
    assert.deepStrictEqual([fits.status, fits.stdout], [0, "{\"city\":\"Oslo\"}\n"])
    // The schema says what a bare 007 is.
    assert.deepStrictEqual([guided.status, guided.stdout], [0, "{\"city\":\"007\"}\n"])
    assert.notInclude(guided.stderr, "ambiguous")
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
    for (const engine of ["recovery", "jsonrepair"]) {
      const [refused, closed] = await Promise.all([
        repair(text, "--engine", engine),
        repair(text, "--engine", engine, "--truncated", "close")
      ])
      assert.deepStrictEqual(refused, {
        status: 1,
        stdout: "",
        stderr: "countersign: refused: the text was cut off. To close what is open in it, use --truncated close\n"
      })
      assert.deepStrictEqual([closed.status, closed.stdout], [0, "{\"city\":\"Os\"}\n"])
      assert.match(closed.stderr, engine === "jsonrepair" ? /^jsonrepair at 1:13: / : /^\S+ \(lossy\) at 1:\d+/)
      assert.include(closed.stderr, "the text was cut off")
    }
  })

  it("says what it cannot recover, and shows where", async () => {
    const { status, stderr, stdout } = await repair("{\n  \"city\": ,\n  \"days\": 3\n}\n")
    assert.deepStrictEqual([status, stdout], [1, ""])
    assert.match(
      stderr,
      /^countersign: refused: the key before character 12 has no value: give it one, .*\n {6}"city": ,\n {14}\^\n$/
    )
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
        edits: written[1].edits,
        truncated: false
      }
    ])
    assert.deepStrictEqual(written[1].edits.map(({ kind, offset }: any) => [kind, offset]), [["bare-key", 1], [
      "quotes",
      7
    ]])
    assert.deepStrictEqual(
      written.map(({ error, id, line, status }) => [id ?? line, status, error?._tag]),
      [
        [1, "ok", undefined],
        [{ a: 1 }, "ok", undefined],
        [3, "refused", "SchemaMismatch"],
        [4, "ok", undefined],
        [5, "ok", undefined],
        [6, "refused", "Unrecoverable"],
        [7, "refused", "InvalidLine"],
        [8, "refused", "InvalidLine"],
        [undefined, "refused", "UnsupportedSchema"],
        [10, "refused", "InvalidLine"]
      ]
    )
    // The line's own schema takes a number there.
    assert.deepStrictEqual(written[4].value, { city: 5 })
    assert.deepStrictEqual(Object.keys(written[2]), ["id", "status", "error"])
    assert.include(written[5].error, { reason: "truncated", offset: 2 })
    assert.deepStrictEqual(output.stderr.split("\n").map((line) => line.split(":")[0]), [
      "line 7",
      "line 8",
      "line 10",
      ""
    ])
    assert.strictEqual(output.status, 1)
  })

  it("says of an edit that something may be lost", async () => {
    const output = await Command.run(
      ["repair", "--jsonl", "--truncated", "close"],
      "{\"text\":\"{\\\"city\\\":\\\"Os\"}"
    )
    const [{ edits, truncated, value }] = Command.jsonLines(output)
    assert.deepStrictEqual([value, truncated], [{ city: "Os" }, true])
    assert.include(edits.map(({ risk }: any) => risk), "lossy")
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
