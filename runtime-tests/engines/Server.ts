/** A server of an engine for one test file or one script: a free port, a folder of its own, nothing left afterwards. */
import { spawn } from "node:child_process"
import { chown, mkdtemp } from "node:fs/promises"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"

/** A server on 127.0.0.1 whose data and port stay the same however often it is stopped and started. */
export interface Server {
  readonly port: number
  /** Holds the data and the file `log`. */
  readonly directory: string
  /** Resolves when the server answers. */
  readonly start: () => Promise<void>
  /** In good order: what was written is kept. */
  readonly stop: () => Promise<void>
  /** By SIGKILL, at once. */
  readonly kill: () => Promise<void>
  /** The process keeps its connections and the system accepts new ones, but nothing is answered until `thaw`. */
  readonly freeze: () => Promise<void>
  readonly thaw: () => Promise<void>
  /** Ends the server and removes its folder. The end of this process, by SIGKILL too, does the same. */
  readonly remove: () => Promise<void>
}

/** The user and group that a server runs as. */
export interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Is the parent of the server. Its input ends with the process that writes it, however that process ends.
 * A signal is sent until the server is gone: while it starts it may ignore one.
 */
const keeper = `
directory=$1 final=$2
shift 2
end() {
  while kill -CONT "$server" && kill -"$1" "$server"; do sleep 1; done >/dev/null &
  sender=$!
  wait "$server"
  kill "$sender"
  server=
}
while read -r word signal; do
  case $word in
    start) "$@" </dev/null >>"$directory/log" 2>&1 & server=$! ;;
    send) kill -"$signal" "$server"; echo done ;;
    end) end "$signal"; echo done ;;
  esac
done
if [ -n "$server" ]; then end "$final"; fi
rm -rf "$directory"
`

/** What makes one engine different from another. */
export interface Kind {
  readonly name: string
  readonly owner?: Owner | undefined
  /** The signal that ends it in good order. */
  readonly stop: NodeJS.Signals
  /** The signal that ends it when its data is no longer needed. */
  readonly final: NodeJS.Signals
  readonly command: (directory: string, port: number) => ReadonlyArray<string>
  /** Is run once, before the first start. */
  readonly prepare: (directory: string) => Promise<void>
  /** What a client without a password says first, and how the answer begins once the server serves. */
  readonly hello: { readonly request: string; readonly answer: string }
}

/** Starts a new server. */
export const startServer = async (kind: Kind): Promise<Server> => {
  const directory = await mkdtemp(join(tmpdir(), `countersign-${kind.name}-`))
  if (kind.owner !== undefined) await chown(directory, kind.owner.uid, kind.owner.gid)
  const port = await freePort()
  // A session of its own: Ctrl-C in a terminal reaches the tests, and the keeper sees them end.
  const shell = spawn("sh", [
    "-c",
    keeper,
    "keeper",
    directory,
    signalName(kind.final),
    ...kind.command(directory, port)
  ], {
    cwd: directory,
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
    ...kind.owner
  })
  const closed = new Promise<void>((done) => shell.once("close", () => done()))
  const answers = createInterface({ input: shell.stdout })
  const tell = (line: string) => shell.stdin.write(`${line}\n`)
  const done = async (word: "send" | "end", signal: NodeJS.Signals) => {
    const answer = new Promise<void>((resolve) => answers.once("line", () => resolve()))
    tell(`${word} ${signalName(signal)}`)
    await answer
  }
  const server: Server = {
    port,
    directory,
    start: async () => {
      tell("start")
      await serves(kind, port)
    },
    stop: () => done("end", kind.stop),
    kill: () => done("end", "SIGKILL"),
    freeze: () => done("send", "SIGSTOP"),
    thaw: () => done("send", "SIGCONT"),
    remove: async () => {
      shell.stdin.end()
      await closed
    }
  }
  try {
    await kind.prepare(directory)
    await server.start()
  } catch (error) {
    await server.remove()
    throw error
  }
  return server
}

/** How the shell names it. */
const signalName = (signal: NodeJS.Signals): string => signal.slice("SIG".length)

const freePort = (): Promise<number> =>
  new Promise((done, fail) => {
    const probe = createServer()
    probe.once("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === "object" && address !== null ? done(address.port) : fail(new Error("no port"))
      )
    })
  })

const serves = async (kind: Kind, port: number): Promise<void> => {
  const deadline = Date.now() + 15_000
  while (!(await ask(port, kind.hello.request)).startsWith(kind.hello.answer)) {
    if (Date.now() > deadline) throw new Error(`${kind.name} does not answer on port ${port}`)
    await sleep(20)
  }
}

/** The first bytes of the answer; nothing when there is none within a second. */
const ask = (port: number, request: string): Promise<string> =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(request))
    const finish = (answer: string) => {
      socket.destroy()
      done(answer)
    }
    socket.once("data", (data) => finish(data.toString("latin1")))
    socket.once("error", () => finish(""))
    socket.once("close", () => finish(""))
    socket.setTimeout(1000, () => finish(""))
  })
