/**
 * Figures of a cycle, compared with sums made by hand: sides, fund's net, gate, swing and
 * remainders.
 */
import { Decimal, Formula } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as Formulas from "#core/orders/order/OrderFormulas.ts"
import * as PurseRules from "#core/orders/dealing-cycle/PurseRules.ts"
import * as Rules from "#core/orders/dealing-cycle/DealingCycleRules.ts"

const d = Decimal.of
const price = d("1.0437")

const bought = (
  id: string,
  cash: string,
  units: string,
  refund = "0"
): Rules.SubscriptionFigures => ({
  id,
  cash: d(cash),
  refund: d(refund),
  units: d(units)
})
const sold = (id: string, units: string, proceeds: string): Rules.RedemptionFigures => ({
  id,
  units: d(units),
  proceeds: d(proceeds),
  price,
  feeRate: Decimal.zero
})
const settle = (changes: Partial<Rules.DealingInput>) =>
  Rules.settlementOf({
    subscriptions: [],
    redemptions: [],
    capacity: null,
    unitDecimals: 6,
    cashDecimals: 2,
    ...changes
  })
const plain = (figures: Readonly<Record<string, Decimal.Decimal>>) =>
  Object.fromEntries(
    Object.entries(figures).map(([name, figure]) => [name, Decimal.formatPlain(figure)])
  )
const fillsOf = ({ fills }: Rules.Settlement) =>
  Object.fromEntries([...fills].map(([id, fill]) => [id, plain({ ...fill })]))

describe("cash of several providers", () => {
  const purses = (...amounts: ReadonlyArray<readonly [string, string]>) =>
    amounts.map(([kind, amount]) => ({ kind, amount: Decimal.of(amount) }))
  test.each([
    ["all of one", purses(["a", "60"], ["a", "50"]), ["100"], null],
    ["none keeps the payment", purses(["a", "60"], ["b", "50"]), ["100"], 0],
    ["each pays one", purses(["a", "60"], ["b", "50"]), ["50", "60"], 1],
    ["the fullest pays first", purses(["a", "60"], ["b", "50"]), ["60", "50"], null],
    ["paid out of what is left", purses(["a", "60"], ["b", "50"]), ["40", "40", "20"], null],
    ["a part of nothing is paid by none", purses(), ["0"], null],
    ["no cash at all", purses(), ["0.01"], 0]
  ])("%s", (_, cash, amounts, nth) => {
    const payments = amounts.map((amount, at) => ({
      redemptionId: `r${at}`,
      amount: Decimal.of(amount)
    }))
    expect(PurseRules.unpaidOf(cash, payments)).toEqual(nth === null ? null : payments[nth])
  })
})

