/**
 * JSON damaged as models and transports damage it, a function for each kind.
 *
 * Each leaves the original the only thing that can be meant. Where the damage takes away the means to tell, the strings of the
 * value are restricted, no more than that asks for; the reason stands beside it.
 */
import { around } from "./damages/around.ts"
import { brackets } from "./damages/brackets.ts"
import { commas } from "./damages/commas.ts"
import { comments } from "./damages/comments.ts"
import { escapes } from "./damages/escapes.ts"
import { languages } from "./damages/languages.ts"
import { losses } from "./damages/losses.ts"
import { misfits } from "./damages/misfits.ts"
import type { Damages } from "./damages/places.ts"
import { quotes } from "./damages/quotes.ts"
import { separators } from "./damages/separators.ts"
import { words } from "./damages/words.ts"

export type { Damage } from "./damages/places.ts"

export const damages: Damages = {
  ...commas,
  ...quotes,
  ...words,
  ...languages,
  ...comments,
  ...around,
  ...escapes,
  ...brackets,
  ...separators,
  ...losses,
  ...misfits
}
