import * as Approval from "@countersign/core/Approval"
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as ToolCall from "@countersign/core/ToolCall"
import * as ToolSet from "@countersign/core/ToolSet"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Countersign from "../src/internal/cli/countersign.ts"
import * as NodeCountersign from "../src/NodeCountersign.ts"
import * as Command from "./countersign.ts"

const secret = "a secret that nobody is to see"

const definitions = {
  pay: {
    title: "Pay",
    needsApproval: true,
    inputSchema: {
      type: "object",
      properties: { cents: { type: "integer" } },
      required: ["cents"],
      additionalProperties: false
    }
  },
  run: { needsApproval: true, inputSchema: { type: "object" } },
  search: { needsApproval: true, type: "provider" }
}
type Definitions = Record<string, object>

const program = `
import { appendFileSync, readFileSync } from "node:fs"
const { input, toolCallId, toolName } = JSON.parse(readFileSync(0, "utf8"))
if (input.log) appendFileSync(input.log, toolCallId + "\\n")
if (input.pid) appendFileSync(input.pid, String(process.pid))
switch (input.how) {
  case "text": console.log("paid\\n  in full"); break
  case "string": process.stdout.write(JSON.stringify("paid")); break
  case "nothing": break
  case "big": console.log("12345678901234567890"); break
  case "env": console.log(JSON.stringify(process.env)); break
  case "args": console.log(JSON.stringify(process.argv.slice(2))); break
  case "bytes": process.stdout.write(Buffer.of(0xff)); break
  case "flood": for (;;) if (!process.stdout.write("x".repeat(1 << 20))) await new Promise((go) => process.stdout.once("drain", go))
  case "fail":
    console.log("half a result")
    for (let line = 1; line <= 30; line++) console.error("line " + line)
    process.exitCode = 3
    break
  case "quiet": process.exitCode = 4; break
  case "chatty": console.error("x".repeat(10_000) + "\\nthe last line"); process.exitCode = 1; break
  case "signal": process.kill(process.pid, "SIGKILL"); break
  case "hang": setInterval(() => {}, 1000); break
  default: console.log(JSON.stringify({ toolCallId, toolName, input }))
}
`

const files = Command.files({
  "tools.json": definitions,
  "broken.json": { pay: { ...definitions.pay, inputSchema: { type: "objekt" } } },
  "run-tool.mjs": program
})
const folder = join(files["run-tool.mjs"]!, "..")
const exec = ["--exec", process.execPath, "--exec-arg", files["run-tool.mjs"]!]
const signed = ["--secret-env", "APPROVAL_SECRET"]

interface Question extends Approval.PendingApproval {}

/** Asks as a server does that has the secret. */
const ask = (
  toolCallId: string,
  toolName: string,
  input: object,
  options: Partial<Approval.RequestOptions<ToolSet.ToolSet>> & { readonly secret?: string } = {}
): Question => {
  const tools = Result.getOrThrow(ToolSet.fromJson(definitions satisfies Definitions))
  const signer = ApprovalSigner.layer({ secrets: [Redacted.make(options.secret ?? secret)] })
  return Effect.runSync(
    ToolCall.parse({ toolCallId, toolName, input }, { tools }).pipe(
      Effect.flatMap((call) => Approval.request(call, { ...options, tools })),
      Effect.map((asked) => {
        assert(asked._tag === "Pending")
        return { toolCall: asked.toolCall, approvalRequest: asked.approvalRequest }
      }),
      Effect.provide(Layer.provideMerge(signer, NodeCountersign.layer))
    )
  )
}

const answer = ({ approvalRequest: { approvalId } }: Question, approved: unknown = true, reason?: string) => ({
  type: "tool-approval-response",
  approvalId,
  approved,
  ...reason === undefined ? {} : { reason }
})

const history = (questions: ReadonlyArray<Question>, answers = questions.map((question) => answer(question))) => [
  { role: "user", content: "do it" },
  {
    role: "assistant",
    content: questions.flatMap(({ approvalRequest, toolCall }) => [toolCall, approvalRequest])
  },
  { role: "tool", content: answers }
]

