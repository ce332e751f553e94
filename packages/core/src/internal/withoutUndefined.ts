/** The keys of `A`, those that it may lack with `undefined` for it. */
type WithUndefined<A> = { readonly [K in keyof A]: {} extends Pick<A, K> ? A[K] | undefined : A[K] }

/**
 * Leaves out the keys that are `undefined`, which JSON would drop. Name the type to have them checked as optional keys of it.
 *
 * @internal
 */
export const withoutUndefined: {
  <A extends object>(value: A): A
  <A extends object>(value: WithUndefined<A>): A
} = (value: object): any => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
