/**
 * The objects and lists that are open at a place of the text, the innermost first.
 */
import type { Place } from "./place.ts"

/** @internal */
export interface Frame {
  readonly parent: Frame | undefined
  readonly depth: number
  /** The code of the bracket that ends it. */
  readonly closer: number
  readonly isList: boolean
  readonly target: Record<string, unknown> & Array<unknown>
  readonly place: Place
  /** The offset of its opening bracket. */
  readonly start: number
  /** How many edits there were before it. */
  readonly edits: number
  /** Whether a text is wanted here, so that only its end counts. */
  readonly isText: boolean
  /** The key of the member that is read, and the first key. */
  key: string
  firstKey: string | undefined
  /** Its JSON Pointer, once somebody asked. */
  pointer: string | undefined
}

/** How many levels out a key is looked for: a bound on the time that each key costs. */
const maxLevels = 16

/**
 * Whether the schema has that key here and it has not come yet.
 *
 * @internal
 */
export const expects = (frame: Frame, key: string): boolean =>
  frame.place.members?.has(key) === true && frame.key !== key && !Object.hasOwn(frame.target, key)

/**
 * The innermost open object of which that is true.
 *
 * @internal
 */
export const findObject = (frame: Frame | undefined, test: (frame: Frame) => boolean): Frame | undefined => {
  for (let level = 0; frame !== undefined && level < maxLevels; level++, frame = frame.parent) {
    if (!frame.isList && test(frame)) return frame
  }
  return undefined
}

/**
 * Whether a key can be meant after a value in which quotes were not escaped: one that the schema expects, or where it names none, one
 * that has not come yet.
 *
 * @internal
 */
export const isLikelyKey = (frame: Frame, key: string): boolean =>
  findObject(frame, (open) => open.place.members !== undefined) === undefined
    ? frame.key !== key && !Object.hasOwn(frame.target, key)
    : findObject(frame, (open) => expects(open, key)) !== undefined
