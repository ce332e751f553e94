/**
 * What the AI SDK (7.0.173) makes of approvals, case by case: what it collects from a history, what it takes for valid, what the
 * answers of a policy do, and what a resume runs. Where Countersign answers otherwise on purpose, the case stands in `deviations`
 * with the answer it gets here; the reasons are in `docs/differences.md`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { z } from "zod"
import * as Approval from "../src/Approval.ts"
import * as ApprovalPolicy from "../src/ApprovalPolicy.ts"
import * as Message from "../src/Message.ts"
import type { Refinement } from "../src/Refinement.ts"
import * as Tool from "../src/Tool.ts"
import * as ToolSet from "../src/ToolSet.ts"
import * as ToolStep from "../src/ToolStep.ts"
import { recorder, secret, signed, signerOf, unsigned } from "./approvalHistory.ts"
import vectors from "./fixtures/ai-sdk/approvals.json" with { type: "json" }
import { raw } from "./tools.ts"

/** A vector's value as it was in the SDK: dates are dates, and keys whose value was `undefined` are left out, here as there. */
const plain = (value: unknown): any => {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== "object" || value === null || value instanceof Date) return value
  if ("$date" in value) return new Date(value.$date as string)
  const isKept = (member: unknown) =>
    member !== undefined && !(typeof member === "object" && member !== null && Object.hasOwn(member, "$undefined"))
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => isKept(member)).map(([key, member]) => [key, plain(member)])
  )
}

/** What the SDK's error becomes here. */
const tags: Record<string, string> = {
  AI_InvalidToolApprovalError: "InvalidToolApproval",
  AI_ToolCallNotFoundForApprovalError: "ToolCallNotFoundForApproval",
  AI_InvalidToolApprovalSignatureError: "InvalidSignature",
  AI_InvalidToolInputError: "InvalidToolInput"
}

/** What `$error` names with its text; the texts of signatures are own. */
const assertError = (error: any, expected: any) => {
  assert.strictEqual(error._tag, tags[expected.$error])
  if (error._tag === "InvalidSignature") {
    assert.strictEqual(error.reason, expected.message.endsWith("missing signature") ? "missing" : "mismatch")
  } else assert.strictEqual(error.message, expected.message)
  for (const id of ["approvalId", "toolCallId"]) {
    if (expected[id] !== undefined) assert.strictEqual(error[id], expected[id])
  }
}

const assertNames = (deviations: object, cases: ReadonlyArray<{ readonly name: string }>) => {
  const names = new Set(cases.map(({ name }) => name))
  for (const name of Object.keys(deviations)) assert.isTrue(names.has(name), name)
}

describe("collectToolApprovals, case by case", () => {
  const stale = (...approvalIds: ReadonlyArray<string>) => ({
    approved: [],
    denied: [],
    stale: approvalIds,
    ambiguous: []
  })
  const malformed = { _tag: "InvalidToolApproval", reason: "malformed", approvalId: "ap-1" }

  /** The IDs here, or the failure. */
  const deviations: Record<string, object> = {
    // A result counts wherever it stands: the call is not run again.
    "result in an earlier tool message is not seen": stale("ap-1"),
    "replay of an already executed approval in a later turn": stale("ap-1"),
    // An answer says yes or no.
    "approved is the string \"false\" (truthy)": malformed,
    "approved missing -> denied": malformed,
    // What is no message part is passed over.
    "tool message with string content": { approved: [], denied: [], stale: [], ambiguous: [] },
    // It cannot be told what was approved: collected as in the SDK, and refused afterwards.
    "two responses same approval, approve then deny -> first wins": {
      approved: ["ap-1"],
      denied: [],
      stale: [],
      ambiguous: ["responses"]
    },
    "duplicate tool call ids: last call wins": {
      approved: ["ap-1"],
      denied: [],
      stale: [],
      ambiguous: ["tool-call-id"]
    },
    "duplicate approval ids: last request wins": { approved: ["ap"], denied: [], stale: [], ambiguous: ["approval-id"] }
  }

  const idOf = ({ approvalRequest }: Approval.AnsweredApproval) => approvalRequest.approvalId

  for (const vector of vectors.cases as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const collecting = Approval.collect(plain(vector.messages))
        const deviation = deviations[vector.name]
        if (deviation !== undefined && "_tag" in deviation) {
          assert.deepInclude((yield* Effect.flip(collecting)) as object, deviation)
          return
        }
        if (vector.throws !== undefined && deviation === undefined) {
          assertError(yield* Effect.flip(collecting), vector.throws)
          return
        }
        const { ambiguous, approved, denied, stale } = yield* collecting
        if (deviation !== undefined) {
          const ids = { approved: approved.map(idOf), denied: denied.map(idOf), stale: stale.map(idOf) }
          assert.deepStrictEqual({ ...ids, ambiguous: ambiguous.map(({ reason }) => reason) }, deviation as any)
        }
        // What an ambiguity is about is collected as there.
        if (deviation === undefined || ambiguous.length > 0) {
          assert.deepStrictEqual(
            plain({ approved, denied }),
            plain({ approved: vector.approved, denied: vector.denied })
          )
        }
        if (deviation === undefined) assert.deepStrictEqual(ambiguous, [])
      }))
  }

  it("every deviation names a case", () => assertNames(deviations, vectors.cases))
})

