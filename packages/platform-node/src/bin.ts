#!/usr/bin/env node
/**
 * The `countersign` command, as a process.
 */
import * as RecordStore from "@countersign/core/RecordStore"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Runtime from "effect/Runtime"
import { CommandFailed } from "./internal/cli/commandFailed.ts"
import * as Countersign from "./internal/cli/countersign.ts"
import * as NodeCountersign from "./NodeCountersign.ts"

// A closed pipe is reported to whoever writes; without a listener it would crash the process as well.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {})

const statusOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  const error = Cause.findErrorOption(exit.cause)
  if (Option.isSome(error) && error.value instanceof CommandFailed) return error.value.status
  console.error(`countersign: this is a bug, please report it\n${Cause.pretty(exit.cause)}`)
  return 2
}

// Standard input may still be open, so the process has to be ended; what was written has to arrive before.
const teardown: Runtime.Teardown = (exit) => {
  const status = statusOf(exit)
  process.stdout.write("", () => process.stderr.write("", () => process.exit(status)))
}

NodeRuntime.runMain(
  Effect.provide(Countersign.run, Layer.merge(NodeServices.layer, NodeCountersign.layerStore(RecordStore.layerMemory))),
  { disableErrorReporting: true, teardown }
)
