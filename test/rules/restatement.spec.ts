/** Rules of a restatement: its tolerance, the points that it concerns, fills, states of lines, and sums. */
import { Decimal, Offset } from "@bursar/engine-core/kernel"
import { verify } from "@bursar/engine-core"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as DistributionRules from "#core/distributions/distribution/DistributionRules.ts"
import type { DistributionLine } from "#core/distributions/distribution/DistributionLine.ts"
import * as Rules from "#core/reconciliation/restatement/RestatementRules.ts"
import { line } from "../machines/distributions.ts"
import * as Redemptions from "../machines/redemptions.ts"
import * as Subscriptions from "../machines/subscriptions.ts"

const d = Decimal.of
const plain = Decimal.formatPlain
const sources = { statementId: "st-2", instrumentId: "fund-1", offset: Offset.of(7) }
const at = (price: string): Rules.DayPrice => ({ price: d(price), swinging: null })
const textOf = ({
  field,
  owed,
  should,
  unit,
  was
}: ReturnType<typeof Rules.ofRedemption>[number]) =>
  `${field} ${plain(was)} ${plain(should)} ${plain(owed)} ${unit}`

describe("a move of a NAV", () => {
  it.each([
    ["1.0437", "1.0499622", "0.005", "0.006", true],
    ["1.0437", "1.0374378", "0.005", "-0.006", true],
    ["1.0437", "1.0489185", "0.005", "0.005", false],
    ["1.0437", "1.0384815", "0.005", "-0.005", false],
    ["1.0437", "1.0489185001", "0.005", "0.0050000001", true],
    // The move as it is shown is the tolerance; as it is, it is larger.
    ["30000000", "30150000.0000000001", "0.005", "0.005", true],
    ["1.0437", "1.0437", "0", "0", false]
  ])("from %s to %s under %s is %s, and over: %s", (from, to, tolerance, move, over) => {
    const found = Rules.moveOf({ from: d(from), to: d(to) }, d(tolerance))
    expect([plain(found.move), found.over]).toEqual([move, over])
  })
})

describe("a point", () => {
  it.each([
    ["on the old NAV", "1.0437", ["1.0437"], "1.0499622", false],
    ["on the old NAV, within the tolerance of both", "1.0437", ["1.0437"], "1.044", false],
    ["as near to either", "1.05", ["1.0499"], "1.0501", false],
    ["corrected, rounded", "1.04996", ["1.0437"], "1.0499622", true],
    ["on the first of several", "1.0437", ["1.0439", "1.0437"], "1.0438", false],
    ["far from either, nearer to the corrected", "2", ["1.0437"], "1.0499622", false],
    ["on a NAV that was right at first", "1.0437", ["1.05", "1.0437"], "1.0437", true]
  ])("%s is borne out: %#", (_, price, before, to, isBorneOut) => {
    const corrected = { to: d(to), before: before.map(d), tolerance: d("0.002") }
    expect(Rules.isBorneOut(d(price), corrected)).toBe(isBorneOut)
  })
})

describe("an order at the corrected NAV", () => {
  const redemption = (options: Parameters<typeof Redemptions.claimed>[0]) =>
    Redemptions.claimed({ state: "settled", feeRate: Decimal.zero, ...options })

  it("that was filled in part keeps its fill, and is paid for those units", () => {
    // Ordered was an amount of 1000; the capacity let 500 units of it be dealt.
    const filled = redemption({
      orderedAs: "amount",
      amount: d("1000"),
      units: d("500"),
      proceeds: d("500")
    })
    expect(Rules.ofRedemption(filled, at("1.1"), sources).map(textOf)).toEqual([
      "proceeds 500 550 50 USD"
    ])
    const whole = redemption({
      orderedAs: "amount",
      amount: d("1000"),
      units: d("1000"),
      proceeds: d("1000")
    })
    // At the higher price the same cash is worth fewer units, so the holder has too few left.
    expect(Rules.ofRedemption(whole, at("1.1"), sources).map(textOf)).toEqual([
      "units -1000 -909.09091 90.90909 units"
    ])
  })

  it("of units pays more at a higher NAV, which is owed by the holder", () => {
    const bought = Subscriptions.claimed({
      orderedAs: "units",
      amount: null,
      units: d("95000"),
      cash: { expected: d("95000"), matched: Decimal.zero, lines: [] }
    })
    expect(Rules.ofSubscription(bought, at("1.0437"), sources).map(textOf)).toEqual([
      "cash -95000 -99151.5 -4151.5 USD"
    ])
  })

  it("of whole units counts the refund of what bought none", () => {
    const bought = Subscriptions.claimed({
      amount: d("1000"),
      units: d("9"),
      refund: d("60.67"),
      unitDecimals: 0
    })
    expect(Rules.ofSubscription(bought, at("105"), sources).map(textOf)).toEqual([
      "refund 60.67 55 -5.67 USD"
    ])
  })

  it("that deals at a swung price shows how it was swung", () => {
    const swinging = {
      price: d("1.0437"),
      ordered: {
        subscribedCash: d("100000"),
        subscribedUnits: Decimal.zero,
        redeemedCash: Decimal.zero,
        redeemedUnits: Decimal.zero
      },
      outstanding: d("1000"),
      swing: { threshold: d("0.01"), up: d("0.0015"), down: d("0.001") }
    }
    const bought = Subscriptions.claimed({ units: d("95812.973076"), refund: Decimal.zero })
    const [row] = Rules.ofSubscription(bought, Rules.dayPriceOf(swinging), sources)
    expect(textOf(row!)).toBe("units 95812.973076 95669.468873 -143.504203 units")
    expect(row?.basis.map((basis) => Result.getOrThrow(verify(basis)))).toEqual([
      "1.0452655500",
      "95669.468873"
    ])
    const sourced = row?.basis.map(({ inputs }) => inputs.find(({ name }) => name === "price"))
    expect(sourced?.map((price) => [price?.resourceKind, price?.id])).toEqual([
      ["external-statement", "st-2"],
      ["subscription", "sub-1"]
    ])
  })
})

