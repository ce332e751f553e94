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

/**
 * The own property of that name: what every object inherits does not count.
 *
 * @internal
 */
export const getOwn = (target: unknown, key: PropertyKey): unknown =>
  typeof target === "object" && target !== null && Object.hasOwn(target, key)
    ? (target as Record<PropertyKey, unknown>)[key]
    : undefined

/**
 * What stands at a path, by own properties.
 *
 * @internal
 */
export const getAt = (target: unknown, path: ReadonlyArray<PropertyKey>): unknown => path.reduce(getOwn, target)
