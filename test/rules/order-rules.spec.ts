/** The figures of redemptions, cycles and rebasing registers: golden vectors, then the laws they keep. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as Rules from "#core/orders/order/OrderRules.ts"
import * as Subscribing from "#core/orders/subscription/SubscriptionRules.ts"

const d = Decimal.of
const at = (places: number) => (figure: Decimal.Decimal | undefined) =>
  figure === undefined ? "nothing" : Decimal.formatPlaces(figure, places)
const cash = at(2)
const units = at(6)
const items = (...amounts: ReadonlyArray<string>) =>
  amounts.map((amount, index) => ({ id: `order-${index + 1}`, amount: d(amount) }))

describe("golden vectors of docs/domain/figures.md#golden-vectors", () => {
  const p = d("1.0437")
  const redeemed = { price: p, cashDecimals: 2 }

  test("G1: what 100000 bought is redeemed for 99999.99", () => {
    const inputs = { ...redeemed, units: d("95812.973076"), feeRate: Decimal.zero }
    expect(cash(Rules.redeemUnits(inputs).proceeds)).toBe("99999.99")
  })

  test.each([
    ["0", "23953.243270", "0.00"],
    ["0.005", "24073.611326", "125.63"]
  ])("G5: 25000 at fee %s takes other units, or another fee", (feeRate, taken, fee) => {
    const inputs = { ...redeemed, amount: d("25000"), feeRate: d(feeRate), unitDecimals: 6 }
    const figures = Rules.redeemAmount(inputs)
    expect([units(figures.units), cash(figures.fee), cash(figures.proceeds)]).toEqual([
      taken,
      fee,
      "25000.00"
    ])
  })

  test("G6: 1234.567891 units at fee 0.005 pay the amount of the worked example", () => {
    const figures = Rules.redeemUnits({
      ...redeemed,
      units: d("1234.567891"),
      feeRate: d("0.005")
    })
    // 1288.5185078367 in all: 6.4425… is rounded up, as cash taken is.
    expect([cash(figures.proceeds), cash(figures.fee)]).toEqual(["1282.07", "6.45"])
  })

  test("G7: 200 of 500 locked leave 300 on a rebasing register", () => {
    const index = d("1.7")
    const held = Rules.rebaseTake({ units: d("500"), index })
    const locked = Rules.rebaseTake({ units: d("200"), index })
    expect([at(10)(held), at(10)(locked)]).toEqual(["294.1176470588", "117.6470588235"])
    const show = (baseUnits: Decimal.Decimal) => units(rebaseShow(baseUnits, index, 6))
    expect(show(held ?? Decimal.zero)).toBe("500.000000")
    expect(show(Decimal.subtract(held ?? Decimal.zero, locked ?? Decimal.zero))).toBe("300.000000")
  })

  const rebaseShow = (baseUnits: Decimal.Decimal, index: Decimal.Decimal, unitDecimals: number) =>
    Rules.rebaseShow({ baseUnits, index, unitDecimals })

  /** Shown sum of orders, each taken onto the register in base units. */
  const shownTotal = (orders: ReadonlyArray<bigint>, index: Decimal.Decimal, places: number) =>
    rebaseShow(
      Decimal.sum(
        orders.map(
          (count) => Rules.rebaseTake({ units: Decimal.fromAtoms(count), index }) ?? Decimal.zero
        )
      ),
      index,
      places
    )
  const range = (from: bigint, step: bigint, count: number) =>
    Array.from({ length: count }, (_, n) => from + BigInt(n) * step)

  test("G8: 10,000 conversions at index 1.73222 keep every atom, at 6 and at 2 places", () => {
    const index = d("1.73222")
    const small = range(Decimal.atoms(d("0.1")), 10n ** 4n, 10_000)
    expect(at(6)(shownTotal(small, index, 6))).toBe("1049.995000")
    const large = range(Decimal.atoms(d("0.01")), 10n ** 8n, 10_000)
    expect(at(2)(shownTotal(large, index, 2))).toBe("500050.00")
  })

  test("G9: outside the bound the total is one atom above the sum ordered", () => {
    const orders = range(Decimal.atoms(d("0.001")), 1n, 1_000)
    const ordered = orders.reduce((sum, order) => sum + order, 0n)
    expect(Decimal.atoms(shownTotal(orders, d("1.7"), 10)) - ordered).toBe(1n)
  })

  const day = {
    price: p,
    subscribedCash: Decimal.zero,
    subscribedUnits: Decimal.zero,
    redeemedCash: Decimal.zero,
    redeemedUnits: Decimal.zero,
    outstanding: d("1000000"),
    threshold: d("0.01"),
    up: d("0.0015"),
    down: d("0.001")
  }

  test("G10: the price is swung by the rate of the worked example, in its direction", () => {
    const up = Rules.swing({ ...day, subscribedCash: d("20000") })
    const down = Rules.swing({ ...day, redeemedUnits: d("20000") })
    expect(at(10)(up.swungPrice)).toBe("1.0452655500")
    expect(at(10)(down.swungPrice)).toBe("1.0426563000")
    const bought = Subscribing.byAmount(d("100000"), {
      price: up.swungPrice,
      feeRate: Decimal.zero,
      unitDecimals: 6,
      cashDecimals: 2,
      residual: "fund"
    })
    expect(units(bought.units)).toBe("95669.468873")
  })

  test.each([
    ["exactly at the threshold", { subscribedCash: d("10437") }, "10437.0000000000"],
    ["below it, going out", { redeemedCash: d("10436.99") }, "-10436.9900000000"],
    [
      "net of both sides, in cash and units",
      { subscribedCash: d("50000"), subscribedUnits: d("100"), redeemedUnits: d("48006.5") },
      "-0.0140500000"
    ],
    [
      "of a fund nobody holds units of",
      { subscribedCash: d("5"), outstanding: Decimal.zero },
      "5.0000000000"
    ]
  ])("the price swings %s", (_, change, net) => {
    const figures = Rules.swing({ ...day, ...change })
    expect([at(10)(figures.netFlow), at(10)(figures.swungPrice)]).toEqual([net, "1.0437000000"])
  })

  test("the price swings one cent above the threshold, in the direction of the flow", () => {
    const above = Rules.swing({ ...day, subscribedCash: d("10437.01") })
    const below = Rules.swing({ ...day, redeemedCash: d("10437.01") })
    expect(at(10)(above.swungPrice)).toBe("1.0452655500")
    expect(at(10)(below.swungPrice)).toBe("1.0426563000")
  })

  test("G11: the cycle moves the net of the worked example to the fund", () => {
    const buy = (amount: string) =>
      Subscribing.byAmount(d(amount), {
        price: p,
        feeRate: Decimal.zero,
        unitDecimals: 6,
        cashDecimals: 2,
        residual: "fund"
      }).units
    const minted = [buy("100000"), buy("50000")]
    const { proceeds } = Rules.redeemUnits({
      ...redeemed,
      units: d("30000"),
      feeRate: Decimal.zero
    })
    expect([units(Decimal.sum(minted)), cash(proceeds)]).toEqual(["143719.459614", "31311.00"])
    const net = Rules.fundNet({
      subscribed: items("100000", "50000"),
      refunded: [],
      redeemed: [{ id: "order-3", amount: proceeds }],
      minted: minted.map((amount, index) => ({ id: `order-${index}`, amount })),
      burned: items("30000"),
      unitDecimals: 6,
      cashDecimals: 2
    })
    expect([cash(net.cash), units(net.units)]).toEqual(["118689.00", "113719.459614"])
  })

  test("G12: a gate of 1500 fills three orders as in the worked example", () => {
    const order = items("1000.000001", "333.333333", "666.666666")
    const gate = Rules.gateFill({ capacity: d("1500"), order, unitDecimals: 6 })
    expect(at(10)(gate.factor)).toBe("0.7500000000")
    expect([...gate.filled.values()].map(units)).toEqual(["750.000001", "250.000000", "499.999999"])
  })

  test.each([
    ["10", ["30", "31", "39"], ["3", "3", "4"]],
    ["11", ["49", "51"], ["5", "6"]]
  ])("G13: Centrifuge's orders into %s strand an atom", (capacity, amounts, filled) => {
    const gate = Rules.gateFill({
      capacity: d(capacity),
      order: items(...amounts),
      unitDecimals: 0
    })
    expect([...gate.filled.values()].map(at(0))).toEqual(filled)
  })

  test.each([
    ["100", ["33.34", "33.33", "33.33"]],
    ["200", ["66.67", "66.67", "66.66"]]
  ])("G14: a pot of %s by three equal weights leaves a cent over", (pot, parts) => {
    const { share } = Rules.potSplit({ pot: d(pot), weight: items("1", "1", "1"), places: 2 })
    expect([...share.values()].map(cash)).toEqual(parts)
  })

  test("the cent left over goes to the lower id, whatever the order of the list", () => {
    const weight = items("1", "1", "1").toReversed()
    const { share } = Rules.potSplit({ pot: d("100"), weight, places: 2 })
    expect([...share].map(([id, part]) => `${id} ${cash(part)}`)).toEqual([
      "order-3 33.33",
      "order-2 33.33",
      "order-1 33.34"
    ])
  })

  test("G15: CIP-112's nine legs come to the nets of the worked example", () => {
    const leg = (from: string, to: string, asset: string, amount: string): Rules.Leg => ({
      from,
      to,
      asset,
      amount: d(amount)
    })
    const nets = Rules.netLegs([
      leg("alice", "bob", "X", "1"),
      leg("bob", "carol", "X", "1"),
      leg("carol", "alice", "X", "1"),
      leg("bob", "alice", "USD", "10"),
      leg("carol", "bob", "USD", "11"),
      leg("alice", "carol", "USD", "12"),
      leg("alice", "app", "USD", "0.10"),
      leg("bob", "app", "USD", "0.11"),
      leg("carol", "app", "USD", "0.12")
    ])
    expect(nets.map(({ account, asset, net }) => `${asset} ${account} ${cash(net)}`)).toEqual([
      "USD alice -2.10",
      "USD app 0.33",
      "USD bob 0.89",
      "USD carol 0.88",
      "X alice 0.00",
      "X bob 0.00",
      "X carol 0.00"
    ])
  })

  test("an order of so little that it comes to no base unit is refused", () => {
    const index = d("1000000000000")
    expect(Rules.rebaseTake({ units: d("0.0000000001"), index })).toBeUndefined()
  })
})

