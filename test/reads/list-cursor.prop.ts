/** Cursors of lists: the pin comes back as it went in, and nothing else that decides a list may change. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Cursor from "#core/reads/Cursor.ts"
import * as ListCursor from "#core/reads/ListCursor.ts"
import * as Prepared from "#core/reads/Prepared.ts"
import type * as Point from "#core/reads/Point.ts"
import { refused, unavailable } from "#core/kernel/Refusal.ts"

const instants = fc
  .bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  .map((nanos) => Instant.fromNanos(nanos))
const offsets = fc.nat().map((n) => Offset.of(n))

const pins: fc.Arbitrary<Point.ResolvedPoint> = fc.record({
  offset: offsets,
  ledgerEpoch: fc.nat(9),
  ledgerTime: fc.option(instants),
  judgedAt: instants,
  select: fc.oneof(
    fc.constantFrom({ by: "latest" as const }, { by: "offset" as const }),
    fc.record({ by: fc.constantFrom("instant" as const, "snapshot" as const), instant: instants })
  )
})

/** The pin of the next page, read from the cursor. */
const nextPin = (pinned: boolean, pin: Point.ResolvedPoint, sortKey: string) => {
  const going = Cursor.goingOn(ListCursor.placeAfter({ pinned }, pin, sortKey))
  const place = Result.getOrThrow(Cursor.placeOf(going, undefined))
  return { sortKey: place.sortKey, pin: ListCursor.pinOf(place) }
}

describe("the pin of the next page", () => {
  it("is that of the page before it", () => {
    fc.assert(
      fc.property(pins, fc.string({ minLength: 1 }), (pin, sortKey) => {
        expect(nextPin(true, pin, sortKey)).toEqual({ sortKey, pin })
      })
    )
  })

  it("has neither offset nor ledger epoch where the list takes no point", () => {
    fc.assert(
      fc.property(pins, (pin) => {
        expect(nextPin(false, pin, "k").pin).toEqual({ ...pin, offset: 0, ledgerEpoch: 0 })
      })
    )
  })
})

describe("what a cursor is bound to", () => {
  const base = {
    read: { name: "notes.list", direction: "asc" },
    tenantId: "t",
    where: { state: ["set"] },
    ranges: { owner: { from: "a" } },
    point: {},
    page: {}
  }
  const now = Instant.fromEpochMillis(1)

  it("differs with each thing that decides which records come in which order", () => {
    const others: ReadonlyArray<Partial<Parameters<typeof ListCursor.boundOf>[0]>> = [
      {},
      { read: { name: "other.list", direction: "asc" } },
      { read: { name: "notes.list", direction: "desc" } },
      { tenantId: "u" },
      { where: {} },
      { where: { state: ["rung"] } },
      { ranges: {} },
      { ranges: { owner: { to: "a" } } },
      { point: { at: Offset.of(1) } },
      { page: { updatedFrom: now } },
      { page: { updatedTo: now } }
    ]
    const bounds = others.map((other) => ListCursor.boundOf({ ...base, ...other }))
    expect(new Set(bounds).size).toBe(others.length)
  })

  it("is the same for the same list, whichever place the page begins after and as of any instant", () => {
    const after = { ...base, point: { asOf: now }, page: { after: "cursor" } }
    expect(ListCursor.boundOf(after)).toBe(ListCursor.boundOf(base))
  })
})

describe("the clock of an answer", () => {
  it("is the instant it was given out at where it is of the latest, else the engine's", () => {
    fc.assert(
      fc.property(pins, instants, offsets, (pin, clock, at) => {
        const position = { pin, clock }
        expect(Prepared.nowOf({ pinned: true }, { ...position, point: {} })).toBe(pin.judgedAt)
        expect(Prepared.nowOf({ pinned: false }, { ...position, point: {} })).toBe(clock)
        expect(Prepared.nowOf({ pinned: true }, { ...position, point: { at } })).toBe(clock)
        expect(Prepared.nowOf({ pinned: true }, { ...position, point: { asOf: clock } })).toBe(
          clock
        )
      })
    )
  })
})

describe("an answer that hides a point's refusal", () => {
  it("is one that says no more than that the caller sees nothing", () => {
    expect(Prepared.isOutOfSight(refused("not-found", { detail: "" }))).toBe(true)
    expect(Prepared.isOutOfSight(refused("permission-denied", { detail: "" }))).toBe(true)
    expect(Prepared.isOutOfSight(refused("before-horizon"))).toBe(false)
    expect(Prepared.isOutOfSight(unavailable("not-ready", "", 1))).toBe(false)
  })
})
