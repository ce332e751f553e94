/** Objects as other programs write them. */
import * as Arbitrary from "effect/Arbitrary"
import * as Result from "effect/Result"
import * as CanonicalJson from "../src/CanonicalJson.ts"
import { setOwn } from "../src/internal/ownProperty.ts"
import { fragmentText, jsonValue, oneOf } from "./arbitraries.ts"

const names: Arbitrary.Arbitrary<string> = Arbitrary.flatMap(
  oneOf([true, false]),
  (isSpecial) =>
    isSpecial ? oneOf(["__proto__", "constructor", "toString", "hasOwnProperty", "then", "x", "0", ""]) : fragmentText
)

/** Keys that no schema knows, and their values. */
export const extraKeys: Arbitrary.Arbitrary<ReadonlyArray<readonly [string, unknown]>> = Arbitrary.array(
  Arbitrary.all([names, jsonValue]),
  { maxLength: 4 }
)

/** The object with further keys; those that it has already stay as they are. */
export const withKeys = (value: object, keys: ReadonlyArray<readonly [string, unknown]>): object => {
  const result = { ...value }
  for (const [key, member] of keys) if (!Object.hasOwn(result, key)) setOwn(result, key, member)
  return result
}

/** Whether two values are the same JSON, whatever their keys are called. */
export const sameText = (left: unknown, right: unknown): boolean =>
  Result.getOrThrow(CanonicalJson.encode(left)) === Result.getOrThrow(CanonicalJson.encode(right))

/** The fixtures write a key whose value is `undefined` as `{ "$undefined": true }`; such keys are left out here. */
export const withoutUndefinedKeys = (value: unknown): any => {
  if (Array.isArray(value)) return value.map(withoutUndefinedKeys)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => !(typeof member === "object" && member !== null && Object.hasOwn(member, "$undefined")))
      .map(([key, member]) => [key, withoutUndefinedKeys(member)])
  )
}
