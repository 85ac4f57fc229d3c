/**
 * Figures of distributions: entitlement, line, equalisation, payout, totals and hash by the golden
 * vectors, by conservation over a year of months, and against arithmetic of the test's own
 * (docs/domain/figures.md#distribution-figures).
 */
import { createHash } from "node:crypto"
import { Date, Decimal, Instant, Month, Offset } from "@bursar/engine-core/kernel"
import { verify } from "@bursar/engine-core"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import * as Basis from "#core/distributions/distribution/DistributionBasis.ts"
import * as Formulas from "#core/distributions/distribution/DistributionFormulas.ts"
import * as Hash from "#core/distributions/distribution/LinesHashRules.ts"
import { positionOfChain } from "#core/distributions/distribution/PayeeRules.ts"
import * as Rules from "#core/distributions/distribution/DistributionRules.ts"
import * as Totals from "#core/distributions/distribution/TotalsRules.ts"
import { DistributionRoll } from "#core/distributions/roll/DistributionRoll.ts"
import { accrualsOf } from "#core/distributions/period/PeriodPointRules.ts"
import * as Formula from "#core/kernel/Formula.ts"
import * as Rational from "#core/kernel/Rational.ts"
import * as Buidl from "./buidl.ts"
import { changed } from "./changed-basis.ts"

const d = Decimal.of
const ten = (decimal: Decimal.Decimal) => Decimal.format(decimal)
const cents = (decimal: Decimal.Decimal) => Decimal.formatPlaces(decimal, 2)
const crypto = { sha256: (text: string) => createHash("sha256").update(text).digest("hex") }

const par: Rules.LineTerms = { pricing: { valuation: "par" }, payoutDecimals: 2, payout: null }
const accumulating = (
  exPrice: string,
  cumPrice: string,
  payout: Rules.LineTerms["payout"] = null
): Rules.LineTerms => ({
  pricing: { valuation: "accumulating", exPrice: d(exPrice), cumPrice: d(cumPrice) },
  payoutDecimals: 2,
  payout
})

const position = (change: Partial<Rules.PayeePosition> = {}): Rules.PayeePosition => ({
  units: Decimal.zero,
  baseUnits: Decimal.zero,
  accruals: [],
  lots: [],
  carryIn: Decimal.zero,
  rate: d("0.15"),
  isUnrolled: false,
  ...change
})

/** Position of a par holder: units all the time, and income·days of each point. */
const parPosition = (
  units: string,
  points: ReadonlyArray<readonly [income: string, days: number]>,
  change: Partial<Rules.PayeePosition> = {}
) =>
  position({
    units: d(units),
    accruals: points.map(([income, days], index) => ({
      id: `00${index}`,
      units: d(units),
      income: d(income),
      days
    })),
    ...change
  })

const g16 = (change: Partial<Rules.PayeePosition> = {}) =>
  Rules.lineOf(accumulating("1.0437", "1.0481"), position({ units: d("12345.678901"), ...change }))

const source = { resourceKind: "distribution", id: "dist-1", offset: Offset.of(7) }
const sources: Basis.Sources = {
  instrument: source,
  payee: source,
  line: source,
  carry: source,
  rate: source,
  fromPoint: source,
  toPoint: source,
  offset: Offset.of(7)
}
const basisOf = (terms: Rules.LineTerms, payeePosition: Rules.PayeePosition) =>
  Basis.of({ terms, position: payeePosition, figures: Rules.lineOf(terms, payeePosition), sources })

// ---- arithmetic of the test's own: fractions of whole numbers

interface Fraction {
  readonly over: bigint
  readonly under: bigint
}
const fraction = (text: string): Fraction => {
  const [whole = "", places = ""] = text.split(".")
  return { over: BigInt(whole + places), under: 10n ** BigInt(places.length) }
}
const plus = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.under + b.over * a.under,
  under: a.under * b.under
})
const times = (a: Fraction, b: Fraction): Fraction => ({
  over: a.over * b.over,
  under: a.under * b.under
})
const minus = (a: Fraction, b: Fraction) => plus(a, { over: -b.over, under: b.under })
const isLess = (a: Fraction, b: Fraction) => minus(a, b).over < 0n
const floorOf = (a: Fraction): bigint =>
  a.over >= 0n ? a.over / a.under : -((-a.over + a.under - 1n) / a.under)
const floorAt = (a: Fraction, places: number): Fraction => {
  const scale = 10n ** BigInt(places)
  return { over: floorOf({ over: a.over * scale, under: a.under }), under: scale }
}
const halfUpAt = (a: Fraction, places: number): Fraction => {
  const scale = 10n ** BigInt(places)
  const up = (over: bigint) => (2n * over * scale + a.under) / (2n * a.under)
  return { over: a.over < 0n ? -up(-a.over) : up(a.over), under: scale }
}
const nothing = fraction("0")
const larger = (a: Fraction, b: Fraction) => (isLess(a, b) ? b : a)
const smaller = (a: Fraction, b: Fraction) => (isLess(a, b) ? a : b)
const textOf = (a: Fraction): string =>
  Decimal.formatPlain(Decimal.fromAtoms((a.over * 10n ** 10n) / a.under))
