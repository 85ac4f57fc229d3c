/**
 * Months of one instrument in a holder's statements, over movements, prices and indices by chance:
 * they add up and join in every zone, with any skew of the effective times.
 */
import { Date, Decimal, Instant, Month, Offset, Party, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isLong } from "../long-run.ts"
import type { PartyMovement } from "#core/instruments/register/Movement.ts"
import { movementsMax } from "#core/overviews/holder-statement/HolderStatement.ts"
import * as Rules from "#core/overviews/holder-statement/HolderStatementRules.ts"
import type { Points } from "#core/overviews/holder-statement/StatementPointRules.ts"

/**
 * Zones with clock changes at midnight in both directions, days of 23 and 25 hours, a date that
 * never was, half hours.
 */
const zones = [
  "UTC",
  "America/Sao_Paulo",
  "Asia/Beirut",
  "America/Havana",
  "Pacific/Apia",
  "Pacific/Kwajalein",
  "America/New_York",
  "Australia/Lord_Howe",
  "Asia/Kolkata",
  "Pacific/Kiritimati"
].map(Zone.of)

/** Months with a change of a clock, or a date that a zone never had, near their ends. */
const firsts = ["2011-11", "1993-07", "2018-10", "2026-02", "2026-09", "2010-12"].map(Month.of)
const length = 4

const party = Party.make({ hint: "h", fingerprint: `1220${"ab".repeat(32)}` })
const oracle = Party.make({ hint: "o", fingerprint: `1220${"cd".repeat(32)}` })

interface Given {
  readonly zone: Zone.Zone
  readonly months: ReadonlyArray<Month.Month>
  readonly movements: ReadonlyArray<PartyMovement>
  readonly valuation: "rebasing" | "par"
  readonly points: Points["points"]
}

/** Nanoseconds around the starts of months, where days of zones differ, and anywhere between. */
const times = (months: ReadonlyArray<Month.Month>, zone: Zone.Zone) => {
  const starts = months.map((month) => Zone.startOfMonth(zone, month))
  const near = fc.tuple(
    fc.constantFrom(...starts),
    fc.constantFrom(-3_600_000_000_000n, -1_000n, 0n, 1_000n, 3_599_999_999_000n)
  )
  return fc.oneof(
    near.map(([at, by]) => at + by),
    fc.bigInt({ min: starts[0]!, max: starts.at(-1)! })
  )
}

const histories = fc
  .record({
    zone: fc.constantFrom(...zones),
    first: fc.constantFrom(...firsts),
    valuation: fc.constantFrom("rebasing" as const, "par" as const)
  })
  .chain(({ first, valuation, zone }) => {
    const months = Array.from({ length }, (_, nth) => Month.add(first, nth))
    return fc
      .record({
        moves: fc.array(
          fc.record({
            at: times(months, zone),
            skew: fc.bigInt({ min: -60n * 10n ** 9n, max: 60n * 10n ** 9n }),
            units: fc.oneof(
              fc.bigInt({ min: 1n, max: 9n }),
              fc.bigInt({ min: 1n, max: 10n ** 20n })
            ),
            part: fc.bigInt({ min: 1n, max: 1_000n }),
            isOut: fc.boolean()
          }),
          { maxLength: 30 }
        ),
        begun: fc.bigInt({ min: 0n, max: 10n ** 14n }),
        points: fc.array(
          fc.record({
            at: times(months, zone),
            late: fc.constantFrom(0n, 3_600n, 86_400n, 40n * 86_400n),
            price: fc.bigInt({ min: 5n * 10n ** 9n, max: 3n * 10n ** 10n })
          }),
          { maxLength: 8 }
        )
      })
      .map(({ begun, moves, points }): Given => {
        let balance = begun
        const sorted = moves.toSorted((a, b) => (a.at < b.at ? -1 : 1))
        const movements = sorted.flatMap(({ at, isOut, part, skew, units }, nth) => {
          const signed = isOut ? -((balance * part + 999n) / 1_000n) : units
          if (signed === 0n) return []
          balance += signed
          const movement = {
            ...{ party, seq: nth + 1, at: Instant.fromNanos(at + skew), kind: "transfer" },
            ...{ ledgerTime: Instant.fromNanos(at), reference: null },
            ...{ from: isOut ? party : null, to: isOut ? null : party },
            units: Decimal.fromAtoms(isOut ? -signed : signed),
            balanceAfter: Decimal.fromAtoms(balance)
          }
          return [movement as unknown as PartyMovement]
        })
        return { zone, months, valuation, movements, points: pointsOf(points) }
      })
  })