const start = (input: unknown, ...args: ReadonlyArray<string>) =>
  Command.run(
    ["resume", ...args.includes("--tools") ? [] : ["--tools", files["tools.json"]!], ...args],
    typeof input === "string" ? input : JSON.stringify(input),
    { APPROVAL_SECRET: secret }
  )

const resume = async (input: unknown, ...args: ReadonlyArray<string>) => {
  const output = await start(input, ...args)
  assert.notInclude(output.stdout + output.stderr, secret)
  const answers = Command.jsonLines(output)
  assert.lengthOf(answers, 1, output.stderr)
  return { ...output, json: answers[0] }
}

const keys = [
  "signatures",
  "results",
  "approved",
  "invalid",
  "denied",
  "forwarded",
  "awaiting",
  "superseded",
  "stale",
  "responseMessages",
  "messages",
  "usage"
]

describe.concurrent("countersign resume without a program", () => {
  it("says which calls may run, and answers the others", async () => {
    const paid = ask("c1", "pay", { cents: 5 })
    const refused = ask("c2", "pay", { cents: 6 })
    const open = ask("c3", "pay", { cents: 7 })
    const messages = history([paid, refused, open], [answer(paid), answer(refused, false, "too much")])
    const { json, status, stderr } = await resume(messages, ...signed)
    assert.deepStrictEqual([Object.keys(json), status, stderr], [keys, 0, ""])
    assert.deepStrictEqual(json.approved, [{
      approvalRequest: paid.approvalRequest,
      approvalResponse: answer(paid),
      toolCall: { ...paid.toolCall, title: "Pay" },
      input: { cents: 5 }
    }])
    assert.deepStrictEqual(json.awaiting.map(({ toolCall }: Question) => toolCall.toolCallId), ["c3", "c1"])
    assert.deepStrictEqual(json.denied.map(({ toolCall }: Question) => toolCall.toolCallId), ["c2"])
    const told = {
      role: "tool",
      content: [{
        type: "tool-result",
        toolCallId: "c2",
        toolName: "pay",
        output: { type: "execution-denied", reason: "too much" }
      }]
    }
    assert.deepStrictEqual(json.responseMessages, [told])
    assert.deepStrictEqual(json.messages, [...messages, told])
    assert.deepStrictEqual(json.results, [])
  })

  it("refuses each approval for its own reason, and exits with 0", async () => {
    const expired = ask("c1", "pay", { cents: 1 }, { timeToLive: "0 millis" })
    const other = ask("c2", "pay", { cents: 2 }, { audience: "user 8" })
    const gone = ask("c3", "run", {}, { audience: "user 7" })
    const drifted = ask("c4", "pay", { cents: 4 }, { audience: "user 7" })
    const tools = Command.files({ "tools.json": { pay: { ...definitions.pay, title: "Give" } } })["tools.json"]!
    const { json, status } = await resume(
      history([expired, other, gone, drifted]),
      ...signed,
      ...exec,
      "--audience",
      "user 7",
      "--tools",
      tools
    )
    assert.deepStrictEqual(
      json.invalid.map(({ error, toolCall }: any) => [toolCall.toolCallId, error._tag, error.reason]),
      [
        ["c1", "ApprovalExpired", undefined],
        ["c2", "InvalidApprovalClaims", "audience"],
        ["c3", "NoSuchTool", undefined],
        ["c4", "ToolDrifted", undefined]
      ]
    )
    assert.deepStrictEqual(
      json.responseMessages[0].content.map(({ output }: any) => output),
      json.invalid.map(({ error }: any) => ({ type: "error-text", value: error.message }))
    )
    assert.deepStrictEqual([json.results, json.awaiting, status], [[], [], 0])
  })

  it("takes approvals of other SDKs, unless claims are required", async () => {
    const foreign = { toolCallId: "c1", toolName: "pay", input: { cents: 5 }, approvalId: "approval-1" }
    const signing = await Command.run(["sign", ...signed], Command.toLines([foreign]), { APPROVAL_SECRET: secret })
    const { approvalId, signature, status: _, ...call } = Command.jsonLines(signing)[0]
    const question: Question = {
      toolCall: { type: "tool-call", ...call },
      approvalRequest: { type: "tool-approval-request", approvalId, toolCallId: "c1", signature }
    }
    const [taken, refused] = await Promise.all([
      resume(history([question]), ...signed),
      resume(history([question]), ...signed, "--require-claims")
    ])
    assert.deepStrictEqual(taken.json.approved.map(({ input }: any) => input), [{ cents: 5 }])
    assert.deepStrictEqual(refused.json.approved, [])
    assert.deepStrictEqual(
      [refused.json.invalid[0].error._tag, refused.json.invalid[0].error.reason],
      ["InvalidApprovalClaims", "missing"]
    )
  })

  it("answers with the error where the history is not the server's", async () => {
    const paid = ask("c1", "pay", { cents: 5 })
    const changed = { ...paid, toolCall: { ...paid.toolCall, input: { cents: 500 } } }
    const log = join(folder, "not-run.log")
    const other = ask("c2", "run", { log })
    const { json, status, stderr } = await resume(history([other, changed]), ...signed, ...exec)
    const { message, ...error } = json.error
    const { approvalId } = paid.approvalRequest
    assert.deepStrictEqual(error, { _tag: "InvalidSignature", approvalId, toolCallId: "c1", reason: "mismatch" })
    assert.deepStrictEqual([Object.keys(json), stderr, status], [["error"], `countersign: ${message}\n`, 1])
    assert.isFalse(existsSync(log))

    const unknown = await resume(history([paid], [{ ...answer(paid), approvalId: "a2" }]), ...signed)
    assert.deepStrictEqual([unknown.json.error._tag, unknown.status], ["InvalidToolApproval", 1])
    const broken = await resume("[{", ...signed)
    assert.deepStrictEqual([broken.json.error._tag, broken.status], ["InvalidHistory", 1])
    assert.match(broken.stderr, /^countersign: not valid JSON: expected .* at character 2\n$/)
  })

  it("counts the questions that the server kept, and no other", async () => {
    const paid = ask("c1", "pay", { cents: 5 })
    const forged = { ...paid, toolCall: { ...paid.toolCall, input: { cents: 500 } } }
    const messages = history([forged], [answer(paid)])
    const { json } = await resume({ messages, requests: [paid] }, ...signed)
    assert.deepStrictEqual(json.approved.map(({ input }: any) => input), [{ cents: 5 }])
    const unsigned = await resume({ messages, requests: [paid] }, "--unsigned")
    assert.deepStrictEqual(unsigned.json.approved.map(({ input }: any) => input), [{ cents: 5 }])
  })

  it("says that it verified nothing, and runs nothing, without a secret", async () => {
    const messages = history([ask("c1", "pay", { cents: 5 })])
    const { json, status, stderr } = await resume(messages)
    assert.deepStrictEqual([json.signatures, json.approved.length, json.results, status], ["unverified", 1, [], 0])
    assert.match(stderr, /^countersign: no signature was verified: give --secret-env <name>/)
    const meant = await resume(messages, "--unsigned")
    assert.deepStrictEqual([meant.json.signatures, meant.stderr], ["unverified", ""])
    assert.strictEqual((await resume(messages, ...signed)).json.signatures, "verified")
  })

  it("takes a history of 10 MB", async () => {
    const text = "paid ".repeat(200)
    const past = Array.from({ length: 10_000 }, () => ({ role: "assistant", content: [{ type: "text", text }] }))
    const messages = [...past, ...history([ask("c1", "pay", { cents: 5 })])]
    assert.isAbove(JSON.stringify(messages).length, 10_000_000)
    const { json, status } = await resume(messages, ...signed)
    assert.deepStrictEqual([json.approved.length, json.messages.length, status], [1, messages.length, 0])
  })
})

