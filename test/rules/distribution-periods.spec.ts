/**
 * Distribution periods: the days of each, the points that price it, its record date in every zone,
 * and the policy version behind each of its terms (docs/domain/distributions.md).
 */
import { Date, Decimal, Instant, Month, Offset, Party, Zone } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { settingsBy } from "#core/distributions/period/PeriodLookups.ts"
import * as Points from "#core/distributions/period/PeriodPointRules.ts"
import * as Periods from "#core/distributions/period/PeriodRules.ts"
import * as Terms from "#core/distributions/period/PeriodTermsRules.ts"
import * as RateChange from "#core/distributions/period/RateChangeRules.ts"
import * as RecordDate from "#core/distributions/period/RecordDateRules.ts"
import { DistributionRoll } from "#core/distributions/roll/DistributionRoll.ts"
import { admitsNet } from "#core/distributions/standing-approval/StandingApprovalRules.ts"
import { StandingApprovalState } from "#core/distributions/standing-approval/StandingApproval.ts"
import { instrument } from "./broken.ts"

const d = Decimal.of
const oracle = Party.of("oracle::1220aa")
const other = Party.of("other::1220bb")
const monday = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const

interface Stated {
  readonly from?: string
  readonly zone?: string | null
  readonly recordDay?: number | null
  readonly lag?: number
  readonly schedule?: "none" | "monthly"
  readonly valuation?: "par" | "accumulating" | "rebasing"
  readonly oracle?: Party.Party
}

const version = (stated: Stated = {}): Terms.Version => {
  const { manifest } = instrument()
  if (manifest === null) throw new Error("the instrument of the tests has its terms")
  const { recordDay = 31, lag = 0, zone = null } = stated
  return {
    effectiveFrom: Instant.of(stated.from ?? "2026-01-01T00:00:00Z"),
    manifest: {
      oracle: stated.oracle ?? oracle,
      businessZone: zone === null ? null : Zone.of(zone),
      valuation: stated.valuation ?? "par",
      cutOff: { ...manifest.cutOff, days: monday },
      distribution: {
        ...manifest.distribution,
        schedule: stated.schedule ?? "monthly",
        calendar:
          recordDay === null ? null : { frequency: "monthly", recordDay, paymentLagDays: lag }
      }
    }
  }
}

let published = 0
/** Point valued at an instant, or at noon in UTC of a date. */
const point = (
  at: string,
  change: Partial<Points.PeriodPoint> & {
    readonly income?: string | null
    readonly rate?: string
  } = {}
): Points.PeriodPoint => {
  const { income, rate, ...fields } = change
  const valuationTime = Instant.of(at.includes("T") ? at : `${at}T12:00:00Z`)
  published += 1
  return {
    contractId: `00${published.toString(16).padStart(4, "0")}`,
    price: Decimal.one,
    incomePerUnit: income === null ? null : d(income ?? "0.0001"),
    withholding: rate === undefined ? null : d(rate),
    valuationTime,
    publishedAt: valuationTime,
    source: oracle,
    offset: Offset.of(published),
    nodeId: 0,
    correctedBy: null,
    isLive: true,
    ...fields
  }
}

type Executed = Periods.ExecutedMonth<Points.PeriodPoint>
const asExecuted = (period: Periods.Period<Points.PeriodPoint, Terms.Version>): Executed => ({
  month: period.month,
  recordDate: period.recordDate,
  fromPoint: period.fromPoint,
  toPoint: period.toPoint
})

/** Executes every period of the facts in turn, as months pass, and returns them. */
const executedInTurn = (
  facts: Pick<Periods.MonthFacts<Points.PeriodPoint, Terms.Version>, "versions" | "points">,
  through: Month.Month
) => {
  const all: Array<Periods.Period<Points.PeriodPoint, Terms.Version>> = []
  let executed: Executed | null = null
  for (;;) {
    const [next] = Periods.openPeriods({ ...facts, executed }, through)
    if (next === undefined) return all
    all.push(next)
    executed = asExecuted(next)
  }
}