describe("validateApprovedToolApprovals, case by case", () => {
  const execute = () => Effect.succeed("done")
  const value = z.object({ value: z.string() })
  const tools: ToolSet.ToolSet = ToolSet.make(
    Tool.make("zobj", { title: "ZObj", metadata: { m: 1 }, inputSchema: value, execute }),
    Tool.make("trans", { inputSchema: z.object({ n: z.string().transform(Number) }), execute }),
    Tool.make("deflt", { inputSchema: z.object({ n: z.number().default(5) }), execute }),
    Tool.make("dateT", { inputSchema: z.object({ d: z.string().transform((s) => new Date(s)) }), execute }),
    Tool.make("noExec", { inputSchema: value }),
    Tool.make("plain", { inputSchema: {}, execute }),
    Tool.make("dyn", { kind: "dynamic", inputSchema: z.object({ v: z.number() }), execute }),
    Tool.make("needs", { needsApproval: true, inputSchema: z.object({}), execute }),
    Tool.make("ctx", { needsApproval: () => Effect.succeed(true), inputSchema: z.object({}), execute })
  )

  const refinements: Record<string, Record<string, Refinement<any, unknown>>> = {
    "upper-case": { zobj: (input) => Effect.succeed({ value: input.value.toUpperCase() }) },
    "append !": { zobj: (input) => Effect.succeed({ value: `${input.value}!` }) },
    throws: { zobj: () => Effect.fail(new Error("boom")) }
  }

  const answers: Record<string, Effect.Effect<any, Error>> = {
    "() => undefined": Effect.succeed(undefined),
    "() => 'denied'": Effect.succeed("denied"),
    "() => null": Effect.succeed(null),
    throws: Effect.fail(new Error("policy down"))
  }

  /** A tag of a refusal, the reason of a denial, or that it passes. */
  const deviations: Record<string, string> = {
    // What is approved has to be a call that could be made, also where nothing is run here.
    "tool without execute: schema not checked": "InvalidToolInput",
    "tool named constructor": "NoSuchTool",
    // A refinement that fails is told apart from an input that does not fit.
    "refine throws": "RefinementFailed",
    // A policy fails closed, and its own call only.
    "policy function throws": "the approval policy failed: policy down",
    "policy returns null": "the approval policy gave an answer that is not known",
    // Tools have no context schema here.
    "needsApproval function with invalid tool context throws": "approved",
    // A signature has one form, and what is none is said to be malformed.
    "secret, malformed signature": "malformed",
    "secret, empty signature": "malformed",
    "signature checked before schema": "malformed",
    // A secret that can be guessed is refused when the layer is built.
    "empty string secret": "InvalidSecret",
    // A date is what it is on the wire, not `{}`.
    "signed, Date input loses identity: other date verifies": "mismatch"
  }

  const picked = ({ approvalRequest, approvalResponse, toolCall }: Approval.AnsweredApproval) =>
    plain({ approvalRequest, approvalResponse, toolCall })
  const messages = ["user", "assistant", "tool"].map((role) => ({ role, content: [] }))

  for (const vector of vectors.validate as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const asked: Array<any> = []
        const answered = typeof vector.toolApproval === "string" ? answers[vector.toolApproval]! : undefined
        const policy: any = answered === undefined
          ? vector.toolApproval ?? undefined
          : (call: unknown, context: Tool.ApprovalContext) =>
            Effect.andThen(Effect.sync(() => asked.push({ call, messages: context.messages })), answered)
        const approved = [plain(vector.approval) as Approval.AnsweredApproval]
        const validating = Approval.validate({ approved, denied: [] }, {
          tools,
          policy,
          messages,
          refine: vector.refine === null ? undefined : refinements[vector.refine]!
        }).pipe(
          Effect.provide(
            vector.secret === null ? unsigned : vector.secret === "" ? Layer.merge(signed, signerOf("")) : signed
          )
        )
        const deviation = deviations[vector.name]

        if (vector.secret === "") {
          assert.strictEqual((yield* Effect.flip(validating))._tag as string, deviation)
          return
        }
        if (vector.secret !== null) assert.strictEqual(vector.secret, secret)
        if (deviation === "malformed" || deviation === "mismatch") {
          assert.include(yield* Effect.flip(validating), { _tag: "InvalidSignature", reason: deviation })
          return
        }
        if (vector.throws !== undefined && deviation === undefined) {
          assertError(yield* Effect.flip(validating), vector.throws)
          return
        }

        const validated = yield* validating
        const [refused] = validated.invalid
        if (deviation !== undefined) {
          const counts = [validated.approved.length, validated.denied.length, validated.invalid.length]
          if (deviation === "approved") assert.deepStrictEqual(counts, [1, 0, 0])
          else if (deviation.includes(" ")) {
            assert.deepStrictEqual(counts, [0, 1, 0])
            assert.include(validated.denied[0]!.approvalResponse, { approved: false, reason: deviation })
          } else {
            assert.deepStrictEqual(counts, [0, 0, 1])
            assert.strictEqual(refused!.error._tag, deviation)
          }
        } else {
          assert.deepStrictEqual(validated.approved.map(picked), plain(vector.approved))
          assert.deepStrictEqual(validated.denied.map(picked), plain(vector.denied))
          assert.deepStrictEqual(validated.invalid.map(picked), vector.invalid.map(picked))
          for (const [index, { error }] of vector.invalid.entries()) {
            const here = validated.invalid[index]!.error
            assert.strictEqual(here._tag, tags[error.$error])
            // Which schema issues there are is told in other words; that the outcome differs, in the same.
            if (error.cause.$error === "Error") assert.include(here.message, error.cause.message)
          }
        }
        assert.deepStrictEqual(validated.forwarded, [])
        const policyCalls = plain(vector.policyCalls ?? [])
        assert.strictEqual(asked.length, policyCalls.length)
        for (const [index, { messageRoles, toolCall }] of policyCalls.entries()) {
          assert.deepInclude(asked[index].call, toolCall)
          assert.deepStrictEqual(asked[index].messages.map(({ role }: any) => role), messageRoles)
        }
      }))
  }

  it("every deviation names a case", () => assertNames(deviations, vectors.validate))
})

