/** What stands before and behind a document. */
import type { Choices } from "../choices.ts"
import { layoutOf, textOf, tokensOf } from "../jsonTokens.ts"
import { type Damages, isContainer, whole } from "./places.ts"

const before = [
  "Sure! Here is the JSON: ",
  "Sure! Here's what you asked for:\n\n",
  "I'll use the \"read\" tool.\n",
  "Calling read_file(path) now: ",
  "The arguments are as follows:\n",
  "It's 5 o'clock, so: ",
  "OK. ",
  "Based on [1], I will send: ",
  "I fill in {name} as said: ",
  "**Arguments**\n\n",
  "# Arguments\n",
  "json\n",
  "Note: a < b & c > d\n",
  "好的，参数如下：\n"
]
const after = [
  " Hope that helps.",
  "\n\nLet me know if that's what you wanted!",
  "\nNote: \"city\" is a guess.",
  " (see [1])",
  "\n\nI used {name} as said.",
  "\n---\nDone :)",
  ".",
  " is the answer",
  "\n希望有帮助。"
]
export const fenced = (text: string, choices: Choices): string => {
  const opener = choices.oneOf([
    "```json\n",
    "```\n",
    "```JSON\n",
    "``` json\n",
    "```json5\n",
    "```javascript\n",
    "~~~json\n"
  ])
  return `${opener}${text}${choices.oneOf(["\n```", "\n```\n", "```", "\n", ""]).replaceAll("`", opener[0]!)}`
}

export const around: Damages = {
  "a fence": { apply: whole(fenced) },
  "prose and a fence": {
    apply: whole((text, choices) =>
      `${choices.oneOf(before)}${choices.oneOf(["", "\n"])}${fenced(text, choices).trimEnd()}${
        choices.oneOf(["", "\n"])
      }${choices.oneOf(after)}`
    )
  },
  "inline code": {
    // Inside there would be no end of the code.
    text: (text) => !text.includes("`"),
    apply: whole((text, choices) => `${choices.oneOf(["", "Use "])}\`${text}\`${choices.oneOf(["", "."])}`)
  },
  "prose before": { apply: whole((text, choices) => choices.oneOf(before) + text) },
  "prose after": { apply: whole((text, choices) => text + choices.oneOf(after)) },
  "prose around": { apply: whole((text, choices) => choices.oneOf(before) + text + choices.oneOf(after)) },
  "code around": {
    // A tool may have a parameter of that name.
    key: (key) => key !== "arguments",
    apply: whole((text, choices) => {
      const [opener, closer] = choices.oneOf(
        [
          ["const args = ", ";"],
          ["args = ", ""],
          ["return ", ";"],
          ["read_file(", ")"],
          ["callback(", ");"],
          ["print(", ")"],
          ["", ";"],
          ["(", ")"],
          ["arguments: ", ""]
        ] as const
      )
      return opener + text + closer
    })
  },
  "control tokens": {
    apply: whole((text, choices) =>
      choices.oneOf([
        "",
        "",
        "<|tool_call|>",
        "[TOOL_CALLS]",
        "<|message|>",
        "<｜tool▁call▁begin｜>",
        "<|start|>assistant<|message|>"
      ]) + text +
      choices.oneOf([
        "<|im_end|>",
        "<|call|>",
        "</s>",
        "[/INST]",
        "<|eot_id|>",
        "<end_of_turn>",
        "<｜tool▁call▁end｜>",
        "\n<|end|>"
      ])
    )
  },
  "tags": {
    apply: whole((text, choices) => {
      const name = choices.oneOf(["tool_call", "function_call", "arguments", "invoke", "parameter", "json", "output"])
      const opener = choices.oneOf([`<${name}>`, `<${name} name="read">`, `<function=read>`])
      const [left, right] = choices.oneOf([["", ""], ["\n", "\n"]])
      const thought = choices.oneOf(["", "", "<think>I need {city}, so \"a\": 1.</think>\n"])
      return `${thought}${opener}${left}${text}${right}${choices.oneOf([`</${name}>`, `</${name}>\n`, ""])}`
    })
  },
  "a byte order mark": { apply: whole((text) => `\ufeff${text}`) },
  "an empty document before": {
    apply: whole((text, choices) => choices.oneOf(["{}", "{} ", "{}\n", "[]", "\"\""]) + text)
  },
  "an empty document after": {
    apply: whole((text, choices) => text + choices.oneOf(["{}", " {}", "\n{}", "[]", "\"\"", " null"]))
  },
  "twice": {
    apply: (value, choices) =>
      isContainer(value) && Object.keys(value).length > 0
        ? [0, 0, 0].slice(choices.below(2)).map(() => textOf(tokensOf(value, layoutOf(choices)))).join(
          choices.oneOf(["", " ", "\n", "\n\n", ", "])
        )
        : undefined
  }
}
