import type { SourceMap } from "node:module"
import { join, relative } from "node:path"

/** Rewrites the bundle's positions in a stack trace to the sources', without the test runner's own frames. */
export const sourceStack = (map: SourceMap, { outdir, root }: { outdir: string; root: string }) => (stack: string) =>
  stack
    .replace(/\bworker:(\d+):(\d+)/g, (position, line, column) => {
      const origin = map.findOrigin(Number(line), Number(column))
      return "fileName" in origin
        ? `${relative(root, join(outdir, origin.fileName))}:${origin.lineNumber}:${origin.columnNumber}`
        : position
    })
    .replace(/node_modules\/\.pnpm\/[^/]+\//g, "")
    .split("\n")
    .filter((line) => !runnerFrame.test(line))
    .join("\n")

const runnerFrame = /^\s+at .*(node_modules\/(@effect\/)?vitest\/|workerd\/worker\.ts|new Promise \(<anonymous>\))/
