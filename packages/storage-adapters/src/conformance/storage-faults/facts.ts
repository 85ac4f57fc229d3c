/** Faults of the fact log. */
import { FactLog } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "version-unchecked": {
    does: "does not look at versions of facts",
    noticedBy: ["refuses a version that is not the next", "lets one of 50 parallel appends"],
    spoil: replace(FactLog, () => {
      const rows: Array<Parameters<FactLog["Service"]["append"]>[0][number]> = []
      return {
        append: (more) =>
          Effect.sync(() => {
            rows.push(...more)
          }),
        read: ({ collection, recordId }) =>
          Effect.succeed(
            rows.filter((row) => row.collection === collection && row.recordId === recordId)
          )
      }
    })
  },
  "append-in-parts": {
    does: "keeps the first facts of a call whose later ones it refuses",
    noticedBy: ["refuses a version that is not the next", "writes nothing of a call that lost"],
    spoil: replace(FactLog, ({ append }) => ({
      append: (rows) => Effect.forEach(rows, (row) => append([row]), { discard: true })
    }))
  },
  "facts-unforgotten": {
    does: "forgets no fact",
    noticedBy: ["forgets every fact of some records"],
    spoil: replace(FactLog, () => ({ forget: () => Effect.void }))
  },
  "facts-all-forgotten": {
    does: "forgets the facts of a whole collection",
    noticedBy: ["forgets every fact of some records"],
    spoil: replace(FactLog, ({ forget, scan }) => ({
      forget: ({ collection }) =>
        Effect.flatMap(scan({ collection, limit: 1000 }), (rows) =>
          forget({ collection, recordIds: rows.map((row) => row.recordId) })
        )
    }))
  }
} satisfies Record<string, Fault>
