import { build, type Plugin } from "esbuild"
import { mkdir, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"

export interface Bundle {
  readonly root: string
  /** Modules loaded at global scope, where a Worker may neither set timers nor draw random numbers. */
  readonly modules: ReadonlyArray<string>
  readonly tests: ReadonlyArray<string>
  readonly outdir: string
}

/** Bundles the test files into one Worker; answers the path of its workerd configuration. */
export const bundle = async ({ modules, outdir, root, tests }: Bundle): Promise<string> => {
  await build({
    stdin: { contents: entry(root, modules, tests), resolveDir: root, sourcefile: "entry.ts", loader: "ts" },
    bundle: true,
    format: "esm",
    target: "es2024",
    outfile: join(outdir, "worker.js"),
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    external: ["cloudflare:*"],
    define: { ALLOW_ONLY: String(process.env.CI === undefined) },
    plugins: [nodeBuiltinsThrow],
    sourcemap: true,
    sourcesContent: false,
    logLevel: "error"
  })
  const config = join(outdir, "workerd.capnp")
  const storage = join(outdir, "storage")
  await mkdir(storage)
  await writeFile(config, capnp(outdir, storage))
  return config
}

const entry = (root: string, modules: Bundle["modules"], tests: Bundle["tests"]): string =>
  [
    ...modules.map((file, index) => `import * as module${index} from ${JSON.stringify(file)}`),
    `globalThis.modules = [${modules.map((_, index) => `module${index}`).join(", ")}]`,
    "const files = {",
    ...tests.map((file) => `  ${JSON.stringify(relative(root, file))}: () => import(${JSON.stringify(file)}),`),
    "}",
    `export * from ${JSON.stringify(join(import.meta.dirname, "objects.ts"))}`,
    "export default {",
    "  async test(_controller, env) {",
    `    const { run } = await import(${JSON.stringify(join(import.meta.dirname, "worker.ts"))})`,
    "    await run(files, env)",
    "  }",
    "}"
  ].join("\n")

/** A test file that imports a Node module fails by itself, with a message, instead of taking the Worker down. */
const nodeBuiltinsThrow: Plugin = {
  name: "node-builtins-throw",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ importer, path }) => ({
      path: `${path} (imported by ${importer})`,
      namespace: "node-builtin"
    }))
    onLoad({ filter: /.*/, namespace: "node-builtin" }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`no such module in this Worker: ${path}`)}); module.exports = {}`
    }))
  }
}

/** Without Node's compatibility layer, so that `process`, `Buffer` and `node:` are as absent as they can be. */
const capnp = (outdir: string, storage: string): string =>
  `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (
      name = "tests",
      worker = (
        modules = [(name = "worker", esModule = embed "worker.js")],
        compatibilityDate = "2026-11-01",
        compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
        bindings = [
          (name = "REPORT", service = "report"),
          (name = "COUNTERSIGN", durableObjectNamespace = "RecordStoreObject"),
          (name = "FRAIL", durableObjectNamespace = "FrailObject")
        ],
        durableObjectNamespaces = [
          (className = "RecordStoreObject", uniqueKey = "records", enableSql = true),
          (className = "FrailObject", uniqueKey = "frail", enableSql = true)
        ],
        durableObjectStorage = (localDisk = "storage")
      )
    ),
    (name = "storage", disk = (path = ${JSON.stringify(storage)}, writable = true)),
    (name = "report", disk = (path = ${JSON.stringify(outdir)}, writable = true))
  ]
);
`
