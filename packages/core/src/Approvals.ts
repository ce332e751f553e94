/**
 * The inbox: questions that wait for a person, kept on the server until they are answered or expire.
 *
 * ```text
 * ToolStep.run ── pending ──▶ add ──▶ RecordStore ──▶ list, watch ──▶ a person who may see it
 *                                         │ ▲                              │
 * Approval.resume ◀── toResume ◀── get ───┘ └──────── answer, once ◀───────┘ who may answer it
 * ```
 *
 * `add`, `get`, `list` and `watch` are for the server itself, and see everything. What is done for a person goes through
 * `inbox(approver)`, and asks the {@link ApprovalAuthority} of the application. There is no other way to answer.
 *
 * A question holds the input of its call: the store keeps content. It goes when the approval expires.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { PendingApproval } from "./Approval.ts"
import { ApprovalExpired, InvalidToolApproval } from "./ApprovalError.ts"
import * as ApprovalId from "./ApprovalId.ts"
import * as CanonicalJson from "./CanonicalJson.ts"
import { Crypto } from "./Crypto.ts"
import * as Record from "./internal/approvals/record.ts"
import { inPieces } from "./internal/approvals/rows.ts"
import { shareSnapshots } from "./internal/approvals/snapshot.ts"
import { type Filter, watchInbox } from "./internal/approvals/watch.ts"
import { base64Url } from "./internal/base64Url.ts"
import { printable } from "./internal/printable.ts"
import { finiteMillis } from "./internal/store/finiteMillis.ts"
import { recordId } from "./internal/store/recordId.ts"
import { withoutUndefined } from "./internal/withoutUndefined.ts"
import type * as Message from "./Message.ts"
import { type ListedRecord, RecordStore, StoreUnavailable } from "./RecordStore.ts"

/**
 * What a person says to a question. `input` is the input as the person changed it, for a tool with `allowEdits`.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * Schema.is(Approvals.Answer)({ approvalId: "a1", approved: false, reason: "too much" }) // => true
 * Schema.is(Approvals.Answer)({ approvalId: "a1", approved: "yes" }) // => false
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const Answer: Schema.Codec<Answer> = Schema.Struct({ approvalId: Schema.String, ...Record.answerFields })

/**
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
  readonly input?: unknown
}

/**
 * An answer that counts: what was said, by whom, and when in milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface RecordedAnswer extends Omit<Answer, "approvalId"> {
  readonly answeredBy: string
  readonly answeredAt: number
}

/**
 * A question as the inbox keeps it. Times are in milliseconds since 1970.
 *
 * - `expiresAt`: as the approval's ID says. Not there where it says nothing of that.
 * - `keptUntil`: when the inbox forgets it.
 * - `answer`: not there while it waits.
 *
 * @example
 * ```ts
 * import * as Schema from "effect/Schema"
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * Schema.is(Approvals.StoredApproval)({
 *   approvalRequest: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
 *   toolCall: { type: "tool-call", toolCallId: "c1", toolName: "restart", input: {} },
 *   addedAt: 0,
 *   keptUntil: 60_000
 * }) // => true
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export const StoredApproval: Schema.Codec<StoredApproval> = Record.storedApproval

/**
 * @category models
 * @since 0.1.0
 */
export interface StoredApproval extends PendingApproval {
  readonly addedAt: number
  readonly expiresAt?: number
  readonly keptUntil: number
  readonly answer?: RecordedAnswer
}