const fractionOf = (decimal: Decimal.Decimal) => fraction(Decimal.format(decimal))

/** Figures of a line by the rules in words, without a formula of the engine. */
const naive = (
  terms: Rules.LineTerms,
  at: Rules.PayeePosition
): Readonly<Record<string, string>> => {
  const { pricing, payoutDecimals, payout } = terms
  const exact =
    pricing.valuation === "par"
      ? at.accruals
          .map(({ units, income, days }) =>
            times(times(fractionOf(units), fractionOf(income)), { over: BigInt(days), under: 1n })
          )
          .reduce(plus, nothing)
      : pricing.valuation === "accumulating"
        ? times(
            fractionOf(at.units),
            larger(nothing, minus(fractionOf(pricing.cumPrice), fractionOf(pricing.exPrice)))
          )
        : times(
            fractionOf(at.baseUnits),
            minus(fractionOf(pricing.toIndex), fractionOf(pricing.fromIndex))
          )
  const entitlement = floorAt(exact, 10)
  const due = plus(entitlement, fractionOf(at.carryIn))
  const paid = at.isUnrolled ? nothing : larger(nothing, floorAt(due, payoutDecimals))
  const bought =
    pricing.valuation === "accumulating"
      ? at.lots
          .map(({ remaining, basePrice }) => {
            const ex = fractionOf(pricing.exPrice)
            const capped = smaller(larger(fractionOf(basePrice), ex), fractionOf(pricing.cumPrice))
            return times(fractionOf(remaining), minus(capped, ex))
          })
          .reduce(plus, nothing)
      : nothing
  const given = smaller(larger(nothing, floorAt(bought, payoutDecimals)), paid)
  const tax = halfUpAt(times(minus(paid, given), fractionOf(at.rate)), payoutDecimals)
  const units =
    payout === null
      ? null
      : floorAt(
          {
            over: minus(paid, tax).over * fractionOf(payout.price).under,
            under: minus(paid, tax).under * fractionOf(payout.price).over
          },
          payout.unitDecimals
        )
  const isCarried =
    paid.over === 0n || (units !== null && units.over === 0n && minus(paid, tax).over > 0n)
  const [gross, equalisation, withheld] = isCarried
    ? [nothing, nothing, nothing]
    : [paid, given, tax]
  const rest = minus(due, gross)
  const isLeft = Decimal.isZero(at.units)
  const smallest = { over: 1n, under: 10n ** BigInt(payoutDecimals) }
  const carryOut = isLeft && (!isCarried || isLess(rest, smallest)) ? nothing : rest
  return {
    entitlement: textOf(entitlement),
    gross: textOf(gross),
    equalisation: textOf(equalisation),
    withheld: textOf(withheld),
    net: textOf(minus(gross, withheld)),
    carryOut: textOf(carryOut),
    leaverRest: textOf(minus(rest, carryOut)),
    payoutUnits: units === null ? "none" : textOf(isCarried ? nothing : units),
    carried: isCarried ? (at.isUnrolled ? "unrolled" : "below-smallest") : "no"
  }
}

const asText = (line: Rules.LineFigures): Readonly<Record<string, string>> => {
  const { entitlement, gross, equalisation, withheld, net, carryOut, leaverRest } = line
  const figures = { entitlement, gross, equalisation, withheld, net, carryOut, leaverRest }
  return {
    ...Object.fromEntries(
      Object.entries(figures).map(([name, figure]) => [name, Decimal.formatPlain(figure)])
    ),
    payoutUnits: line.payoutUnits === null ? "none" : Decimal.formatPlain(line.payoutUnits),
    carried: line.carried ?? "no"
  }
}

// ---- random registers

const atoms = (min: bigint, max: bigint) => fc.bigInt({ min, max }).map(Decimal.fromAtoms)
const anyUnits = fc.oneof(fc.constant(Decimal.zero), atoms(1n, 10n ** 17n), atoms(1n, 10n ** 6n))
const anyPrice = atoms(10n ** 9n, 3n * 10n ** 10n)
const anyRate = fc.oneof(
  fc.constantFrom(Decimal.zero, Decimal.one, d("0.15")),
  atoms(0n, 10n ** 10n)
)
const anyPlaces = fc.integer({ min: 0, max: 4 })
const anyPayout = fc.option(
  fc.record({
    price: fc.oneof(fc.constant(Decimal.one), anyPrice),
    unitDecimals: fc.integer({ min: 0, max: 10 })
  })
)
const anyTerms: fc.Arbitrary<Rules.LineTerms> = fc.record({
  pricing: fc.oneof(
    fc.constant({ valuation: "par" as const }),
    fc.record({
      valuation: fc.constant("accumulating" as const),
      exPrice: anyPrice,
      cumPrice: anyPrice
    }),
    fc.record({
      valuation: fc.constant("rebasing" as const),
      fromIndex: anyPrice,
      toIndex: anyPrice
    })
  ),
  payoutDecimals: anyPlaces,
  payout: anyPayout
})
const anyIncome = atoms(-(10n ** 7n), 10n ** 7n)
const anyPosition: fc.Arbitrary<Rules.PayeePosition> = fc.record({
  units: anyUnits,
  baseUnits: anyUnits,
  accruals: fc
    .array(
      fc.record({ units: anyUnits, income: anyIncome, days: fc.integer({ min: 1, max: 31 }) }),
      {
        maxLength: 6
      }
    )
    .map((list) => list.map((accrual, index) => ({ id: `00${index}`, ...accrual }))),
  lots: fc
    .array(fc.record({ remaining: anyUnits, basePrice: anyPrice }), { maxLength: 3 })
    .map((list) => list.map((lot, index) => ({ lotId: `lot-${index}`, ...lot }))),
  carryIn: fc.oneof(fc.constant(Decimal.zero), atoms(-(10n ** 12n), 10n ** 12n)),
  rate: anyRate,
  isUnrolled: fc.boolean()
})

