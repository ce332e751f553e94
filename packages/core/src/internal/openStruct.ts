/**
 * Schemas of objects that other programs write. What they have in common: the keys that are known are checked, all others are kept,
 * and an optional key may also be there with the value `undefined`, as in the AI SDK's own objects.
 */
import * as Schema from "effect/Schema"

const anyKey = [Schema.Record(Schema.String, Schema.Unknown)] as const

/**
 * An object with these keys and any others. A key `__proto__` is a key like any other.
 *
 * @internal
 */
export const openStruct = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), anyKey)

/** @internal */
export const optionalString = Schema.optional(Schema.String)

/** @internal */
export const optionalBoolean = Schema.optional(Schema.Boolean)

/** @internal */
export const optionalUnknown = Schema.optionalKey(Schema.Unknown)

/**
 * By provider. What a provider reads there is its own affair.
 *
 * @internal
 */
export const optionalOptions = Schema.optional(Schema.Record(Schema.String, Schema.Unknown))

/**
 * The type of something that is passed on as it is: any but those that are checked.
 *
 * @internal
 */
export const typeOtherThan = (isChecked: (type: string) => boolean) =>
  Schema.String.check(
    Schema.makeFilter((type: string) => !isChecked(type), { expected: "a type that is not checked" })
  )
