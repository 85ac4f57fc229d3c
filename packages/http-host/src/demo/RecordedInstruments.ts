/** Query of the instruments that an earlier start of the demo recorded. */
import { Documents } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Redacted } from "effect"

/**
 * Returns the recorded ids of the series `elf-usd`, `elf-usd-2`, … that begins with `first`, and the
 * next one, which is not recorded.
 */
export const idsWithNext = (
  first: string,
  recordedIds: ReadonlySet<string>
): ReadonlyArray<string> => {
  const ids = [first]
  for (let last = first; recordedIds.has(last); ids.push(last)) last = `${first}-${ids.length + 1}`
  return ids
}

/** Largest number of instruments that is read. */
const limit = 1_000

/** Returns the ids of the recorded instruments in the database at `url`; at most 1,000. */
export const recordedInstruments = (url: string): Promise<ReadonlySet<string>> =>
  Effect.gen(function* () {
    const documents = yield* Documents
    const found = yield* documents.list({
      collection: "instrument",
      pin: { by: "latest" },
      where: [],
      direction: "asc",
      limit
    })
    return new Set(found.map(({ recordId }) => recordId))
  }).pipe(
    Effect.provide(Postgres.layer({ url: Redacted.make(url), maxConnections: 2 })),
    Effect.runPromise
  )