describe("the figures of a line", () => {
  it("are those of the rules in words, in fractions of whole numbers", () => {
    fc.assert(
      fc.property(anyTerms, anyPosition, (terms, at) => {
        expect(asText(Rules.lineOf(terms, at))).toEqual(naive(terms, at))
      }),
      { numRuns: 3000 }
    )
  })

  it("never withhold more than the gross, nor pay or withhold less than nothing", () => {
    fc.assert(
      fc.property(anyTerms, anyPosition, (terms, at) => {
        const { gross, equalisation, withheld, net } = Rules.lineOf(terms, at)
        for (const figure of [gross, equalisation, withheld, net]) {
          expect(Decimal.isNegative(figure)).toBe(false)
        }
        expect(Decimal.atMost(equalisation, gross)).toBe(true)
        expect(Decimal.atMost(withheld, gross)).toBe(true)
      }),
      { numRuns: 1000 }
    )
  })

  it("have a basis that gives each of them again, and none with one thing changed in it", () => {
    fc.assert(
      fc.property(anyTerms, anyPosition, (terms, at) => {
        const figures = asText(Rules.lineOf(terms, at))
        for (const basis of basisOf(terms, at)) {
          const text = Decimal.formatPlain(d(Result.getOrThrow(verify(basis))))
          expect(text, basis.field).toBe(figures[basis.field])
          for (const [what, other] of changed(basis)) {
            expect(Result.isFailure(verify(other)), `${basis.formula}: ${what}`).toBe(true)
          }
        }
      }),
      { numRuns: 150 }
    )
  })

  it("name the record of each input: prices the points, places the instrument, a rate its own", () => {
    const own = (id: string) => ({ resourceKind: id, id, offset: Offset.of(7) })
    const named: Basis.Sources = {
      instrument: own("instrument"),
      payee: own("payee"),
      line: own("line"),
      carry: own("carry"),
      rate: own("rate"),
      fromPoint: own("from"),
      toPoint: own("to"),
      offset: Offset.of(7)
    }
    const at = position({
      units: d("12345.678901"),
      lots: [{ lotId: "lot-1", basePrice: d("1.0439"), remaining: d("100") }]
    })
    const payout = { price: d("1.0437"), unitDecimals: 6 }
    const recordsOf = (terms: Rules.LineTerms) =>
      Object.fromEntries(
        Basis.of({ terms, position: at, figures: Rules.lineOf(terms, at), sources: named }).flatMap(
          ({ field, inputs }) =>
            inputs.map(({ name, resourceKind }) => [`${field} ${name}`, resourceKind] as const)
        )
      )
    expect(recordsOf(accumulating("1.0437", "1.0481", payout))).toMatchObject({
      "entitlement exPrice": "from",
      "entitlement cumPrice": "to",
      "gross carryIn": "carry",
      "withheld rate": "rate",
      "payoutUnits net": "line",
      "payoutUnits payoutPrice": "from",
      "payoutUnits unitDecimals": "instrument",
      "gross payoutDecimals": "instrument"
    })
    expect(recordsOf({ ...par, payout })).toMatchObject({
      "payoutUnits payoutPrice": "instrument"
    })
  })

  it("are by formulas whose published names never change", () => {
    expect(Formulas.formulas.map(({ name }) => name)).toEqual([
      "entitlement-par",
      "entitlement-accumulating",
      "entitlement-rebasing",
      "equalisation",
      "line",
      "payout-units",
      "whole-units"
    ])
  })

  test("a basis whose lists have other ids, or the same ones in another order, is refused", () => {
    const at = parPosition("10", [
      ["0.0001", 2],
      ["0.0002", 3]
    ])
    const [basis] = basisOf(par, at)
    if (basis === undefined) throw new Error("an entitlement has a basis")
    expect(basis.steps[0]?.op).toBe(
      "entitlement = sum(units * income * days) = sum(10 * 0.0001 * 2, 10 * 0.0002 * 3)"
    )
    const renamed = basis.inputs.map((input) =>
      input.name === "days" && input.id === "001" ? { ...input, id: "009" } : input
    )
    expect(verify({ ...basis, inputs: renamed })).toEqual(
      Result.fail("entitlement cannot be computed from these inputs.")
    )
    expect(() =>
      Formula.compute(Formulas.entitlementPar, {
        ...Rules.accrualsGiven(at.accruals),
        days: [{ id: "000", amount: Decimal.one }]
      })
    ).toThrow("other ids")
  })
})