describe("golden vectors of docs/domain/figures.md#golden-vectors", () => {
  test("G11: each side and the fund's net are those of the worked example", () => {
    const cycle = settle({
      subscriptions: [bought("a", "100000", "95812.973076"), bought("b", "50000", "47906.486538")],
      redemptions: [sold("c", "30000", "31311.00")]
    })
    expect(plain(cycle.gross)).toEqual({
      subscribed: "150000",
      refunded: "0",
      redeemed: "31311",
      minted: "143719.459614",
      burned: "30000"
    })
    expect(plain(cycle.fundNet)).toEqual({ cash: "118689", units: "113719.459614" })
    expect(cycle.gate).toBeNull()
    expect(cycle.fills.size).toBe(0)
  })

  test("what goes back to holders is no part of what the fund moves", () => {
    const cycle = settle({
      subscriptions: [bought("a", "50", "3", "9.89"), bought("b", "60", "4", "6.52")],
      redemptions: [sold("c", "2", "26.74")]
    })
    expect(plain(cycle.gross)).toMatchObject({ subscribed: "110", refunded: "16.41" })
    expect(plain(cycle.fundNet)).toEqual({ cash: "66.85", units: "5" })
  })

  test("G12: a gate fills as in the worked example, to the atom", () => {
    const cycle = settle({
      redemptions: [
        sold("a", "1000.000001", "1043.70"),
        sold("b", "333.333333", "347.90"),
        sold("c", "666.666666", "695.80")
      ],
      capacity: d("1500")
    })
    expect(plain(cycle.gross).burned).toBe("1500")
    expect(cycle.gate).toEqual({
      factor: d("0.75"),
      capacity: d("1500"),
      reason: "cycle-capacity"
    })
    // 750.000001 · 1.0437 = 782.775001…; 250 · 1.0437 = 260.925; 499.999999 · 1.0437 = 521.849998…
    expect(fillsOf(cycle)).toEqual({
      a: { units: "750.000001", proceeds: "782.77", rest: "250" },
      b: { units: "250", proceeds: "260.92", rest: "83.333333" },
      c: { units: "499.999999", proceeds: "521.84", rest: "166.666667" }
    })
    expect(plain(cycle.fundNet)).toEqual({ cash: "-1565.53", units: "-1500" })
  })

  test.each([
    ["10", { a: "30", b: "31", c: "39" }, { a: "3", b: "3", c: "4" }],
    ["11", { a: "49", b: "51" }, { a: "5", b: "6" }]
  ])("G13: Centrifuge's figures at a capacity of %s strand a unit", (capacity, orders, filled) => {
    const cycle = settle({
      redemptions: Object.entries(orders).map(([id, units]) => sold(id, units, "1000")),
      capacity: d(capacity),
      unitDecimals: 0
    })
    const units = Object.fromEntries(
      [...cycle.fills].map(([id, fill]) => [id, Decimal.formatPlain(fill.units)])
    )
    expect(units).toEqual(filled)
  })

  test("G10: the price swings with the net flow, and deals at its places", () => {
    const swing = { threshold: d("0.01"), up: d("0.0015"), down: d("0.001") }
    const flow = (subscribed: string, redeemed: string) => ({
      subscribedCash: d(subscribed),
      subscribedUnits: Decimal.zero,
      redeemedCash: d(redeemed),
      redeemedUnits: Decimal.zero
    })
    const at = (subscribed: string, redeemed: string) =>
      Rules.swungOf({
        price,
        swing,
        ordered: flow(subscribed, redeemed),
        outstanding: d("1000000")
      })
    // A hundredth of 1043700.
    expect(at("10437.01", "0")).toBe(d("1.0452655500"))
    expect(at("0", "10437.01")).toBe(d("1.0426563000"))
    expect(at("10437", "0")).toBeNull()
    expect(at("50000", "50000")).toBeNull()
    const none = { price, ordered: flow("50000", "0"), outstanding: d("1"), swing: null }
    expect(Rules.swungOf(none)).toBeNull()
    expect(
      Rules.boughtAt(
        {
          id: "a",
          amount: d("100000"),
          units: null,
          feeRate: Decimal.zero,
          unitDecimals: 6,
          cashDecimals: 2,
          residualRule: "fund"
        },
        d("1.0452655500")
      ).units
    ).toBe(d("95669.468873"))
  })
})

describe("a gate", () => {
  test("that fits exactly leaves nothing over", () => {
    const cycle = settle({ redemptions: [sold("a", "7", "7.30")], capacity: d("7") })
    expect(cycle.gate).toBeNull()
    expect(plain(cycle.gross)).toMatchObject({ burned: "7", redeemed: "7.3" })
  })

  test("that is wider than what was ordered changes no figure", () => {
    const orders = { subscriptions: [bought("x", "5", "4")], redemptions: [sold("a", "7", "7.30")] }
    expect(settle({ ...orders, capacity: d("8") })).toEqual(settle(orders))
  })

  test("never takes units of an order too small to be filled, or pays it", () => {
    const cycle = settle({
      redemptions: [sold("a", "1", "1.04"), sold("b", "1", "1.04"), sold("c", "1", "1.04")],
      capacity: d("2"),
      unitDecimals: 0
    })
    expect(fillsOf(cycle)).toEqual({ c: { units: "0", proceeds: "0", rest: "1" } })
  })

  test("burns no units of an order whose part is paid less than the smallest amount of the currency", () => {
    const cycle = settle({
      redemptions: [sold("a", "1000", "1043.70"), sold("b", "0.02", "0.02")],
      capacity: d("100")
    })
    expect(fillsOf(cycle)).toEqual({
      a: { units: "99.998", proceeds: "104.36", rest: "900.002" },
      b: { units: "0", proceeds: "0", rest: "0.02" }
    })
    expect(plain(cycle.gross)).toMatchObject({ burned: "99.998", redeemed: "104.36" })
    expect(cycle.gate?.capacity).toBe(d("99.998"))
  })
})