/** Date → contract of the point whose income accrues on it. */
const accruedDays = (
  periods: ReadonlyArray<Points.PeriodPoints<Points.PeriodPoint>>
): ReadonlyArray<readonly [Date.Date, string]> =>
  periods.flatMap((period) =>
    Points.accrualsOf(period).flatMap(({ date, days, point }) =>
      Array.from({ length: days }, (_, added) => {
        const from = Date.max(date, period.firstDay)
        return [Date.addDays(from, added), point.contractId] as const
      })
    )
  )

const anyZone = fc.constantFrom(...Intl.supportedValuesOf("timeZone"))
const recordDay = fc.option(fc.integer({ min: 1, max: 31 }))
const valuation = fc.constantFrom("par", "accumulating", "rebasing")
const through = Month.of("2027-02")
/** Instants of points, from half a year before the schedule until its fourteenth month. */
const instants = fc.uniqueArray(
  fc
    .integer({ min: -180 * 24, max: 420 * 24 })
    .map((hours) =>
      Instant.format(
        Instant.fromEpochMillis(
          Date.epochDay(Date.of("2026-01-01")) * 86_400_000 + hours * 3_600_000
        )
      )
    ),
  { maxLength: 60 }
)

describe("the days of the periods", () => {
  it("never are lost or shared, in any zone and for any record day", () => {
    fc.assert(
      fc.property(anyZone, recordDay, instants, (zone, recordDay, instants) => {
        const versions = [version({ zone, recordDay })]
        const points = instants.map((at) => point(at))
        const periods = executedInTurn({ versions, points }, through)
        const scheduledFrom = Zone.dateAt(Zone.of(zone), Instant.of("2026-01-01T00:00:00Z"))
        const lastDay = periods.at(-1)?.recordDate
        const dates = points.map((point) => ({
          point,
          date: Zone.dateAt(Zone.of(zone), point.valuationTime)
        }))
        const expected: Array<readonly [Date.Date, string]> = []
        for (
          let day = scheduledFrom;
          lastDay !== undefined && !Date.isAfter(day, lastDay);
          day = Date.next(day)
        ) {
          const reaching = dates
            .filter(({ date }) => !Date.isAfter(date, day))
            .toSorted((a, b) => Instant.compare(a.point.valuationTime, b.point.valuationTime))
            .at(-1)
          if (reaching !== undefined) expected.push([day, reaching.point.contractId])
        }
        expect(accruedDays(periods)).toEqual(expected)
      }),
      { numRuns: 200 }
    )
  })

  it("follow one another without a gap while policies move the zone and the record day", () => {
    const change = fc.record({ day: fc.integer({ min: 1, max: 420 }), zone: anyZone, recordDay })
    fc.assert(
      fc.property(anyZone, fc.array(change, { maxLength: 4 }), instants, (zone, changes, at) => {
        const versions = [
          version({ zone }),
          ...changes
            .toSorted((a, b) => a.day - b.day)
            .map(({ day, zone, recordDay }) => {
              const from = Instant.fromDate(Date.addDays(Date.of("2026-01-01"), day))
              return version({ from: Instant.format(from), zone, recordDay })
            })
        ]
        const periods = executedInTurn({ versions, points: at.map((at) => point(at)) }, through)
        const days = accruedDays(periods).map(([day]) => day)
        const first = days[0]
        if (first === undefined) return
        expect(days).toEqual(days.map((_, index) => Date.addDays(first, index)))
        expect(days.at(-1)).toBe(periods.at(-1)?.recordDate)
      }),
      { numRuns: 200 }
    )
  })

  it("are the same, whether earlier periods are executed or wait", () => {
    fc.assert(
      fc.property(anyZone, recordDay, valuation, instants, (zone, recordDay, valuation, at) => {
        const versions = [version({ zone, recordDay, valuation })]
        const points = at.map((at) => point(at))
        const waiting = Periods.openPeriods({ versions, points, executed: null }, through)
        expect(executedInTurn({ versions, points }, through)).toEqual(waiting)
      }),
      { numRuns: 60 }
    )
  })

  it("end at the midnight at which the day after them begins", () => {
    fc.assert(
      fc.property(
        anyZone,
        recordDay,
        fc.integer({ min: 0, max: 600 }),
        (zone, recordDay, months) => {
          const month = Month.add(Month.of("2000-01"), months)
          const dates = Terms.datesOf(
            [version({ zone, recordDay, from: "1999-01-01T00:00:00Z" })],
            month
          )
          if (dates === undefined) throw new Error("a monthly schedule has every month")
          const { recordDate, recordEndsAt } = dates
          expect(Month.contains(month, recordDate)).toBe(true)
          expect(Zone.startOfDay(Zone.of(zone), Date.next(recordDate))).toBe(recordEndsAt)
          expect(Date.isAfter(Zone.dateAt(Zone.of(zone), recordEndsAt), recordDate)).toBe(true)
          expect(
            Date.isAfter(RecordDate.recordDateIn(Zone.of(zone), recordEndsAt), recordDate)
          ).toBe(false)
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("never change by a point that comes late for an executed month", () => {
    fc.assert(
      fc.property(anyZone, instants, instants, fc.nat({ max: 12 }), (zone, at, late, index) => {
        const versions = [version({ zone })]
        const points = at.map((instant) => point(instant))
        const executed = executedInTurn({ versions, points }, through)[index]
        if (executed === undefined) return
        const facts = { versions, points, executed: asExecuted(executed) }
        const lateOnes = late
          .map((instant) => point(instant))
          .filter(
            ({ valuationTime }) =>
              !Date.isAfter(Zone.dateAt(Zone.of(zone), valuationTime), executed.recordDate)
          )
        const without = Periods.openPeriods(facts, through)
        const withLate = Periods.openPeriods(
          { ...facts, points: [...points, ...lateOnes] },
          through
        )
        const days = ({ month, firstDay, points }: (typeof without)[number]) => [
          month,
          firstDay,
          points
        ]
        expect(withLate.map(days)).toEqual(without.map(days))
        for (const { month } of lateOnes.map(({ valuationTime }) => ({
          month: Month.fromDate(Zone.dateAt(Zone.of(zone), valuationTime))
        }))) {
          expect(["executed", "before-executed"]).toContain(Periods.placeOf(facts, month))
        }
      }),
      { numRuns: 60 }
    )
  })
})

describe("the points of a period", () => {
  it("keep what a former oracle published, whatever policy comes later", () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 0, max: 400 }), (at, day) => {
        const points = at.map((instant) => point(instant))
        const change = Instant.fromDate(Date.addDays(Date.of("2026-01-02"), day))
        const versions = [version(), version({ from: Instant.format(change), oracle: other })]
        const official = Points.officialPoints(points, versions)
        expect(official).toEqual(
          points.filter(({ publishedAt }) => Instant.isBefore(publishedAt, change))
        )
      })
    )
  })

  it("lose what a former oracle corrects or takes back, until the present one states it anew", () => {
    const replaced = [version(), version({ from: "2026-01-20T00:00:00Z", oracle: other })]
    const correction = point("2026-01-05", { publishedAt: Instant.of("2026-01-21T09:00:00Z") })
    const corrected = point("2026-01-05", { correctedBy: correction.contractId })
    const withdrawn = point("2026-01-06", { isLive: false })
    const kept = point("2026-01-07")
    const points = [corrected, correction, withdrawn, kept]
    expect(Points.officialPoints(points, replaced)).toEqual([kept])
    const anew = point("2026-01-05", {
      source: other,
      publishedAt: Instant.of("2026-01-22T09:00:00Z")
    })
    const dates = Points.datedPoints(Points.officialPoints([...points, anew], replaced), Zone.utc)
    expect(dates.map(({ point: { contractId } }) => contractId)).toEqual([
      anew.contractId,
      kept.contractId
    ])
  })

  it("are one for each date: the last valued, and among those the last on the ledger", () => {
    const early = point("2026-07-31T09:00:00Z")
    // The effective times of two transactions may contradict their order.
    const noon = point("2026-07-31T12:00:00Z", { publishedAt: Instant.of("2026-07-31T13:00:04Z") })
    const again = point("2026-07-31T12:00:00Z", { publishedAt: Instant.of("2026-07-31T13:00:00Z") })
    const sameTime = { publishedAt: again.publishedAt, offset: again.offset, nodeId: 1 }
    const nextNode = point("2026-07-31T12:00:00Z", sameTime)
    const dated = (...points: ReadonlyArray<Points.PeriodPoint>) =>
      Points.datedPoints(points, Zone.utc).map(({ point }) => point)
    expect(dated(noon, early)).toEqual([noon])
    expect(dated(again, noon, early)).toEqual([again])
    expect(dated(nextNode, early, again)).toEqual([nextNode])
  })

  it("never are corrected or withdrawn ones, another party's, or a par price without income", () => {
    const facts = (points: ReadonlyArray<Points.PeriodPoint>) => ({
      versions: [version()],
      points,
      executed: null
    })
    const month = Month.of("2026-01")
    for (const unfit of [
      point("2026-01-05", { correctedBy: "00ff" }),
      point("2026-01-05", { isLive: false }),
      point("2026-01-05", { source: other }),
      point("2026-01-05", { income: null })
    ]) {
      expect(Periods.openPeriods(facts([unfit]), month)).toEqual([])
      expect(Periods.placeOf(facts([unfit]), month)).toBe("no-point")
    }
    expect(Periods.placeOf(facts([point("2026-01-05")]), month)).toBe("next")
  })

  test("state rates, each where it was stated last, so that the latest ends the list", () => {
    const rates = (...stated: ReadonlyArray<string | undefined>) =>
      Points.ratesSeen(
        stated.map((rate) => ({
          date: Date.of("2026-07-01"),
          point: point("2026-07-01", rate === undefined ? {} : { rate })
        }))
      ).map(Decimal.formatPlain)
    expect(rates("0.15", "0.2")).toEqual(["0.15", "0.2"])
    expect(rates("0.15", "0.2", undefined, "0.15")).toEqual(["0.2", "0.15"])
    expect(rates(undefined)).toEqual([])
  })
})