describe("the totals of a distribution", () => {
  it("never break the identities, over a year of random months of joiners, leavers and carries", () => {
    const month = fc.record({
      incomes: fc.array(fc.tuple(anyIncome, fc.integer({ min: 1, max: 15 })), { maxLength: 4 }),
      prices: fc.tuple(anyPrice, anyPrice),
      units: fc.array(anyUnits, { minLength: 5, maxLength: 5 }),
      rates: fc.array(anyRate, { minLength: 5, maxLength: 5 }),
      unrolled: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 })
    })
    fc.assert(
      fc.property(
        fc.constantFrom("par", "accumulating", "rebasing"),
        anyPlaces,
        anyPayout,
        fc.array(month, { minLength: 12, maxLength: 12 }),
        (valuation, payoutDecimals, payout, months) => {
          let carries = Array.from({ length: 5 }, () => Decimal.zero)
          let [earned, owed] = [nothing, nothing]
          for (const { incomes, prices, units, rates, unrolled } of months) {
            const [a, b] = prices
            const terms: Rules.LineTerms = {
              payoutDecimals,
              payout: valuation === "rebasing" ? null : payout,
              pricing:
                valuation === "par"
                  ? { valuation }
                  : valuation === "accumulating"
                    ? { valuation, exPrice: a, cumPrice: b }
                    : { valuation: "rebasing", fromIndex: a, toIndex: b }
            }
            const lines = units.map((held, index) =>
              Rules.lineOf(
                terms,
                position({
                  units: held,
                  baseUnits: held,
                  accruals: incomes.map(([income, days], point) => ({
                    id: `00${point}`,
                    units: held,
                    income,
                    days
                  })),
                  carryIn: carries[index] ?? Decimal.zero,
                  rate: rates[index] ?? Decimal.zero,
                  isUnrolled: unrolled[index] ?? false
                })
              )
            )
            const halves = [lines.slice(0, 2), lines.slice(2)].map((half) =>
              half.reduce(Totals.add, Totals.empty)
            )
            const totals = halves.reduce(Totals.combine)
            const register = Decimal.sum(units)
            const accrued =
              valuation === "accumulating"
                ? Totals.accruedOn(register, { exPrice: a, cumPrice: b })
                : null
            expect(Totals.breachesOf(totals, accrued)).toEqual([])
            expect(totals.holders).toBe(lines.filter(Rules.hasLine).length)
            // The fund's books: everything earned is paid, carried on, or stays as residual.
            const factor =
              valuation === "par"
                ? incomes
                    .map(([income, days]) => times(fractionOf(income), fraction(String(days))))
                    .reduce(plus, nothing)
                : valuation === "accumulating"
                  ? larger(nothing, minus(fractionOf(b), fractionOf(a)))
                  : minus(fractionOf(b), fractionOf(a))
            earned = plus(earned, times(fractionOf(register), factor))
            const paid = plus(fractionOf(totals.gross), fractionOf(totals.leaverRest))
            const cut = totals.cut
            owed = plus(owed, plus(paid, { over: cut.numerator, under: cut.denominator }))
            const carried = lines.map(({ carryOut }) => fractionOf(carryOut)).reduce(plus, nothing)
            expect(minus(earned, plus(owed, carried)).over).toBe(0n)
            carries = lines.map(({ carryOut }) => carryOut)
          }
        }
      ),
      { numRuns: 150 }
    )
  })

  it("name the identity that a wrong figure breaks", () => {
    const totals = [g16()].reduce(Totals.add, Totals.empty)
    const accrued = Totals.accruedOn(d("12345.678901"), {
      exPrice: d("1.0437"),
      cumPrice: d("1.0481")
    })
    const off = (change: Partial<Totals.Totals>) =>
      Totals.breachesOf({ ...totals, ...change }, accrued).map(({ identity }) => identity)
    expect(off({})).toEqual([])
    expect(off({ net: d("46.18") })).toEqual(["gross"])
    expect(off({ carryOut: Decimal.zero })).toEqual(["due"])
    expect(off({ leaverRest: d("0.0000000001") })).toEqual(["due"])
    expect(off({ entitlement: d("54.3209871645") })).toEqual(["due", "accrued"])
  })
})

/** Lines of a holder month by month, each with the carry of the one before. */
const inTurn = (terms: Rules.LineTerms, positions: ReadonlyArray<Rules.PayeePosition>) => {
  let carryIn: Decimal.Decimal = Decimal.zero
  return positions.map((at) => {
    const line = Rules.lineOf(terms, { ...at, carryIn: Decimal.add(at.carryIn, carryIn) })
    carryIn = line.carryOut
    return line
  })
}

