/**
 * From Effect's tree of schema issues to a flat list of places, none of which repeats the input.
 */
import * as SchemaIssue from "effect/SchemaIssue"
import { type InputIssue, toPointer } from "../InputIssue.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "MissingKey":
        return "missing required key"
      case "UnexpectedKey":
        return "unexpected key"
      default:
        return SchemaIssue.defaultLeafHook(issue)
    }
  }
})

/** @internal */
export const fromEffectIssue = (issue: SchemaIssue.Issue): ReadonlyArray<InputIssue> =>
  format(issue).issues.map(({ message, path }) => ({
    pointer: toPointer((path ?? []).map((step) => typeof step === "object" ? step.key : step)),
    message: message.replace(/^Expected /, "expected ")
  }))

/** Every problem is reported, no key is dropped in silence, and no issue holds the input. */
/** @internal */
export const parseOptions = { errors: "all", onExcessProperty: "error" } as const
