/** How long one test may take, in every runtime, in milliseconds. */
export const testTimeout = 20_000
