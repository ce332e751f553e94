/** A process that resumes what it is sent. It says when it is ready, when a tool runs, and what each resume came to. */
import * as ManagedRuntime from "effect/ManagedRuntime"
import { ask, layer, makeTools, resume, type Settings } from "./program.ts"

const settings: Settings = JSON.parse(process.env["COUNTERSIGN_CRASH"] ?? "")
const send = (message: unknown) => process.send?.(message)

const runtime = ManagedRuntime.make(layer(settings))
const tools = makeTools(settings, () => send("runs"))

// Everything is loaded and compiled before the first resume that counts.
const { messages } = await runtime.runPromise(ask(tools, "once", 0))
await runtime.runPromise(resume(tools, messages))

process.on("message", (messages: ReadonlyArray<unknown>) => {
  void runtime.runPromise(resume(tools, messages)).then(send)
})
process.on("disconnect", () => process.exit())
send("ready")
