/**
 * The secrets of approvals. They come by the environment: arguments can be read by everybody on the machine.
 */
import * as ApprovalSigner from "@countersign/core/ApprovalSigner"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as NodeCrypto from "../../NodeCrypto.ts"
import { CommandFailed } from "./commandFailed.ts"

export const flag = Flag.String("secret-env").pipe(
  Flag.withMetavar("<name>"),
  Flag.withDescription("The environment variable that holds the secret; several stand one a line, the first signs")
)

/** The signer with the secrets of environment variables. */
export const layer = (
  names: ReadonlyArray<string>
): Layer.Layer<ApprovalSigner.ApprovalSigner, CommandFailed> =>
  Layer.unwrap(Effect.map(Effect.forEach(names, secretsOf), (secrets) => {
    const ring = secrets.flat()
    return ApprovalSigner.layer({ secrets: ring.map(({ secret }) => secret) }).pipe(
      Layer.provide(NodeCrypto.layer),
      Layer.catch((error) => {
        const { name, number } = ring[error._tag === "InvalidSecret" ? error.index ?? 0 : 0]!
        const fault = error._tag === "InvalidSecret" ? `secret ${number} is too short` : error.message
        return Layer.effect(ApprovalSigner.ApprovalSigner)(Effect.fail(unusable(name, fault)))
      })
    )
  }))

const secretsOf = Effect.fnUntraced(function*(name: string) {
  const text = yield* Effect.mapError(Config.Redacted(name), () => unusable(name, "is not set, or empty"))
  const lines = Redacted.value(text).split(/\r?\n/).filter((line) => line !== "")
  if (lines.length === 0) return yield* unusable(name, "is empty")
  return lines.map((line, index) => ({ name, number: index + 1, secret: Redacted.make(line) }))
})

const unusable = (name: string, fault: string) =>
  new CommandFailed({
    status: 2,
    message:
      `--secret-env ${name}: ${fault}. Put a secret of at least ${ApprovalSigner.minSecretBytes} bytes into that ` +
      "environment variable, such as that of: openssl rand -base64 32"
  })
