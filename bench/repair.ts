/**
 * How well and how fast malformed arguments are repaired, beside other libraries: `node repair.ts`, or one part of it,
 * `node repair.ts correctness`, `speed`, `linearity` or `call`. `node repair.ts speed 16` measures texts of 16 KB alone.
 *
 * Progress is on stderr, what was measured on stdout.
 */
import { argv } from "node:process"
import { call } from "./recovery/call.ts"
import { correctness } from "./recovery/correctness.ts"
import { linearity } from "./recovery/linearity.ts"
import { speed } from "./recovery/speed.ts"

const [part, size] = argv.slice(2)
const parts = new Map<string, () => Promise<void>>([
  ["correctness", correctness],
  ["speed", () => speed(size === undefined ? undefined : Number(size))],
  ["linearity", linearity],
  ["call", call]
])

const chosen = part === undefined ? [...parts.values()] : [parts.get(part)]
for (const run of chosen) {
  if (run === undefined || !(size === undefined || Number(size) > 0)) {
    console.error("Usage: node repair.ts [correctness | speed [KB] | linearity | call]")
    process.exitCode = 1
    break
  }
  await run()
}
