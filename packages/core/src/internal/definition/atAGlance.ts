import { unseen } from "./suspicious.ts"

/**
 * A name without what a quick look passes over: case, width, separators, characters that show nothing.
 *
 * @internal
 */
export const atAGlance = (name: string): string =>
  name.normalize("NFKC").replace(unseen, "").replace(/[\s._/-]/g, "").toLowerCase()
