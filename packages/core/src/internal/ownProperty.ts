/**
 * Sets an own property whatever the key is called: plain assignment of `__proto__` would replace the prototype.
 *
 * @internal
 */
export const setOwn = (target: object, key: string | number, value: unknown): void => {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, configurable: true, enumerable: true, writable: true })
  } else {
    ;(target as Record<string | number, unknown>)[key] = value
  }
}