describe.concurrent("countersign resume --exec", () => {
  const outputOf = async (how: string, ...args: ReadonlyArray<string>) => {
    const { json, status } = await resume(history([ask("c1", "run", { how })]), ...signed, ...exec, ...args)
    assert.deepStrictEqual([json.results.length, json.awaiting, status], [1, [], 0])
    assert.deepStrictEqual(json.responseMessages[0].content[0].output, json.results[0].output)
    return json.results[0].output
  }

  it("gives the program the call, and its answer to the model", async () => {
    const messages = history([ask("c1", "pay", { cents: 5 })])
    const { json, status, stderr } = await resume(messages, ...signed, ...exec)
    const value = { toolCallId: "c1", toolName: "pay", input: { cents: 5 } }
    const output = { type: "json", value }
    assert.deepStrictEqual(json.results, [{
      output,
      value,
      toolCallId: "c1",
      toolName: "pay",
      proposedInput: { cents: 5 },
      approvedInput: { cents: 5 },
      effectiveInput: { cents: 5 },
      isReplayed: false
    }])
    const told = { role: "tool", content: [{ type: "tool-result", toolCallId: "c1", toolName: "pay", output }] }
    assert.deepStrictEqual(json.messages, [...messages, told])
    assert.deepStrictEqual([json.approved, json.awaiting, status, stderr], [[], [], 0, ""])
  })

  it("runs nothing again that the history has the result of", async () => {
    const log = join(folder, "once.log")
    const first = await resume(history([ask("c1", "run", { log })]), ...signed, ...exec)
    const second = await resume(first.json.messages, ...signed, ...exec)
    assert.deepStrictEqual([second.json.results, second.json.responseMessages], [[], []])
    assert.deepStrictEqual(second.json.messages, first.json.messages)
    assert.strictEqual(readFileSync(log, "utf8"), "c1\n")
  })

  it("takes JSON or text, and keeps every digit", async () => {
    const outputs = await Promise.all(["text", "string", "nothing", "big"].map((how) => outputOf(how)))
    assert.deepStrictEqual(outputs, [
      { type: "text", value: "paid\n  in full" },
      { type: "text", value: "paid" },
      { type: "json", value: null },
      { type: "text", value: "12345678901234567890" }
    ])
  })

  it("gives the program its arguments as they are, without a shell", async () => {
    const args = ["$(echo no) `no` ; no > no", "", "--exec-arg=-e"]
    const output = await outputOf("args", "--exec-arg", args[0]!, "--exec-arg=", `--exec-arg=${args[2]}`)
    assert.deepStrictEqual(output, { type: "json", value: args })
  })

  it("tells the model what went wrong", async () => {
    const said = Array.from({ length: 20 }, (_, index) => `line ${index + 11}`).join("\n")
    const cases: ReadonlyArray<readonly [how: string, value: string]> = [
      ["fail", said],
      ["quiet", "The tool failed with exit status 4."],
      ["chatty", "the last line"],
      ["signal", "The tool was ended by a signal."],
      ["bytes", "The tool ran, and its output is not valid UTF-8."],
      ["flood", "The tool wrote more than 16777216 bytes, and was stopped."]
    ]
    for (const [how, value] of cases) assert.deepStrictEqual(await outputOf(how), { type: "error-text", value }, how)
  })

  it("stops a program that takes too long", async () => {
    const output = await outputOf("hang", "--timeout", "1500 millis")
    assert.strictEqual(output.type, "error-text")
    assert.match(output.value, /^Tool run was stopped after 1500 ms\./)
  })

  it("lets a program end that does not read its input", async () => {
    const { json } = await resume(
      history([ask("c1", "run", { text: "x".repeat(1_000_000) })]),
      ...signed,
      "--exec",
      process.execPath,
      "--exec-arg=-e",
      "--exec-arg",
      "console.log('done')"
    )
    assert.deepStrictEqual(json.results[0].output, { type: "text", value: "done" })
  })

  it("does not give the program the secret", async () => {
    const { value } = await outputOf("env")
    assert.isFalse(Object.hasOwn(value, "APPROVAL_SECRET"))
    assert.strictEqual(value.NO_COLOR, "")
  })

  it("keeps the order of the calls, and lets each fail for itself", async () => {
    const hows = ["fail", "text", "quiet", "string"]
    const questions = hows.map((how, index) => ask(`c${index}`, "run", { how }))
    const { json } = await resume(history(questions.toReversed()), ...signed, ...exec, "--concurrency", "2")
    assert.deepStrictEqual(
      json.results.map(({ output, toolCallId }: any) => [toolCallId, output.type]),
      [["c3", "text"], ["c2", "error-text"], ["c1", "text"], ["c0", "error-text"]]
    )
  })

  it("does not run what the provider runs", async () => {
    const search = ask("c1", "search", {})
    const own = ask("c2", "pay", { cents: 5 })
    const providers = { ...own, toolCall: { ...own.toolCall, toolCallId: "c2", providerExecuted: true } }
    const { json } = await resume(history([search, providers]), ...signed, ...exec)
    assert.deepStrictEqual(json.results, [])
    assert.deepStrictEqual(json.awaiting.map(({ toolCall }: Question) => toolCall.toolCallId), ["c1"])
    assert.deepStrictEqual(json.approved.map(({ toolCall }: Question) => toolCall.toolCallId), ["c1"])
    assert.deepStrictEqual(json.forwarded.map(({ toolCall }: Question) => toolCall.toolCallId), ["c2"])
  })

  it("takes UI messages, and gives model messages", async () => {
    const { approvalRequest: { approvalId, signature } } = ask("c1", "pay", { cents: 5 }, { secret: `${secret}!` })
    const part = {
      type: "tool-pay",
      toolCallId: "c1",
      state: "approval-responded",
      input: { cents: 5 },
      approval: { id: approvalId, approved: true, signature }
    }
    const messages = [{ id: "m1", role: "assistant", parts: [{ type: "step-start" }, part] }]
    const output = await Command.run(
      ["resume", "--tools", files["tools.json"]!, "--secret-env", "NEW", "--secret-env", "OLD", ...exec],
      JSON.stringify({ messages }),
      { NEW: secret, OLD: `${secret}!` }
    )
    const [json] = Command.jsonLines(output)
    assert.deepStrictEqual(json.messages.map(({ role }: any) => role), ["assistant", "tool", "tool"])
    assert.strictEqual(json.results[0].output.value.toolCallId, "c1")
  })

  it("answers what the conversation has passed over", async () => {
    const log = join(folder, "superseded.log")
    const messages = [...history([ask("c1", "run", { log })]), { role: "user", content: "wait" }]
    const refused = await resume(messages, ...signed, ...exec)
    assert.deepStrictEqual([refused.json.results, refused.json.superseded.length], [[], 1])
    assert.deepStrictEqual(refused.json.messages.map(({ role }: any) => role), [
      "user",
      "assistant",
      "tool",
      "tool",
      "user"
    ])
    assert.isFalse(existsSync(log))
    const run = await resume(messages, ...signed, ...exec, "--superseded", "run")
    assert.strictEqual(run.json.results.length, 1)
  })

  it("says what was begun when it is interrupted, and ends the program", async () => {
    const pid = join(folder, "interrupted.pid")
    const messages = history([ask("c1", "run", { how: "hang", pid })])
    const child = Command.start(["resume", "--tools", files["tools.json"]!, ...signed, ...exec], {
      APPROVAL_SECRET: secret
    })
    let output = ""
    child.stdout!.on("data", (chunk) => output += String(chunk))
    child.stderr!.on("data", (chunk) => output += String(chunk))
    child.stdin!.end(JSON.stringify(messages))
    const written = () => existsSync(pid) ? readFileSync(pid, "utf8") : ""
    while (written() === "") await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill("SIGINT")
    const status = await new Promise((resolve) => child.on("close", resolve))
    assert.deepStrictEqual([status, output], [
      130,
      "countersign: interrupted. These calls were begun, and what they came to is lost: c1\n"
    ])
    assert.throws(() => process.kill(Number(written()), 0), "ESRCH")
  })

  it.effect("counts on a terminal", () =>
    Effect.gen(function*() {
      const written: Array<string> = []
      const input = new TextEncoder().encode(JSON.stringify(history([
        ask("c1", "run", { how: "text" }),
        ask("c2", "run", { how: "quiet" })
      ])))
      const stdio = Stdio.make({
        args: Effect.succeed(["resume", "--tools", files["tools.json"]!, "--unsigned", ...exec]),
        stdin: Stream.make(input),
        stdout: () => Sink.drain,
        stderr: () => Sink.forEach((text) => Effect.sync(() => written.push(String(text)))),
        stderrIsTerminal: Effect.succeed(true),
        stdoutIsTerminal: Effect.succeed(false)
      })
      yield* Countersign.run.pipe(
        Effect.provideService(Stdio.Stdio, stdio),
        Effect.provide(Layer.merge(NodeServices.layer, NodeCountersign.layer))
      )
      assert.match(written.join(""), /\r2 calls: 1 (?:succeeded, 1 failed|failed, 1 succeeded)\n$/)
    }))
})

