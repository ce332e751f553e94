/**
 * @since 0.1.0
 */
export * as Edit from "./Edit.ts"
export * as EffectJsonSchema from "./EffectJsonSchema.ts"
export * as InputIssue from "./InputIssue.ts"
export * as InputSchema from "./InputSchema.ts"
export * as JsonSchemaValidator from "./JsonSchemaValidator.ts"
export * as Limits from "./Limits.ts"
export * as RawToolCall from "./RawToolCall.ts"
export * as Refinement from "./Refinement.ts"
export * as Repair from "./Repair.ts"
export * as RepairText from "./RepairText.ts"
export * as StrictJson from "./StrictJson.ts"
export * as Tool from "./Tool.ts"
export * as ToolCall from "./ToolCall.ts"
export * as ToolCallError from "./ToolCallError.ts"
export * as ToolSet from "./ToolSet.ts"
