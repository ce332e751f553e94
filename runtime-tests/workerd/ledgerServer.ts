/** Two Workers of `ledgerWorker.ts` with one Durable Object, in a workerd that may be killed and started anew on the same disk. */
import { build } from "esbuild"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"

const workerd: string = createRequire(import.meta.url)("workerd").default

export interface LedgerServer {
  /** How often the tool ran for each approval. */
  readonly executions: ReadonlyMap<string, number>
  /** Starts workerd anew; answers the URLs of both Workers. */
  readonly start: () => Promise<ReadonlyArray<string>>
  /** By SIGKILL, at once. */
  readonly kill: () => Promise<void>
  readonly remove: () => Promise<void>
}

export const makeServer = async (): Promise<LedgerServer> => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-ledger-"))
  const executions = new Map<string, number>()
  const tool = createServer(({ url }, response) => {
    const approval = url!.slice(1)
    executions.set(approval, (executions.get(approval) ?? 0) + 1)
    response.end(`done: ${approval}`)
  })
  await new Promise<void>((done) => tool.listen(0, "127.0.0.1", done))
  const storage = join(directory, "storage")
  await mkdir(storage)
  await build({
    entryPoints: [join(import.meta.dirname, "ledgerWorker.ts")],
    outfile: join(directory, "worker.js"),
    bundle: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
    logLevel: "error"
  })
  const config = join(directory, "workerd.capnp")
  await writeFile(config, capnp(storage, (tool.address() as AddressInfo).port))

  let child: ChildProcess | undefined
  const kill = async () => {
    if (child === undefined) return
    const closed = new Promise<void>((done) => child!.once("close", () => done()))
    child.kill("SIGKILL")
    await closed
    child = undefined
  }

  return {
    executions,
    start: async () => {
      await kill()
      child = spawn(workerd, ["serve", config, "--control-fd=3"], { stdio: ["ignore", "ignore", "pipe", "pipe"] })
      let log = ""
      child.stderr!.setEncoding("utf8").on("data", (chunk) => log += chunk)
      const urls = new Map<string, string>()
      for await (const line of createInterface({ input: child.stdio[3] as NodeJS.ReadableStream })) {
        const { port, socket } = JSON.parse(line) as { readonly port?: number; readonly socket?: string }
        if (port !== undefined) urls.set(socket!, `http://127.0.0.1:${port}`)
        if (urls.size === 2) return [...urls.values()]
      }
      throw new Error(`workerd ended before it listened: ${log}`)
    },
    kill,
    remove: async () => {
      await kill()
      tool.closeAllConnections()
      tool.close()
      await rm(directory, { recursive: true })
    }
  }
}

const capnp = (storage: string, toolPort: number): string =>
  `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "first", worker = .first),
    (name = "second", worker = .second),
    (name = "tool", external = (address = "127.0.0.1:${toolPort}", http = ())),
    (name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true))
  ],
  sockets = [
    (name = "first", address = "127.0.0.1:0", http = (), service = "first"),
    (name = "second", address = "127.0.0.1:0", http = (), service = "second")
  ]
);

const first :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "COUNTERSIGN", durableObjectNamespace = "RecordStoreObject"), (name = "TOOL", service = "tool")],
  durableObjectNamespaces = [(className = "RecordStoreObject", uniqueKey = "records", enableSql = true)],
  durableObjectStorage = (localDisk = "storage")
);

const second :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [
    (name = "COUNTERSIGN", durableObjectNamespace = (className = "RecordStoreObject", serviceName = "first")),
    (name = "TOOL", service = "tool")
  ]
);
`