const pointsOf = (
  all: ReadonlyArray<{ readonly at: bigint; readonly late: bigint; readonly price: bigint }>
): Points["points"] =>
  all
    .toSorted((a, b) => (a.at + a.late * 10n ** 9n < b.at + b.late * 10n ** 9n ? -1 : 1))
    .map(
      ({ at, late, price }, nth) =>
        ({
          ...{ contractId: `p${nth}`, price: Decimal.fromAtoms(price), source: oracle },
          valuationTime: Instant.fromNanos(at),
          publishedAt: Instant.fromNanos(at + late * 10n ** 9n),
          ...{ offset: Offset.of(nth + 1), nodeId: 0, correctedBy: null, isLive: true }
        }) as unknown as Points["points"][number]
    )

const subjectOf = (history: Pick<Given, "valuation" | "points">): Rules.Subject => {
  const manifest = {
    oracle,
    valuation: history.valuation,
    unitDecimals: 6,
    currency: "USD",
    parValue: null
  }
  return {
    instrument: { instrumentId: "fund", manifest, policyVersion: 1 },
    versions: [{ effectiveFrom: Instant.of("1990-01-01T00:00:00Z"), manifest }],
    points: history.points,
    ends: new Map(),
    opening: null
  } as unknown as Rules.Subject
}

/** The months from the one of this place on, from the units that the party had before it. */
const played = ({ months, movements, zone, ...history }: Given, from = 0) => {
  const spans = months.map((month) => Rules.spanOf(month, zone))
  const start = spans[from]!.start
  const before = movements.findLast(({ ledgerTime }) => ledgerTime < start)?.balanceAfter ?? null
  const ledger = new Rules.Ledger(
    { ...subjectOf(history), opening: before },
    Rules.spanOf(Month.previous(months[from]!), zone)
  )
  return spans.slice(from).map((span) => {
    ledger.begin(span)
    const within = movements.filter(
      ({ ledgerTime }) => ledgerTime >= span.start && ledgerTime < span.end
    )
    for (const movement of within) ledger.add(movement)
    return { span, within, closed: ledger.close({ until: span.end, isPaid: false }) }
  })
}

