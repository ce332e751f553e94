/**
 * One text for one JSON value: the AI SDK's canonical JSON byte for byte, and the digest that an approval's signature covers.
 *
 * Two values that JSON holds to be equal have the same text, whatever the order of their keys. So the text, and with it a
 * signature, survives storage (Postgres `jsonb` sorts keys anew) and transport.
 *
 * A value that is not plain JSON is brought to it first, as `JSON.stringify` would for the wire, so that a value and what
 * arrives at the other end have the same text too. What the wire would lose or change in silence is refused with
 * {@link NotJson}. There this differs from the AI SDK, whose text is one that other values have as well, or is no JSON:
 *
 * | value | AI SDK | here |
 * | --- | --- | --- |
 * | a member that is `undefined` | `"key":undefined` | left out |
 * | a hole in an array | nothing: `[1,,2]` | `null`, as for an element that is `undefined` |
 * | a `Date`, an object with `toJSON` | `{}`, or its members | what `toJSON` gives |
 * | `NaN`, `Infinity`, a date that is none | `null`, `{}` | refused |
 * | a `Map`, `Set`, `RegExp`, an error, an instance of a class | `{}`, or its members | refused |
 * | a function or symbol in an object or array | `undefined`, or nothing | refused |
 * | `undefined`, a function or symbol by itself | no text; the digest of no bytes | refused |
 * | a `BigInt`, a cycle | `TypeError`, `RangeError` | refused |
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Crypto } from "./Crypto.ts"
import { toPointer } from "./InputIssue.ts"
import { plainJson, Refused } from "./internal/plainJson.ts"
import { printable } from "./internal/printable.ts"
import { sortedCopy } from "./internal/sortedCopy.ts"
import { writeJson } from "./internal/writeJson.ts"

/**
 * A value has no JSON that means the same. `pointer` is the JSON Pointer of what is at fault, `reason` what it is:
 *
 * - `undefined` (only where nothing else is, the root): use `null`. `function`, `symbol`. `bigint`: send it as a string.
 * - `not-finite`: `NaN` or an infinity; `invalid-date`: a `Date` that holds `NaN`
 * - `cycle`: an object inside itself
 * - `instance`: a `Map`, an error, or another object that is not plain and has no `toJSON`: give a plain object or an array.
 * - `unreadable`: reading it threw, in a getter, a proxy or a `toJSON`
 *
 * The message holds no value.
 *
 * @example
 * ```ts
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 *
 * const error = new CanonicalJson.NotJson({ pointer: "/items/0", reason: "bigint" })
 * error.message // => "not a JSON value at /items/0: bigint"
 * ```
 *
 * @category errors
 * @since 0.1.0
 */
export class NotJson extends Schema.TaggedError<NotJson>("@countersign/core/CanonicalJson/NotJson")("NotJson", {
  pointer: Schema.String,
  reason: Schema.Literals([
    "undefined",
    "function",
    "symbol",
    "bigint",
    "not-finite",
    "invalid-date",
    "cycle",
    "instance",
    "unreadable"
  ])
}) {
  override get message(): string {
    const at = this.pointer === "" ? "" : ` at ${printable(this.pointer, 200)}`
    return `not a JSON value${at}: ${this.reason}`
  }
}

/**
 * Brings a value to plain JSON: what `JSON.parse` gives at the other end of a wire, with the keys in the same order.
 *
 * Members that are `undefined` are left out, elements that are become `null`, `toJSON` is applied (`Date`, `URL`, Temporal),
 * `-0` becomes `0`. Symbol keys and members that are not enumerable are left out. What JSON would lose or change otherwise
 * fails with {@link NotJson}. The result shares nothing with the value.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 *
 * const input = { at: new Date(0), note: undefined, list: [undefined] }
 * Result.getOrThrow(CanonicalJson.toJson(input)) // => { at: "1970-01-01T00:00:00.000Z", list: [null] }
 *
 * const refused = CanonicalJson.toJson({ items: [new Map()] })
 * Result.isFailure(refused) && refused.failure.pointer // => "/items/0"
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const toJson = (value: unknown): Result.Result<Schema.Json, NotJson> => {
  const plain = plainJson(value)
  return plain instanceof Refused
    ? Result.fail(new NotJson({ pointer: toPointer(plain.path), reason: plain.reason }))
    : Result.succeed(plain.json as Schema.Json)
}

/**
 * The canonical text of a value, or why it has none. See {@link stringify}.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 *
 * CanonicalJson.encode([1.0, "é"]) // => Result.succeed("[1,\"é\"]")
 * Result.isFailure(CanonicalJson.encode(Number.NaN)) // => true
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const encode = (value: unknown): Result.Result<string, NotJson> => {
  const copy = sortedCopy(value)
  return copy === undefined ? Result.map(toJson(value), writeJson) : Result.succeed(JSON.stringify(copy.value))
}

/**
 * The canonical text of a value: no spaces, the keys of each object sorted by their UTF-16 code units, numbers and strings
 * as `JSON.stringify` writes them.
 *
 * Throws {@link NotJson} for what {@link toJson} refuses; {@link encode} does not throw. Takes a value of any depth.
 *
 * @example
 * ```ts
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 *
 * CanonicalJson.stringify({ b: [1e21, -0], a: "/" }) // => "{\"a\":\"/\",\"b\":[1e+21,0]}"
 * CanonicalJson.stringify({ 10: 1, 9: 2 }) // => "{\"10\":1,\"9\":2}"
 * ```
 *
 * @category converting
 * @since 0.1.0
 */
export const stringify = (value: unknown): string => {
  const text = encode(value)
  if (Result.isFailure(text)) throw text.failure
  return text.success
}

/** @internal */
export const digestOfText = (crypto: Crypto["Service"], text: string): Effect.Effect<string> =>
  Effect.map(crypto.sha256(text), Base64Url.encode)

/**
 * The digest of a value's canonical text: SHA-256 of its UTF-8, as base64url without padding, 43 characters.
 *
 * For a value that is known to be JSON. Dies with {@link NotJson} for what {@link toJson} refuses.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CanonicalJson from "@countersign/core/CanonicalJson"
 * import * as NodeCrypto from "@countersign/platform-node/NodeCrypto"
 *
 * const digest = (value: unknown) => Effect.runSync(Effect.provide(CanonicalJson.digest(value), NodeCrypto.layer))
 * digest({}) // => "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"
 * digest({ a: 1, b: 2 }) === digest({ b: 2, a: 1 }) // => true
 * ```
 *
 * @category hashing
 * @since 0.1.0
 */
export const digest = (value: unknown): Effect.Effect<string, never, Crypto> =>
  Effect.flatMap(Crypto, (crypto) => digestOfText(crypto, stringify(value)))
