/**
 * Who makes a request. Cloudflare Access says so by a token that it signs. Its header with the mere address is not read: where a Worker
 * can be reached past Access, anybody can write it.
 */
import { env } from "cloudflare:workers"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

export class AccessUnavailable extends Schema.TaggedError<AccessUnavailable>("AccessUnavailable")("AccessUnavailable", {
  message: Schema.String
}) {}

const json = <S extends Schema.Constraint>(schema: S) =>
  Schema.StringFromBase64Url.pipe(Schema.decodeTo(Schema.fromJsonString(schema)))

const decodeHeader = Schema.decodeUnknownOption(
  json(Schema.Struct({ alg: Schema.Literal("RS256"), kid: Schema.String }))
)

/** What a program signs in with, and no person, has no address. `exp` is in seconds since 1970. */
const decodeClaims = Schema.decodeUnknownOption(
  json(Schema.Struct({
    iss: Schema.String,
    aud: Schema.Array(Schema.String),
    exp: Schema.Finite,
    email: Schema.NonEmptyString
  }))
)

const decodeSignature = Schema.decodeUnknownOption(Schema.Uint8ArrayFromBase64Url)

const Key = Schema.Struct({ kid: Schema.String, kty: Schema.Literal("RSA"), n: Schema.String, e: Schema.String })

const decodeKeys = Schema.decodeUnknownPromise(Schema.Struct({ keys: Schema.Array(Key) }))

/** The address of the person, or `undefined`. */
export const userOf = Effect.fnUntraced(function*(request: Request) {
  const [header, claims, signature] = (request.headers.get("cf-access-jwt-assertion") ?? "").split(".")
  const token = Option.getOrUndefined(Option.all({
    header: decodeHeader(header),
    claims: decodeClaims(claims),
    signature: decodeSignature(signature)
  }))
  if (token === undefined) return undefined
  const { aud, email, exp, iss } = token.claims
  const now = yield* Clock.currentTimeMillis
  if (iss !== env.ACCESS_TEAM || !aud.includes(env.ACCESS_AUDIENCE) || exp * 1000 <= now) return undefined
  const keys = yield* fetchKeys
  const key = keys.find(({ kid }) => kid === token.header.kid)
  if (key === undefined) return undefined
  return (yield* isSignedBy(key, token.signature, `${header}.${claims}`)) ? email : undefined
})

const attempt = <A>(run: (signal: AbortSignal) => Promise<A>) =>
  Effect.tryPromise({
    try: run,
    catch: () => new AccessUnavailable({ message: "the keys of Cloudflare Access cannot be had now" })
  })

/** Access has new keys every six weeks, and says the next ones beforehand. */
const fetchKeys = attempt(async (signal) => {
  const url = `${env.ACCESS_TEAM}/cdn-cgi/access/certs`
  const response = await fetch(url, { cf: { cacheTtl: 3_600, cacheEverything: true }, signal })
  return (await decodeKeys(await response.json())).keys
}).pipe(Effect.timeoutOrElse({
  duration: "5 seconds",
  orElse: () => Effect.fail(new AccessUnavailable({ message: "Cloudflare Access did not answer within 5 seconds" }))
}))

const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }

const isSignedBy = (key: typeof Key.Type, signature: Uint8Array, text: string) =>
  attempt(async () => {
    const imported = await crypto.subtle.importKey("jwk", { ...key }, rsa, false, ["verify"])
    return crypto.subtle.verify(rsa, imported, new Uint8Array(signature), new TextEncoder().encode(text))
  })
