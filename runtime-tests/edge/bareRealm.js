/**
 * Runs a bundle where the host is as good as absent: every global that is neither ECMAScript's own nor in `allowed` is
 * deleted first. Plain JavaScript, because Node 20 runs it too: `node bareRealm.js bundle.mjs [removed global...]`.
 *
 * Prints the outcome of the bundle's `run` as JSON.
 */
import { pathToFileURL } from "node:url"
import { runInNewContext } from "node:vm"

const allowed = [
  "TextDecoder",
  "TextEncoder",
  "URL",
  "clearTimeout",
  "crypto",
  "queueMicrotask",
  "setTimeout",
  "structuredClone"
]

const [, , bundle, ...removed] = process.argv
const bundleUrl = pathToFileURL(bundle).href
const print = process.stdout.write.bind(process.stdout)

const withoutSubtle = (crypto) => ({
  getRandomValues: crypto.getRandomValues.bind(crypto),
  randomUUID: crypto.randomUUID.bind(crypto)
})

if (removed.includes("crypto.subtle")) {
  Object.defineProperty(globalThis, "crypto", { value: withoutSubtle(crypto), configurable: true })
}

// A fresh context has ECMAScript's globals, and two of V8's own that are no part of it.
const ecmaScript = runInNewContext("Object.getOwnPropertyNames(globalThis)")
  .filter((name) => name !== "console" && name !== "WebAssembly")
const kept = new Set([...ecmaScript, ...allowed].filter((name) => !removed.includes(name)))

for (const name of Object.getOwnPropertyNames(globalThis)) {
  if (!kept.has(name)) delete globalThis[name]
}

const left = Object.getOwnPropertyNames(globalThis).filter((name) => !ecmaScript.includes(name)).sort()
const { run } = await import(bundleUrl)
const outcome = await run()
print(JSON.stringify({ globals: left, outcome }))