/**
 * A question was not added:
 *
 * - `other-request`: another one with its ID is there.
 * - `no-question`: it is none that a person can answer. The policy has answered it, it is about another call, or its ID is empty or
 *   malformed.
 * - `not-json`: it holds a value that has no JSON, or none from which a question can be read again.
 * - `expired`: it has expired already.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * new Approvals.ApprovalNotAdded({ approvalId: "a1", reason: "expired" }).message
 * // => "The question \"a1\" was not added: it has expired"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalNotAdded extends Schema.TaggedError<ApprovalNotAdded>(
  "@countersign/core/Approvals/ApprovalNotAdded"
)("ApprovalNotAdded", {
  approvalId: Schema.String,
  reason: Schema.Literals(["other-request", "no-question", "not-json", "expired"])
}) {
  override get message(): string {
    return `The question "${printable(this.approvalId, 200)}" was not added: ${notAdded[this.reason]}`
  }
}

const notAdded: { readonly [Reason in ApprovalNotAdded["reason"]]: string } = {
  "other-request": "there is another one with its ID",
  "no-question": "it is none that a person can answer",
  "not-json": "it holds a value that has no JSON",
  expired: "it has expired"
}

/**
 * There is no such question: it was never added, has been forgotten since it expired, or is not for this person to see.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * new Approvals.ApprovalNotFound({ approvalId: "a1" }).message // => "There is no question \"a1\""
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalNotFound extends Schema.TaggedError<ApprovalNotFound>(
  "@countersign/core/Approvals/ApprovalNotFound"
)("ApprovalNotFound", { approvalId: Schema.String }) {
  override get message(): string {
    return `There is no question "${printable(this.approvalId, 200)}"`
  }
}

/**
 * The question has another answer, which counts: what it says, who gave it, and when in milliseconds since 1970.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * const answer = { approvalId: "a1", approved: true, answeredBy: "user 7", answeredAt: 0 }
 * new Approvals.ApprovalAlreadyAnswered(answer).message // => "The question \"a1\" was answered with yes before"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalAlreadyAnswered extends Schema.TaggedError<ApprovalAlreadyAnswered>(
  "@countersign/core/Approvals/ApprovalAlreadyAnswered"
)("ApprovalAlreadyAnswered", {
  approvalId: Schema.String,
  approved: Schema.Boolean,
  answeredBy: Schema.String,
  answeredAt: Schema.Finite
}) {
  override get message(): string {
    return `The question "${printable(this.approvalId, 200)}" was answered with ${this.approved ? "yes" : "no"} before`
  }
}

/**
 * The {@link ApprovalAuthority} does not let this person give this answer. They may see the question.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * new Approvals.NotAllowed({ approvalId: "a1" }).message // => "The question \"a1\" is for somebody else to answer"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAllowed extends Schema.TaggedError<NotAllowed>("@countersign/core/Approvals/NotAllowed")(
  "NotAllowed",
  { approvalId: Schema.String }
) {
  override get message(): string {
    return `The question "${printable(this.approvalId, 200)}" is for somebody else to answer`
  }
}

/**
 * The application cannot say now who somebody is, or what they may do. `reason` says why, and holds no secret.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * new Approvals.AuthorityUnavailable({ reason: "the directory does not answer" }).message
 * // => "Nobody can say who may answer: the directory does not answer"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class AuthorityUnavailable extends Schema.TaggedError<AuthorityUnavailable>(
  "@countersign/core/Approvals/AuthorityUnavailable"
)("AuthorityUnavailable", { reason: Schema.String }) {
  override get message(): string {
    return `Nobody can say who may answer: ${printable(this.reason, 500)}`
  }
}

/**
 * Who may see a question, and who may answer it: the application implements it. Whatever is not `true` is a no, and whoever may not
 * see a question may not answer it either. `approver` is the ID of a person as the application knows it.
 *
 * `ApprovalId.isFor` says whether a question was asked of somebody.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * const treasurers = new Set(["user 7"])
 * const authority = Layer.succeed(Approvals.ApprovalAuthority)({
 *   maySee: (approver) => Effect.succeed(treasurers.has(approver)),
 *   mayAnswer: (approver, { toolCall }, { approved }) =>
 *     Effect.succeed(!approved || toolCall.toolName === "refund" && treasurers.has(approver))
 * })
 * Layer.isLayer(authority) // => true
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class ApprovalAuthority extends Context.Service<ApprovalAuthority, {
  readonly maySee: (approver: string, approval: StoredApproval) => Effect.Effect<boolean, AuthorityUnavailable>
  readonly mayAnswer: (
    approver: string,
    approval: StoredApproval,
    answer: Answer
  ) => Effect.Effect<boolean, AuthorityUnavailable>
}>()("@countersign/core/Approvals/ApprovalAuthority") {}

/**
 * Which questions to list: those that wait if not said otherwise, and have not expired.
 *
 * `after` is the `next` of a page. `limit` is 1 to 1,000, and 100 if not given.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListOptions {
  readonly status?: "pending" | "answered" | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/**
 * Questions, those of this library's IDs in the order in which they expire. Where `next` is there, more may follow, even if the page
 * is not full.
 *
 * @category models
 * @since 0.1.0
 */
