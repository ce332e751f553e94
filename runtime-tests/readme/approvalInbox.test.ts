/** The commands of examples/approval-inbox, as its README has them. */
import * as CanonicalJson from "@countersign/core/CanonicalJson"
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it } from "vitest"
import { root } from "../../scripts/packages.ts"

const directory = mkdtempSync(join(tmpdir(), "countersign-inbox-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { readonly port: number }
  server.close()
  await once(server, "close")
  return port
}

describe("examples/approval-inbox", () => {
  it("asks, lists, refuses, answers once and pays once", { timeout: 120_000 }, async () => {
    const port = await freePort()
    const readme = readFileSync(join(root, "examples/approval-inbox/README.md"), "utf8").replaceAll("8787", `${port}`)
    const [start, list, clerk, manager, resume, watch, ...rest] = [...readme.matchAll(/^```sh\n([^]*?)^```$/gm)].map(
      ([, block]) => block!
    )
    assert.isEmpty(rest)
    const script = [
      "set -euo pipefail",
      "trap 'kill $(jobs -p)' EXIT",
      // What the server logs would come in between.
      start!.replace("serve &", "serve >&2 &"),
      `until curl -s -o /dev/null http://127.0.0.1:${port}/; do sleep 0.1; done`,
      list,
      "echo",
      clerk,
      "echo",
      manager,
      "echo",
      manager!.replace("true", "false"),
      "echo",
      resume,
      resume,
      start!.split("\n")[0]!.replace("7 4900", "8 100"),
      `grep -m 1 Pending < <(${watch!.trim()} 2>/dev/null)`
    ].join("\n")
    const bash = spawn("bash", ["-c", script], {
      cwd: root,
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}`,
        PORT: `${port}`,
        COUNTERSIGN_DATABASE: join(directory, "inbox.sqlite")
      },
      stdio: ["ignore", "pipe", "ignore"]
    })
    const output = (await bash.stdout.toArray()).join("")
    assert.strictEqual(bash.exitCode ?? (await once(bash, "exit"))[0], 0, output)
    const lines = output.split("\n").filter((line) => line !== "").map((line) => line.replace(/cs1\.[\w.-]+/g, "cs1…"))
    const shown = (name: string, fields: string) =>
      assert.match(lines.shift() ?? "", new RegExp(`${name}.*${fields}`), output)
    shown("The manager is asked", "refund {\"order\":7,\"cents\":4900}")
    shown("\"approvals\":", "\"input\":{\"cents\":4900,\"order\":7}")
    shown("\"NotAllowed\"", "cs1…")
    shown("cs1…", "\"answer\":{\"approved\":true,\"answeredBy\":\"manager\"")
    shown("\"ApprovalAlreadyAnswered\"", "\"approved\":true,\"answeredBy\":\"manager\"")
    shown("Paying", "4900 cents")
    shown("tool-result", "4900 cents refunded for order 7")
    shown("tool-result", "4900 cents refunded for order 7")
    shown("The manager is asked", "refund {\"order\":8,\"cents\":100}")
    shown("data: ", "\"_tag\":\"Pending\"")
    assert.deepStrictEqual(lines, [])
  })

  it("pays what was approved behind an answer that cannot be resumed", { timeout: 120_000 }, () => {
    const path = join(directory, "forged.sqlite")
    const run = (...args: ReadonlyArray<string>) =>
      spawnSync(process.execPath, ["examples/approval-inbox/run.ts", ...args], {
        cwd: root,
        env: { ...process.env, COUNTERSIGN_DATABASE: path },
        encoding: "utf8"
      })
    for (const order of ["7", "10"]) assert.strictEqual(run("ask", order, "100").status, 0)
    const database = new DatabaseSync(path)
    const rows = database.prepare("SELECT id, value FROM records WHERE collection = 'approvals' ORDER BY id").all()
    assert.strictEqual(rows.length, 2)
    for (const [index, { id, value }] of rows.entries()) {
      const approval = JSON.parse(`${value}`)
      // Whoever can write to the store says yes, and changes the first question.
      if (index === 0) approval.toolCall.input.cents = 990_000
      const { approvalRequest, toolCall } = approval
      const question = CanonicalJson.stringify({ approvalRequest, toolCall })
      const questionDigest = createHash("sha256").update(question).digest("base64url")
      const answer = { approved: true, answeredBy: "manager", answeredAt: Date.now() }
      database.prepare("UPDATE records SET tag = 'answered', value = ? WHERE id = ?")
        .run(CanonicalJson.stringify({ ...approval, answer, questionDigest }), id!)
    }
    database.close()
    const { status, stderr, stdout } = run("resume")
    assert.strictEqual(status, 0, stderr)
    assert.include(stderr, "its signature does not fit")
    assert.notInclude(stdout, "990000")
    assert.include(stdout, "100 cents refunded for order 10")
  })
})