// ---- laws, against naive books in whole atoms

const TEN = 10n
const atomsOf = (figure: Decimal.Decimal, places: number) =>
  Decimal.atoms(figure) / TEN ** BigInt(10 - places)
const figureOf = (atoms: bigint, places: number) =>
  Decimal.fromAtoms(atoms * TEN ** BigInt(10 - places))

/** Orders in atoms at random prices, places and fees, priced as the formulas price them. */
const cycles = fc
  .record({
    unitDecimals: fc.constantFrom(0, 2, 6, 10),
    cashDecimals: fc.constantFrom(0, 2),
    price: fc.bigInt({ min: 1n, max: 10n ** 13n }),
    fee: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    buys: fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { maxLength: 6 }),
    sells: fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 6 }),
    part: fc.integer({ min: 1, max: 1000 })
  })
  .map(({ unitDecimals, cashDecimals, buys, sells, part, ...figures }) => {
    const dealt = {
      price: Decimal.fromAtoms(figures.price),
      feeRate: Decimal.fromAtoms(figures.fee)
    }
    const terms = { unitDecimals, cashDecimals, feeRate: dealt.feeRate }
    const total = sells.reduce((so, units) => so + units, 0n)
    return {
      unitDecimals,
      cashDecimals,
      subscriptions: buys.map((cash, index) =>
        Rules.boughtAt(
          {
            id: `s${index}`,
            amount: figureOf(cash, cashDecimals),
            units: null,
            residualRule: "fund",
            ...terms
          },
          dealt.price
        )
      ),
      redemptions: sells.map((units, index) =>
        Rules.soldAt(
          { id: `r${index}`, amount: null, units: figureOf(units, unitDecimals), ...terms },
          dealt.price
        )
      ),
      capacity: figureOf((total * BigInt(part)) / 1000n + 1n, unitDecimals)
    }
  })

/** Units of the parts that `gate-fill` gives and that would be paid nothing, in atoms. */
const unpaidOf = (
  dealing: Pick<Rules.DealingInput, "redemptions" | "capacity" | "unitDecimals">,
  { fills }: Rules.Settlement
): bigint => {
  const { capacity, redemptions: orders, unitDecimals } = dealing
  if (capacity === null) return 0n
  const order = orders.map(({ id, units }) => ({ id, amount: units }))
  const { filled } = Formula.compute(Formulas.gateFill, { capacity, order, unitDecimals })
  return [...fills]
    .filter(([, { proceeds }]) => Decimal.isZero(proceeds))
    .reduce((sum, [id]) => sum + atomsOf(filled.get(id) ?? Decimal.zero, unitDecimals), 0n)
}

test("no order gives units or cash for nothing: a part burns where it pays and pays where it burns", () => {
  fc.assert(
    fc.property(cycles, (dealing) => {
      const cycle = Rules.settlementOf(dealing)
      for (const { units, ordered, price, feeRate, id, proceeds } of dealing.redemptions.map(
        (order) => ({
          ordered: order.units,
          ...order,
          ...cycle.fills.get(order.id)
        })
      )) {
        if (!cycle.fills.has(id)) continue
        expect(Decimal.isPositive(units)).toBe(Decimal.isPositive(proceeds))
        // It is paid as its price says, and an order that is not dealt could not have been paid.
        if (Decimal.isPositive(units)) {
          const terms = { units, price, feeRate, cashDecimals: dealing.cashDecimals }
          expect(proceeds).toBe(Formula.compute(Formulas.redeemUnits, terms).proceeds)
        } else expect(cycle.fills.get(id)?.rest).toBe(ordered)
      }
    }),
    { numRuns: 300 }
  )
})

test("a subscription takes cash for units alone, whatever is ordered at whatever price", () => {
  const terms = { unitDecimals: 6, cashDecimals: 2, residualRule: "fund" } as const
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 9n }),
      fc.bigInt({ min: 1n, max: 10n ** 20n }),
      (units, atoms) => {
        const order = { id: "s", amount: null, units: figureOf(units, 6), feeRate: Decimal.zero }
        const bought = Rules.boughtAt({ ...order, ...terms }, Decimal.fromAtoms(atoms))
        expect(Decimal.isPositive(bought.cash)).toBe(true)
        expect(bought.units).toBe(order.units)
      }
    ),
    { numRuns: 200 }
  )
})