export interface Page {
  readonly approvals: ReadonlyArray<StoredApproval>
  readonly next?: string
}

/**
 * A page for the server: `corrupt` names the records that cannot be read. They hide no others, and nobody can answer them.
 *
 * @category models
 * @since 0.1.0
 */
export interface FullPage extends Page {
  readonly corrupt: ReadonlyArray<string>
}

/**
 * What happens to the questions: one waits, one has been answered, or one is gone without an answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Event =
  | { readonly _tag: "Pending"; readonly approval: StoredApproval }
  | { readonly _tag: "Answered"; readonly approval: StoredApproval }
  | { readonly _tag: "Gone"; readonly approvalId: string }

/**
 * How often to look: every second if not given. All who watch share a look: what happens is told after twice as long at the latest.
 *
 * @category models
 * @since 0.1.0
 */
export interface WatchOptions {
  readonly interval?: Duration.Input | undefined
}

/**
 * The questions of one person. One that they may not see is not found. Their `signature` is left out: it would let whoever sees a
 * question put it to a server that takes questions from its clients.
 *
 * `answer` gives the question with the answer that counts, which is the first. The same answer again is no error.
 *
 * @category models
 * @since 0.1.0
 */
export interface Inbox {
  readonly get: (
    approvalId: string
  ) => Effect.Effect<StoredApproval, ApprovalNotFound | AuthorityUnavailable | StoreUnavailable>
  readonly list: (options?: ListOptions) => Effect.Effect<Page, AuthorityUnavailable | StoreUnavailable>
  readonly watch: (options?: WatchOptions) => Stream.Stream<Event, AuthorityUnavailable | StoreUnavailable>
  readonly answer: (answer: Answer) => Effect.Effect<StoredApproval, AnswerError>
}

/**
 * Why an answer does not count.
 *
 * @category models
 * @since 0.1.0
 */
export type AnswerError =
  | ApprovalNotFound
  | NotAllowed
  | ApprovalAlreadyAnswered
  | ApprovalExpired
  | InvalidToolApproval
  | CanonicalJson.NotJson
  | AuthorityUnavailable
  | StoreUnavailable

