/** The lint rules of this repository that oxlint does not have. `.oxlintrc.json` loads them. */

interface Node extends Record<string, any> {
  readonly type: string
}

interface Context {
  readonly report: (problem: { readonly node: Node; readonly message: string }) => void
}

const isEffectDotGen = (node: Node): boolean =>
  node.type === "MemberExpression" && node["object"].name === "Effect" && node["property"].name === "gen"

/** `Effect.gen(...)`, whatever is chained to it, as in `Effect.gen(...).pipe(...)`. */
const isEffectGen = (node: Node): boolean =>
  node.type === "CallExpression"
  && (isEffectDotGen(node["callee"])
    || (node["callee"].type === "MemberExpression" && isEffectGen(node["callee"].object)))

const noInOperator = {
  create: (context: Context) => ({
    BinaryExpression(node: Node) {
      if (node["operator"] !== "in" || node["left"].type === "PrivateIdentifier") return
      context.report({ node, message: "`in` sees inherited keys: use `Object.hasOwn`" })
    }
  })
}

const noEffectGenFunction = {
  create: (context: Context) => {
    const check = (node: Node, returned: Node | null) => {
      if (returned === null || !isEffectGen(returned)) return
      context.report({ node, message: "a function that returns `Effect.gen(...)` is an `Effect.fnUntraced(...)`" })
    }
    return {
      ArrowFunctionExpression: (node: Node) => check(node, node["body"]),
      ReturnStatement: (node: Node) => check(node, node["argument"])
    }
  }
}

export default {
  meta: { name: "countersign" },
  rules: { "no-in-operator": noInOperator, "no-effect-gen-function": noEffectGenFunction }
}