describe.concurrent("usage of countersign resume", () => {
  const tools = ["--tools", files["tools.json"]!]
  const cases: ReadonlyArray<readonly [what: string, args: ReadonlyArray<string>, message: RegExp]> = [
    ["no tools", ["--unsigned"], /--tools[^]*Try: countersign resume --help/],
    ["tools that are not there", ["--unsigned", "--tools", "none.json"], /none\.json: no such file or directory/],
    [
      "no signer for a program",
      [...tools, "--exec", "node"],
      /^countersign: give --secret-env <name>, .*if that is what you want, give --unsigned$/m
    ],
    ["two signers", [...tools, ...signed, "--unsigned"], /^countersign: give either --secret-env or --unsigned/],
    ["no secret", [...tools, "--secret-env", "COUNTERSIGN_NO_SUCH"], /--secret-env COUNTERSIGN_NO_SUCH: is not set/],
    [
      "a short secret",
      [...tools, ...signed, "--secret-env", "SHORT"],
      /--secret-env SHORT: secret 2 is too short\. Put/
    ],
    ["a program that is not there", [...tools, ...signed, "--exec", "countersign-none"], /Nothing was run/],
    ["a program without a name", [...tools, ...signed, "--exec="], /--exec[^]*the name or path of a program/],
    ["arguments of no program", [...tools, ...signed, "--exec-arg", "x"], /--exec-arg and --timeout need --exec/],
    ["a timeout of nothing", [...tools, ...signed, "--timeout", "1 second"], /--exec-arg and --timeout need --exec/],
    ["a timeout that is none", [...tools, ...signed, "--timeout", "soon"], /--timeout[^]*such as "30 seconds"/],
    ["no time", [...tools, ...signed, "--timeout", "0 seconds"], /--timeout[^]*such as "30 seconds"/],
    ["no concurrency", [...tools, ...signed, "--concurrency", "0"], /--concurrency[^]*from 1 to 1024/],
    ["an unknown way with answers", [...tools, ...signed, "--superseded", "x"], /--superseded[^]*refuse[^]*run/]
  ]
  const messages = JSON.stringify(history([ask("c1", "pay", { cents: 5 })]))
  for (const [what, args, message] of cases) {
    it(`refuses ${what}`, async () => {
      const { status, stderr, stdout } = await Command.run(["resume", ...args], messages, {
        APPROVAL_SECRET: secret,
        SHORT: `a secret that is long enough\nhunter2`
      })
      assert.deepStrictEqual([status, stdout], [2, ""])
      assert.match(stderr, message)
      assert.notInclude(stderr, "hunter2")
    })
  }

  it("says on stderr which tools cannot be checked, and does not run them", async () => {
    const question = ask("c1", "pay", { cents: 5 })
    const { json, stderr } = await resume(
      history([question]),
      ...signed,
      ...exec,
      "--tools",
      files["broken.json"]!
    )
    assert.match(stderr, /^Input schema of tool pay cannot be checked: .*Calls to it are invalid\.\n$/)
    assert.deepStrictEqual([json.results, json.invalid[0].error.cause._tag], [[], "UnsupportedSchema"])
  })

  it("is explained", async () => {
    const [resume, collect] = await Promise.all([
      Command.run(["resume", "--help"]),
      Command.run(["collect", "--help"])
    ])
    assert.deepStrictEqual([resume.status, resume.stderr, collect.status, collect.stderr], [0, "", 0, ""])
    for (const flag of ["--exec ", "--exec-arg", "--timeout", "--unsigned", "--secret-env", "--audience"]) {
      assert.include(resume.stdout, flag)
    }
    assert.include(resume.stdout, "used once within one run of this command")
    assert.include(collect.stdout, "--superseded")
  })
})
