/** Tables of facts and findings of the checks of statements: tolerances at their edges, due times, and no order that decides. */
import { Date, Decimal, Duration, Instant, Offset } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Items, noItems } from "#core/findings/Explained.ts"
import { type Difference, oneOfEach } from "#core/findings/FindingRules.ts"
import { NavFeed } from "#core/instruments/price/NavFeed.ts"
import {
  balanced,
  cashBalance,
  linked,
  type StatedBalances
} from "#core/reconciliation/checks/CashChecks.ts"
import type { BalanceLink } from "#core/reconciliation/checks/CashContinuityLookups.ts"
import type { StatedLine } from "#core/reconciliation/checks/RegisterLineLookups.ts"
import { registerLine, supplyOutstanding } from "#core/reconciliation/checks/RegisterChecks.ts"
import {
  statementGap,
  statementOverdue,
  statementTotal
} from "#core/reconciliation/checks/StatementChecks.ts"
import * as DueRules from "#core/statements/external-source/DueRules.ts"

const d = Decimal.of
const comparedAt = { offset: Offset.of(3), instant: Instant.of("2026-03-02T18:00:00Z") }
const ofStatement = {
  instrumentId: "fund-a",
  externalSourceId: "admin",
  statementId: "st-1",
  businessDate: "2026-03-02",
  placeInDay: 1,
  comparedAt
}

/** A difference as one text: severity, subject, difference, unexplained, unit. */
const shown = ({ severity, subject, difference, unexplained, unit }: Difference): string =>
  [
    severity,
    `${subject.resourceKind}:${subject.id}`,
    difference === null ? "-" : Decimal.formatPlain(difference),
    Decimal.formatPlain(unexplained),
    unit
  ].join(" ")

const line = (changes: Partial<StatedLine>): StatedLine => ({
  ...ofStatement,
  subject: { resourceKind: "holder", id: "h1" },
  holderId: "h1",
  register: d("100"),
  stated: d("100"),
  places: null,
  items: noItems,
  ...changes
})

