import * as Flag from "effect/cli/Flag"

export const flag = Flag.Int("concurrency").pipe(
  Flag.filter((n) => n >= 1 && n <= 1024, (n) => `a number from 1 to 1024, not ${n}`),
  Flag.withMetavar("<n>"),
  Flag.withDescription("How many calls are worked on at a time"),
  Flag.withDefault(8)
)