describe("golden vectors of lines", () => {
  test("G16 and G17: accumulating, and the same line again with its carry", () => {
    const first = g16()
    expect(asText(first)).toMatchObject({
      entitlement: "54.3209871644",
      gross: "54.32",
      withheld: "8.15",
      net: "46.17",
      carryOut: "0.0009871644"
    })
    const second = g16({ carryIn: first.carryOut })
    expect([cents(second.gross), ten(second.carryOut)]).toEqual(["54.32", "0.0019743288"])
  })

  const withheldOf = (gross: string, rate: string) => {
    const line = Rules.lineOf(par, parPosition("1", [], { carryIn: d(gross), rate: d(rate) }))
    return [cents(line.withheld), cents(line.net)]
  }

  test.each([
    ["G18", "10.10", "0.25", "2.53", "7.57"],
    ["G33", "127.67", "0.3", "38.30", "89.37"],
    ["G33", "127.67", "0.15", "19.15", "108.52"],
    ["G33", "0.05", "0.3", "0.02", "0.03"],
    ["G33", "0.05", "0.1", "0.01", "0.04"],
    ["G33", "0.01", "0.5", "0.01", "0.00"],
    ["G33", "0.01", "0.4999999999", "0.00", "0.01"],
    ["G33", "10.10", "1", "10.10", "0.00"]
  ])("%s: %s at a rate of %s withholds %s and pays %s", (_, gross, rate, withheld, net) => {
    expect(withheldOf(gross, rate)).toEqual([withheld, net])
  })

  test.each([
    ["G19", "963751533.51", "0.000096553", 3, "279159.31"],
    ["G20", "831088988.17", "0.000095759", 4, "318337"]
  ] as const)(
    "%s: a published income over several days, rounded half up",
    (_, units, income, days, paid) => {
      const given = Rules.accrualsGiven(parPosition(units, [[income, days]]).accruals)
      const { terms } = Formula.computeExact(Formulas.entitlementPar, given)
      const exact = terms.entitlement ?? Rational.zero
      expect(Decimal.formatPlain(Rational.round(exact, { places: 2, rounding: "half-up" }))).toBe(
        paid
      )
    }
  )

  test("G21: one day of July and two of August", () => {
    const days = (count: number) =>
      ten(Rules.lineOf(par, parPosition("1000000", [["0.000096553", count]])).entitlement)
    expect([days(1), days(2)]).toEqual(["96.5530000000", "193.1060000000"])
  })

  test("G23: whole units are rounded once, from the sum", () => {
    const whole = (...amounts: ReadonlyArray<string>) =>
      Decimal.formatPlain(
        Formula.compute(Formulas.wholeUnits, {
          amount: amounts.map((amount, index) => ({ id: String(index), amount: d(amount) }))
        }).whole
      )
    expect([whole("1.39"), whole("2.50"), whole("0.69", "0.70")]).toEqual(["1", "3", "1"])
  })

  test("G31: three equal holders, their totals, residual and hash", () => {
    const lines = ["h1", "h2", "h3"].map((holderId) => ({
      holderId,
      party: `${holderId}::1220aa`,
      ...Rules.lineOf(par, parPosition("333333.333333", [["0.000095759", 4]]))
    }))
    for (const line of lines) {
      expect(asText(line)).toMatchObject({
        entitlement: "127.6786666665",
        gross: "127.67",
        carryOut: "0.0086666665",
        withheld: "19.15",
        net: "108.52"
      })
    }
    const totals = lines.reduce(Totals.add, Totals.empty)
    expect([
      totals.holders,
      ten(totals.entitlement),
      cents(totals.gross),
      ten(totals.carryOut),
      cents(totals.withheld),
      cents(totals.net),
      ten(Totals.residualOf(totals))
    ]).toEqual([3, "383.0359999995", "383.01", "0.0259999995", "57.45", "325.56", "0.0000000001"])
    expect(Hash.linesHashOf(Hash.chunkHashes(lines, crypto), crypto)).toBe(
      "b25dc7318ec640ce5c7bd80a3c9ffeb1538f69a8995be39a33d12d861a7356f2"
    )
  })

  test.each([
    ["12.345678", ["0.03", "0.03", "0.03", "0.04", "0.03"], "0.0066666530"],
    ["1", ["0.00", "0.00", "0.00", "0.01", "0.00"], "0.0035000000"]
  ])("G32: five months of %s units", (units, gross, last) => {
    const month = parPosition(units, [["0.00009", 30]])
    const lines = inTurn(par, [month, month, month, month, month])
    expect(lines.map((line) => cents(line.gross))).toEqual(gross)
    expect(ten(lines.at(-1)?.carryOut ?? Decimal.zero)).toBe(last)
    if (units !== "1") return
    expect(lines.map(({ carryOut }) => Decimal.formatPlain(carryOut))).toEqual([
      "0.0027",
      "0.0054",
      "0.0081",
      "0.0008",
      "0.0035"
    ])
    expect(lines.map(({ carried }) => carried ?? "paid")).toEqual([
      ...Array.from({ length: 3 }, () => "below-smallest"),
      "paid",
      "below-smallest"
    ])
  })

  test("G33: the rate of a line, by its source", () => {
    const recordEndsAt = Instant.of("2026-08-01T00:00:00Z")
    const executedAt = Instant.of("2026-08-02T00:00:00Z")
    const from = Instant.of("2026-01-01T00:00:00Z")
    const own = (value: string, validUntil: string | null = null) =>
      ({
        value,
        state: "valid",
        validFrom: from,
        validUntil: validUntil === null ? null : Instant.of(validUntil)
      }) as const
    const rate = (change: Partial<Rules.Withholding> = {}) => {
      const { rate, rateSource } = Rules.rateOf({
        valuation: "par",
        attribute: null,
        executedAt,
        recordEndsAt,
        ratesSeen: [d("0.15")],
        withholding: d("0.3"),
        ...change
      })
      return [Decimal.formatPlain(rate), rateSource]
    }
    expect(rate()).toEqual(["0.15", "point"])
    expect(rate({ ratesSeen: [] })).toEqual(["0.3", "default"])
    expect(rate({ ratesSeen: [d("0.15"), d("0.2")] })).toEqual(["0.2", "point"])
    expect(rate({ attribute: own("0") })).toEqual(["0", "attribute"])
    expect(rate({ attribute: own("1") })).toEqual(["1", "attribute"])
    for (const attribute of [
      own("0", "2026-08-01T00:00:00Z"),
      own("0", "2026-08-02T00:00:00Z"),
      { ...own("0"), validFrom: Instant.of("2026-08-01T00:00:00.000001Z") },
      { ...own("0"), state: "revoked" as const },
      own("1.0000000001"),
      own("-0.1"),
      own("15%")
    ]) {
      expect(rate({ attribute })).toEqual(["0.15", "point"])
    }
    expect(rate({ attribute: own("0", "2026-08-02T00:00:00.000001Z") })).toEqual(["0", "attribute"])
    expect(rate({ valuation: "rebasing", attribute: own("0.1") })).toEqual(["0", "default"])
  })

  test("G34: an unrolled line carries August whole, and September pays both", () => {
    const july = g16()
    const august = Rules.lineOf(
      par,
      parPosition("1", [["61.123456789", 1]], { carryIn: july.carryOut, isUnrolled: true })
    )
    expect(august.carried).toBe("unrolled")
    expect([cents(august.gross), ten(august.carryOut)]).toEqual(["0.00", "61.1244439534"])
    const september = Rules.lineOf(par, parPosition("1", [["60", 1]], { carryIn: august.carryOut }))
    expect(asText(september)).toMatchObject({
      gross: "121.12",
      withheld: "18.17",
      net: "102.95",
      carryOut: "0.0044439534"
    })
  })

  test("G35: a line that was suspended pays the amount of its execution, whatever its roll reads", () => {
    const rolls = [
      [0, 0],
      [1, 0],
      [0, 1]
    ] as const
    const line = g16()
    expect(
      rolls.map(([delivered, rolled]) => [
        DistributionRoll.judge({ delivered, rolled }),
        cents(line.net)
      ])
    ).toEqual([
      ["waiting", "46.17"],
      ["ready", "46.17"],
      ["rolled", "46.17"]
    ])
  })

  test("G39: a chain of successors is added before anything is cut", () => {
    const july = (units: readonly [string, string]) =>
      position({
        units: d(units[1]),
        accruals: [
          { id: "001", units: d(units[0]), income: d("0.0001"), days: 15 },
          { id: "002", units: d(units[1]), income: d("0.0001"), days: 16 }
        ]
      })
    const [h1, h2] = [july(["250.5", "0"]), july(["0", "250.5"])]
    expect(asText(Rules.lineOf(par, positionOfChain(h2, [h1])))).toMatchObject({
      entitlement: "0.77655",
      gross: "0.77",
      carryOut: "0.00655"
    })
    const apart = [h1, h2].map((at) => Rules.lineOf(par, at))
    expect(apart.map(({ gross }) => cents(gross))).toEqual(["0.37", "0.40"])
    expect(Decimal.formatPlain(apart[0]?.leaverRest ?? Decimal.zero)).toBe("0.00575")
  })

  test("G41: two points of the period, the second with its weekend", () => {
    const line = Rules.lineOf(
      par,
      parPosition("1000000", [
        ["0.0001", 1],
        ["0.000096553", 2]
      ])
    )
    expect([ten(line.entitlement), cents(line.gross)]).toEqual(["293.1060000000", "293.10"])
  })

  test("G42, HMRC CTM48430: one who bought in the period is given back what it paid for", () => {
    const line = (lots: Rules.PayeePosition["lots"]) =>
      asText(
        Rules.lineOf(accumulating("500", "520"), position({ units: d("1"), rate: d("0.2"), lots }))
      )
    const lot = (basePrice: string) => ({
      lotId: "lot-1",
      remaining: d("1"),
      basePrice: d(basePrice)
    })
    const before = { gross: "20", equalisation: "0", withheld: "4", net: "16" }
    expect(line([])).toMatchObject(before)
    expect(line([lot("480")])).toMatchObject(before)
    expect(line([lot("510")])).toMatchObject({
      gross: "20",
      equalisation: "10",
      withheld: "2",
      net: "18"
    })
    expect(line([lot("530")])).toMatchObject({ equalisation: "20", withheld: "0", net: "20" })
  })

  test.each([
    ["46.17", "1", 6, "46.170000", "0"],
    ["46.17", "0.9871", 6, "46.773376", "0.0000005504"],
    ["46.17", "1.0437", 6, "44.236849", "0.0000006987"]
  ] as const)("G45: %s at a payout price of %s", (net, price, unitDecimals, units, rest) => {
    const terms: Rules.LineTerms = { ...par, payout: { price: d(price), unitDecimals } }
    const line = Rules.lineOf(terms, parPosition("1", [], { carryIn: d(net), rate: Decimal.zero }))
    expect(Decimal.formatPlaces(line.payoutUnits ?? Decimal.zero, 6)).toBe(units)
    const totals = Totals.add(Totals.empty, line)
    expect(Decimal.formatPlain(Totals.residualOf(totals))).toBe(rest)
  })

  test("G45: a net that buys no atom is carried", () => {
    const terms: Rules.LineTerms = { ...par, payout: { price: Decimal.one, unitDecimals: 0 } }
    const line = Rules.lineOf(
      terms,
      parPosition("1", [], { carryIn: d("0.85"), rate: Decimal.zero })
    )
    expect(asText(line)).toMatchObject({
      gross: "0",
      net: "0",
      payoutUnits: "0",
      carryOut: "0.85",
      carried: "below-smallest"
    })
  })

  test("G49: negative income is carried until it is earned back", () => {
    const lost = Rules.lineOf(
      par,
      parPosition("100000", [
        ["0.0000951", 20],
        ["-0.0003", 8],
        ["0.0000951", 3]
      ])
    )
    expect([ten(lost.entitlement), cents(lost.gross), ten(lost.carryOut)]).toEqual([
      "-21.2700000000",
      "0.00",
      "-21.2700000000"
    ])
    const [first, second] = inTurn(par, [
      parPosition("1234.567891", [["-0.00002", 30]], { carryIn: d("0.0041") }),
      parPosition("1234.567891", [["0.0009", 31]])
    ])
    expect(asText(first ?? lost)).toMatchObject({
      entitlement: "-0.7407407346",
      gross: "0",
      carryOut: "-0.7366407346"
    })
    expect(asText(second ?? lost)).toMatchObject({
      entitlement: "34.4444441589",
      gross: "33.7",
      withheld: "5.06",
      net: "28.64",
      carryOut: "0.0078034243"
    })
  })

  test("rebasing reports the change of the index and pays nothing", () => {
    const terms: Rules.LineTerms = {
      pricing: { valuation: "rebasing", fromIndex: d("1.7"), toIndex: d("1.7314") },
      payoutDecimals: 2,
      payout: null
    }
    const at = position({ units: d("995"), baseUnits: d("585.2941176471"), rate: Decimal.zero })
    expect(asText(Rules.lineOf(terms, at))).toMatchObject({
      entitlement: "18.3782352941",
      gross: "18.37",
      withheld: "0",
      payoutUnits: "none"
    })
  })

  test("a leaver is paid, and its rest is the fund's unless a smallest amount is carried", () => {
    const left = (carryIn: string, change: Partial<Rules.PayeePosition> = {}) => {
      const { gross, carryOut, leaverRest } = Rules.lineOf(
        par,
        position({ carryIn: d(carryIn), ...change })
      )
      return [gross, carryOut, leaverRest].map(Decimal.formatPlain)
    }
    expect(left("1.2345")).toEqual(["1.23", "0", "0.0045"])
    expect(left("0.0099")).toEqual(["0", "0", "0.0099"])
    expect(left("-3.5")).toEqual(["0", "0", "-3.5"])
    expect(left("0.01", { isUnrolled: true })).toEqual(["0", "0.01", "0"])
    expect(left("0.0099999999", { isUnrolled: true })).toEqual(["0", "0", "0.0099999999"])
  })
})