describe("register-line", () => {
  // G72: docs/domain/reconciliation.md#register-against-statements
  it.each([
    ["95812.973076", "95812.97", 2, null, []],
    ["95812.973076", "95812.98", 2, null, ["blocking holder:h1 0.006924 0.006924 units"]],
    ["100", "100.005", 2, null, []],
    ["100", "99.995", 2, null, []],
    ["100", "100.0050000001", 2, null, ["blocking holder:h1 0.0050000001 0.0050000001 units"]],
    ["100", "100.5", 0, null, []],
    ["100", "100.5000000001", 0, null, ["blocking holder:h1 0.5000000001 0.5000000001 units"]],
    ["100", "100.0000000005", 9, null, []],
    ["100", "100.0000000001", 10, null, ["blocking holder:h1 0.0000000001 0.0000000001 units"]],
    ["100", "100.0000000001", null, null, ["blocking holder:h1 0.0000000001 0.0000000001 units"]],
    // The policy's own tolerance wins over the places, also where it is less.
    ["100", "100.005", 2, "0.004", ["blocking holder:h1 0.005 0.005 units"]],
    ["100", "101", 2, "1", []],
    ["100", null, null, null, ["blocking holder:h1 -100 -100 units"]],
    [null, "0.01", null, null, ["blocking holder:h1 0.01 0.01 units"]],
    [null, "0", null, null, []]
  ] as const)(
    "of a register of %s and a statement of %s in %s places under %s finds %j",
    (register, stated, places, tolerance, found) => {
      const statedLine = line({
        register: register === null ? null : d(register),
        stated: stated === null ? null : d(stated),
        places
      })
      const lines = { comparedAt, lines: [statedLine], accepted: null }
      const own = tolerance === null ? null : d(tolerance)
      expect(registerLine.differences(lines, own).map(shown)).toEqual(found)
    }
  )

  it.each([
    ["7", "blocking external-source:admin:ab 7 7 units"],
    ["0.0000000001", "blocking external-source:admin:ab 0.0000000001 0.0000000001 units"],
    ["0", "warning external-source:admin:ab 0 0 units"]
  ])(
    "of an account that nobody mapped with %s units finds %s, whatever is tolerated",
    (stated, found) => {
      const subject = { resourceKind: "external-source", id: "admin:ab" } as const
      const statedLine = line({
        subject,
        holderId: null,
        register: null,
        stated: d(stated),
        places: 0
      })
      const differences = registerLine.differences(
        { comparedAt, lines: [statedLine], accepted: null },
        d("100")
      )
      expect(differences.map(shown)).toEqual([found])
    }
  )

  it("of several statements is the most severe, also where it differs by less", () => {
    const since = comparedAt.instant
    const may = [{ resourceKind: "subscription", id: "s1", amount: d("5"), since } as const]
    const coarse = line({ externalSourceId: "a", stated: d("105.4"), places: 0 })
    const lines = [
      { ...coarse, items: { must: [], may } },
      line({ externalSourceId: "b", stated: d("100.3") })
    ]
    expect(
      registerLine.differences({ comparedAt, lines, accepted: null }, null).map(shown)
    ).toEqual(["blocking holder:h1 0.3 0.3 units"])
  })

  const amount = fc.integer({ min: -3, max: 3 })
  const stating = fc.record({
    source: fc.constantFrom("a", "b", "c", "d"),
    stated: amount,
    items: fc.array(amount, { maxLength: 3 })
  })
  const linesOf = (all: ReadonlyArray<{ source: string; stated: number; items: Array<number> }>) =>
    all.map(({ source, stated, items }, nth) =>
      line({
        externalSourceId: source,
        statementId: `st-${source}`,
        register: d("0"),
        stated: Decimal.fromInteger(stated),
        items: {
          must: [],
          may: items.map((size, item) => ({
            resourceKind: "subscription",
            id: `sub-${nth}-${item}`,
            amount: Decimal.fromInteger(size),
            since: comparedAt.instant
          }))
        }
      })
    )

  it("never finds otherwise because statements or their items come in another order", () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(stating, { selector: ({ source }) => source, maxLength: 4 })
          .chain((all) =>
            fc.tuple(
              fc.constant(all),
              fc.shuffledSubarray([...all.keys()], { minLength: all.length })
            )
          ),
        ([all, order]) => {
          const lines = linesOf(all)
          // Ids are made as statements arrive.
          const permuted = order.map((nth, arrived) => {
            const line = lines[nth]
            if (line === undefined) throw new Error("no line")
            const items = { ...line.items, may: line.items.may.toReversed() }
            return { ...line, items, statementId: `st-${arrived}` }
          })
          const found = (some: ReadonlyArray<StatedLine>) =>
            registerLine
              .differences({ comparedAt, lines: some, accepted: null }, null)
              .map((difference) => ({
                ...difference,
                statementId: some.find(({ statementId }) => statementId === difference.statementId)
                  ?.externalSourceId
              }))
          expect(found(permuted)).toEqual(found(lines))
        }
      ),
      { numRuns: 500 }
    )
  })
})

describe("statement-total", () => {
  const totals = { ...ofStatement, sum: d("100"), totalQuantity: d("100"), lines: 2, lineCount: 2 }
  it.each([
    ["what agrees", {}, "0", []],
    ["a total within the tolerance", { totalQuantity: d("100.5") }, "0.5", []],
    [
      "a total beyond it",
      { totalQuantity: d("99.4999999999") },
      "0.5",
      ["blocking external-source:admin:2026-03-02 -0.5000000001 -0.5000000001 units"]
    ],
    ["a statement without a total", { totalQuantity: null }, "0", []],
    [
      "one line more than it has",
      { lineCount: 3 },
      "5",
      ["blocking external-source:admin:2026-03-02 1 1 lines"]
    ],
    [
      "a wrong total and a wrong count",
      { totalQuantity: d("101"), lineCount: 3 },
      "0",
      [
        "blocking external-source:admin:2026-03-02 1 1 units",
        "blocking external-source:admin:2026-03-02 1 1 lines"
      ]
    ]
  ])("of %s finds no more and no less", (_, change, tolerance, found) => {
    const differences = statementTotal.differences({ ...totals, ...change }, d(tolerance))
    expect(differences.map(shown)).toEqual(found)
  })
})