/**
 * The service.
 *
 * - `add` takes what `ToolStep.run` gives as `pending`. To add a question again changes nothing. Where one of several is refused,
 *   others may have been added.
 * - `get` and `list` give questions with their answers, for {@link toResume}. A record whose question is not the one that was answered
 *   is corrupt.
 * - `watch` begins with what waits, and goes on with what happens. It looks at intervals: what is added and answered between two looks
 *   is not told.
 * - `inbox` is all of that as one person may see it, and `answer`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Approvals from "@countersign/core/Approvals"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const authority = Layer.succeed(Approvals.ApprovalAuthority)({
 *   maySee: () => Effect.succeed(true),
 *   mayAnswer: (approver) => Effect.succeed(approver === "user 7")
 * })
 * const layer = Approvals.layer().pipe(Layer.provide([authority, RecordStore.layerMemory, NodeCrypto.layer]))
 *
 * const program = Effect.gen(function*() {
 *   const approvals = yield* Approvals.Approvals
 *   yield* approvals.add([{
 *     approvalRequest: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
 *     toolCall: { type: "tool-call", toolCallId: "c1", toolName: "restart", input: {} }
 *   }])
 *   const refused = yield* Effect.flip(approvals.inbox("user 8").answer({ approvalId: "a1", approved: true }))
 *   const { answer } = yield* approvals.inbox("user 7").answer({ approvalId: "a1", approved: false })
 *   return [refused._tag, answer?.approved, answer?.answeredBy]
 * })
 * await Effect.runPromise(Effect.provide(program, layer)) // => ["NotAllowed", false, "user 7"]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class Approvals extends Context.Service<Approvals, {
  readonly add: (requests: ReadonlyArray<PendingApproval>) => Effect.Effect<void, ApprovalNotAdded | StoreUnavailable>
  readonly get: (approvalId: string) => Effect.Effect<StoredApproval, ApprovalNotFound | StoreUnavailable>
  readonly list: (options?: ListOptions) => Effect.Effect<FullPage, StoreUnavailable>
  readonly watch: (options?: WatchOptions) => Stream.Stream<Event, StoreUnavailable>
  readonly inbox: (approver: string) => Inbox
}>()("@countersign/core/Approvals") {}

/**
 * - `name`: of the inbox, where several share a store; at most 200 characters.
 * - `clockTolerance`: how much longer than its approval a question is kept that nobody has answered: 10 seconds.
 * - `answerRetention`: how much longer than its approval a question is kept that has an answer: 1 day.
 * - `retention`: how long a question is kept whose ID says nothing of its expiry: 30 days. It has to be less than the `retention` of the
 *   ledger, which is 60 days if not given: what the ledger has forgotten could be resumed again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly name?: string | undefined
  readonly clockTolerance?: Duration.Input | undefined
  readonly answerRetention?: Duration.Input | undefined
  readonly retention?: Duration.Input | undefined
}

/** A page looks no further than this, so that it ends in bounded time. */
const maxRows = 10_000

/** A page with this much is full, in characters of JSON. */
const maxPageLength = 4 * 1024 * 1024

const corrupt = () => new StoreUnavailable({ reason: "the record of this question is corrupt, restore it" })

const contended = () => new StoreUnavailable({ reason: "others change the record of this question all the time" })