const july = Month.of("2026-07")
const accruals = (
  facts: Partial<Periods.MonthFacts<Points.PeriodPoint, Terms.Version>>,
  month: string
): ReadonlyArray<readonly [string, number]> => {
  const periods = executedInTurn({ versions: [version()], points: [], ...facts }, Month.of(month))
  const last = periods.at(-1)
  if (last === undefined) return []
  return Points.accrualsOf(last).map(({ date, days }) => [date, days] as const)
}

describe("golden vectors", () => {
  test("G21: a Friday point on the record date gives that day to July and the weekend to August", () => {
    const versions = [version({ from: "2026-07-01T00:00:00Z" })]
    const points = [point("2026-07-31"), point("2026-08-03")]
    expect(accruals({ versions, points }, "2026-07")).toEqual([["2026-07-31", 1]])
    expect(accruals({ versions, points }, "2026-08")).toEqual([
      ["2026-07-31", 2],
      ["2026-08-03", 29]
    ])
  })

  test("G41: the days up to a Saturday's record date, and from the Sunday after it", () => {
    const versions = [version({ recordDay: 15, from: "2026-08-01T00:00:00Z" })]
    const points = [point("2026-08-13"), point("2026-08-14"), point("2026-08-17")]
    expect(accruals({ versions, points }, "2026-08")).toEqual([
      ["2026-08-13", 1],
      ["2026-08-14", 2]
    ])
    expect(accruals({ versions, points: [...points, point("2026-09-01")] }, "2026-09")[0]).toEqual([
      "2026-08-14",
      1
    ])
  })

  test.each([
    ["G22, short month", { recordDay: 31 }, "2026-02", "2026-02-28", "2026-03-02", "2026-03-02"],
    ["G22, leap year", { recordDay: 31 }, "2028-02", "2028-02-29", "2028-03-01", "2028-02-29"],
    ["G22, over a weekend", { lag: 2 }, "2026-07", "2026-07-31", "2026-08-03", "2026-08-03"],
    ["without a calendar", { recordDay: null }, "2026-07", "2026-07-31", "2026-08-03", "2026-07-31"]
  ] as const)("%s: record date, ex date and payment date", (_, stated, month, record, ex, paid) => {
    const dates = Terms.datesOf(
      [version({ ...stated, valuation: "accumulating" })],
      Month.of(month)
    )
    expect(dates).toMatchObject({ recordDate: record, exDate: ex, paymentDate: paid })
    expect(Terms.datesOf([version(stated)], Month.of(month))?.exDate).toBeNull()
  })

  test.each([
    [
      "America/Los_Angeles",
      31,
      2,
      "2026-07",
      "UTC",
      "2026-07-31",
      "2026-08-01T07:00:00Z",
      "2026-08-01",
      "2026-08-03",
      "2026-08-03"
    ],
    [
      "Pacific/Auckland",
      30,
      5,
      "2026-09",
      "UTC",
      "2026-09-30",
      "2026-09-30T11:00:00Z",
      "2026-09-30",
      "2026-10-01",
      "2026-10-05"
    ],
    [
      "Pacific/Auckland",
      30,
      5,
      "2026-09",
      "America/New_York",
      "2026-09-30",
      "2026-09-30T11:00:00Z",
      "2026-09-30",
      "2026-10-01",
      "2026-10-05"
    ],
    [
      "Europe/Zurich",
      31,
      1,
      "2026-10",
      "Pacific/Auckland",
      "2026-10-31",
      "2026-10-31T23:00:00Z",
      "2026-11-01",
      "2026-11-02",
      "2026-11-02"
    ]
  ])(
    "G46: %s, record day %i, lag %i, %s, asked in %s",
    (zone, recordDay, lag, month, readerZone, record, ends, on, ex, paid) => {
      const dates = Terms.datesOf(
        [version({ zone, recordDay, lag, valuation: "accumulating" })],
        Month.of(month)
      )
      expect(dates).toMatchObject({
        recordDate: record,
        recordEndsAt: Instant.of(ends),
        exDate: ex,
        paymentDate: paid
      })
      expect(RecordDate.recordDateIn(Zone.of(readerZone), Instant.of(ends))).toBe(on)
    }
  )

  test.each([
    ["alert", "alert", null, null, "announced"],
    ["alert", "alert", null, "0.2", "acknowledged"],
    ["alert", "alert", null, "0.15", "rate-acknowledged"],
    ["alert", "refuse", null, null, "rate-change"],
    ["alert", "refuse", null, "0.2", "acknowledged"],
    ["refuse", "alert", "alert", null, "rate-change"],
    ["alert", "alert", "refuse", null, "rate-change"],
    ["alert", "alert", "alert", null, "announced"]
  ] as const)(
    "G36: deployment %s, policy %s, approval %s, acknowledged %s",
    (deployment, policy, approval, rate, expected) => {
      const rates = {
        ratesSeen: [d("0.15"), d("0.2")],
        acknowledgedRate: rate === null ? null : d(rate)
      }
      const words = [deployment, policy, ...(approval === null ? [] : [approval])]
      const judged = !RateChange.mayAcknowledge(rates)
        ? "rate-acknowledged"
        : !RateChange.isUnacknowledged(rates)
          ? "acknowledged"
          : RateChange.isRefused(words)
            ? "rate-change"
            : "announced"
      expect(judged).toBe(expected)
    }
  )

  test("G36: rates that do not differ are not to be acknowledged", () => {
    const rates = { ratesSeen: [d("0.2")], acknowledgedRate: d("0.2") }
    expect(RateChange.mayAcknowledge(rates)).toBe(false)
    expect(RateChange.isUnacknowledged(rates)).toBe(false)
    expect(RateChange.mayAcknowledge({ ...rates, acknowledgedRate: null })).toBe(true)
  })

  test("G37: a net that passes the limit by a cent is refused, one that reaches it exhausts", () => {
    const approval = { maxNet: d("1000.00"), usedNet: d("640.10") }
    expect(admitsNet(approval, d("359.91"))).toBe(false)
    expect(admitsNet(approval, d("359.90"))).toBe(true)
    expect(admitsNet({ ...approval, maxNet: null }, d("359.91"))).toBe(true)
    const now = Instant.of("2026-08-01T00:00:00Z")
    const used = Decimal.add(approval.usedNet, d("359.90"))
    const until = Instant.of("2027-01-01T00:00:00Z")
    const open = { from: now, until, maxUses: null, uses: 1, revokedAt: null, now }
    expect(StandingApprovalState.judge({ ...open, maxNet: approval.maxNet, usedNet: used })).toBe(
      "exhausted"
    )
  })

  test("G38: the states of a roll while a suspended line is cured later", () => {
    const counts = [
      [0, 0],
      [2, 0],
      [0, 2],
      [0, 2],
      [1, 2],
      [0, 3]
    ] as const
    expect(
      counts.map(([delivered, rolled]) => DistributionRoll.judge({ delivered, rolled }))
    ).toEqual(["waiting", "ready", "rolled", "rolled", "partial", "rolled"])
  })

  test.each([
    ["G42, nearly back at the ex price", "500", "520", "500.4", true],
    ["G42, still with the income", "500", "520", "519.9", false],
    ["as near to both", "500", "520", "510", false],
    ["an atom nearer to the ex price", "500", "520", "509.9999999999", true],
    ["below the ex price", "500", "520", "480", true],
    ["no income that could leave the price", "500", "500", "500", true]
  ])("%s: went ex", (_, exPrice, cumPrice, firstPrice, expected) => {
    const payout = { exPrice: d(exPrice), cumPrice: d(cumPrice), firstPrice: d(firstPrice) }
    expect(Periods.wentEx(payout)).toBe(expected)
  })
})