// The laws.

const tenTo = (n: number) => 10n ** BigInt(n)
const ONE = tenTo(10)

interface Terms {
  readonly price: Decimal.Decimal
  readonly feeRate: Decimal.Decimal
  readonly unitDecimals: number
  readonly cashDecimals: number
}

const anyTerms: fc.Arbitrary<Terms> = fc
  .record({
    price: fc.oneof(fc.bigInt(1n, 10n ** 15n), fc.bigInt(9n * 10n ** 9n, 11n * 10n ** 9n)),
    feeRate: fc.oneof(fc.constant(0n), fc.bigInt(0n, ONE / 20n), fc.bigInt(0n, (ONE * 9n) / 10n)),
    unitDecimals: fc.integer({ min: 0, max: 10 }),
    cashDecimals: fc.integer({ min: 0, max: 10 })
  })
  .map(({ price, feeRate, ...places }) => ({
    ...places,
    price: Decimal.fromAtoms(price),
    feeRate: Decimal.fromAtoms(feeRate)
  }))

interface Case {
  readonly terms: Terms
  readonly amount: Decimal.Decimal
  readonly units: Decimal.Decimal
}

const anyCase: fc.Arbitrary<Case> = anyTerms.chain((terms) =>
  fc.record({
    terms: fc.constant(terms),
    amount: atPlaces(terms.cashDecimals),
    units: atPlaces(terms.unitDecimals)
  })
)