describe("supply-outstanding", () => {
  const order = (amount: string): Items => ({
    must: [],
    may: [{ resourceKind: "subscription", id: "s1", amount: d(amount), since: comparedAt.instant }]
  })
  it.each([
    ["an atom for each holder", "100.000003", 3, 6, null, noItems, []],
    [
      "more than that",
      "100.0000030001",
      3,
      6,
      null,
      noItems,
      ["blocking external-source:admin:2026-03-02 0.0000030001 0.0000030001 units"]
    ],
    [
      "no atom of no holder",
      "100.01",
      0,
      2,
      null,
      noItems,
      ["blocking external-source:admin:2026-03-02 0.01 0.01 units"]
    ],
    [
      "less where the policy says so",
      "100.01",
      9,
      2,
      "0",
      noItems,
      ["blocking external-source:admin:2026-03-02 0.01 0.01 units"]
    ],
    [
      "an order that explains it",
      "105",
      3,
      6,
      null,
      order("5"),
      ["info external-source:admin:2026-03-02 5 0 units"]
    ],
    [
      "an order that explains less",
      "105",
      3,
      6,
      null,
      order("4"),
      ["blocking external-source:admin:2026-03-02 5 1 units"]
    ]
  ] as const)(
    "of a supply of 100 and %s (%s) finds no more and no less",
    (_, total, holders, unitDecimals, tolerance, items, found) => {
      const supply = {
        ...{ ...ofStatement, totalQuantity: d(total), supply: d("100") },
        ...{ holders, unitDecimals, items }
      }
      const own = tolerance === null ? null : d(tolerance)
      expect(supplyOutstanding.differences(supply, own).map(shown)).toEqual(found)
    }
  )
})

describe("cash-balance", () => {
  const entry = (direction: "credit" | "debit", amount: string, currency = "EUR") => ({
    direction,
    currency,
    amount: d(amount)
  })
  const booked = [entry("credit", "10"), entry("debit", "2.5"), entry("credit", "0.05")]
  const stated = { currency: "EUR", opening: d("-5"), closing: d("2.55"), booked }
  const found = (changes: Partial<StatedBalances>, tolerance = "0") => {
    const balance = balanced({ ...stated, ...changes }, ofStatement)
    return Result.isFailure(balance)
      ? [balance.failure]
      : cashBalance.differences(balance.success, d(tolerance)).map(shown)
  }

  it.each([
    ["what adds up", {}, "0", []],
    [
      "a cent more",
      { closing: d("2.56") },
      "0",
      ["blocking external-source:admin:2026-03-02 0.01 0.01 EUR"]
    ],
    ["a cent more that is tolerated", { closing: d("2.56") }, "0.01", []],
    ["no opening balance", { opening: null }, "0", ["opening-missing"]],
    ["no closing balance", { closing: null }, "0", ["closing-missing"]],
    [
      "an entry in another currency",
      { booked: [entry("credit", "1", "SEK")] },
      "0",
      ["other-currency"]
    ],
    ["a balance in another currency than all entries", { currency: "SEK" }, "0", ["other-currency"]]
  ] as const)("of %s finds no more and no less", (_, changes, tolerance, expected) => {
    expect(found(changes, tolerance)).toEqual(expected)
  })

  it("never finds otherwise because entries come in another order", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(booked, { minLength: booked.length }), (permuted) => {
        expect(found({ booked: permuted, closing: d("3") })).toEqual(found({ closing: d("3") }))
      })
    )
  })
})