describe("a record date has passed", () => {
  const recordEndsAt = Instant.of("2026-08-01T07:00:00Z")
  const read = (readAt: string) => ({ offset: Offset.of(10), readAt: Instant.of(readAt) })
  const sound = {
    recordEndsAt,
    now: Instant.of("2026-08-01T07:01:00Z"),
    ledgerEnd: read("2026-08-01T07:01:00Z"),
    projected: { offset: Offset.of(10), ledgerTime: Instant.of("2026-08-01T06:59:59.999999Z") }
  }
  const projected = (offset: number, time: string | null) => ({
    projected: { offset: Offset.of(offset), ledgerTime: time === null ? null : Instant.of(time) }
  })

  test.each([
    ["60 seconds after its end, all read", {}, true],
    ["a microsecond before that", { now: Instant.of("2026-08-01T07:00:59.999999Z") }, false],
    ["the ledger's end is older", { ledgerEnd: read("2026-08-01T07:00:59.999999Z") }, false],
    ["nobody has read the ledger's end", { ledgerEnd: null }, false],
    ["the projection is behind", projected(9, null), false],
    ["the projection is ahead", projected(11, null), true],
    ["it is behind, past that time", projected(9, "2026-08-01T07:01:00Z"), true],
    ["it is behind, just before that", projected(9, "2026-08-01T07:00:59.999999Z"), false]
  ])("%s: %#", (_, change, expected) => {
    expect(RecordDate.hasPassed({ ...sound, ...change })).toBe(expected)
  })
})