/** `tool1` of the vectors, and what it was given. */
const tool1 = (options: { readonly needsApproval?: boolean; readonly isClient?: boolean } = {}) => {
  const { executed, execute } = recorder(({ value }) => `result-${value}`)
  const tool = Tool.make("tool1", {
    inputSchema: z.object({ value: z.string() }),
    needsApproval: options.needsApproval,
    ...options.isClient === true ? {} : {
      execute: (input: { readonly value: string }) =>
        Effect.andThen(
          execute(input),
          input.value === "fail" ? Effect.fail(new Error("exec failed")) : Effect.succeed(`result-${input.value}`)
        )
    }
  })
  return { tools: ToolSet.make(tool) as ToolSet.ToolSet, executedValues: () => executed.map(({ value }) => value) }
}

describe("the answers of a policy, case by case", () => {
  const answers: Record<string, unknown> = {
    undefined: undefined,
    "{}": {},
    "{other: 'approved'}": { other: "approved" },
    "{tool1: null}": { tool1: null },
    "() => undefined": () => Effect.succeed(undefined),
    "() => 'denied'": () => Effect.succeed("denied"),
    "() => 'deny'": () => Effect.succeed("deny"),
    "() => 'user-approval'": () => Effect.succeed("user-approval"),
    "() => 'approved'": () => Effect.succeed("approved"),
    "() => true": () => Effect.succeed(true),
    "() => false": () => Effect.succeed(false),
    "() => null": () => Effect.succeed(null),
    "() => ({reason:'x'})": () => Effect.succeed({ reason: "x" }),
    throws: () => Effect.fail(new Error("policy down"))
  }

  const unknownAnswer = "the approval policy gave an answer that is not known"

  /** The reason of the denial, or the error that answers the call. */
  const deviations: Record<string, string> = {
    // An answer that is not known denies, where the SDK runs the tool.
    "unknown status string fails open": unknownAnswer,
    "boolean true fails open": unknownAnswer,
    "boolean false": unknownAnswer,
    "object without type": unknownAnswer,
    // A policy that fails denies its call, where the SDK fails as a whole.
    "null from fn": unknownAnswer,
    "fn throws": "the approval policy failed: policy down",
    // Nothing is asked or run, and the call is answered.
    "finish reason length: approved but not executed":
      "Tool tool1 was not run: the answer that proposed it was cut off. Propose the call again."
  }

  /** Messages with the IDs of the vectors, whose IDs are numbered, and without the prefixes that the SDK's texts have. */
  const normalised = (messages: unknown): any =>
    JSON.parse(JSON.stringify(plain(messages)), (key, member) => {
      if (key === "approvalId") return "id-1"
      return typeof member === "string" ? member.replace(/^AI_\w+Error: /, "") : member
    })

  for (const vector of vectors.statusHandling as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const { executedValues, tools } = tool1({
          needsApproval: vector.name.startsWith("needsApproval true"),
          isClient: vector.name.startsWith("tool without execute")
        })
        const isUnknown = vector.name.startsWith("unknown tool")
        const call = raw(isUnknown ? "nope" : "tool1", isUnknown ? "{}" : "{\"value\":\"v\"}", {
          ...vector.name.startsWith("toolCallId __proto__") ? { toolCallId: "__proto__" } : {},
          ...vector.name.startsWith("provider executed") ? { providerExecuted: true } : {}
        })
        const isNamed = typeof vector.toolApproval === "string"
        if (isNamed) assert.isTrue(Object.hasOwn(answers, vector.toolApproval), vector.toolApproval)
        const step = yield* ToolStep.run([call], {
          tools,
          policy: (isNamed ? answers[vector.toolApproval] : vector.toolApproval) as ApprovalPolicy.ApprovalPolicy,
          finishReason: vector.name.startsWith("finish reason length") ? "length" : "tool-calls"
        })
        const deviation = deviations[vector.name]
        if (deviation !== undefined) {
          assert.deepStrictEqual(executedValues(), [])
          const last = step.messages.at(-1)!.content.at(-1) as Message.ToolResultPart
          assert.deepStrictEqual(
            last.output,
            vector.name.startsWith("finish reason")
              ? { type: "error-text", value: deviation }
              : { type: "execution-denied", reason: deviation }
          )
          assert.strictEqual(step.approvals.length, vector.name.startsWith("finish reason") ? 0 : 1)
          return
        }
        // `generateText` loses a request under `__proto__`; `streamText` does not.
        const expected = call.toolCallId === "__proto__" ? vector.streamText : vector.generateText
        assert.deepStrictEqual(executedValues(), expected.executed)
        const responseMessages = normalised(expected.responseMessages)
        assert.deepStrictEqual(normalised(step.messages), responseMessages)
        const isAnswered = responseMessages.some(({ content }: any) =>
          content.some(({ type }: any) => type === "tool-result")
        )
        assert.strictEqual(step.awaiting.length, isAnswered || call.providerExecuted === true ? 0 : 1)
      }).pipe(Effect.provide(unsigned)))
  }

  it("every deviation names a case", () => assertNames(deviations, vectors.statusHandling))
})

