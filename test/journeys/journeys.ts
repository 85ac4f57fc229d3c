/**
 * `npm run journeys`: plays six journeys through the engine, in memory, and prints for each how many
 * files of engine-core it enters, how often it changes the file, and to which it returns most.
 * Names of journeys select some; `--trace` prints every visit.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { countOf } from "./count.ts"
import * as Entries from "./entries.ts"
import type { Journey } from "./played.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { trace: { type: "boolean", default: false } }
})

/** Number of files that are listed as those returned to most. */
const listed = 5

const print = (journey: Journey, entered: ReadonlyArray<string>): void => {
  if (positionals.length > 0 && !positionals.includes(journey)) return
  const { files, returns, returnsByFile, visits } = countOf(entered)
  console.log(`${journey}: ${files} files, ${visits.length} visits, ${returns} returns`)
  for (const [file, times] of returnsByFile.slice(0, listed)) console.log(`  ${times} ${file}`)
  if (values.trace) console.log(visits.map((file) => `    ${file}`).join("\n"))
}

Entries.instrument()
const { play } = await import("./played.ts")

await play(
  (journey) => (part) =>
    Effect.andThen(
      Effect.sync(Entries.start),
      Effect.ensuring(
        part,
        Effect.sync(() => print(journey, Entries.end()))
      )
    )
)
