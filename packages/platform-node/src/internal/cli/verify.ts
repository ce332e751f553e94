/**
 * `countersign verify`: says whether approvals are signed.
 */
import { ApprovalSigner } from "@countersign/core/ApprovalSigner"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as JsonLines from "./jsonLines.ts"
import * as LineFields from "./lineFields.ts"
import * as SecretEnv from "./secretEnv.ts"
import * as SignedLine from "./signedLine.ts"

const readLine = LineFields.reader({
  schema: Schema.Struct({ ...SignedLine.fields, signature: Schema.optionalKey(Schema.String) }),
  exact: SignedLine.exact
})

export const verify = Command.make(
  "verify",
  { secretEnv: SecretEnv.flag },
  Effect.fnUntraced(
    function*(_) {
      const signer = yield* ApprovalSigner
      yield* JsonLines.run({
        bad: "invalid",
        concurrency: 8,
        answer: Effect.fnUntraced(function*(text) {
          const line = yield* readLine(text)
          const fields = yield* SignedLine.signedFields(line)
          const { signature } = line
          const answer = { ...LineFields.idOf(line), ...fields, ...(signature === undefined ? {} : { signature }) }
          return yield* signer.verify(signature, fields).pipe(
            Effect.as({ ...answer, status: "valid", valid: true }),
            Effect.catchTag(
              "InvalidSignature",
              ({ reason }) => Effect.succeed({ ...answer, status: "invalid", valid: false, reason })
            ),
            // node:crypto is there.
            Effect.orDie
          )
        })
      })
    },
    (effect, { secretEnv }) => Effect.provide(effect, SecretEnv.layer([secretEnv]))
  )
).pipe(
  Command.withShortDescription("Verify signed approvals, one JSON object a line"),
  Command.withDescription(
    "Reads signed approvals from standard input, as sign writes them. Writes each, in the same order, with \"valid\" and, " +
      "where it is not, the \"reason\": missing, malformed or mismatch. The secret is the text of the environment variable " +
      "that --secret-env names, as it is. Where it has several lines, each is a secret, and any of them may have signed. " +
      "Exits with 1 if a line is invalid, and with 2 if there is no secret, or one of fewer than 16 bytes."
  ),
  Command.withExamples([{ command: "countersign verify --secret-env APPROVAL_SECRET < approvals.jsonl" }])
)
