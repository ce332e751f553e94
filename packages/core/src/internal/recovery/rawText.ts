/**
 * Arguments of a tool with one parameter, a text, that came without any JSON around them: code, or a command.
 */
import { closersOf } from "./characters.ts"
import { type Place, takes, Type } from "./place.ts"

/**
 * The name of the parameter, if the tool needs only one, a text.
 *
 * @internal
 */
export const onlyText = ({ members, required }: Place): string | undefined => {
  if (members === undefined || members.size > 1 && required.size !== 1) return undefined
  const [name] = members.size === 1 ? members.keys() : required
  const member = members.get(name!)
  return member !== undefined && takes(member, Type.string) && member.types !== Type.any ? name : undefined
}

/**
 * Whether the text from `start` on may be that parameter as it is.
 *
 * @internal
 */
export const mayBeRaw = (text: string, start: number, name: string): boolean => {
  if (opensString(text, start) || "{｛［".includes(text[start]!)) return false
  if (text.includes(`"${name}"`) || text.includes(`'${name}'`)) return false
  // Prose has none of these.
  return /[(){};=<>$|\\/\n]/.test(text)
}

/**
 * The text without a code fence around it.
 *
 * @internal
 */
export const withoutFence = (text: string): string => /^```[^\n`]*\n([^]*?)\n?```$/.exec(text.trim())?.[1] ?? text

/**
 * Whether the quote at `at` opens a string: code in Markdown begins with what may be one.
 *
 * @internal
 */
export const opensString = (text: string, at: number): boolean =>
  closersOf(text.charCodeAt(at)) !== undefined && !/^`(?:``|[{[])/.test(text.slice(at, at + 3))
