/**
 * An ID that nobody has used: a store may outlive the test.
 *
 * @internal
 */
export const newId = (): string =>
  (globalThis as unknown as { readonly crypto: { randomUUID(): string } }).crypto.randomUUID()
