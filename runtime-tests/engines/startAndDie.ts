/** Starts the engine that is named, says where, and is gone. */
import { writeSync } from "node:fs"
import * as Postgres from "./Postgres.ts"
import * as Redis from "./Redis.ts"

const { directory, port } = await (process.argv[2] === "Postgres" ? Postgres : Redis).start()
writeSync(1, JSON.stringify({ directory, port }))
process.kill(process.pid, "SIGKILL")