/** An amount above zero that has no more than these places. */
const atPlaces = (places: number): fc.Arbitrary<Decimal.Decimal> =>
  fc.bigInt(1n, 10n ** 9n).map((count) => Decimal.fromAtoms(count * tenTo(10 - places)))

const sub = (amount: Decimal.Decimal, terms: Terms) =>
  Subscribing.byAmount(amount, { ...terms, residual: "fund" }).units
const buy = (wanted: Decimal.Decimal, terms: Terms) =>
  Subscribing.byUnits(wanted, { ...terms, residual: "fund" }).due
const red = (given: Decimal.Decimal, terms: Terms) =>
  Rules.redeemUnits({ ...terms, units: given }).proceeds
const draw = (amount: Decimal.Decimal, terms: Terms) =>
  Rules.redeemAmount({ ...terms, amount }).units

describe("for every price, fee and number of places nobody gains by going round", () => {
  const law = (name: string, holds: (order: Case) => boolean) =>
    test(name, () => {
      fc.assert(fc.property(anyCase, holds), { numRuns: 2_000 })
    })

  law("red(sub(a)) > a", ({ amount, terms }) => red(sub(amount, terms), terms) <= amount)
  law(
    "draw(red(sub(a))) > sub(a): what an amount bought is drawn out again and more",
    ({ amount, terms }) => draw(amount, terms) >= sub(amount, terms)
  )
  law("sub(red(u)) > u", ({ units: u, terms }) => sub(red(u, terms), terms) <= u)
  law("buy(u) < red(u), bought back", ({ units: u, terms }) => buy(u, terms) >= red(u, terms))
  law("draw(buy(u)) < u", ({ units: u, terms }) => draw(buy(u, terms), terms) >= u)
  law("red(u) > buy(u)", ({ units: u, terms }) => red(u, terms) <= buy(u, terms))
  law("buy(draw(a)) < a", ({ amount, terms }) => buy(draw(amount, terms), terms) >= amount)
  law("sub(a) > draw(a)", ({ amount, terms }) => sub(amount, terms) <= draw(amount, terms))
  law(
    "red(draw(a)) < a: the units taken for an amount are too few to pay it",
    ({ amount, terms }) => red(draw(amount, terms), terms) >= amount
  )
  law("the units taken for an amount are an atom more than it needs", ({ amount, terms }) => {
    const atom = tenTo(10 - terms.unitDecimals)
    const less = Decimal.fromAtoms(draw(amount, terms) - atom)
    const worth = less * terms.price * (ONE - terms.feeRate)
    return worth < amount * ONE * ONE
  })
  law(
    "a redemption pays a whole cent less than its units are worth after the fee, or more than that",
    ({ units: u, terms }) => {
      const cent = tenTo(10 - terms.cashDecimals) * ONE * ONE
      const left = u * terms.price * (ONE - terms.feeRate) - red(u, terms) * ONE * ONE
      return left >= 0n && left < cent
    }
  )
})

