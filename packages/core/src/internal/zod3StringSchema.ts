/**
 * The patterns that the AI SDK gives for checks of zod 3: zod's own, with the letters of both cases where zod ignores case. They are
 * part of what a fingerprint covers, so each is as it is there.
 */
const patterns: Record<string, string> = {
  cuid: String.raw`^[cC][^\s-]{8,}$`,
  cuid2: "^[0-9a-z]+$",
  ulid: "^[0-9A-HJKMNP-TV-Z]{26}$",
  nanoid: "^[a-zA-Z0-9_-]{21}$",
  jwt: String.raw`^[A-Za-z0-9-_]+\.[A-Za-z0-9-_]+\.[A-Za-z0-9-_]*$`,
  base64url: "^([0-9a-zA-Z-_]{4})*(([0-9a-zA-Z-_]{2}(==)?)|([0-9a-zA-Z-_]{3}(=)?))?$",
  emoji: String.raw`^(\p{Extended_Pictographic}|\p{Emoji_Component})+$`
}

const cidr4 = String
  .raw`^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])\/(3[0-2]|[12]?[0-9])$`
const cidr6 = String
  .raw`^(([0-9a-fA-F]{1,4}:){7,7}[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,7}:|([0-9a-fA-F]{1,4}:){1,6}:[0-9a-fA-F]{1,4}|([0-9a-fA-F]{1,4}:){1,5}(:[0-9a-fA-F]{1,4}){1,2}|([0-9a-fA-F]{1,4}:){1,4}(:[0-9a-fA-F]{1,4}){1,3}|([0-9a-fA-F]{1,4}:){1,3}(:[0-9a-fA-F]{1,4}){1,4}|([0-9a-fA-F]{1,4}:){1,2}(:[0-9a-fA-F]{1,4}){1,5}|[0-9a-fA-F]{1,4}:((:[0-9a-fA-F]{1,4}){1,6})|:((:[0-9a-fA-F]{1,4}){1,7}|:)|fe80:(:[0-9a-fA-F]{0,4}){0,4}%[0-9a-zA-Z]{1,}|::(ffff(:0{1,4}){0,1}:){0,1}((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])|([0-9a-fA-F]{1,4}:){1,4}:((25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])\.){3,3}(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9]))\/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$`

const formats: Record<string, string> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
  time: "time",
  duration: "duration"
}

/**
 * The JSON Schema of a zod 3 string with these checks. One pattern is a keyword, several are an `allOf`; of several formats any will
 * do.
 *
 * @internal
 */
export const zod3StringSchema = (checks: ReadonlyArray<any> = []): Record<string, unknown> => {
  const lengths = (...kinds: ReadonlyArray<string>) =>
    checks.filter(({ kind }) => kinds.includes(kind)).map(({ value }) => value as number)
  const least = lengths("min", "length")
  const most = lengths("max", "length")
  return {
    type: "string",
    ...least.length > 0 && { minLength: Math.max(...least) },
    ...most.length > 0 && { maxLength: Math.min(...most) },
    ...checks.some(({ kind }) => kind === "base64") && { contentEncoding: "base64" },
    ...oneOrSeveral("format", "anyOf", checks.flatMap(formatsOf)),
    ...oneOrSeveral("pattern", "allOf", checks.flatMap(patternsOf))
  }
}

const oneOrSeveral = (keyword: string, several: string, values: ReadonlyArray<string>): object => {
  if (values.length === 0) return {}
  return values.length === 1 ? { [keyword]: values[0] } : { [several]: values.map((value) => ({ [keyword]: value })) }
}

const formatsOf = ({ kind, version }: any): ReadonlyArray<string> =>
  kind === "ip" ? ofVersion(version, "ipv4", "ipv6") : ofKind(formats, kind)

const patternsOf = ({ kind, regex, value, version }: any): ReadonlyArray<string> => {
  switch (kind) {
    case "regex":
      return [regex.source]
    case "startsWith":
      return [RegExp(`^${escape(value)}`).source]
    case "endsWith":
      return [RegExp(`${escape(value)}$`).source]
    case "includes":
      return [RegExp(escape(value)).source]
    case "cidr":
      return ofVersion(version, cidr4, cidr6)
    default:
      return ofKind(patterns, kind)
  }
}

const ofVersion = (version: unknown, v4: string, v6: string): ReadonlyArray<string> => {
  if (version === "v4") return [v4]
  return version === "v6" ? [v6] : [v4, v6]
}

const ofKind = (known: Record<string, string>, kind: string): ReadonlyArray<string> =>
  Object.hasOwn(known, kind) ? [known[kind]!] : []

/** The AI SDK escapes all but letters and digits, and `w`, which its list of letters lacks. */
const escape = (text: string): string => text.replace(/[^A-VX-Za-vx-z0-9]/g, "\\$&")
