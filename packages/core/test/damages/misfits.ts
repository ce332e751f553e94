/** What only the schema tells from what was meant. */
import type * as Schema from "effect/Schema"
import { layoutOf, textOf, tokensOf } from "../jsonTokens.ts"
import { at, content, type Damages, isContainer, isFilled, isKnown, remove, whole } from "./places.ts"
import { hasPlainEnds, literalAtStart } from "./texts.ts"

type Json = Schema.Json

const styles: { readonly [key: string]: ReadonlyArray<string> } = {
  file_path: ["filePath", "FilePath", "file-path", "FILE_PATH"],
  maxResults: ["max_results", "MaxResults", "max-results"],
  path: ["Path", "PATH"],
  city: ["City"]
}

const digits = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

export const misfits: Damages = {
  "encoded as a string": { needsSchema: true, apply: whole((text) => JSON.stringify(text)) },
  "a member encoded as a string": {
    needsSchema: true,
    apply: (value, choices) => {
      if (!isContainer(value) || Array.isArray(value)) return undefined
      const members = Object.entries(value)
      const places = members.filter(([, member]) => isContainer(member)).map(([key]) => key)
      if (places.length === 0) return undefined
      const chosen = choices.some(places)
      return JSON.stringify(Object.fromEntries(members.map(([key, member]) => [
        key,
        chosen.includes(key) ? textOf(tokensOf(member as Json, layoutOf(choices))) : member
      ])))
    }
  },
  "scalars as strings": {
    needsSchema: true,
    apply: at(
      (token) => isKnown(token) && (token.kind === "literal" || token.kind === "number" && digits.test(token.text)),
      (token) => {
        token.text = JSON.stringify(token.text)
      }
    )
  },
  "an envelope": {
    needsSchema: true,
    // Of a tool that has such a parameter it would be none.
    key: (key) => !["arguments", "name", "input"].includes(key),
    apply: (value, choices) => {
      if (!isContainer(value) || Array.isArray(value)) return undefined
      const text = textOf(tokensOf(value, layoutOf(choices)))
      const inner = choices.oneOf([text, JSON.stringify(text)])
      return choices.oneOf([
        `{"arguments": ${inner}}`,
        `{"name": "tool", "arguments": ${inner}}`,
        `{"tool": ${text}}`,
        `{"input": ${inner}}`
      ])
    }
  },
  "thousands": {
    needsSchema: true,
    apply: at(
      (token) => isKnown(token) && token.kind === "number" && /^[1-9]\d{3,}$/.test(token.text),
      (token) => {
        token.text = token.text.replace(/\B(?=(?:\d{3})+$)/g, ",")
      }
    )
  },
  "numbers in place of strings": {
    needsSchema: true,
    texts: (choices) =>
      choices.oneOf(["007", "02134", "1.10", "12345678901234567890", "1e5", "5", "-1", "0x1F", "+47123"]),
    apply: at((token) => isKnown(token) && token.kind === "string", (token) => {
      token.text = content(token)
    })
  },
  "a list around": {
    needsSchema: true,
    apply: (value, choices) => Array.isArray(value) ? undefined : whole((text) => `[${text}]`)(value, choices)
  },
  "an item in place of the list": {
    needsSchema: true,
    // A comma could stand between items.
    text: (text) => !/[,，;\n]/.test(text),
    apply: (value) => {
      if (!isContainer(value) || Array.isArray(value)) return undefined
      const members = Object.entries(value as { readonly [key: string]: Json })
      const isOne = (member: Json): member is [Json] =>
        Array.isArray(member) && member.length === 1 && !Array.isArray(member[0])
      return members.some(([, member]) => isOne(member))
        ? JSON.stringify(Object.fromEntries(members.map(([key, member]) => [key, isOne(member) ? member[0] : member])))
        : undefined
    }
  },
  "keys in another style": {
    needsSchema: true,
    apply: at(
      (token) => isKnown(token) && token.kind === "key" && Object.hasOwn(styles, content(token)),
      (token, choices) => {
        token.text = JSON.stringify(choices.oneOf(styles[content(token)]!))
      }
    )
  },
  "JSON in a string, not escaped": {
    needsSchema: true,
    texts: (choices) =>
      choices.oneOf([
        "{\"version\": 1, \"deps\": [\"x\", \"y\"]}",
        "{\"main\": \"x.js\", \"z\": {\"k\": null}}",
        "[{\"id\": 1}, {\"id\": 2}]",
        "{\n  \"main\": \"x.js\"\n}",
        "{}"
      ]),
    key: (key) => ["a", "b", "city", "path", "content", "n"].includes(key),
    apply: at(({ inside, kind }) => kind === "string" && inside === "{", (token) => {
      token.text = `"${content(token)}"`
    }, { which: "one" })
  },
  "unquoted sentences": {
    needsSchema: true,
    texts: (choices) =>
      choices.oneOf(["He said: hi, there", "one, two, three", "Note: it is 5 o clock", "a: b", "word"]),
    key: (key) => /^[a-z]{2,}$/.test(key) && !literalAtStart.test(key),
    apply: at(({ inside, kind }) => kind === "string" && inside === "{", (token) => {
      token.text = content(token)
    }, { which: "one" })
  },
  "no closer, the parent's key follows": {
    needsSchema: true,
    text: hasPlainEnds,
    apply: at(
      (token, index, tokens) => {
        if (token.kind !== "close" || !isKnown(token) || tokens[index + 1]?.kind !== "comma") return false
        const key = tokens[index + 2]!.value as string
        return Array.isArray(token.value) || isFilled(token) && !Object.hasOwn(token.value as object, key)
      },
      remove,
      { which: "one" }
    )
  }
}
