import * as Flag from "effect/cli/Flag"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

export const flag = Flag.String("timeout").pipe(
  Flag.filterMap(
    (text) => Option.filter(Duration.fromInput(text as Duration.Input), isTimeout),
    (text) => `a duration such as "30 seconds", not "${text}"`
  ),
  Flag.withMetavar("<duration>")
)

const isTimeout = (duration: Duration.Duration): boolean => Duration.isPositive(duration) && Duration.isFinite(duration)
