import { build } from "esbuild"
import { spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"

/** The binary itself: the package's command is a wrapper that passes no further descriptors on. */
const workerd: string = createRequire(import.meta.url)("workerd").default

export interface Served {
  readonly url: string
  readonly stop: () => void
}

/** Bundles a Worker as wrangler does, and serves it with the real workerd on a free port of this machine. */
export const serve = async (program: string): Promise<Served> => {
  const bundled = program.replace(/\.ts$/, ".bundle.js")
  await build({
    entryPoints: [program],
    outfile: bundled,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "error"
  })
  const config = join(dirname(program), "workerd.capnp")
  writeFileSync(
    config,
    `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(
    name = "main",
    worker = (modules = [(name = "worker", esModule = embed "${
      bundled.slice(dirname(program).length + 1)
    }")], compatibilityDate = "2026-11-01")
  )],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
`
  )
  const child = spawn(workerd, ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"]
  })
  const events = createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })
  for await (const line of events) {
    const event = JSON.parse(line) as { readonly event: string; readonly port?: number }
    if (event.event === "listen") return { url: `http://127.0.0.1:${event.port}`, stop: () => child.kill() }
  }
  throw new Error("workerd ended before it listened")
}
