/** `bursar config`: prints every setting with its value and its source. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import * as Outcome from "./Outcome.ts"

/** Masks secrets: prints `set` where a secret has a value. */
const shown = ({ from, written }: HostConfig.PrintedSetting): string => {
  if (from === "unset") return "must be set"
  return written === null ? "set" : written === "" ? "none" : written
}

/** Pads columns to the width of their widest cell; the last column is not padded. */
const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0))
  )
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

export const config = Command.make(
  "config",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print a JSON array instead of a table"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ json }) {
    const { printedSettings } = yield* HostConfig.read
    const rows = printedSettings.map((setting) => ({ ...setting, value: shown(setting) }))
    yield* Outcome.print(
      json
        ? JSON.stringify(
            rows.map(({ written: _, ...row }) => row),
            null,
            2
          )
        : table([
            ["SETTING", "VARIABLE", "FROM", "VALUE"],
            ...rows.map(({ name, variable, from, value }) => [name, variable, from, value])
          ])
    )
  })
).pipe(
  Command.withShortDescription("Print the settings that hold"),
  Command.withDescription(
    "Prints every setting: its name, its variable, whether it came from the environment, the file that BURSAR_CONFIG names or its default, and its value. A secret shows as set; one that `bursar start` needs and that nothing sets shows as unset. A wrong setting is told and nothing is printed."
  )
)
