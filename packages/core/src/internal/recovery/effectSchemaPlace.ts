/**
 * What an Effect Schema says about the JSON that it is decoded from.
 */
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import { anywhere, known, lazily, patternOf, type Place, Type, typesOf, unite } from "./place.ts"

const places = new WeakMap<SchemaAST.AST, Place>()

/** @internal */
export const placeOfEffectSchema = (schema: Schema.Constraint): Place => placeOf(Schema.toCodecJson(schema).ast)

const placeOf = (ast: SchemaAST.AST): Place => {
  let place = places.get(ast)
  if (place === undefined) places.set(ast, place = lazily(() => makePlace(ast)))
  return place
}

const makePlace = (ast: SchemaAST.AST): Place => {
  const { encoding } = ast
  if (encoding !== undefined && !isJsonNumber(ast)) {
    // A middleware may turn what its schema refuses into a value.
    return encoding.some(({ transformation }) => transformation._tag === "Middleware")
      ? anywhere
      : placeOf(encoding[encoding.length - 1]!.to)
  }
  switch (ast._tag) {
    case "Never":
      return placeOfValues([])
    case "Null":
      return placeOfValues([null])
    case "Literal":
      return placeOfValues([ast.literal])
    case "Enum":
      return placeOfValues(ast.enums.map(([, value]) => value))
    case "Boolean":
      return known({ types: Type.boolean })
    case "TemplateLiteral":
      return known({ types: Type.string })
    case "Number":
      return known({ types: Type.number, isInteger: checkOf(ast.checks, "isInt") !== undefined })
    case "String": {
      const { flags, source } = checkOf(ast.checks, "isPattern") as Partial<RegExp> | undefined ?? {}
      return known({
        types: Type.string,
        pattern: flags === "" || flags === "u" ? patternOf(source, flags) : undefined,
        isRegex: SchemaAST.resolve(ast)?.["format"] === "regex"
      })
    }
    case "Arrays": {
      const prefix = ast.elements.map(placeOf)
      return known({ types: Type.array, prefix, items: unite([...new Set([...prefix, ...ast.rest.map(placeOf)])]) })
    }
    case "Objects":
      return placeOfObjects(ast)
    case "Union":
      return unite(ast.types.map(placeOf))
    case "Suspend":
      return placeOf(ast.thunk())
  }
  return anywhere
}

const placeOfValues = (values: ReadonlyArray<unknown>): Place => known({ types: typesOf(values), values })

const placeOfObjects = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Place => {
  // To Effect a struct without members is any value but null.
  if (indexSignatures.length + propertySignatures.length === 0) return known({ types: Type.any - Type.null })
  return known({
    types: Type.object,
    members: propertySignatures.length > 0
      ? new Map(propertySignatures.map(({ name, type }) => [name as string, placeOf(type)]))
      : undefined,
    required: new Set(propertySignatures.filter(({ type }) => !isOptional(type)).map(({ name }) => name as string)),
    isClosed: indexSignatures.every(({ type }) => type._tag === "Never"),
    // A place of its own even where it takes anything: the schema says so.
    rest: lazily(() => unite(indexSignatures.map(({ type }) => placeOf(type))))
  })
}

const isOptional = (ast: SchemaAST.AST): boolean =>
  ast.encoding === undefined ? SchemaAST.isOptional(ast) : isOptional(ast.encoding[ast.encoding.length - 1]!.to)

/** Its codec also reads "NaN" and "Infinity", which an input must not be. */
const isJsonNumber = ({ _tag, encoding }: SchemaAST.AST): boolean =>
  _tag === "Number" &&
  encoding?.[0].transformation === Schema.toCodecJson(Schema.Number).ast.encoding?.[0].transformation

/** What a check was made with; `null` of one that takes nothing. */
const checkOf = (checks: ReadonlyArray<SchemaAST.Check<any>> | undefined, name: string): unknown => {
  for (const check of checks ?? []) {
    const { id, payload } = check.annotations?.representation ?? {}
    const found = id === `effect/schema/${name}`
      ? payload
      : check._tag === "FilterGroup"
      ? checkOf(check.checks, name)
      : undefined
    if (found !== undefined) return found
  }
}