describe("cash-balance of statements that follow one another", () => {
  const link = (statementId: string, opening: string, isOverdue: boolean): BalanceLink => ({
    ...{ instrumentId: "fund-a", externalAccountId: "bank-1", externalSourceId: "camt" },
    ...{ statementId, businessDate: Date.of("2026-03-02"), currency: "EUR" },
    ...{ closing: d("100"), opening: d(opening), missing: [], isOverdue }
  })
  /** Links of one account and date, and the statement of the difference that is found. */
  const rows = [
    ["none that differs", [link("st-1", "100", true)], []],
    [
      "a blocking one before a greater warning",
      [link("st-1", "50", false), link("st-2", "99", true)],
      ["blocking st-2 -1"]
    ],
    [
      "the greatest of several that block, whichever its sign",
      [link("st-1", "101", true), link("st-2", "40", true), link("st-3", "110", true)],
      ["blocking st-2 -60"]
    ],
    [
      "the greatest of several warnings",
      [link("st-1", "99", false), link("st-2", "102", false)],
      ["warning st-2 2"]
    ],
    [
      "the first by its id of equal ones",
      [link("st-1", "90", true), link("st-2", "110", true)],
      ["blocking st-1 -10"]
    ]
  ] as const

  it.each(rows)("finds %s, in whichever order they are", (_, links, expected) => {
    const [first] = links
    fc.assert(
      fc.property(fc.shuffledSubarray([...links], { minLength: links.length }), (permuted) => {
        const [fact, ...more] = linked([...permuted, first])
        if (fact === undefined) throw new Error("links of a date make a fact")
        expect(more).toEqual([])
        expect(
          oneOfEach(cashBalance.differences(fact, Decimal.zero), new Map()).map(
            ({ severity, statementId, difference }) =>
              `${severity} ${statementId} ${Decimal.formatPlain(difference ?? Decimal.zero)}`
          )
        ).toEqual(expected)
        // Each that differs is compared again, also where another one is shown.
        expect(cashBalance.again?.(fact, Decimal.zero).toSorted()).toEqual(
          links.flatMap(({ opening, statementId }) => (opening === d("100") ? [] : [statementId]))
        )
      })
    )
  })
})

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday"] as const
/** Time that the clock of a zone shows at an instant. */
const clockOf = (zone: string) => {
  const format = new Intl.DateTimeFormat("sv-SE", {
    ...{ timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }
  })
  return (instant: Instant.Instant): string => format.format(Instant.toEpochMillis(instant))
}

const twoHours = Duration.hours(2)

