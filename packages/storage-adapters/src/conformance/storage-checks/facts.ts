/** Checks of FactLog: appends at the expected version (optimistic lock), in order, permanent. */
import { Atomically, FactLog } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, ending, ends, fresh, same } from "../Check.ts"
import { fact } from "./rows.ts"

const PORT = "FactLog"

export const facts: ReadonlyArray<Check> = [
  check(PORT, "gives back every fact as it was written, in order of version", function* () {
    const { append, read } = yield* FactLog
    const collection = yield* fresh("facts")
    const rows = [1, 2, 3].map((n) => fact({ collection, version: n, fact: `{"n":${n}}` }))
    yield* append(rows.slice(0, 2))
    yield* append(rows.slice(2))
    yield* same("all", yield* read({ collection, recordId: "r" }), rows)
    const through = yield* read({ collection, recordId: "r", through: 2 })
    yield* same("through the second", through, rows.slice(0, 2))
    yield* same("of no record", yield* read({ collection, recordId: "x" }), [])
  }),
  check(
    PORT,
    "refuses a version that is not the next and writes nothing of the call",
    function* () {
      const { append, read } = yield* FactLog
      const collection = yield* fresh("facts")
      yield* append([fact({ collection })])
      for (const version of [1, 3, 0]) {
        const rows = [fact({ collection, recordId: "s" }), fact({ collection, version })]
        yield* ends(`version ${version} after 1`, append(rows), "VersionMoved")
        yield* same("the other record", yield* read({ collection, recordId: "s" }), [])
      }
      yield* ends(
        "2 for the first",
        append([fact({ collection, recordId: "t", version: 2 })]),
        "VersionMoved"
      )
      const gap = [1, 3].map((version) => fact({ collection, recordId: "u", version }))
      yield* ends("a gap inside a call", append(gap), "VersionMoved")
      yield* same("of the gap", yield* read({ collection, recordId: "u" }), [])
    }
  ),
  check(PORT, "says which record moved, and which version was expected", function* () {
    const { append } = yield* FactLog
    const collection = yield* fresh("facts")
    yield* append([fact({ collection })])
    const moved = yield* Effect.flip(
      append([fact({ collection, recordId: "s" }), fact({ collection })])
    )
    yield* same(
      "what was refused",
      { ...moved },
      {
        _tag: "VersionMoved",
        collection,
        recordId: "r",
        expected: 1
      }
    )
  }),
  check(PORT, "lets one of 50 parallel appends of a version win", function* () {
    const { append, read } = yield* FactLog
    const collection = yield* fresh("facts")
    const exits = yield* Effect.forEach(
      Array.from({ length: 50 }, (_, n) => n),
      (n) => Effect.exit(append([fact({ collection, cause: `operation:${n}` })])),
      { concurrency: "unbounded" }
    )
    const won = exits.flatMap((exit, n) => (ending(exit) === "success" ? [`operation:${n}`] : []))
    const written = (yield* read({ collection, recordId: "r" })).map((row) => row.cause)
    yield* same("who won", won, written)
    yield* same("how many", written.length, 1)
    yield* same("the others", exits.filter((exit) => ending(exit) === "VersionMoved").length, 49)
  }),
  check(PORT, "writes nothing of a call that lost a race for one of its records", function* () {
    const { append, read } = yield* FactLog
    const { run } = yield* Atomically
    const collection = yield* fresh("facts")
    const exits = yield* Effect.forEach(
      Array.from({ length: 20 }, (_, n) => n),
      (n) => {
        const rows = [fact({ collection, recordId: `own-${n}` }), fact({ collection })]
        return Effect.exit(n % 2 === 0 ? append(rows) : run(append(rows)))
      },
      { concurrency: "unbounded" }
    )
    for (const [n, exit] of exits.entries()) {
      const own = (yield* read({ collection, recordId: `own-${n}` })).length
      yield* same(`call ${n}`, own, ending(exit) === "success" ? 1 : 0)
    }
    yield* same("the winners", exits.filter((exit) => ending(exit) === "success").length, 1)
  }),
  check(PORT, "lets a transaction go on after a refused append", function* () {
    const { append, read } = yield* FactLog
    const { run } = yield* Atomically
    const collection = yield* fresh("facts")
    yield* append([fact({ collection })])
    yield* run(
      Effect.gen(function* () {
        yield* Effect.exit(append([fact({ collection, recordId: "s" }), fact({ collection })]))
        yield* append([fact({ collection, version: 2 })])
      })
    )
    yield* same("the record", (yield* read({ collection, recordId: "r" })).length, 2)
    yield* same("the refused one", (yield* read({ collection, recordId: "s" })).length, 0)
  }),
  check(
    PORT,
    "forgets every fact of some records, with its transaction, and no other",
    function* () {
      const { append, forget, read, scan } = yield* FactLog
      const { run } = yield* Atomically
      const collection = yield* fresh("facts")
      const appendTwo = (recordId: string) =>
        append([1, 2].map((n) => fact({ collection, recordId, version: n })))
      for (const recordId of ["a", "b", "c"]) yield* appendTwo(recordId)
      yield* append([fact({ collection: `${collection}x`, recordId: "b" })])
      const names = Effect.map(scan({ collection, limit: 100 }), (rows) =>
        rows.map((row) => `${row.recordId}${row.version}`).join(" ")
      )
      const both = forget({ collection, recordIds: ["a", "b", "x"] })
      yield* ends("a run that fails", run(Effect.andThen(both, Effect.fail("no"))), "no")
      yield* same("after a failed run", yield* names, "a1 a2 b1 b2 c1 c2")
      yield* forget({ collection, recordIds: [] })
      yield* same("after none were named", yield* names, "a1 a2 b1 b2 c1 c2")
      yield* run(both)
      yield* same("what is left", yield* names, "c1 c2")
      yield* same("of one that is gone", yield* read({ collection, recordId: "b" }), [])
      const others = yield* read({ collection: `${collection}x`, recordId: "b" })
      yield* same("of another collection", others.length, 1)
      yield* appendTwo("a")
      yield* same("one that begins anew", yield* names, "c1 c2 a1 a2")
    }
  ),
  check(PORT, "scans a collection by pages, oldest record first, each fact once", function* () {
    const { append, scan } = yield* FactLog
    const collection = yield* fresh("facts")
    const rows = ["b", "a", "c"].flatMap((recordId) =>
      [1, 2, 3].map((n) => fact({ collection, recordId, version: n }))
    )
    yield* append(rows.filter((row) => row.version === 1))
    yield* append(rows.filter((row) => row.version > 1))
    for (const limit of [1, 2, 4, 100]) {
      const found: Array<string> = []
      let after: { recordId: string; version: number } | undefined
      for (let page = 0; page < 20; page++) {
        const read = yield* scan({ collection, limit, ...(after === undefined ? {} : { after }) })
        const last = read[read.length - 1]
        if (last === undefined) break
        found.push(...read.map((row) => `${row.recordId}${row.version}`))
        after = { recordId: last.recordId, version: last.version }
      }
      yield* same(
        `pages of ${limit}`,
        found,
        rows.map((row) => `${row.recordId}${row.version}`)
      )
    }
  })
]