const make = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<Approvals["Service"], never, RecordStore | Crypto | ApprovalAuthority> {
  const store = yield* RecordStore
  const crypto = yield* Crypto
  const authority = yield* ApprovalAuthority
  // Whatever the name, no other collection has it.
  const collection = options.name === undefined ? "approvals" : `approvals:${options.name}`
  const tolerance = finiteMillis("clockTolerance", options.clockTolerance ?? "10 seconds", 0)
  const answerRetention = finiteMillis("answerRetention", options.answerRetention ?? "1 day", 0)
  const retention = finiteMillis("retention", options.retention ?? "30 days", 1_000)

  const idOf = (approvalId: string): Effect.Effect<string> =>
    Effect.provideService(recordId(approvalId), Crypto, crypto)

  const digestOf = (question: PendingApproval): Effect.Effect<string> =>
    CanonicalJson.digestOfText(crypto, CanonicalJson.stringify(questionOf(question)))

  /** Without `approval`: it is corrupt. */
  const look = Effect.fnUntraced(function*(approvalId: string) {
    const id = yield* idOf(approvalId)
    const found = yield* store.get({ collection, id })
    return found === undefined ? undefined : { approval: yield* read({ ...found, id }), version: found.version }
  })

  const find = Effect.fnUntraced(function*(approvalId: string) {
    const found = yield* look(approvalId)
    return found === undefined ? undefined : found.approval ?? (yield* corrupt())
  })

  const findReadable = (approvalId: string) => Effect.map(look(approvalId), (found) => found?.approval)

  /** `undefined`: it is corrupt, the record of another question, or its answer is to another question. */
  const read = Effect.fnUntraced(function*({ id, value }: ListedRecord) {
    const record = Option.getOrUndefined(Record.decode(value))
    if (record === undefined) return undefined
    const { approval, questionDigest } = record
    if ((yield* idOf(approval.approvalRequest.approvalId)) !== id) return undefined
    return approval.answer === undefined || (yield* digestOf(approval)) === questionDigest ? approval : undefined
  })

  const write = Effect.fnUntraced(function*(value: string, approval: StoredApproval, expected: string | undefined) {
    const id = yield* idOf(approval.approvalRequest.approvalId)
    const version = base64Url(yield* crypto.randomBytes(16))
    const tag = approval.answer === undefined ? "pending" : "answered"
    const ttlMillis = approval.keptUntil - (yield* Clock.currentTimeMillis)
    return yield* store.set({ collection, id }, { value, expected, version, tag, ttlMillis })
  })

  const addOne = Effect.fnUntraced(function*(question: PendingApproval) {
    const approvalId = asText(question?.approvalRequest?.approvalId)
    const refuse = (reason: ApprovalNotAdded["reason"]) => new ApprovalNotAdded({ approvalId, reason })
    if (approvalId === "" || typeof question.toolCall?.toolCallId !== "string") return yield* refuse("no-question")
    const { approvalRequest, toolCall } = question
    const claims = ApprovalId.parse(approvalId)
    if (
      claims._tag === "Malformed" || approvalRequest.isAutomatic === true ||
      approvalRequest.toolCallId !== toolCall.toolCallId
    ) {
      return yield* refuse("no-question")
    }
    const addedAt = yield* Clock.currentTimeMillis
    const expiresAt = claims._tag === "Claims" ? claims.expiresAt : undefined
    if (expiresAt !== undefined && expiresAt <= addedAt) return yield* refuse("expired")
    const approval = withoutUndefined<StoredApproval>({
      approvalRequest,
      toolCall,
      addedAt,
      expiresAt,
      keptUntil: expiresAt === undefined ? addedAt + retention : expiresAt + tolerance
    })
    const text = Result.getOrUndefined(Record.encode({ approval, questionDigest: undefined }))
    if (text === undefined || Option.isNone(Record.decode(text))) return yield* refuse("not-json")
    for (let attempt = 0; attempt < 10; attempt++) {
      if (yield* write(text, approval, undefined)) return
      const found = yield* find(approvalId)
      if (found === undefined) continue
      if (isSame(questionOf(found), questionOf(approval))) return
      return yield* refuse("other-request")
    }
    return yield* contended()
  })

  const getOne = (approvalId: string): Effect.Effect<StoredApproval, ApprovalNotFound | StoreUnavailable> =>
    Effect.flatMap(find(approvalId), (found) =>
      found === undefined
        ? Effect.fail(new ApprovalNotFound({ approvalId }))
        : Effect.succeed(found))

  const page = Effect.fnUntraced(function*<E>({ after, limit, status }: ListOptions, isShown: Filter<E>) {
    const wanted = Math.min(Math.max(Math.trunc(limit ?? 100) || 1, 1), 1000)
    const approvals: Array<StoredApproval> = []
    const corrupt: Array<string> = []
    const tag = status ?? "pending"
    const readPiece = inPieces((after, limit) => store.list({ collection, tag, after, limit }))
    let before = ""
    let next: string | undefined
    let last = after === undefined || isRecordId.test(after) ? after : yield* idOf(after)
    let length = 0
    for (let seen = 0; seen < maxRows;) {
      const { isLast, rows } = yield* readPiece(last, maxRows - seen)
      const now = yield* Clock.currentTimeMillis
      for (const row of rows) {
        before = last ?? ""
        last = row.id
        next = undefined
        const approval = yield* read(row)
        if (approval === undefined) corrupt.push(next = row.id)
        else if ((tag === "answered" || expiry(approval) > now) && (yield* isShown(approval))) {
          next = row.id
          approvals.push(approval)
          length += row.value.length
          if (approvals.length === wanted || length >= maxPageLength) return { approvals, corrupt, next }
        }
      }
      if (isLast) return { approvals, corrupt }
      seen += rows.length
    }
    return { approvals, corrupt, next: next ?? placeBetween(before, last ?? "") }
  })

  const snapshot = shareSnapshots({
    list: (after, limit) => store.list({ collection, tag: "pending", after, limit }),
    find: findReadable,
    read,
    expiry
  })

  const watch = <E>(
    options: WatchOptions | undefined,
    isShown: Filter<E>
  ): Stream.Stream<Event, E | StoreUnavailable> =>
    watchInbox({ snapshot, find: findReadable, isShown, interval: options?.interval ?? "1 second" })

  const answerAs = Effect.fnUntraced(function*(
    approver: string,
    given: Answer
  ): Effect.fn.Return<StoredApproval, AnswerError> {
    if (typeof given !== "object" || given === null || !isAnswer(withoutUndefined(given))) {
      return yield* new InvalidToolApproval({ approvalId: asText(given?.approvalId), reason: "malformed" })
    }
    const { approvalId, approved, reason } = given
    const input = Object.hasOwn(given, "input") && given.input !== undefined
      ? { input: yield* Effect.fromResult(CanonicalJson.toJson(given.input)) }
      : {}
    const said = withoutUndefined<Omit<Answer, "approvalId">>({ approved, reason, ...input })
    for (let attempt = 0; attempt < 10; attempt++) {
      const found = yield* look(approvalId)
      if (found === undefined) return yield* new ApprovalNotFound({ approvalId })
      const { approval = yield* corrupt(), version } = found
      if ((yield* authority.maySee(approver, approval)) !== true) return yield* new ApprovalNotFound({ approvalId })
      const mayAnswer = yield* authority.mayAnswer(approver, approval, { approvalId, ...said })
      if (mayAnswer !== true) return yield* new NotAllowed({ approvalId })
      if (approval.answer !== undefined) {
        const { answeredAt, answeredBy, ...before } = approval.answer
        if (isSame(before, said)) return approval
        return yield* new ApprovalAlreadyAnswered({ approvalId, approved: before.approved, answeredAt, answeredBy })
      }
      const now = yield* Clock.currentTimeMillis
      if (expiry(approval) <= now) {
        const { toolCallId } = approval.toolCall
        return yield* new ApprovalExpired({ approvalId, toolCallId, expiredAt: expiry(approval) })
      }
      const answered: StoredApproval = {
        ...approval,
        // What does not expire can be resumed for as long as it is here, and the ledger must not have forgotten it by then.
        keptUntil: approval.expiresAt === undefined
          ? approval.keptUntil
          : Math.max(approval.keptUntil, approval.expiresAt + answerRetention),
        answer: { ...said, answeredBy: approver, answeredAt: now }
      }
      const record = { approval: answered, questionDigest: yield* digestOf(approval) }
      const text = yield* Effect.fromResult(Record.encode(record))
      if (Option.isNone(Record.decode(text))) return yield* new InvalidToolApproval({ approvalId, reason: "malformed" })
      if (yield* write(text, answered, version)) return answered
    }
    return yield* contended()
  })

  return {
    add: (requests) => Effect.forEach(requests, addOne, { discard: true, concurrency: 8 }),
    get: getOne,
    list: (options = {}) => page(options, everything),
    watch: (options) => watch(options, everything),
    inbox: (approver) => {
      const isShown: Filter<AuthorityUnavailable> = (approval) =>
        Effect.map(authority.maySee(approver, approval), (maySee) => maySee === true)
      return {
        get: (approvalId) =>
          Effect.flatMap(getOne(approvalId), (approval) =>
            Effect.flatMap(isShown(approval), (maySee) =>
              maySee
                ? Effect.succeed(withoutSignature(approval))
                : Effect.fail(new ApprovalNotFound({ approvalId })))),
        list: (options = {}) =>
          Effect.map(
            page(options, isShown),
            ({ approvals, next }) => withoutUndefined<Page>({ approvals: approvals.map(withoutSignature), next })
          ),
        watch: (options) =>
          Stream.map(
            watch(options, isShown),
            (event) => event._tag === "Gone" ? event : { ...event, approval: withoutSignature(event.approval) }
          ),
        answer: (answer) => Effect.map(answerAs(approver, answer), withoutSignature)
      }
    }
  }
})

