import { assert, describe, it } from "@effect/vitest"
import vectors from "../../core/test/fixtures/ai-sdk/signatures.json" with { type: "json" }
import * as Command from "./countersign.ts"

const secret = "test-secret-key-for-hmac-signing"
const question = {
  approvalId: "approval-1",
  toolCallId: "call-1",
  toolName: "deleteFile",
  input: { path: "/tmp/cache" }
}
const signature = "KhhdqErvPwq9PCD-YYlVKgPDJ_tby36fpqptjJpmYhE"
const legacySignature = "m_3hnkZy4Mx-__NmCA7J5NTNUwAk3bhbUtXD7PDAF_k"

const run = async (command: "sign" | "verify", lines: ReadonlyArray<unknown>, secrets = secret) => {
  const output = await Command.run([command, "--secret-env", "SIGNING_SECRET"], Command.toLines(lines), {
    SIGNING_SECRET: secrets
  })
  assert.notInclude(output.stdout + output.stderr, secret)
  return { ...output, lines: Command.jsonLines(output) }
}

describe.concurrent("countersign sign", () => {
  it("adds the signature", async () => {
    const output = await run("sign", [{ id: 7, ...question, note: "ignored" }, question])
    assert.deepStrictEqual(output.lines, [
      { id: 7, ...question, status: "signed", signature },
      { ...question, status: "signed", signature }
    ])
    assert.deepStrictEqual([output.status, output.stderr], [0, ""])
  })

  it("signs as the AI SDK does", async () => {
    // Not every text can be an environment variable. The largest double is an integer whose digits a double does not hold.
    const cases = vectors.cases.filter(({ name, secret: { value } }) => value === secret && name !== "max double")
    assert.isAbove(cases.length, 30)
    const lines = cases.map(({ approvalId, inputJson, toolCallId, toolName }) =>
      `${JSON.stringify({ approvalId, toolCallId, toolName }).slice(0, -1)},"input":${inputJson}}`
    )
    const signed = await run("sign", lines)
    signed.lines.forEach((line, index) =>
      assert.strictEqual(line.signature, cases[index]!.signature, cases[index]!.name)
    )
    assert.strictEqual(signed.status, 0)
    const verified = await run("verify", signed.lines)
    assert.isTrue(verified.lines.every(({ valid }) => valid))
    assert.strictEqual(verified.status, 0)
  })

  it("refuses what is no question, with the number of the line, and goes on", async () => {
    const output = await run("sign", [
      { ...question, id: "a", approvalId: 1 },
      { approvalId: "a", toolCallId: "b", toolName: "c" },
      "{",
      JSON.stringify({ ...question, id: "d" }).replace("\"path\"", "\"__proto__\""),
      JSON.stringify(question).replace("\"/tmp/cache\"", "12345678901234567890"),
      { ...question, input: null }
    ])
    assert.deepStrictEqual(output.lines.map(({ error, id, line, status }) => [id, line, status, error?.message]), [
      ["a", 1, "refused", "/approvalId: expected string"],
      [undefined, 2, "refused", "/input: missing required key"],
      [undefined, 3, "refused", output.lines[2].error.message],
      ["d", 4, "refused", output.lines[3].error.message],
      [undefined, 5, "refused", output.lines[4].error.message],
      [undefined, undefined, "signed", undefined]
    ])
    assert.match(output.lines[2].error.message, /^not valid JSON/)
    assert.match(output.lines[3].error.message, /^\/input: forbidden key/)
    assert.match(output.lines[4].error.message, /^integer beyond 2\^53/)
    assert.strictEqual(output.status, 1)
  })
})

describe.concurrent("countersign verify", () => {
  it("says which are valid, and why the others are not", async () => {
    const output = await run("verify", [
      { id: 1, ...question, signature },
      { id: 2, ...question, input: { path: "/" }, signature },
      { id: 3, ...question },
      { id: 4, ...question, signature: null },
      { id: 5, ...question, signature: `${signature}=` },
      { id: 6, ...question, signature: legacySignature },
      { id: 7, ...question, signature: 7 }
    ])
    assert.deepStrictEqual(output.lines.map(({ id, reason, status, valid }) => [id, status, valid, reason]), [
      [1, "valid", true, undefined],
      [2, "invalid", false, "mismatch"],
      [3, "invalid", false, "missing"],
      [4, "invalid", false, "missing"],
      [5, "invalid", false, "malformed"],
      [6, "valid", true, undefined],
      [7, "invalid", undefined, undefined]
    ])
    assert.deepStrictEqual(output.lines[0], { id: 1, ...question, signature, status: "valid", valid: true })
    assert.strictEqual(output.status, 1)
  })

  it("takes several secrets, one a line", async () => {
    const ring = `\na newer secret of this year\r\n${secret}\n`
    const verified = await run("verify", [{ ...question, signature }], ring)
    assert.deepStrictEqual([verified.status, verified.lines[0].valid], [0, true])
    const signed = await run("sign", [question], ring)
    assert.notStrictEqual(signed.lines[0].signature, signature)
    const newer = await run("verify", signed.lines, "a newer secret of this year")
    assert.strictEqual(newer.status, 0)
    const older = await run("verify", signed.lines)
    assert.deepStrictEqual([older.status, older.lines[0].reason], [1, "mismatch"])
  })
})

describe.concurrent("the secret of sign and verify", () => {
  const wrong: ReadonlyArray<readonly [secrets: string, message: RegExp]> = [
    ["", /is not set, or empty\. Put a secret of at least 16 bytes .*openssl rand/],
    ["\n\n", /is empty\. Put/],
    ["hunter2", /secret 1 is too short\. Put/],
    [`${secret}\nhunter2`, /secret 2 is too short\. Put/]
  ]
  for (const command of ["sign", "verify"] as const) {
    for (const [secrets, message] of wrong) {
      it(`${command} refuses ${JSON.stringify(secrets)}`, async () => {
        const { status, stderr, stdout } = await run(command, [question], secrets)
        assert.deepStrictEqual([status, stdout], [2, ""])
        assert.match(stderr, /^countersign: --secret-env SIGNING_SECRET: /)
        assert.match(stderr, message)
        assert.notInclude(stderr, "hunter2")
      })
    }

    it(`${command} needs the name of a variable that is set`, async () => {
      const [unnamed, unset] = await Promise.all([
        Command.run([command], ""),
        Command.run([command, "--secret-env", "COUNTERSIGN_NO_SUCH_SECRET"], "")
      ])
      assert.deepStrictEqual([unnamed.status, unset.status], [2, 2])
      assert.include(unnamed.stderr, "--secret-env")
      assert.match(unset.stderr, /COUNTERSIGN_NO_SUCH_SECRET: is not set/)
    })
  }
})