describe("cases from the field", () => {
  /** Units at 0.01 each, whose product with 100 falls short of the cent in doubles. */
  const doubles = ["1.15", "0.29", "0.57", "1.13", "8.2", "16.08", "1001.1"]

  test("Fineract's dividends by double: each part is exact, and the parts add up to the total", () => {
    const isShort = (units: string) => Math.floor(Number(units) * 100) / 100 !== Number(units)
    expect(doubles.filter(isShort)).not.toEqual([])
    const lines = doubles.map((units) => Rules.lineOf(par, parPosition(units, [["1", 1]])))
    expect(lines.map(({ gross }) => Decimal.formatPlain(gross))).toEqual(doubles)
    const totals = lines.reduce(Totals.add, Totals.empty)
    expect([cents(totals.gross), ten(totals.carryOut)]).toEqual(["1028.52", "0.0000000000"])
    expect(cents(Decimal.add(totals.net, totals.withheld))).toBe("1028.52")
  })

  test("ERC-1726's dust: what no cent holds is carried, and a year pays all but the final carry", () => {
    const lines = inTurn(
      par,
      Array.from({ length: 12 }, () => parPosition("3.333333", [["0.000095759", 30]]))
    )
    const sumOf = (figure: "gross" | "entitlement") =>
      Decimal.sum(lines.map((line) => line[figure]))
    const left = lines.at(-1)?.carryOut ?? Decimal.zero
    expect(ten(sumOf("entitlement"))).toBe(ten(Decimal.add(sumOf("gross"), left)))
    expect(Decimal.isPositive(sumOf("gross"))).toBe(true)
    expect(left < d("0.01")).toBe(true)
  })

  test("Polymesh's rounding before tax: the tax is of the amount that is paid, never of the exact one", () => {
    // Of the exact amounts it would be 0.06, 0.06 and 0.02.
    for (const [exact, rate, withheld, net] of [
      ["0.3699", "0.15", "0.05", "0.31"],
      ["0.0999", "0.6", "0.05", "0.04"],
      ["0.0299", "0.7", "0.01", "0.01"]
    ] as const) {
      const line = Rules.lineOf(par, parPosition(exact, [["1", 1]], { rate: d(rate) }))
      expect([exact, cents(line.withheld), cents(line.net)]).toEqual([exact, withheld, net])
      expect(ten(Decimal.add(line.net, line.withheld))).toBe(ten(line.gross))
    }
  })
})