const isAnswer = Schema.is(Answer)

const everything: Filter<never> = () => Effect.succeed(true)

/** What begins a `recordId`, and every engine takes. */
const isRecordId = /^[=#][^\p{Cc}\p{Cs}]{0,249}$/u

/** A place behind `before` and not behind `id` that shows no more of `id` than it needs: whoever has it may not see that question. */
const placeBetween = (before: string, id: string): string => {
  const [left, right] = [[...before], [...id]]
  const shared = right.findIndex((char, index) => char !== left[index])
  return right.slice(0, shared + 1).join("")
}

/** What a caller without types gives may be anything. */
const asText = (value: unknown): string => typeof value === "string" ? value : ""

const expiry = ({ expiresAt, keptUntil }: StoredApproval): number => expiresAt ?? keptUntil

const questionOf = ({ approvalRequest, toolCall }: PendingApproval): PendingApproval => ({ approvalRequest, toolCall })

const isSame = (one: unknown, other: unknown): boolean =>
  CanonicalJson.stringify(one) === CanonicalJson.stringify(other)

const withoutSignature = (approval: StoredApproval): StoredApproval => {
  const { signature: _, ...approvalRequest } = approval.approvalRequest
  return { ...approval, approvalRequest }
}

/**
 * The inbox over a `RecordStore`. Build it once.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Approvals from "@countersign/core/Approvals"
 * import * as RecordStore from "@countersign/core/RecordStore"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const authority = Layer.succeed(Approvals.ApprovalAuthority)({
 *   maySee: (approver) => Effect.succeed(approver === "user 7"),
 *   mayAnswer: (approver) => Effect.succeed(approver === "user 7")
 * })
 * const layer = Approvals.layer({ retention: "7 days" }).pipe(
 *   Layer.provide([authority, RecordStore.layerMemory, NodeCrypto.layer])
 * )
 * const program = Effect.flatMap(Approvals.Approvals, (approvals) => approvals.list())
 * await Effect.runPromise(Effect.provide(program, layer)) // => { approvals: [], corrupt: [] }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<Approvals, never, RecordStore | Crypto | ApprovalAuthority> => Layer.effect(Approvals)(make(options))

/**
 * What `Approval.resume` takes of questions that the inbox has: the questions, and the answers of those that have one.
 *
 * @example
 * ```ts
 * import * as Approvals from "@countersign/core/Approvals"
 *
 * const { requests, responses } = Approvals.toResume([{
 *   approvalRequest: { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
 *   toolCall: { type: "tool-call", toolCallId: "c1", toolName: "restart", input: {} },
 *   addedAt: 0,
 *   keptUntil: 60_000,
 *   answer: { approved: true, answeredBy: "user 7", answeredAt: 1_000 }
 * }])
 * requests.length // => 1
 * responses // => [{ type: "tool-approval-response", approvalId: "a1", approved: true }]
 * ```
 *
 * @category resuming
 * @since 0.1.0
 */
export const toResume = (approvals: ReadonlyArray<StoredApproval>): {
  readonly requests: ReadonlyArray<PendingApproval>
  readonly responses: ReadonlyArray<Message.ToolApprovalResponse>
} => ({
  requests: approvals.map(questionOf),
  responses: approvals.flatMap(({ answer, approvalRequest: { approvalId } }) => {
    if (answer === undefined) return []
    const { answeredAt: _at, answeredBy: _by, ...said } = answer
    return [{ type: "tool-approval-response", approvalId, ...said }]
  })
})
