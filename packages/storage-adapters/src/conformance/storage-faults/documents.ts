/** Faults of document versions. */
import { Documents } from "@bursar/engine-core/ports"
import { Effect, Option, Stream } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "overlapping-versions": {
    does: "answers a version beyond the offset it was closed at",
    noticedBy: ["selects exactly one version of a record at every offset"],
    spoil: replace(Documents, ({ get }) => ({
      get: (query) =>
        Effect.gen(function* () {
          const found = yield* get(query)
          const { pin } = query
          if (pin.by !== "offset") return found
          const earlier = yield* get({ ...query, pin: { by: "offset", offset: pin.offset - 1 } })
          const overlapping = earlier.filter(
            (row) => !found.some((other) => other.version === row.version)
          )
          return [...found, ...overlapping]
        })
    }))
  },
  "versions-of-the-ends": {
    does: "answers a range of offsets with the versions at its two ends",
    noticedBy: ["answers every version that was in force in a range of offsets"],
    spoil: replace(Documents, ({ get }) => ({
      versions: ({ collection, recordIds, from, through }) =>
        Effect.gen(function* () {
          const [first, last] = yield* Effect.forEach([from, through], (offset) =>
            get({ collection, recordIds, pin: { by: "offset", offset } })
          )
          const before = (first ?? []).filter(
            (row) =>
              !last?.some(
                ({ recordId, version }) => recordId === row.recordId && version === row.version
              )
          )
          return [...before, ...(last ?? [])]
        })
    }))
  },
  "version-closed-at-the-start": {
    does: "answers a range of offsets with a version that the first offset closed, too",
    noticedBy: ["answers every version that was in force in a range of offsets"],
    spoil: replace(Documents, ({ versions }) => ({
      versions: (query) => versions({ ...query, from: query.from - 1 })
    }))
  },
  "gap-in-versions": {
    does: "shows no version at the instant at which one follows another",
    noticedBy: ["selects exactly one version of a record at every offset and instant"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) => {
        const { pin } = query
        return Effect.map(list(query), (found) =>
          pin.by === "instant"
            ? found.filter((row) => row.version === 1 || row.fromInstant !== pin.instant)
            : found
        )
      }
    }))
  },
  "latest-for-every-pin": {
    does: "answers every pinned read with the latest version",
    noticedBy: ["reads the same at an offset and an instant", "selects exactly one version"],
    spoil: replace(Documents, ({ get, list }) => ({
      get: (query) => get({ ...query, pin: { by: "latest" } }),
      list: (query) => list({ ...query, pin: { by: "latest" } })
    }))
  },
  "filters-any": {
    does: "lists what matches any filter instead of all",
    noticedBy: ["lists what matches all filters"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) => list({ ...query, where: query.where.slice(0, 1) })
    }))
  },
  "alternatives-all": {
    does: "lists only what meets every alternative instead of one of them",
    noticedBy: ["lists what meets one alternative of each"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) =>
        list({ ...query, meets: (query.meets ?? []).map((alternatives) => [alternatives.flat()]) })
    }))
  },
  "range-with-its-end": {
    does: "lists what lies on the end of a range that leaves it out",
    noticedBy: ["lists what meets one alternative of each"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) =>
        list({
          ...query,
          meets: (query.meets ?? []).map((alternatives) =>
            alternatives.map((clauses) =>
              clauses.map((clause) =>
                "is" in clause && clause.is === "before"
                  ? { ...clause, is: "at-most" as const }
                  : clause
              )
            )
          )
        })
    }))
  },
  "cursor-repeats": {
    does: "repeats the last record of a page on the next one",
    noticedBy: ["pages through a list both ways"],
    spoil: replace(Documents, ({ list }) => ({
      list: ({ after, ...query }) =>
        Effect.map(list({ ...query, limit: 10_000 }), (rows) => {
          const asc = query.direction === "asc"
          const from = after ?? (asc ? "" : "\uffff")
          return rows
            .filter((row) => (asc ? row.sortKey >= from : row.sortKey <= from))
            .slice(0, query.limit)
        })
    }))
  },
  "moving-stream": {
    does: "streams records as they are when it comes to them",
    noticedBy: ["streams every match in order, from one snapshot"],
    spoil: replace(Documents, ({ list }) => ({
      stream: (query) =>
        Stream.paginate(query.after, (after) =>
          Effect.map(
            list({ ...query, limit: 100, ...(after === undefined ? {} : { after }) }),
            (rows) => [
              rows,
              rows.length < 100 ? Option.none() : Option.some(rows[rows.length - 1]?.sortKey)
            ]
          )
        )
    }))
  },
  "versions-unforgotten": {
    does: "forgets no version",
    noticedBy: ["forgets every version of some records"],
    spoil: replace(Documents, () => ({ forget: () => Effect.void }))
  },
  "history-unforgotten": {
    does: "shows forgotten records where the past is read",
    noticedBy: ["forgets every version of some records"],
    spoil: replace(Documents, ({ forget, list }) => {
      const lists: Array<() => ReturnType<typeof list>> = []
      return {
        forget: (range) =>
          Effect.gen(function* () {
            const then = { collection: range.collection, pin: { by: "offset", offset: 0 } } as const
            const rows = yield* list({ ...then, where: [], direction: "asc", limit: 1000 })
            lists.push(() => Effect.succeed(rows))
            yield* forget(range)
          }),
        list: (query) =>
          query.pin.by === "offset" ? (lists[lists.length - 1]?.() ?? list(query)) : list(query)
      }
    })
  },
  "versions-pruned-too-far": {
    does: "prunes versions that end after the offset",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, ({ prune }) => ({
      prune: (range) => prune({ ...range, through: range.through + 1 })
    }))
  },
  "versions-pruned-beyond-the-limit": {
    does: "prunes more versions than the limit",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, ({ prune }) => ({
      prune: (range) => prune({ ...range, limit: 1000 })
    }))
  },
  "versions-unpruned": {
    does: "prunes no version",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, () => ({ prune: () => Effect.succeed(0) }))
  },
  "stream-collected": {
    does: "reads a whole stream into memory before it answers",
    noticedBy: ["streams in memory that does not grow"],
    spoil: replace(Documents, ({ stream }) => ({
      stream: (query) =>
        Stream.unwrap(
          Effect.map(Stream.runCollect(stream(query)), (rows) =>
            Stream.fromIterable(
              rows.map((row) => ({ ...row, body: Buffer.from(row.body).toString() }))
            )
          )
        )
    }))
  }
} satisfies Record<string, Fault>