describe("the hash of the lines", () => {
  const line = (index: number): Hash.HashedLine => ({
    holderId: `holder-${String(index).padStart(5, "0")}`,
    party: "holder::1220aa",
    ...Rules.lineOf(par, parPosition(String(index + 1), [["0.0001", 31]]))
  })
  const lines = Array.from({ length: 1201 }, (_, index) => line(index))
  const hash = (lines: ReadonlyArray<Hash.HashedLine>) =>
    Hash.linesHashOf(Hash.chunkHashes(lines, crypto), crypto)

  it("never takes more than 500 lines into one text", () => {
    const texts: Array<string> = []
    const hashed = Hash.chunkHashes(lines, {
      sha256: (text) => {
        texts.push(text)
        return crypto.sha256(text)
      }
    })
    const chunks = [...hashed]
    expect(texts.map((text) => text.split("],[").length)).toEqual([500, 500, 201])
    expect(hash(lines)).toBe(crypto.sha256(`bursar-lines-v1\n${chunks.join("\n")}`))
    expect(hash([])).toBe(crypto.sha256("bursar-lines-v1\n"))
  })

  it("is another one for any other line, figure, order or number of lines", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1200 }),
        fc.constantFrom("units", "gross", "equalisation", "withheld", "net", "carryOut"),
        (index, figure) => {
          const self = lines[index] ?? line(0)
          const other = { ...self, [figure]: Decimal.add(self[figure], Decimal.one) }
          expect(hash(lines.with(index, other))).not.toBe(hash(lines))
          expect(hash(lines.toSpliced(index, 1))).not.toBe(hash(lines))
        }
      ),
      { numRuns: 20 }
    )
  })

  it("has holders by id, then parties that are none, and refuses another order", () => {
    const alone = (party: string): Hash.HashedLine => ({ ...line(0), holderId: null, party })
    const [zed, amy] = [alone("zed::1220aa"), alone("amy::1220aa")]
    expect([zed, line(1), amy, line(0)].toSorted(Hash.compare)).toEqual([
      line(0),
      line(1),
      amy,
      zed
    ])
    expect(() => hash([line(1), line(0)])).toThrow("in order")
    expect(() => hash([line(0), line(0)])).toThrow("in order")
    expect(() => hash([amy, line(0)])).toThrow("in order")
  })
})

