/** Faults of the index of waiting records. */
import { Documents, type WaitQuery } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

const atEveryPin = "lists and counts the waits of records at every pin"

/** A store whose lists, counts and conditions of waits answer another query than the one that is asked. */
const asking = (other: <Q extends WaitQuery>(query: Q) => Q): Fault["spoil"] =>
  replace(Documents, ({ countWaits, waits }) => ({
    waits: (query) => waits(other(query)),
    countWaits: (query) => countWaits(other(query))
  }))

const latest = { by: "latest" } as const

export const faults = {
  "waits-of-the-latest": {
    does: "lists the waits of the latest versions at every pin",
    noticedBy: [atEveryPin],
    spoil: asking((query) => ({ ...query, pins: { ledger: latest, engine: latest, own: latest } }))
  },
  "waits-of-one-pin": {
    does: "lists the waits of all records at the pin of the ledger's",
    noticedBy: [atEveryPin],
    spoil: asking((query) => {
      const pin = query.pins.ledger ?? latest
      return { ...query, pins: { ledger: pin, engine: pin, own: pin } }
    })
  },
  "waits-without-a-clock": {
    does: "lists waits whose time by the clock has not come, or has passed",
    noticedBy: [atEveryPin],
    spoil: asking((query) => ({ ...query, judgedAt: "9999-12-31T23:59:59.999999999Z" }))
  },
  "waits-for-themselves": {
    does: "lists waits to those from whom they are hidden",
    noticedBy: [atEveryPin],
    spoil: asking((query) => ({ ...query, subject: "" }))
  },
  "waits-without-conditions": {
    does: "lists waits as if no condition held",
    noticedBy: [atEveryPin],
    spoil: asking((query) => ({ ...query, conditions: [] }))
  },
  "waits-by-one-filter": {
    does: "lists the waits that match the first filter",
    noticedBy: [atEveryPin],
    spoil: asking((query) => ({ ...query, where: query.where.slice(0, 1) }))
  },
  "waits-overdue-or-not": {
    does: "lists waits whether they are overdue or not",
    noticedBy: [atEveryPin],
    spoil: replace(Documents, ({ countWaits, waits }) => ({
      waits: ({ overdue: _, ...query }) => waits(query),
      countWaits: ({ overdue: _, ...query }) => countWaits(query)
    }))
  },
  "waits-repeat": {
    does: "repeats the last wait of a page on the next one",
    noticedBy: [atEveryPin],
    spoil: replace(Documents, ({ waits }) => ({
      waits: ({ after, ...query }) =>
        Effect.map(waits({ ...query, limit: 10_000 }), (rows) =>
          rows
            .filter(({ sortKey }) => after === undefined || sortKey >= after)
            .slice(0, query.limit)
        )
    }))
  },
  "waits-counted-whole": {
    does: "counts more waits than it was told to",
    noticedBy: [atEveryPin],
    spoil: replace(Documents, ({ countWaits }) => ({
      countWaits: (query) => countWaits({ ...query, most: 10_000 })
    }))
  },
  "conditions-left-out": {
    does: "leaves out the conditions of waits",
    noticedBy: [atEveryPin],
    spoil: replace(Documents, () => ({ waitConditions: () => Effect.succeed([]) }))
  },
  "waits-restart": {
    does: "begins every wait anew with each version",
    noticedBy: [atEveryPin],
    spoil: replace(Documents, ({ put }) => ({
      put: (rows) =>
        put(
          rows.map((row) =>
            row.waits === undefined
              ? row
              : {
                  ...row,
                  waits: {
                    ...row.waits,
                    rows: row.waits.rows.map((wait) => ({
                      ...wait,
                      since: wait.since ?? row.fromInstant
                    }))
                  }
                }
          )
        )
    }))
  },
  "waits-never-end": {
    does: "keeps the waits of a record whose next version has none",
    noticedBy: [atEveryPin, "lists the waits of many records that were written in one call"],
    spoil: replace(Documents, ({ put }) => ({
      put: (rows) =>
        put(
          rows.map(({ waits, ...row }) =>
            waits === undefined || waits.rows.length === 0 ? row : { ...row, waits }
          )
        )
    }))
  },
  "waits-end-unsaid": {
    does: "ends the waits of a record whose next version states none",
    noticedBy: ["lets the waits of a version go on where the next one states none"],
    spoil: replace(Documents, ({ put }) => ({
      put: (rows) =>
        put(
          rows.map((row) => ({
            ...row,
            waits: row.waits ?? { keptBy: "engine" as const, follow: true, rows: [] }
          }))
        )
    }))
  },
  "waits-of-the-last-version": {
    does: "writes the waits of the last version alone of those in one call",
    noticedBy: ["lists the waits of many records that were written in one call"],
    spoil: replace(Documents, ({ put }) => ({
      put: (rows) =>
        put(
          rows.map(({ waits, ...row }, nth) =>
            waits === undefined || nth < rows.length - 1 ? row : { ...row, waits }
          )
        )
    }))
  },
  "waits-outlive": {
    does: "keeps the waits of records that retention deletes",
    noticedBy: ["forgets the waits of records that retention deletes"],
    spoil: replace(Documents, ({ put }) => ({
      forget: () => Effect.void,
      put
    }))
  },
  "fill-adds": {
    does: "adds what a fill brings to what is there, instead of replacing it",
    noticedBy: ["fills the index with what versions of before waited for"],
    spoil: replace(Documents, ({ fillWaits }) => {
      const filled: Array<Parameters<typeof fillWaits>[0]["rows"][number]> = []
      return {
        fillWaits: (fill) => {
          filled.push(...fill.rows)
          return fillWaits({ ...fill, rows: [...filled] })
        }
      }
    })
  },
  "history-of-some": {
    does: "answers a page of histories without the last record",
    noticedBy: ["fills the index with what versions of before waited for"],
    spoil: replace(Documents, ({ history }) => ({
      history: (page) =>
        Effect.map(history(page), (rows) =>
          rows.filter(({ recordId }) => recordId !== rows.at(-1)?.recordId)
        )
    }))
  },
  "mark-forgotten": {
    does: "forgets with what the index was filled",
    noticedBy: ["remembers with what the index was filled"],
    spoil: replace(Documents, () => ({ markWaits: () => Effect.void }))
  }
} satisfies Record<string, Fault>