describe("the due time of a statement", () => {
  // G64: docs/domain/statements.md#due-times. Both clock changes of 2026 of each zone, and a day beside each.
  it.each([
    ["Europe/Berlin", "02:30", "2026-03-28", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "02:30", "2026-03-29", "2026-03-30T00:30:00Z"],
    ["Europe/Berlin", "03:00", "2026-03-28", "2026-03-29T01:00:00Z"],
    ["Europe/Berlin", "02:30", "2026-10-24", "2026-10-25T00:30:00Z"],
    ["Europe/Berlin", "02:30", "2026-10-25", "2026-10-26T01:30:00Z"],
    ["Europe/Berlin", "03:00", "2026-10-24", "2026-10-25T02:00:00Z"],
    ["America/New_York", "02:30", "2026-03-07", "2026-03-08T07:00:00Z"],
    ["America/New_York", "02:30", "2026-03-08", "2026-03-09T06:30:00Z"],
    ["America/New_York", "01:30", "2026-10-31", "2026-11-01T05:30:00Z"],
    ["America/New_York", "01:30", "2026-11-01", "2026-11-02T06:30:00Z"],
    ["Australia/Lord_Howe", "02:15", "2026-10-03", "2026-10-03T15:30:00Z"],
    ["Australia/Lord_Howe", "02:15", "2026-10-04", "2026-10-04T15:15:00Z"],
    ["Australia/Lord_Howe", "01:45", "2026-04-04", "2026-04-04T14:45:00Z"],
    ["Australia/Lord_Howe", "01:45", "2026-04-05", "2026-04-05T15:15:00Z"]
  ])(
    "in %s by %s of the day after %s is %s, and its grace ends so many elapsed hours later",
    (zone, time, businessDate, due) => {
      const source = {
        calendar: Date.weekdays,
        grace: twoHours,
        dueBy: { zone, time, daysAfter: 1 }
      }
      const date = Date.of(businessDate)
      expect(DueRules.dueAt(source, date)).toBe(Instant.of(due))
      const edge = Instant.add(Instant.of(due), twoHours)
      const owedAt = (now: bigint) =>
        DueRules.overdueDates(source, {
          ...{ newest: Date.previous(date), firstDay: date },
          now: Instant.fromNanos(now)
        })
      expect([owedAt(edge - 1n), owedAt(edge), owedAt(edge + 1n)]).toEqual([[], [], [date]])
    }
  )

  it("is the first instant at which the clock of the zone shows that time or a later one of the day", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe"),
        fc.oneof(
          fc.constantFrom("2026-03-28", "2026-10-24", "2026-03-07", "2026-10-31", "2026-10-03"),
          fc.constantFrom("2026-04-04", "2026-06-01", "2026-12-30")
        ),
        fc.integer({ min: 0, max: 3 }),
        fc.integer({ min: 0, max: 24 * 60 - 1 }),
        (zone, businessDate, daysAfter, minutes) => {
          const [hour, minute] = [Math.floor(minutes / 60), minutes % 60]
          const time = [hour, minute].map((part) => String(part).padStart(2, "0")).join(":")
          const clock = clockOf(zone)
          const due = DueRules.dueAt({ dueBy: { zone, time, daysAfter } }, Date.of(businessDate))
          const shown = `${Date.addDays(Date.of(businessDate), daysAfter)} ${time}`
          expect(clock(due) >= shown).toBe(true)
          expect(clock(Instant.fromNanos(due - 1n)) < shown).toBe(true)
        }
      )
    )
  })

  it.each([
    ["2026-03-30T02:30:00Z", []],
    ["2026-03-30T02:30:00.000000001Z", ["warning external-source:admin -1 -1 dates"]],
    ["2026-03-31T02:30:00Z", ["warning external-source:admin -1 -1 dates"]],
    ["2026-03-31T02:30:00.000000001Z", ["blocking external-source:admin -2 -2 dates"]]
  ])("and two hours of grace have passed at %s: %j", (now, found) => {
    const dueBy = { time: "00:30", zone: "UTC", daysAfter: 3 }
    const source = { calendar: weekdays, dueBy, grace: Duration.hours(2) }
    const firstDay = Date.of("2026-03-27")
    const first = DueRules.overdueDates(source, { newest: null, firstDay, now: Instant.of(now) })
    // Friday is due on Monday, and Saturday would be due on Tuesday: it is no day of the calendar.
    const everyDay = { ...source, calendar: Date.weekdays }
    const overdue = DueRules.overdueDates(everyDay, {
      newest: null,
      firstDay,
      now: Instant.of(now)
    })
    expect(first).toEqual(overdue.slice(0, 1))
    const owed = { instrumentId: "fund-a", externalSourceId: "admin", overdue }
    expect(statementOverdue.differences(owed, Decimal.zero).map(shown)).toEqual(found)
  })
})

describe("statement-gap", () => {
  it("never finds otherwise because statements came in another order, and never a weekend", () => {
    const dates = ["2026-06-22", "2026-06-23", "2026-06-26", "2026-06-30"].map(Date.of)
    fc.assert(
      fc.property(fc.shuffledSubarray(dates, { minLength: dates.length }), (received) => {
        const missing = DueRules.missingBetween({ calendar: weekdays }, received)
        expect(missing).toEqual(["2026-06-24", "2026-06-25", "2026-06-29"])
        const gap = { instrumentId: "fund-a", externalSourceId: "admin", missing }
        expect(statementGap.differences(gap, Decimal.zero).map(shown)).toEqual([
          "warning external-source:admin -3 -3 dates"
        ])
      })
    )
    const none = { instrumentId: "fund-a", externalSourceId: "admin", missing: [] }
    expect(statementGap.differences(none, Decimal.zero)).toEqual([])
  })
})

describe("a NAV that expires", () => {
  // G66: docs/domain/statements.md#nav-feed
  it.each([
    ["2026-03-02T17:59:59.999999999Z", "usable"],
    ["2026-03-02T18:00:00Z", "stale"]
  ])("at 18:00:00 is at %s %s", (now, state) => {
    const expiresAt = Instant.of("2026-03-02T18:00:00Z")
    const latest = { ripcord: false, expiresAt, move: "inside" } as const
    const feed = { latest, businessDate: "received" } as const
    expect(NavFeed.judge({ feed, now: Instant.of(now) })).toBe(state)
  })
})
