/** Storage queries of records: the pin of the versions, and which filters select by the clock. */
import { type Collection, Instant, Offset } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type * as Pin from "#core/kernel/Pin.ts"
import * as Columns from "#core/records/Columns.ts"
import * as StorageQuery from "#core/records/StorageQuery.ts"
import { timers } from "../engine/timers.ts"

type KeptBy = Collection.Collection["keptBy"]

const instant = Instant.fromEpochMillis(1_790_000_000_000)
const judgedAt = Instant.fromEpochMillis(1_790_000_000_007)
const offset = Offset.of(41)
const pinned = (select: Pin.ResolvedPin["select"]): Pin.ResolvedPin => ({
  offset,
  ledgerTime: null,
  select,
  judgedAt
})
const byInstant = { by: "instant", instant: Instant.sortable(instant) }
const byOffset = { by: "offset", offset }
const latest = { by: "latest" }

describe("the pin of versions", () => {
  it.each<[string, Pin.ResolvedPin | undefined, Record<KeptBy, object>]>([
    ["no pin", undefined, { ledger: latest, engine: latest, own: latest }],
    ["latest", pinned({ by: "latest" }), { ledger: latest, engine: latest, own: latest }],
    ["an offset", pinned({ by: "offset" }), { ledger: byOffset, engine: byOffset, own: latest }],
    [
      "an instant",
      pinned({ by: "instant", instant }),
      { ledger: byOffset, engine: byInstant, own: byInstant }
    ],
    [
      "a snapshot",
      pinned({ by: "snapshot", instant }),
      { ledger: byInstant, engine: byInstant, own: byInstant }
    ]
  ])("of a read with %s follows who keeps the record", (_, pin, expected) => {
    for (const keptBy of ["ledger", "engine", "own"] as const) {
      expect(StorageQuery.storedPin(keptBy, pin)).toEqual(expected[keptBy])
    }
  })
})

describe("the filters of a query", () => {
  const filters = fc.dictionary(fc.constantFrom("state", "owner"), fc.array(fc.string()))

  it("select a column that clock moves change as of the instant judged at, others as stored", () => {
    fc.assert(
      fc.property(filters, (where) => {
        const query = StorageQuery.of(timers, { where }, judgedAt)
        expect(query.where).toEqual(
          "owner" in where ? [{ column: "owner", anyOf: where["owner"] }] : []
        )
        expect(query.meets).toEqual(
          where["state"] === undefined ? [] : [Columns.ripened("state", where["state"], judgedAt)]
        )
      })
    )
  })

  it("leave out what the caller leaves out, and go upwards by default", () => {
    expect(StorageQuery.of(timers, {}, judgedAt)).toEqual({
      collection: "timer",
      pin: latest,
      where: [],
      meets: [],
      direction: "asc"
    })
  })

  it("pass on ranges, the window of changes, the direction and the place", () => {
    const range = { from: "a", to: "b" }
    const query = StorageQuery.of(
      timers,
      {
        pin: pinned({ by: "offset" }),
        ranges: { owner: range },
        updatedFrom: instant,
        updatedTo: judgedAt,
        direction: "desc",
        after: "k"
      },
      judgedAt
    )
    expect(query).toEqual({
      collection: "timer",
      pin: byOffset,
      where: [],
      meets: [Columns.within("owner", range)],
      updatedFrom: Instant.sortable(instant),
      updatedTo: Instant.sortable(judgedAt),
      direction: "desc",
      after: "k"
    })
  })
})
