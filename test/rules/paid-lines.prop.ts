/** Days on which payments count, over deliveries, evidence and zones by chance: no closed month takes one. */
import { Date, Instant, Month, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { deliveriesOf } from "#core/overviews/holder-statement/HolderStatementLookups.ts"
import { spanOf } from "#core/overviews/holder-statement/HolderStatementRules.ts"
import * as PaidLineRules from "#core/overviews/PaidLineRules.ts"

const zones = [
  "UTC",
  "Pacific/Kiritimati",
  "Etc/GMT+12",
  "Pacific/Apia",
  "America/Sao_Paulo",
  "Asia/Kolkata",
  "Australia/Lord_Howe"
].map(Zone.of)

const begin = Instant.of("2011-11-01T00:00:00Z")

/** A delivery near the end of a month or of its grace, and the day that its evidence names, if it has any. */
const lines = fc
  .record({
    month: fc.integer({ min: 0, max: 5 }).map((nth) => Month.add(Month.of("2011-11"), nth)),
    days: fc.constantFrom(0, 30, 31, 32),
    nanos: fc.bigInt({ min: -30n * 3_600n * 10n ** 9n, max: 30n * 3_600n * 10n ** 9n }),
    /** Days that the evidence names before the delivery's; null: units. */
    back: fc.option(fc.integer({ min: 0, max: 40 }))
  })
  .map(({ back, days, month, nanos }) => {
    const near = Instant.fromDate(Date.addDays(Month.firstDay(month), days))
    const at = Instant.max(begin, Instant.fromNanos(near + nanos))
    // The ledger takes evidence of a day that has begun somewhere.
    const latest = Zone.dateAt(Zone.of("Pacific/Kiritimati"), at)
    const paidOn = back === null ? null : Date.addDays(latest, -back)
    const evidence = paidOn === null ? null : { reference: "wire", paidOn }
    return { lineId: "d.1", evidence, paidOn, deliveredAt: at, delivery: null, at }
  })

it("is in a month that had not closed by its delivery, and is looked for where it is", () => {
  let early = 0
  let late = 0
  fc.assert(
    fc.property(lines, fc.constantFrom(...zones), ({ at, ...line }, zone) => {
      const day = PaidLineRules.countedOn(line as never, { zone, since: null })
      const span = spanOf(Month.fromDate(day), zone)
      const nextDay = Month.firstDay(Month.next(span.month))
      const closesAt = PaidLineRules.closesAt(
        { zone, nextDay },
        { mayPayCash: line.evidence !== null }
      )
      expect(Instant.isBefore(at, closesAt)).toBe(true)
      const { from, to } = deliveriesOf(span)
      const delivered = Month.fromDate(Instant.date(at))
      expect([from <= delivered, delivered <= to]).toEqual([true, true])
      if (Instant.isBefore(at, span.start)) early += 1
      if (Instant.atOrAfter(at, span.end)) late += 1
    }),
    { numRuns: 1_500 }
  )
  // Evidence may name the day after that of the delivery in a zone, and days that are long past.
  expect(Math.min(early, late)).toBeGreaterThan(0)
})
