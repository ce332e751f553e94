/** Checks that every public export is documented. Prints what is not, and then exits with 1. */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import { examplesOf, exportsOf, moduleDocOf } from "./doc-comments.ts"
import { packages, root, typeScriptFiles } from "./packages.ts"

const hasTag = (doc: string, tag: string): boolean => new RegExp(`^\\s*\\*?\\s*@${tag}\\s+\\S`, "m").test(doc)

/** What is missing in the documentation of one module, as `line name: what`. */
export const undocumented = (text: string): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const moduleDoc = moduleDocOf(text)
  if (moduleDoc === undefined) problems.push("1 module: a comment that says what the module is for")
  else if (!hasTag(moduleDoc.value, "since")) problems.push("1 module: @since")

  const exported = exportsOf(text)
  for (const { doc, kind, line, name } of exported) {
    // An overload is documented where the function is first declared.
    const isOverload = exported.some((other) => other.name === name && other.kind === kind && other.line < line)
    if (isOverload) continue
    if (doc === undefined) {
      problems.push(`${line} ${name}: a comment`)
      continue
    }
    if (/@internal\b/.test(doc.value)) continue
    const missing = ["@since", "@category"].filter((tag) => !hasTag(doc.value, tag.slice(1)))
    if (kind === "value" && examplesOf(text, doc).length === 0) missing.push("an example")
    if (missing.length > 0) problems.push(`${line} ${name}: ${missing.join(", ")}`)
  }
  return problems
}

if (import.meta.main) {
  const problems = packages.flatMap(({ directory }) =>
    typeScriptFiles(join(directory, "src"))
      .filter((path) => !path.startsWith("internal/") && path !== "index.ts" && path !== "bin.ts")
      .map((path) => join(directory, "src", path))
      .flatMap((file) =>
        undocumented(readFileSync(file, "utf8")).map((problem) => `${relative(root, file)}:${problem}`)
      )
  )
  for (const problem of problems) console.log(`${problem} is missing`)
  if (problems.length > 0) process.exit(1)
}
