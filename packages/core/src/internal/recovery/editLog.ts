/**
 * What was changed to read a text. Past a bound the edits are only counted, so that a text of nothing but mistakes costs no more than its
 * length.
 */
import { escapeToken } from "effect/JsonPointer"
import type { Edit } from "../../Edit.ts"
import type { Frame } from "./frame.ts"

const maxEdits = 100
const maxExcerpt = 1000

/** @internal */
export class EditLog {
  private readonly edits: Array<Edit> = []
  private count = 0
  private risk: Edit["risk"]

  get size(): number {
    return this.count
  }

  add(
    kind: string,
    offset: number,
    frame: Frame | undefined,
    before?: string,
    after?: string,
    risk?: Edit["risk"]
  ): void {
    if (this.count++ >= maxEdits) {
      this.risk ??= risk
      return
    }
    const edit: { -readonly [Key in keyof Edit]: Edit[Key] } = { kind, offset, pointer: pointerOf(frame) }
    if (before !== undefined) edit.before = excerpt(before)
    if (after !== undefined) edit.after = excerpt(after)
    if (risk !== undefined) edit.risk = risk
    this.edits.push(edit)
  }

  /** Forgets what was changed since there were `size` edits: it is not a part of the value. */
  forget(size: number): void {
    this.count = size
    this.edits.length = Math.min(size, this.edits.length)
  }

  all(): ReadonlyArray<Edit> {
    if (this.count <= maxEdits) return this.edits
    const more: Edit = { kind: "more", after: `${this.count - maxEdits} more` }
    return [...this.edits, this.risk === undefined ? more : { ...more, risk: this.risk }]
  }
}

const excerpt = (text: string): string => text.length > maxExcerpt ? `${text.slice(0, maxExcerpt)}…` : text

/** The JSON Pointer of the member or item that is read in a frame. */
const pointerOf = (frame: Frame | undefined): string =>
  frame === undefined ? "" : `${pointerTo(frame)}/${frame.isList ? frame.target.length : token(frame.key)}`

const token = (key: string): string => key.includes("/") || key.includes("~") ? escapeToken(key) : key

const pointerTo = (frame: Frame): string => {
  const unknown: Array<Frame> = []
  let at: Frame | undefined = frame
  for (; at !== undefined && at.pointer === undefined; at = at.parent) unknown.push(at)
  for (let open = unknown.pop(); open !== undefined; open = unknown.pop()) open.pointer = pointerOf(open.parent)
  return frame.pointer!
}