describe("a line at the corrected NAV", () => {
  const terms: DistributionRules.LineTerms = {
    pricing: { valuation: "accumulating", exPrice: d("1.0437"), cumPrice: d("1.0525") },
    payoutDecimals: 2,
    payout: null
  }
  const position = (
    changes: Partial<DistributionRules.PayeePosition> = {}
  ): DistributionRules.PayeePosition => ({
    units: d("12345.678901"),
    baseUnits: d("12345.678901"),
    accruals: [],
    lots: [],
    carryIn: Decimal.zero,
    rate: d("0.15"),
    isUnrolled: false,
    ...changes
  })
  const source = { resourceKind: "contract", id: "00aa", offset: null }
  const rowsOf = (
    stored: DistributionLine | null,
    changes: Partial<DistributionRules.PayeePosition> = {}
  ) =>
    Rules.ofLine({
      stored,
      distributionId: "d-july",
      currency: "EUR",
      holderId: "h1",
      inputs: {
        terms,
        position: position(changes),
        figures: DistributionRules.lineOf(terms, position(changes)),
        sources: {
          ...{ instrument: source, payee: source, line: source, carry: source, rate: source },
          ...{ fromPoint: source, toPoint: source, offset: Offset.of(7) }
        }
      }
    })

  it.each(["due", "delivered", "rolled", "suspended"] as const)(
    "counts while it is %s",
    (state) => {
      const causes = state === "suspended" ? (["restriction"] as const) : []
      expect(rowsOf(line(causes, { state })).map(textOf)).toEqual([
        "gross 54.32 108.64 54.32 EUR",
        "net 46.17 92.34 46.17 EUR"
      ])
    }
  )

  it("that an order made void is booked elsewhere", () => {
    expect(rowsOf(line([], { state: "void" }))).toEqual([])
  })

  it("that was carried whole is owed in its carry", () => {
    const carried = line([], {
      state: "carried",
      reason: "unrolled",
      gross: Decimal.zero,
      withheld: Decimal.zero,
      net: Decimal.zero,
      carryOut: d("54.3209871644")
    })
    expect(rowsOf(carried, { isUnrolled: true }).map(textOf)).toEqual([
      "carry 54.3209871644 108.6419743288 54.3209871644 EUR"
    ])
  })

  it("that was none is the distribution's, of a payee that had earned nothing", () => {
    const rows = rowsOf(null)
    expect(rows.map((row) => [row.resourceKind, row.id, row.holderId])).toEqual([
      ["distribution", "d-july", "h1"],
      ["distribution", "d-july", "h1"]
    ])
    expect(rows.map(textOf)).toEqual(["gross 0 108.64 108.64 EUR", "net 0 92.34 92.34 EUR"])
  })

  it("is summed by what is paid, and not twice by its gross or its carry", () => {
    const carried = line([], { state: "carried", carryOut: Decimal.zero })
    const rows = [...rowsOf(line()), ...rowsOf(carried, { isUnrolled: true })]
    expect(rows.map(({ field }) => field)).toContain("carry")
    const net = rows.filter(({ field }) => field === "net").map(({ owed }) => owed)
    expect(Rules.totalsOf(Rules.added(new Map(), rows))).toEqual([
      { unit: "EUR", owed: Decimal.sum(net) }
    ])
  })
})
