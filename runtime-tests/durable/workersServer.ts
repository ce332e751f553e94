/**
 * Serves a Worker as `wrangler dev` does, with Workflows and Durable Objects whose state is kept in a folder:
 * `node workersServer.ts <wrangler.jsonc> <bundle> <state> <vars as JSON>`. Prints its URL, and ends with its input. It leads a process
 * group, of which workerd is a member.
 */
import { convertV4MiniflareOptions, Miniflare } from "miniflare"
import { readFileSync } from "node:fs"
import { dirname } from "node:path"

interface WranglerConfig {
  readonly name: string
  readonly compatibility_date: string
  readonly workflows: ReadonlyArray<{ readonly name: string; readonly binding: string; readonly class_name: string }>
  readonly durable_objects: { readonly bindings: ReadonlyArray<{ readonly name: string; readonly class_name: string }> }
  readonly vars: Record<string, string>
}

const [config, bundle, state, vars] = process.argv.slice(2) as [string, string, string, string]
const withoutComments = readFileSync(config, "utf8").replaceAll(/^\s*\/\/.*$/gm, "")
const wrangler: WranglerConfig = JSON.parse(withoutComments)

const miniflare = new Miniflare(convertV4MiniflareOptions({
  name: wrangler.name,
  compatibilityDate: wrangler.compatibility_date,
  // The local engine of Workflows lives by an older date: what has been the default since 2026-05-14 has to be said to it.
  compatibilityFlags: ["workflows_preserve_non_retryable_error_message"],
  // Of which workerd says that it need not be said.
  handleStructuredLogs: ({ level, message }) => {
    if (level === "error") console.error(message)
  },
  modules: [{ type: "ESModule", path: bundle }],
  modulesRoot: dirname(bundle),
  workflows: Object.fromEntries(
    wrangler.workflows.map(({ binding, class_name, name }) => [binding, { name, className: class_name }])
  ),
  durableObjects: Object.fromEntries(
    wrangler.durable_objects.bindings.map(({ class_name, name }) => [name, { className: class_name, useSQLite: true }])
  ),
  bindings: { ...wrangler.vars, ...JSON.parse(vars) },
  resourcePersistencePath: state,
  cf: false,
  telemetry: { enabled: false }
}))

console.log((await miniflare.ready).origin)
process.stdin.resume().on("close", () => process.kill(-process.pid, "SIGKILL"))
