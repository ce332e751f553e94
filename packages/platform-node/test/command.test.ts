import { assert, describe, it } from "@effect/vitest"
import { execFileSync, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Command from "./countersign.ts"

const line = "{\"toolCallId\":\"1\",\"toolName\":\"now\"}\n"

describe("the countersign command", () => {
  it("prints help and its version", async () => {
    const [help, parse, version] = await Promise.all([
      Command.run(["--help"]),
      Command.run(["parse", "--help"]),
      Command.run(["--version"])
    ])
    assert.deepStrictEqual([help.status, parse.status, version.status], [0, 0, 0])
    assert.include(help.stdout, "repair")
    for (const flag of ["--tools", "--repair", "--concurrency"]) assert.include(parse.stdout, flag)
    const { version: expected } = JSON.parse(readFileSync(join(Command.bin, "../../package.json"), "utf8"))
    assert.include(version.stdout, expected)
    assert.strictEqual(help.stderr + parse.stderr + version.stderr, "")
    assert.notInclude(help.stdout, "\u001b")
  })

  it("exits with 2 when it cannot do its work, and says why", async () => {
    const wrong: ReadonlyArray<readonly [args: ReadonlyArray<string>, message: RegExp]> = [
      [[], /USAGE/],
      [["parse", "--tools", "missing.json"], /^countersign: --tools .*missing\.json: no such file or directory/],
      [["repair", "--engine", "magic"], /--engine/]
    ]
    const outputs = await Promise.all(wrong.map(([args]) => Command.run(args, line)))
    outputs.forEach(({ status, stderr, stdout }, index) => {
      assert.deepStrictEqual([status, stdout], [2, ""])
      assert.match(stderr, wrong[index]![1])
    })
  })

  it("exits with 2 where its input is a directory, which Node takes for an empty file", async () => {
    const folder = openSync(import.meta.dirname, "r")
    const child = spawn(process.execPath, [Command.bin, "parse", ...Command.tools], { stdio: [folder, "pipe", "pipe"] })
    const stderr = new Promise((resolve) => child.stderr!.once("data", resolve))
    assert.strictEqual(await new Promise((resolve) => child.on("close", resolve)), 2)
    assert.match(String(await stderr), /standard input: it is a directory/)
    closeSync(folder)
  })

  it("exits with 0 on no input", async () => {
    assert.deepStrictEqual(await Command.run(["parse", ...Command.tools]), { status: 0, stdout: "", stderr: "" })
  })

  it("answers each line as it comes", async () => {
    const child = Command.start(["parse", ...Command.tools])
    for (let index = 0; index < 3; index++) {
      child.stdin!.write(line)
      const answer = await new Promise((resolve) => child.stdout!.once("data", resolve))
      assert.strictEqual(JSON.parse(String(answer)).status, "valid")
    }
    child.stdin!.end()
    assert.strictEqual(await new Promise((resolve) => child.on("close", resolve)), 0)
  })

  it("reads no more than it can write", async () => {
    const child = Command.start(["parse", ...Command.tools])
    child.stdin!.on("error", () => {})
    // Nobody reads the output: sooner or later the input has to stop flowing.
    const isStopped = () =>
      new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), 1500)
        child.stdin!.once("drain", () => {
          clearTimeout(timer)
          resolve(false)
        })
      })
    let written = 0
    const block = line.repeat(2000)
    do {
      while (child.stdin!.write(block)) written += block.length
      written += block.length
    } while (!(await isStopped()))
    child.kill()
    assert.isBelow(written, 8_000_000)
  })

  it("ends quietly when its output is closed, though its input goes on", async () => {
    const child = Command.start(["parse", ...Command.tools])
    const feed = () => {
      while (child.stdin!.writable && child.stdin!.write(line.repeat(100)));
    }
    child.stdin!.on("error", () => {})
    child.stdin!.on("drain", feed)
    feed()
    let stderr = ""
    child.stderr!.on("data", (chunk) => stderr += String(chunk))
    child.stdout!.once("data", () => child.stdout!.destroy())
    const status = await new Promise((resolve) => child.on("exit", resolve))
    assert.deepStrictEqual([status, stderr], [0, ""])
  })

  it("ends quietly on an interrupt", async () => {
    const child = Command.start(["parse", ...Command.tools])
    child.stdin!.write(line)
    await new Promise((resolve) => child.stdout!.once("data", resolve))
    let stderr = ""
    child.stderr!.on("data", (chunk) => stderr += String(chunk))
    child.kill("SIGINT")
    const status = await new Promise((resolve) => child.on("exit", resolve))
    assert.deepStrictEqual([status, stderr], [130, ""])
  })

  it("holds no more memory for more lines", async () => {
    if (process.platform !== "linux") return
    const lines = 200_000
    const block = Array.from(
      { length: 1000 },
      (_, index) => JSON.stringify({ id: index, toolCallId: "1", toolName: "weather", input: `{"city":"${index}"}` })
    ).join("\n") + "\n"
    // A small young generation, so that garbage that is not yet collected does not count.
    const child = spawn(process.execPath, ["--max-semi-space-size=2", Command.bin, "parse", ...Command.tools])
    const resident = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) * 1024
    let written = 0
    let early = 0
    let late = 0
    const feed = () => {
      while (written < lines) {
        written += 1000
        if (!child.stdin.write(block)) return
      }
      child.stdin.end()
    }
    let answered = 0
    child.stdout.on("data", (chunk: Buffer) => {
      for (const byte of chunk) if (byte === 0x0a) answered++
      if (early === 0 && answered >= lines / 10) early = resident()
      if (answered < lines * 0.98) late = resident()
    })
    child.stdin.on("drain", feed)
    feed()
    const status = await new Promise((resolve) => child.on("close", resolve))
    assert.deepStrictEqual([status, answered], [0, lines])
    assert.isBelow(late - early, 64 * 1024 * 1024)
  })
})

describe("pnpm start", () => {
  it("shows what becomes of each call", () => {
    const example = join(Command.bin, "../../../../examples/malformed-calls")
    const output = execFileSync(process.execPath, [join(example, "run.ts")], { encoding: "utf8" })
    const calls = readFileSync(join(example, "calls.jsonl"), "utf8").trim().split("\n")
    assert.strictEqual(
      output.split("\n").filter((row) => / (valid|repaired|refused) /.test(row)).length >= calls.length,
      true
    )
    for (const row of output.split("\n")) assert.isAtMost(row.length, 120)
    assert.notInclude(output, "\u001b")
  })
})