test("a cycle makes and loses neither units nor cash", () => {
  fc.assert(
    fc.property(cycles, (dealing) => {
      const cycle = Rules.settlementOf(dealing)
      const { unitDecimals: units, cashDecimals: cash } = dealing
      const sum = (figures: ReadonlyArray<bigint>) => figures.reduce((so, one) => so + one, 0n)
      const subscribed = sum(dealing.subscriptions.map((order) => atomsOf(order.cash, cash)))
      const minted = sum(dealing.subscriptions.map((order) => atomsOf(order.units, units)))
      const dealt = dealing.redemptions.map((order) => cycle.fills.get(order.id) ?? order)
      const burned = sum(dealt.map((order) => atomsOf(order.units, units)))
      const redeemed = sum(dealt.map((order) => atomsOf(order.proceeds, cash)))
      expect(atomsOf(cycle.fundNet.cash, cash)).toBe(subscribed - redeemed)
      expect(atomsOf(cycle.fundNet.units, units)).toBe(minted - burned)
      const ordered = sum(dealing.redemptions.map((order) => atomsOf(order.units, units)))
      const capacity = atomsOf(dealing.capacity, units)
      // The capacity is dealt in whole, but for the parts that would be paid nothing.
      const unpaid = unpaidOf(dealing, cycle)
      expect(burned + unpaid).toBe(capacity < ordered ? capacity : ordered)
      for (const order of dealing.redemptions) {
        const fill = cycle.fills.get(order.id)
        if (fill === undefined) continue
        expect(Decimal.add(fill.units, fill.rest)).toBe(order.units)
        expect(Decimal.isPositive(fill.rest)).toBe(true)
        if (Decimal.isZero(fill.proceeds)) continue
        // Within one atom of its exact share: |filled·Σ − order·capacity| < Σ.
        const off = atomsOf(fill.units, units) * ordered - atomsOf(order.units, units) * capacity
        expect(off < 0n ? -off : off).toBeLessThan(ordered)
      }
    }),
    { numRuns: 300 }
  )
})

test("what a gate leaves over is dealt in the end, and paid no better in parts than at once", () => {
  fc.assert(
    fc.property(cycles, (dealing) => {
      const whole = Rules.settlementOf({ ...dealing, capacity: null })
      let left = dealing.redemptions
      let burned = Decimal.zero
      let redeemed = Decimal.zero
      for (let day = 0; left.length > 0; day++) {
        const cycle = Rules.settlementOf({ ...dealing, subscriptions: [], redemptions: left })
        // A capacity of which no part can be paid deals nothing on any day, and burns nothing.
        if (cycle.fills.size === left.length && Decimal.isZero(cycle.gross.burned)) {
          expect(cycle.gross.redeemed).toBe(Decimal.zero)
          burned = Decimal.sum([burned, ...left.map(({ units }) => units)])
          break
        }
        // Else it fills all of its capacity that can be paid, or ends an order.
        expect(day).toBeLessThan(2001)
        burned = Decimal.add(burned, cycle.gross.burned)
        redeemed = Decimal.add(redeemed, cycle.gross.redeemed)
        left = left.flatMap((order) => {
          const fill = cycle.fills.get(order.id)
          if (fill === undefined) return []
          const rest = { id: order.id, amount: null, units: fill.rest, feeRate: order.feeRate }
          return [Rules.soldAt({ ...rest, ...dealing }, order.price)]
        })
      }
      expect(burned).toBe(whole.gross.burned)
      expect(Decimal.atMost(redeemed, whole.gross.redeemed)).toBe(true)
    }),
    { numRuns: 60 }
  )
})

test("the order in which orders are listed changes no fill", () => {
  fc.assert(
    fc.property(cycles, (dealing) => {
      const turned = { ...dealing, redemptions: dealing.redemptions.toReversed() }
      const [one, other] = [Rules.settlementOf(dealing), Rules.settlementOf(turned)]
      expect(fillsOf(other)).toEqual(fillsOf(one))
      expect(other.fundNet).toEqual(one.fundNet)
    }),
    { numRuns: 100 }
  )
})
