/**
 * What `sign` and `verify` have in common: the line that is signed, and who signs it.
 */
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import type { CryptoUnavailable } from "@countersign/core/Crypto"
import { Limits } from "@countersign/core/Limits"
import * as StrictJson from "@countersign/core/StrictJson"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as NodeCrypto from "../../NodeCrypto.ts"
import { CommandFailed } from "./commandFailed.ts"
import { InvalidLine } from "./invalidLine.ts"
import * as LineFields from "./lineFields.ts"

/** The secret comes by the environment: arguments can be read by everybody on the machine. */
export const secretEnv = Flag.String("secret-env").pipe(
  Flag.withMetavar("<name>"),
  Flag.withDescription("The environment variable that holds the secret; several stand one a line, the first signs")
)

/** The signer with the secrets of an environment variable. */
export const layerFromEnv = (name: string): Layer.Layer<ApprovalSigner.ApprovalSigner, CommandFailed> => {
  const fail = (fault: string) =>
    new CommandFailed({
      status: 2,
      message:
        `--secret-env ${name}: ${fault}. Put a secret of at least ${ApprovalSigner.minSecretBytes} bytes into that ` +
        "environment variable, such as that of: openssl rand -base64 32"
    })
  const faultOf = (error: Config.ConfigError | ApprovalSigner.InvalidSecret | CryptoUnavailable): string => {
    switch (error._tag) {
      case "ConfigError":
        return "is not set, or empty"
      case "InvalidSecret":
        return error.reason === "none" ? "is empty" : `secret ${(error.index ?? 0) + 1} is too short`
      case "CryptoUnavailable":
        return error.message
    }
  }
  return ApprovalSigner.layerConfig({ secrets: Config.map(Config.Redacted(name), secretsOf) }).pipe(
    Layer.provide(NodeCrypto.layer),
    Layer.catch((error) => Layer.effect(ApprovalSigner.ApprovalSigner)(Effect.fail(fail(faultOf(error)))))
  )
}

const secretsOf = (text: Redacted.Redacted): ReadonlyArray<Redacted.Redacted> =>
  Redacted.value(text).split(/\r?\n/).filter((line) => line !== "").map((line) => Redacted.make(line))

export const fields = {
  id: Schema.optionalKey(Schema.Unknown),
  approvalId: Schema.String,
  toolCallId: Schema.String,
  toolName: Schema.String,
  input: Schema.Unknown
}

/** The fields in which no number may lose a digit. */
export const exact: ReadonlySet<string> = new Set(["id", "input"])

/** The fields of a line that a signature covers. An input that no tool call could have is none. */
export const signedFields = Effect.fnUntraced(function*(line: ApprovalSigner.SignedFields & { readonly id?: unknown }) {
  const { approvalId, input, toolCallId, toolName } = line
  const refusal = StrictJson.inspect(input, yield* Limits)
  if (refusal !== undefined) {
    return yield* new InvalidLine({ message: `/input: ${refusal.message}`, ...LineFields.idOf(line) })
  }
  return { approvalId, toolCallId, toolName, input }
})
