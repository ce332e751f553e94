import { stderr } from "node:process"

/** Says on stderr what is being measured: on a terminal in one line that is written over, else line by line. */
export const progress = (text: string): void => {
  stderr.write(stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`)
}

/** Takes the line away before something else is printed. */
export const progressDone = (): void => {
  if (stderr.isTTY) stderr.write("\r\u001b[K")
}