describe.skipIf(!Buidl.isPublished)("figures of a fund (needs shared/data/buidl)", () => {
  const { isBusinessDay, rows } = Buidl

  const julyOf = (series: string) => {
    const dated = rows()
      .filter((row) => row.series === series && isBusinessDay(row.date))
      .map((row) => ({ date: row.date, point: row }))
      .toSorted((a, b) => Date.compare(a.date, b.date))
    const firstDay = Month.firstDay(Month.of("2026-07"))
    const recordDate = Month.lastDay(Month.of("2026-07"))
    const accruals = accrualsOf({
      firstDay,
      recordDate,
      before: dated.findLast(({ date }) => Date.isBefore(date, firstDay)) ?? null,
      points: dated.filter(
        ({ date }) => !Date.isBefore(date, firstDay) && !Date.isAfter(date, recordDate)
      )
    })
    return Rules.lineOf(
      par,
      position({
        units: accruals.at(-1)?.point.units ?? Decimal.zero,
        accruals: accruals.map(({ date, days, point: { units, income } }) => ({
          id: date,
          units,
          income,
          days
        }))
      })
    )
  }

  test.each([
    ["BUIDL-I ethereum", "2669852.9651770796"],
    ["BUIDL avalanche", "1866096.3528155237"]
  ])("G50: July of %s", (series, entitlement) => {
    expect(ten(julyOf(series).entitlement)).toBe(entitlement)
  })

  it("is, for each series, the fold of its days", () => {
    const names = new Set(rows().map(({ series }) => series))
    expect(names.size).toBe(10)
    for (const series of names) {
      const own = rows().filter((row) => row.series === series)
      const lastPoint = (day: Date.Date) =>
        own
          .filter(({ date }) => isBusinessDay(date) && !Date.isAfter(date, day))
          .toSorted((a, b) => Date.compare(b.date, a.date))[0]
      let folded = nothing
      for (let day = Date.of("2026-07-01"); day < "2026-08-01"; day = Date.next(day)) {
        const point = lastPoint(day)
        if (point !== undefined)
          folded = plus(folded, times(fractionOf(point.units), fractionOf(point.income)))
      }
      expect(Decimal.formatPlain(julyOf(series).entitlement), series).toBe(
        textOf(floorAt(folded, 10))
      )
    }
  })
})
