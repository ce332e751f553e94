/** Arguments as a coding agent writes them, by size in characters. */

const lines = [
  "export const total = (items: ReadonlyArray<Item>): number =>",
  "  items.reduce((sum, { price, count }) => sum + price * count, 0)",
  "",
  "// \"quoted\", \\escaped\\ and\ttabbed: what JSON has to escape",
  "if (state.kind === 'open' && !state.locked) return `#${state.id}`"
]

const code = (length: number): string => {
  let text = ""
  for (let index = 0; text.length < length; index++) text += `${lines[index % lines.length]}\n`
  return text.slice(0, length)
}

/** One edit of one file, most of it a long string. */
export const edit = (length: number) => ({
  path: "src/total.ts",
  content: code(length),
  line: 12,
  dryRun: false
})

/** The same fields many times over, none of them long. */
export const edits = (length: number) => ({
  edits: Array.from({ length: Math.ceil(length / 90) }, (_, index) => ({
    path: `src/file${index}.ts`,
    content: `line ${index}`,
    line: index,
    dryRun: index % 2 === 0
  }))
})
