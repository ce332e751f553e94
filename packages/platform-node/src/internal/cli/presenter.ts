import * as CliOutput from "effect/cli/CliOutput"
import * as Console from "effect/Console"

/** Help that was asked for is data and goes to stdout. Wrong usage goes to stderr, shortly. */
export const presenter: CliOutput.Presenter = {
  present: (event) => {
    switch (event._tag) {
      case "Help":
        return event.reason === "Requested"
          ? CliOutput.defaultPresenter.present(event)
          : Console.error(CliOutput.defaultFormatter({ colors: false }).formatHelpDoc(event.helpDoc))
      case "InvalidInvocation":
        return Console.error(
          [
            ...event.errors.map(({ message }) => `countersign: ${message}`),
            `Try: ${event.commandPath.join(" ")} --help`
          ].join("\n")
        )
      case "Version":
        return CliOutput.defaultPresenter.present(event)
    }
  }
}