describe("resuming, case by case", () => {
  const policies: Record<string, ApprovalPolicy.ApprovalPolicy> = {
    "{tool1:{type:'denied',reason:'policy'}}": { tool1: ApprovalPolicy.denied("policy") }
  }

  interface Expected {
    readonly executed: ReadonlyArray<string>
    readonly output?: Message.ToolResultOutput
    readonly awaiting?: ReadonlyArray<string>
    readonly stale?: ReadonlyArray<string>
  }
  const answered = (value: string): Expected => ({ executed: [], output: { type: "error-text", value } })

  const deviations: Record<string, Expected | { readonly _tag: string }> = {
    // The schema's issues in our words.
    "invalid approved input": answered(
      "Invalid input for tool tool1: /value: expected string"
    ),
    // A call that cannot be run is answered, where the SDK leaves it without a result and then fails for that.
    "unknown tool approved": answered("Model tried to call unavailable tool 'gone'. Available tools: tool1."),
    // What was answered is run, and what still waits is said; the SDK runs it and then fails.
    "only one of two answered": { executed: ["v"], output: { type: "text", value: "result-v" }, awaiting: ["c2"] },
    // What is no signature is said to be one that is malformed.
    "malformed signature": { _tag: "InvalidSignature" },
    // The call has its result: nothing is run a second time.
    "signed replay: approve again after execution": { executed: [], stale: ["ap-1"] },
    // Yes and no is no approval, whichever comes first.
    "duplicate responses": answered(
      "The call was not run: its approval was answered with both yes and no. Propose the call again."
    )
  }

  const toolMessagesOf = (messages: ReadonlyArray<any>) => messages.filter(({ role }) => role === "tool")

  for (const vector of vectors.resume as ReadonlyArray<any>) {
    it.effect(vector.name, () =>
      Effect.gen(function*() {
        const { executedValues, tools } = tool1()
        const resuming = Approval.resume({
          messages: plain(vector.messages),
          tools,
          policy: vector.toolApproval === null ? undefined : policies[vector.toolApproval]!
        }).pipe(Effect.provide(vector.secret === null ? unsigned : signed))
        const deviation = deviations[vector.name]
        if (vector.throws !== undefined || deviation !== undefined && "_tag" in deviation) {
          assert.include(yield* Effect.flip(resuming), deviation as object)
          assert.deepStrictEqual(executedValues(), [])
          return
        }
        const { generateText } = vector
        if (generateText.throws !== undefined && deviation === undefined) {
          assertError(yield* Effect.flip(resuming), generateText.throws)
          assert.deepStrictEqual(executedValues(), [])
          return
        }
        const resumed = yield* resuming
        if (deviation !== undefined) {
          const { awaiting = [], executed, output, stale = [] } = deviation as Expected
          assert.deepStrictEqual(executedValues(), [...executed])
          const results = resumed.responseMessages.flatMap(({ content }) =>
            content as ReadonlyArray<Message.ToolResultPart>
          )
          assert.deepStrictEqual(results.map((part) => part.output), output === undefined ? [] : [output])
          assert.deepStrictEqual(resumed.awaiting.map(({ toolCall }) => toolCall.toolCallId), [...awaiting])
          assert.deepStrictEqual(resumed.stale.map(({ approvalRequest }) => approvalRequest.approvalId), stale)
          return
        }
        assert.deepStrictEqual(executedValues(), generateText.executed)
        assert.deepStrictEqual(plain(resumed.responseMessages), plain(toolMessagesOf(generateText.responseMessages)))
        // What the model is sent next; that an answer is for the provider is said by its part, where the SDK has only that left.
        const sent = toolMessagesOf(Message.forModel(resumed.messages)).map(({ content, role }) => ({
          role,
          content: content.map(({ providerExecuted: _, ...part }: any) => part)
        }))
        assert.deepStrictEqual(plain(sent), plain(toolMessagesOf(generateText.prompt)))
        assert.deepStrictEqual(resumed.awaiting, [])
      }))
  }

  it("every deviation names a case", () => assertNames(deviations, vectors.resume))
})
