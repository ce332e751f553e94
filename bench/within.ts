import { runInNewContext } from "node:vm"

/** Gives what a call gives and how long it takes, if it ends within that many milliseconds; it is stopped there. */
export const within = async <A>(
  milliseconds: number,
  run: () => A
): Promise<{ readonly answer: Awaited<A>; readonly took: number } | undefined> => {
  const start = performance.now()
  try {
    const answer = await runInNewContext("run()", { run }, { timeout: milliseconds })
    return { answer, took: performance.now() - start }
  } catch (error) {
    if ((error as { readonly code?: unknown } | undefined)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined
    throw error
  }
}
