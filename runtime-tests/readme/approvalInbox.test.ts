/** The commands of examples/approval-inbox, as its README has them. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
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
})