describe("the settings of a month, of which the strictest applies", () => {
  const deployment = { rateChange: "alert", partialDistribution: "carry" } as const
  const strict = { rateChange: "refuse", partialDistribution: "refuse" } as const
  const policy = (change: Partial<typeof strict>) => {
    const { manifest } = instrument()
    if (manifest === null) throw new Error("the instrument of the tests has its terms")
    return { manifest: { ...manifest, ...deployment, ...change } }
  }
  const refuses = (given: ReturnType<typeof settingsBy>) =>
    [given.rateChange, given.partial].map((words) => RateChange.isRefused(words))

  it.each([
    ["nobody", settingsBy(deployment, policy({}), null), [false, false]],
    ["the deployment", settingsBy(strict, policy({}), null), [true, true]],
    ["the policy", settingsBy(deployment, policy(strict), null), [true, true]],
    [
      "the standing approval",
      settingsBy(deployment, policy({}), { rateChange: "refuse", partial: "refuse" }),
      [true, true]
    ]
  ])("%s refuses a changed rate and unrolled lines", (_, given, expected) => {
    expect(refuses(given)).toEqual(expected)
  })
})

describe("the terms of a month", () => {
  it("never get another record date, zone or lag from a version after the month's begin", () => {
    fc.assert(
      fc.property(
        anyZone,
        anyZone,
        recordDay,
        recordDay,
        fc.integer({ min: 0, max: 40 * 24 }),
        (zone, otherZone, before, after, hours) => {
          const begin = Zone.startOfMonth(Zone.of(zone), july)
          const otherBegin = Zone.startOfMonth(Zone.of(otherZone), july)
          const from = Instant.fromNanos(
            Instant.max(begin, otherBegin) + BigInt(hours) * 3_600_000_000_000n + 1_000n
          )
          const first = version({ zone, recordDay: before, lag: 3 })
          const changed = version({
            from: Instant.format(from),
            zone: otherZone,
            recordDay: after,
            lag: 9
          })
          const alone = Terms.datesOf([first], july)
          const both = Terms.datesOf([first, changed], july)
          const counts = alone !== undefined && Instant.isBefore(from, alone.recordEndsAt)
          expect(both).toEqual({ ...alone, terms: counts ? changed : first })
        }
      ),
      { numRuns: 300 }
    )
  })

  const dates =
    (...versions: ReadonlyArray<Stated>) =>
    (month: string) =>
      Terms.datesOf(versions.map(version), Month.of(month))

  test("that begins the schedule are those of the version that begins it", () => {
    const begun = dates(
      { schedule: "none", recordDay: 3 },
      { from: "2026-07-10T00:00:00Z", recordDay: 20 }
    )
    expect(begun("2026-06")).toBeUndefined()
    expect(begun("2026-07")).toMatchObject({
      recordDate: "2026-07-20",
      scheduledFrom: "2026-07-10"
    })
  })

  test("have no month whose record date lies before the schedule's first day", () => {
    const begun = dates({ from: "2026-07-21T00:00:00Z", recordDay: 20 })
    expect(begun("2026-07")).toBeUndefined()
    expect(begun("2026-08")).toMatchObject({ scheduledFrom: "2026-07-21" })
    const points = [point("2026-07-25"), point("2026-08-03")]
    const versions = [version({ from: "2026-07-21T00:00:00Z", recordDay: 20 })]
    expect(accruals({ versions, points }, "2026-08")).toEqual([
      ["2026-07-25", 9],
      ["2026-08-03", 18]
    ])
  })

  test("count the schedule's first day in the zone of the version that begins it", () => {
    const begun = dates({ from: "2026-07-01T03:00:00Z", zone: "America/New_York" })
    expect(begun("2026-06")).toMatchObject({
      scheduledFrom: "2026-06-30",
      recordDate: "2026-06-30"
    })
    expect(begun("2026-05")).toBeUndefined()
  })

  test("end where the schedule ends before the record date does, and begin anew after it", () => {
    const broken = dates(
      { recordDay: 31 },
      { from: "2026-07-31T23:59:59Z", schedule: "none" },
      { from: "2026-09-10T00:00:00Z" }
    )
    expect(broken("2026-06")?.scheduledFrom).toBe("2026-01-01")
    expect(broken("2026-07")).toBeUndefined()
    expect(broken("2026-08")).toBeUndefined()
    expect(broken("2026-09")?.scheduledFrom).toBe("2026-09-10")
  })

  test("are not those of a version that comes into force at the midnight after the record date", () => {
    const changed = dates({}, { from: "2026-08-01T00:00:00Z", schedule: "none" })
    expect(changed("2026-07")?.terms.manifest.distribution.schedule).toBe("monthly")
    expect(changed("2026-08")).toBeUndefined()
  })

  test("begin with a version that comes into force at the very begin of the month", () => {
    const changed = dates({}, { from: "2026-08-01T00:00:00Z", recordDay: 5, lag: 2 })
    expect(changed("2026-07")).toMatchObject({ recordDate: "2026-07-31" })
    expect(changed("2026-08")).toMatchObject({
      recordDate: "2026-08-05",
      paymentDate: "2026-08-07"
    })
  })

  test("never are those of a version that was replaced at the instant it came into force", () => {
    const replaced = dates(
      {},
      { from: "2026-07-10T00:00:00Z", schedule: "none" },
      { from: "2026-07-10T00:00:00Z", recordDay: 5 }
    )
    expect(replaced("2026-07")).toMatchObject({
      scheduledFrom: "2026-01-01",
      recordDate: "2026-07-31"
    })
    expect(replaced("2026-08")).toMatchObject({ recordDate: "2026-08-05" })
  })
})

