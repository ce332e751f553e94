/**
 * The text that a tool's definition is known by, as the AI SDK writes it, from the texts of its input schema and its title. A title
 * that is none has the text `undefined`, which makes the whole no JSON.
 *
 * @internal
 */
export const definitionText = (description: unknown, inputSchema: string, title: string | undefined): string =>
  `{"description":${JSON.stringify(tagged(description))},"inputSchema":${inputSchema},"title":${title}}`

/** Of a function only that there is one: it is the program's own. */
const tagged = (description: unknown): object => {
  if (typeof description === "string") return { type: "string", value: description }
  return { type: description === undefined || description === null ? "none" : "function" }
}
