/**
 * `countersign sign`: signs the questions that are put to a person.
 */
import { ApprovalSigner } from "@countersign/core/ApprovalSigner"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as JsonLines from "./jsonLines.ts"
import * as LineFields from "./lineFields.ts"
import * as SecretEnv from "./secretEnv.ts"
import * as SignedLine from "./signedLine.ts"

const readLine = LineFields.reader({ schema: Schema.Struct(SignedLine.fields), exact: SignedLine.exact })

export const sign = Command.make(
  "sign",
  { secretEnv: SecretEnv.flag },
  Effect.fnUntraced(
    function*(_) {
      const signer = yield* ApprovalSigner
      yield* JsonLines.run({
        bad: "refused",
        concurrency: 8,
        answer: Effect.fnUntraced(function*(text) {
          const line = yield* readLine(text)
          const fields = yield* SignedLine.signedFields(line)
          // The line is JSON, and node:crypto is there.
          const signature = yield* Effect.orDie(signer.sign(fields))
          return { ...LineFields.idOf(line), ...fields, status: "signed", signature }
        })
      })
    },
    (effect, { secretEnv }) => Effect.provide(effect, SecretEnv.layer([secretEnv]))
  )
).pipe(
  Command.withShortDescription("Sign approvals, one JSON object a line"),
  Command.withDescription(
    "Reads approvals from standard input, one JSON object a line: {\"approvalId\",\"toolCallId\",\"toolName\",\"input\"}, " +
      "with an \"id\" that is given back. Writes each with its signature, in the same order: that of the AI SDK, by " +
      "HMAC-SHA-256. The secret is the text of the environment variable that --secret-env names, as it is: it is not " +
      "decoded. Where it has several lines, each is a secret; the first one signs, and empty lines count for nothing. Exits " +
      "with 1 if a line is refused, and with 2 if there is no secret, or one of fewer than 16 bytes."
  ),
  Command.withExamples([{ command: "countersign sign --secret-env APPROVAL_SECRET < approvals.jsonl" }])
)
