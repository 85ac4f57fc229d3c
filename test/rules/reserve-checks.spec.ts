/** Checks of reserves: what each blocks or warns for, its tolerance, and the figure that it shows. */
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import { describe, expect, it } from "vitest"
import { type Difference, oneOfEach } from "#core/findings/FindingRules.ts"
import { custodyReserve } from "#core/reconciliation/checks/CustodyChecks.ts"
import {
  atomOf,
  reserveCover,
  reservePriceFresh,
  reserveReport
} from "#core/reconciliation/checks/ReserveChecks.ts"
import type { ComparedReport, Figure } from "#core/reconciliation/checks/ReserveReportLookups.ts"

const d = Decimal.of
const none = Decimal.zero
const reserve = { instrumentId: "fund-a", reserveId: "res-1" }

/** `check severity subject unit difference` of what was found, of several under one subject the shown one. */
const shown = (found: ReadonlyArray<Difference>): ReadonlyArray<string> =>
  oneOfEach(found, new Map()).map(({ check, difference, severity, subject, unit }) =>
    [check, severity, `${subject.resourceKind}/${subject.id}`, unit]
      .concat(difference === null ? "-" : Decimal.formatPlain(difference))
      .join(" ")
  )

const cover = {
  ...reserve,
  ...({ unit: "USD", state: "low", worthless: 0 } as const),
  ...{ required: d("10"), counted: d("8") }
} as const
const figure = { unit: "USD", figure: "counted", computed: d("10"), reported: d("8") }
const report = { ...reserve, priceDecimals: 6, isAlike: true, figures: [figure] }
const at = (text: string) => ({ offset: Offset.of(1), instant: Instant.of(text) })
const statement = {
  businessDate: "2026-07-31",
  placeInDay: 1,
  instrumentId: "fund-a",
  externalSourceId: "custody",
  statementId: "sta-1",
  comparedAt: at("2026-07-31T12:00:00Z"),
  reserveId: "res-1"
}
const position = { asset: "bank/USD", locked: d("10"), statedAmount: d("8") }

/** Differences of one report, of which nothing is accepted. */
const judgedAlone = (alone: ComparedReport, tolerance: Decimal.Decimal | null) =>
  reserveReport.differences({ accepted: null, reports: [alone] }, tolerance)

/** A fact of each check whose difference is 2, judged by a tolerance, and how it is found. */
const ofTwo: ReadonlyArray<
  readonly [string, string, (by: Decimal.Decimal) => ReadonlyArray<Difference>]
> = [
  [
    "reserve-cover",
    "reserve-cover blocking reserve/res-1 USD -2",
    (by) => reserveCover.differences(cover, by)
  ],
  [
    "reserve-price-fresh",
    "reserve-price-fresh warning reserve/res-1 assets 2",
    (by) => reservePriceFresh.differences({ ...reserve, stale: 2 }, by)
  ],
  [
    "reserve-report",
    "reserve-report blocking reserve/res-1 USD -2",
    (by) => judgedAlone(report, by)
  ],
  [
    "custody-reserve",
    "custody-reserve blocking reserve/res-1:bank/USD:2026-07-31 units -2",
    (by) => custodyReserve.differences([{ ...statement, positions: [position] }], by)
  ],
  [
    "custody-reserve of an asset that no source maps",
    "custody-reserve warning external-source/custody:XS1 units 2",
    (by) =>
      custodyReserve.differences(
        [{ ...statement, positions: [{ asset: "XS1", locked: null, statedAmount: d("2") }] }],
        by
      )
  ]
]

describe("a difference of a reserve", () => {
  it.each(ofTwo)("is none within the tolerance of %s, its edge included", (_, found, differs) => {
    expect(differs(d("2"))).toEqual([])
    expect(shown(differs(d("1.9999999999")))).toEqual([found])
  })
})

describe("the cover", () => {
  it("is no difference where it is covered, however its figures are rounded", () => {
    const rounded = { ...cover, required: d("10"), counted: d("9.99") }
    expect(reserveCover.differences({ ...rounded, state: "covered" }, none)).toEqual([])
    expect(shown(reserveCover.differences({ ...rounded, state: "unknown" }, none))).toEqual([
      "reserve-cover blocking reserve/res-1 USD -0.01"
    ])
  })
})