describe("months of one instrument by chance", () => {
  it("leave no instant out and have none twice, in any zone", () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 12 * 60 }), (zone, nth) => {
        const month = Month.add(Month.of("1990-01"), nth)
        const [span, next] = [Rules.spanOf(month, zone), Rules.spanOf(Month.next(month), zone)]
        expect(span.end).toBe(next.start)
        const last = Instant.fromNanos(span.end - 1n)
        expect(Month.fromDate(Zone.dateAt(zone, span.start))).toBe(month)
        expect(Month.fromDate(Zone.dateAt(zone, last))).toBe(month)
        expect(Date.compare(Zone.dateAt(zone, last), Month.lastDay(month))).toBeLessThanOrEqual(0)
      }),
      { numRuns: isLong ? 5_000 : 500 }
    )
  })

  it("add up, join, and close at the units that the last movement left, at the index of the end", () => {
    let moved = 0
    let rebased = 0
    fc.assert(
      fc.property(histories, (history) => {
        let closing: Decimal.Decimal | null = null
        for (const { closed, within } of played(history)) {
          if (closed === null) {
            expect(within).toEqual([])
            continue
          }
          const sum = Decimal.sum(closed.movements.map(({ units }) => units))
          expect(Decimal.add(closed.opening, sum)).toBe(closed.closing)
          if (closing !== null) expect(closed.opening).toBe(closing)
          closing = closed.closing
          const own = closed.movements.filter(({ seq }) => seq !== null)
          expect(own.map(({ seq }) => seq)).toEqual(within.map(({ seq }) => seq))
          expect(closed.movementCount).toBe(closed.movements.length)
          moved += own.length
          rebased += closed.movements.length - own.length
          if (history.valuation === "rebasing") continue
          expect(closed.movements).toEqual(own)
          const last = within.at(-1)
          if (last !== undefined) expect(closed.closing).toBe(last.balanceAfter)
        }
      }),
      { numRuns: isLong ? 2_000 : 150 }
    )
    expect(Math.min(moved, rebased)).toBeGreaterThan(0)
  })

  it("read alike from whichever month on they are asked for", () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: length - 1 }), (history, from) => {
        const all = played(history).slice(from)
        const rest = played(history, from)
        for (const [nth, { closed, within }] of rest.entries()) {
          // Units that a snapshot began with are told by the first movement alone.
          const isKnown = history.movements.some(
            ({ ledgerTime }) => ledgerTime < all[0]!.span.start
          )
          if (isKnown || within.length > 0) expect(closed).toEqual(all[nth]!.closed)
        }
      }),
      { numRuns: isLong ? 1_000 : 100 }
    )
  })

  it("show 10,000 movements at most, count all, and show the rebase beside them", () => {
    const month = Month.of("2026-09")
    const movements = Array.from({ length: movementsMax + 5 }, (_, nth) => ({
      ...{ party, seq: nth + 1, kind: "mint", reference: null, from: null, to: party },
      at: Instant.of("2026-09-02T00:00:00Z"),
      ledgerTime: Instant.of("2026-09-02T00:00:00Z"),
      ...{ units: Decimal.one, balanceAfter: Decimal.fromInteger(nth + 1) }
    })) as unknown as ReadonlyArray<PartyMovement>
    const at = (text: string) => Instant.of(text)
    const points = pointsOf([
      { at: at("2026-09-01T00:00:00Z"), late: 0n, price: 10n ** 10n },
      { at: at("2026-09-20T00:00:00Z"), late: 0n, price: 2n * 10n ** 10n }
    ])
    const history = { zone: Zone.utc, months: [month], movements }
    const [plain] = played({ ...history, valuation: "par", points })
    expect(plain!.closed!.movements).toHaveLength(movementsMax)
    expect(plain!.closed!.movementCount).toBe(movementsMax + 5)
    expect(plain!.closed!.closing).toBe(Decimal.fromInteger(movementsMax + 5))
    const [rebasing] = played({ ...history, valuation: "rebasing", points })
    expect(rebasing!.closed!.movements).toHaveLength(movementsMax + 1)
    expect(rebasing!.closed!.movementCount).toBe(movementsMax + 6)
    const last = rebasing!.closed!.movements.at(-1)!
    expect([last.kind, last.units, last.balanceAfter]).toEqual([
      "rebase",
      Decimal.fromInteger(movementsMax + 5),
      rebasing!.closed!.closing
    ])
  })
})

describe("an instrument in a month", () => {
  it.each([
    [0, "0", "0", false],
    [1, "0", "0", true],
    [0, "1", "1", true],
    [0, "1", "0", true],
    [0, "0", "1", true]
  ])(
    "of %i movements, open at %s and closed at %s, is shown: %s",
    (count, open, closed, isShown) => {
      const figures = {
        movementCount: count,
        opening: Decimal.of(open),
        closing: Decimal.of(closed)
      }
      const month = { instrumentId: "fund-a", movements: [], ...figures }
      const unpriced = { price: null, priceAt: null, value: null, currency: null }
      expect(Rules.isShown({ ...month, ...unpriced })).toBe(isShown)
    }
  )
})
