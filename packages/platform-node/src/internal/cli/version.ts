import { readFileSync } from "node:fs"

// The same distance from `src` and from `dist`.
const packageJson = new URL("../../../package.json", import.meta.url)

export const version: string = JSON.parse(readFileSync(packageJson, "utf8")).version
