/** Decoded versions: the same value for each read, ripened by the clock, and what a ripened one was. */
import { Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Codecs from "#core/records/Codecs.ts"
import * as RecordView from "#core/records/RecordView.ts"
import * as Versions from "#core/records/Versions.ts"
import { timer, timers } from "../engine/timers.ts"

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

describe("a decoded version", () => {
  it("is the same value for every read while no clock move is due, and another for another version", () => {
    const { fromRow, decoded } = Versions.make()
    const first = fromRow(timers, row(1), at(ringsAt - 1))
    expect(fromRow(timers, row(1), at(0))).toBe(first)
    expect(fromRow(timers, row(2), at(0))).not.toBe(first)
    expect(decoded(timers, row(1), at(0))).toEqual(first)
    expect(first).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
  })

  it("is ripened by the moves due at the read, keeps its version and times, and names what was stored", () => {
    fc.assert(
      fc.property(fc.integer({ min: ringsAt - 2_000, max: stopsAt + 2_000 }), (millis) => {
        const { fromRow, unripened } = Versions.make()
        const stored = fromRow(timers, row(1), at(0))
        const ripe = fromRow(timers, row(1), at(millis))
        expect(ripe.state).toBe(millis < ringsAt ? "set" : millis < stopsAt ? "rung" : "stopped")
        expect(ripe).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
        expect(unripened(ripe)).toEqual(millis < ringsAt ? undefined : { stored, at: at(millis) })
        expect(unripened(ripe)?.stored ?? ripe).toBe(stored)
      })
    )
  })

  it("has one view for as long as it is cached, and other members make another", () => {
    const { fromRow, decoded } = Versions.make()
    const members = { timerId: null }
    const cached = fromRow(timers, row(1), at(0))
    const view = RecordView.of(timers, members, cached)
    expect(view).toMatchObject({ version: 1, createdAt: at(1), updatedAt: at(2) })
    expect(RecordView.of(timers, members, cached)).toBe(view)
    expect(RecordView.of(timers, { state: null }, cached)).toMatchObject({ state: "set" })
    const streamed = decoded(timers, row(1), at(0))
    expect(RecordView.of(timers, members, streamed)).toEqual(view)
    expect(RecordView.of(timers, members, streamed)).not.toBe(view)
  })
})
