import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"

/** Everything that a program shows: its logs, its spans, and how it ended. */
export const shown = Effect.fnUntraced(function*<A, E, R>(program: Effect.Effect<A, E, R>) {
  const texts: Array<string> = []
  const show = (value: unknown) => texts.push(inspect(value, { depth: 20, showHidden: true, maxStringLength: null }))
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const exit = yield* program.pipe(
    Effect.provide(
      Logger.layer([
        Logger.make(({ cause, message }) => texts.push(inspect(message, { depth: 20 }), Cause.pretty(cause)))
      ])
    ),
    Effect.provideService(References.MinimumLogLevel, "All"),
    Effect.withTracer(tracer),
    Effect.exit
  )
  // A cause refers to its spans, and these to all values: neither is what is logged or exported.
  const showFailure = (exit: Exit.Exit<unknown, unknown>) => {
    if (exit._tag === "Success") return
    texts.push(Cause.pretty(exit.cause))
    for (const reason of exit.cause.reasons) if (reason._tag === "Fail") show(reason.error)
  }
  showFailure(exit)
  for (const { attributes, name, status } of spans) {
    show([name, attributes])
    if (status._tag === "Ended") showFailure(status.exit)
  }
  return texts.join("\n")
})