describe("an asset that is worth nothing", () => {
  it("blocks its reserve, which may be covered without it", () => {
    const worthless = { ...cover, state: "covered", worthless: 2 } as const
    expect(shown(reserveCover.differences(worthless, d("5")))).toEqual([
      "reserve-cover blocking reserve/res-1 assets 2"
    ])
    expect(shown(reserveCover.differences({ ...worthless, state: "low" }, none))).toEqual([
      "reserve-cover blocking reserve/res-1 USD -2"
    ])
  })
})

describe("a report", () => {
  it("may be off by one atom of the share price, where the policy names no tolerance", () => {
    const off = (by: string) => ({ ...figure, reported: Decimal.add(figure.computed, d(by)) })
    const judged = (by: string) => judgedAlone({ ...report, figures: [off(by)] }, null)
    expect(judged("0.000001")).toEqual([])
    expect(shown(judged("0.0000010001"))).toEqual([
      "reserve-report blocking reserve/res-1 USD 0.0000010001"
    ])
    expect(atomOf(10)).toEqual(d("0.0000000001"))
    expect(atomOf(0)).toEqual(Decimal.one)
  })

  it("shows the first figure that differs, and one that a side lacks without amounts", () => {
    const same = { unit: "ratio", figure: "ratio", computed: null, reported: null }
    const lacking = { unit: "ratio", figure: "ratio", computed: d("1"), reported: null }
    const judged = (figures: ReadonlyArray<Figure>) =>
      shown(judgedAlone({ ...report, figures }, none))
    expect(judged([same, lacking, figure])).toEqual([
      "reserve-report blocking reserve/res-1 ratio -"
    ])
    expect(judged([same, figure, lacking])).toEqual([
      "reserve-report blocking reserve/res-1 USD -2"
    ])
    expect(judged([{ ...lacking, computed: null, reported: d("1") }])).toEqual([
      "reserve-report blocking reserve/res-1 ratio -"
    ])
  })

  it("is found by another figure of the unit, or by its cover, beside an accepted one", () => {
    const accepted = {
      ...{ unit: "USD", figure: "counted", difference: d("-2") },
      accepted: {
        ...{ unexplained: d("-2"), reason: "known", holdId: "h", operationId: "op" },
        at: at("2026-07-31T12:00:00Z").instant
      }
    }
    const judged = (change: Partial<ComparedReport>) =>
      reserveReport
        .differences({ accepted, reports: [{ ...report, ...change }] }, none)
        .map(({ difference, figure, unit }) => [unit, figure, difference])
    const price = { ...figure, figure: "sharePrice", reported: d("9") }
    expect(judged({})).toEqual([["USD", "counted", d("-2")]])
    expect(judged({ figures: [figure, price] })).toEqual([["USD", "sharePrice", d("-1")]])
    expect(judged({ isAlike: false })).toEqual([["cover", null, null]])
  })

  it("that judges the cover otherwise is a difference without amounts", () => {
    const alike = { ...report, figures: [{ ...figure, reported: figure.computed }] }
    expect(judgedAlone(alike, none)).toEqual([])
    expect(shown(judgedAlone({ ...alike, isAlike: false }, none))).toEqual([
      "reserve-report blocking reserve/res-1 cover -"
    ])
  })
})

describe("statements of custodians", () => {
  it("of one asset show the largest difference, and are of the newest moment", () => {
    const stated = (text: string, instant: string) => ({
      ...statement,
      comparedAt: at(instant),
      positions: [{ ...position, statedAmount: d(text) }]
    })
    const all = [
      stated("11", "2026-07-31T12:00:00Z"),
      stated("7", "2026-08-01T12:00:00Z"),
      stated("12", "2026-07-30T12:00:00Z")
    ]
    expect(shown(custodyReserve.differences(all, none))).toEqual([
      "custody-reserve blocking reserve/res-1:bank/USD:2026-07-31 units -3"
    ])
    expect(custodyReserve.comparedAt?.(all)).toEqual(at("2026-08-01T12:00:00Z"))
    expect(custodyReserve.comparedAt?.([])).toBeNull()
  })
})