describe("the point from which income is counted", () => {
  const points = [
    point("2026-06-29", { price: d("1.01") }),
    point("2026-07-10", { price: d("1.02") }),
    point("2026-08-10", { price: d("1.03") })
  ]
  const prices = (stated: Stated, published: ReadonlyArray<Points.PeriodPoint>) =>
    executedInTurn(
      { versions: [version({ from: "2026-07-01T00:00:00Z", ...stated })], points: published },
      Month.of("2026-08")
    ).map(({ fromPoint, toPoint }) => [
      fromPoint === null ? null : Decimal.formatPlain(fromPoint.price),
      Decimal.formatPlain(toPoint.price)
    ])

  test.each([
    [
      "accumulating",
      [
        ["1.01", "1.02"],
        ["1.01", "1.03"]
      ],
      [
        ["1.02", "1.02"],
        ["1.02", "1.03"]
      ]
    ],
    [
      "rebasing",
      [
        ["1.01", "1.02"],
        ["1.02", "1.03"]
      ],
      [
        ["1.02", "1.02"],
        ["1.02", "1.03"]
      ]
    ],
    [
      "par",
      [
        ["1.01", "1.02"],
        ["1.02", "1.03"]
      ],
      [
        [null, "1.02"],
        ["1.02", "1.03"]
      ]
    ]
  ] as const)("%s: with and without a point before the schedule", (valuation, withOne, without) => {
    expect(prices({ valuation }, points)).toEqual(withOne)
    expect(prices({ valuation }, points.slice(1))).toEqual(without)
  })

  it("never moves once a month is executed, whatever is published for the time before", () => {
    const versions = [version({ from: "2026-07-01T00:00:00Z", valuation: "accumulating" })]
    const [first] = Periods.openPeriods({ versions, points, executed: null }, july)
    if (first === undefined) throw new Error("July has a point")
    const late = point("2026-06-30", { price: d("1.5") })
    const [second] = Periods.openPeriods(
      { versions, points: [...points, late], executed: asExecuted(first) },
      Month.of("2026-08")
    )
    expect(second?.fromPoint).toBe(first.fromPoint)
  })

  test("begins anew with a schedule that begins anew", () => {
    const stated = { valuation: "accumulating" } as const
    const versions = [
      version({ from: "2026-06-01T00:00:00Z", ...stated }),
      version({ from: "2026-07-15T00:00:00Z", schedule: "none", ...stated }),
      version({ from: "2026-08-01T00:00:00Z", ...stated })
    ]
    const periods = executedInTurn({ versions, points }, Month.of("2026-08"))
    expect(periods.map(({ month, firstDay, fromPoint }) => [month, firstDay, fromPoint])).toEqual([
      ["2026-06", "2026-06-01", points[0]],
      ["2026-08", "2026-08-01", points[1]]
    ])
  })

  test("a month without a point leaves its days to the next, and the months have their places", () => {
    const versions = [version({ from: "2026-05-01T00:00:00Z" })]
    const published = [point("2026-05-04"), point("2026-07-06"), point("2026-08-03")]
    expect(accruals({ versions, points: published }, "2026-07")).toEqual([
      ["2026-05-04", 35],
      ["2026-07-06", 26]
    ])
    const executed: Executed = {
      month: Month.of("2026-05"),
      recordDate: Date.of("2026-05-31"),
      fromPoint: null,
      toPoint: point("2026-05-04")
    }
    const facts = { versions, points: published, executed }
    const places = ["2026-04", "2026-05", "2026-06", "2026-07", "2026-08", "2026-09"].map((month) =>
      Periods.placeOf(facts, Month.of(month))
    )
    expect(places).toEqual(["before-executed", "executed", "no-point", "next", "waits", "no-point"])
  })

  test("the first point after a record date, by which the price is judged to have gone ex", () => {
    const dated = Points.datedPoints(points, Zone.utc)
    const after = (date: string) => Periods.firstPointAfter(dated, Date.of(date))?.date
    expect([after("2026-06-28"), after("2026-07-10"), after("2026-08-10")]).toEqual([
      "2026-06-29",
      "2026-08-10",
      undefined
    ])
  })
})