describe("a rebasing register", () => {
  test("shown units are the same after they were taken and shown again, inside the bound", () => {
    const anyShown = fc.integer({ min: 0, max: 10 }).chain((unitDecimals) =>
      fc.record({
        unitDecimals: fc.constant(unitDecimals),
        index: fc.bigInt(1n, tenTo(10 - unitDecimals) * ONE - 1n).map(Decimal.fromAtoms),
        shown: atPlaces(unitDecimals)
      })
    )
    fc.assert(
      fc.property(anyShown, ({ unitDecimals, index, shown }) => {
        const baseUnits = Rules.rebaseTake({ units: shown, index })
        if (baseUnits === undefined) return shown * ONE * 2n < index
        return Rules.rebaseShow({ baseUnits, index, unitDecimals }) === shown
      }),
      { numRuns: 2_000 }
    )
  })

  test("what is left after a part was locked is shown as the difference", () => {
    const anyLock = fc.integer({ min: 0, max: 9 }).chain((unitDecimals) =>
      fc.record({
        unitDecimals: fc.constant(unitDecimals),
        index: fc.bigInt(1n, (tenTo(10 - unitDecimals) * ONE) / 2n - 1n).map(Decimal.fromAtoms),
        left: atPlaces(unitDecimals),
        locked: atPlaces(unitDecimals)
      })
    )
    fc.assert(
      fc.property(anyLock, ({ unitDecimals, index, left, locked }) => {
        const held = Rules.rebaseTake({ units: Decimal.add(left, locked), index }) ?? Decimal.zero
        const part = Rules.rebaseTake({ units: locked, index }) ?? Decimal.zero
        const baseUnits = Decimal.subtract(held, part)
        return Rules.rebaseShow({ baseUnits, index, unitDecimals }) === left
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("what is filled or split is neither lost nor made", () => {
  const anyGate = fc.integer({ min: 0, max: 10 }).chain((unitDecimals) =>
    fc.record({
      unitDecimals: fc.constant(unitDecimals),
      amounts: fc.array(fc.oneof(fc.constant(Decimal.zero), atPlaces(unitDecimals)), {
        maxLength: 30
      }),
      // Of its own places: a capacity need not fit the instrument's.
      capacity: fc.bigInt(0n, 2n * 10n ** 10n).map((count) => Decimal.fromAtoms(count * 100n))
    })
  )
  type Gate = typeof anyGate extends fc.Arbitrary<infer G> ? G : never

  const fill = ({ unitDecimals, capacity, amounts }: Gate) => {
    const order = amounts.map((amount, n) => ({ id: `order-${n}`, amount }))
    return { order, ...Rules.gateFill({ capacity, unitDecimals, order }) }
  }
  const atomOf = ({ unitDecimals }: Gate) => tenTo(10 - unitDecimals)

  const law = (name: string, holds: (gate: Gate) => boolean) =>
    test(name, () => {
      fc.assert(fc.property(anyGate, holds), { numRuns: 2_000 })
    })

  law("the fills do not add up to what the capacity lets through", (gate) => {
    const { order, filled } = fill(gate)
    const total = order.reduce((sum, { amount }) => sum + amount, 0n)
    const through = gate.capacity - (gate.capacity % atomOf(gate))
    const expected = total < gate.capacity ? total : through
    return [...filled.values()].reduce((sum, one) => sum + one, 0n) === expected
  })
  law("an order gets more than it asked for, or less than nothing", (gate) => {
    const { order, filled } = fill(gate)
    return order.every(({ id, amount }) => {
      const got = filled.get(id) ?? -1n
      return got >= 0n && got <= amount && got % atomOf(gate) === 0n
    })
  })
  law("an order is an atom or more away from its exact part", (gate) => {
    const { order, filled, fillable, ordered } = fill(gate)
    return order.every(({ id, amount }) => {
      const off = (filled.get(id) ?? 0n) * ordered - amount * fillable
      return (off < 0n ? -off : off) < atomOf(gate) * ordered || ordered === 0n
    })
  })
  law("the order in which the orders are listed changes what one gets", (gate) => {
    const { order, filled } = fill(gate)
    const { capacity, unitDecimals } = gate
    const turned = Rules.gateFill({ capacity, unitDecimals, order: order.toReversed() })
    return order.every(({ id }) => turned.filled.get(id) === filled.get(id))
  })
  law("one who asks for more than another gets less", (gate) => {
    const { order, filled } = fill(gate)
    return order.every((a) =>
      order.every(
        (b) => a.amount <= b.amount || (filled.get(a.id) ?? 0n) >= (filled.get(b.id) ?? 0n)
      )
    )
  })

  test("the parts of a pot add up to it, each within an atom of its exact part", () => {
    const anyPot = fc.record({
      places: fc.integer({ min: 0, max: 10 }),
      atoms: fc.bigInt(0n, 10n ** 12n),
      weights: fc.array(fc.bigInt(1n, 10n ** 12n).map(Decimal.fromAtoms), {
        minLength: 1,
        maxLength: 30
      })
    })
    fc.assert(
      fc.property(anyPot, ({ places, atoms, weights }) => {
        const atom = tenTo(10 - places)
        const pot = Decimal.fromAtoms(atoms * atom)
        const weight = weights.map((amount, n) => ({ id: `order-${n}`, amount }))
        const { share } = Rules.potSplit({ pot, weight, places })
        const total = weights.reduce((sum, one) => sum + one, 0n)
        const near = weight.every(({ id, amount }) => {
          const off = (share.get(id) ?? 0n) * total - pot * amount
          return (off < 0n ? -off : off) < atom * total
        })
        return near && [...share.values()].reduce((sum, one) => sum + one, 0n) === pot
      }),
      { numRuns: 2_000 }
    )
  })

  test("a pot with nobody to take it is left whole", () => {
    expect(() => Rules.potSplit({ pot: d("1"), weight: [], places: 2 })).toThrow("nobody weighs")
  })
})

describe("netting", () => {
  const name = fc.constantFrom("alice", "bob", "carol", "app")
  const anyLegs = fc.array(
    fc.record({
      from: name,
      to: name,
      asset: fc.constantFrom("X", "USD"),
      amount: fc.bigInt(1n, 10n ** 20n).map(Decimal.fromAtoms)
    }),
    { maxLength: 40 }
  )

  test("no asset is made or lost, and an account's net is the sum of its gross legs", () => {
    fc.assert(
      fc.property(anyLegs, (legs) => {
        const gross = new Map<string, bigint>()
        const move = (key: string, by: bigint) => gross.set(key, (gross.get(key) ?? 0n) + by)
        for (const { from, to, asset, amount } of legs) {
          move(`${asset} ${from}`, -amount)
          move(`${asset} ${to}`, amount)
        }
        const nets = Rules.netLegs(legs)
        expect(
          new Map(nets.map(({ asset, account, net }) => [`${asset} ${account}`, net]))
        ).toEqual(gross)
        for (const asset of ["X", "USD"]) {
          const total = nets.reduce((sum, one) => (one.asset === asset ? sum + one.net : sum), 0n)
          expect(total).toBe(0n)
        }
      })
    )
  })
})
