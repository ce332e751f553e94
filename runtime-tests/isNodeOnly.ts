/** Whether a test file makes sense on Node alone, and is left out of the other runtimes. */
export const isNodeOnly = (file: string): boolean => file.endsWith(".node.test.ts")

isNodeOnly.glob = "**/*.node.test.ts"
