/** Decoded versions: the same value for each read, ripened by the clock, and what a ripened one was. */
import { Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Codecs from "#core/records/Codecs.ts"
import type { Stored } from "#core/records/Records.ts"
import * as RecordView from "#core/records/RecordView.ts"
import * as Versions from "#core/records/Versions.ts"
import { timer, type Timer, timers } from "../engine/timers.ts"

const ringsAt = 1_790_000_000_000
const stopsAt = ringsAt + 1_000
const at = Instant.fromEpochMillis
const row = (version: number) => ({
  recordId: "t",
  version,
  body: Codecs.of(timers).encodeRecord(timer("t", ringsAt, stopsAt)),
  sortKey: "t",
  createdAt: Instant.sortable(at(1)),
  fromOffset: 1,
  fromInstant: Instant.sortable(at(2))
})

const isUntouched = ({ touched }: typeof Timer.Type) => touched === 0

/** The cache, with the record of one row. */
const made = () => {
  const { decoded, fromRows, unripened } = Versions.make()
  const only =
    (decode: typeof fromRows) =>
    (version: number, judgedAt: Instant.Instant): Stored<typeof Timer.Type> =>
      decode(timers, [row(version)], judgedAt)[0]!
  return { cached: only(fromRows), decoded: only(decoded), fromRows, unripened }
}

describe("a decoded version", () => {
  it("is the same value for every read while no clock move is due, and another for another version", () => {
    const { cached, decoded } = made()
    const first = cached(1, at(ringsAt - 1))
    expect(cached(1, at(0))).toBe(first)
    expect(cached(2, at(0))).not.toBe(first)
    expect(decoded(1, at(0))).toEqual(first)
    expect(first).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
  })

  it("is that of its row, among rows that are cached and rows that are not", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 1, max: 9 })),
        fc.uniqueArray(fc.integer({ min: 1, max: 9 })),
        (before, ids) => {
          const { fromRows } = made()
          const first = fromRows(timers, before.map(row), at(0))
          const found = fromRows(timers, ids.map(row), at(0))
          expect(found.map(({ version }) => version)).toEqual(ids)
          for (const record of found) {
            const place = before.indexOf(record.version)
            if (place !== -1) expect(record).toBe(first[place])
          }
        }
      )
    )
  })

  it("keeps the invariants of its collection, wherever among the rows it is", () => {
    const strict = { ...timers, invariants: { "it was never touched": isUntouched } }
    const touched = { ...timer("t", ringsAt, stopsAt), touched: 1 }
    const broken = { ...row(2), body: Codecs.of(timers).encodeRecord(touched) }
    for (const decode of [Versions.make().fromRows, Versions.make().decoded]) {
      expect(decode(strict, [row(1), row(3)], at(0))).toHaveLength(2)
      for (const rows of [[broken], [row(4), broken], [broken, row(4)]]) {
        expect(() => decode(strict, rows, at(0))).toThrow(
          "timer breaks its invariant it was never touched"
        )
      }
    }
  })

  it("is ripened by the moves due at the read, keeps its version and times, and names what was stored", () => {
    fc.assert(
      fc.property(fc.integer({ min: ringsAt - 2_000, max: stopsAt + 2_000 }), (millis) => {
        const { cached, unripened } = made()
        const stored = cached(1, at(0))
        const ripe = cached(1, at(millis))
        expect(ripe.state).toBe(millis < ringsAt ? "set" : millis < stopsAt ? "rung" : "stopped")
        expect(ripe).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
        expect(unripened(ripe)).toEqual(millis < ringsAt ? undefined : { stored, at: at(millis) })
        expect(unripened(ripe)?.stored ?? ripe).toBe(stored)
      })
    )
  })

  it("has one view for as long as it is cached, and other members make another", () => {
    const { cached, decoded } = made()
    const members = { timerId: null }
    const record = cached(1, at(0))
    const view = RecordView.of(timers, members, record)
    expect(view).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
    expect(RecordView.of(timers, members, record)).toBe(view)
    expect(RecordView.of(timers, { state: null }, record)).toMatchObject({ state: "set" })
    const streamed = decoded(1, at(0))
    expect(RecordView.of(timers, members, streamed)).toEqual(view)
    expect(RecordView.of(timers, members, streamed)).not.toBe(view)
  })
})
