/** Lots by golden vectors: what each movement of units does to them, figure by figure. */
import { Decimal, Instant, Offset, Party } from "@bursar/engine-core/kernel"
import { verify } from "@bursar/engine-core"
import { Result } from "effect"
import { describe, expect, it } from "vitest"
import * as AcquisitionRules from "#core/instruments/lot/AcquisitionRules.ts"
import type { Acquisition, Lot } from "#core/instruments/lot/Lot.ts"
import * as LotFormulas from "#core/instruments/lot/LotFormulas.ts"
import * as LotRules from "#core/instruments/lot/LotRules.ts"
import * as Basis from "#core/kernel/Basis.ts"
import * as Formula from "#core/kernel/Formula.ts"
import * as OrderFormulas from "#core/orders/order/OrderFormulas.ts"
import * as OrderRules from "#core/orders/order/OrderRules.ts"
import { plainKind } from "./lot-histories.ts"

const d = Decimal.of
const day = (date: string) => Instant.of(`${date}T12:00:00Z`)
const party = (hint: string) => Party.make({ hint, fingerprint: `1220${"ab".repeat(32)}` })
const asset = { registrar: party("registrar"), instrumentId: "fund" }
const [alice, bob] = [party("alice"), party("bob")] as const

let seq = 0
const movement = (
  from: Party.Party | null,
  to: Party.Party | null,
  units: string,
  date = "2026-07-01"
): LotRules.LotMovement => {
  seq += 1
  const kind = plainKind({ from, to })
  return { ...asset, seq, kind, from, to, units: d(units), ledgerTime: day(date), reference: null }
}

const lot = (changes: Partial<Lot>): Lot => ({
  ...asset,
  party: alice,
  lotId: "L1",
  acquiredAt: day("2026-07-01"),
  receivedAt: null,
  basePrice: d("1"),
  units: d("100"),
  remaining: d("100"),
  cost: d("100.00"),
  costLeft: d("100.00"),
  currency: "USD",
  origin: null,
  ...changes
})

const taken = (lots: ReadonlyArray<Lot>, units: string) =>
  LotRules.changesOf(movement(alice, null, units), { lots, acquisition: null })

const texts = ({ parts }: Pick<LotRules.Changes, "parts">) =>
  parts.map(({ lot: { lotId }, units, cost }) => [
    lotId,
    Decimal.formatPlaces(units, 6),
    cost === null ? null : Decimal.formatPlaces(cost, 2)
  ])

const left = (lots: ReadonlyArray<Lot>) =>
  lots.map(({ lotId, remaining, costLeft }) => [
    lotId,
    Decimal.formatPlaces(remaining, 6),
    costLeft === null ? null : Decimal.formatPlaces(costLeft, 2)
  ])

const booksOf = (books: LotRules.Books, owner: Party.Party) =>
  books.get(`${asset.registrar}/${asset.instrumentId}/${owner}`) ?? []

/** A subscription by amount without a fee, dealt at its point's price. */
const bought = (lotId: string, amount: string, price: string, date: string): LotRules.Step => {
  const { units } = Formula.compute(OrderFormulas.subscribeAmount, {
    amount: d(amount),
    price: d(price),
    feeRate: Decimal.zero,
    unitDecimals: 6,
    cashDecimals: 2,
    residualRule: "fund"
  })
  const acquisition = AcquisitionRules.ofSubscription({
    subscriptionId: lotId,
    pointPrice: d(price),
    cash: d(amount),
    refund: Decimal.zero,
    currency: "USD"
  })
  return { movement: movement(null, alice, Decimal.formatPlain(units), date), acquisition }
}

describe("G43: three subscriptions, and a redemption of 1200 units", () => {
  const steps = [
    bought("L1", "1000.00", "1.0000", "2026-06-15"),
    bought("L2", "515.01", "1.0300", "2026-07-10"),
    bought("L3", "261.25", "1.0450", "2026-07-20")
  ]
  const before = LotRules.fold(new Map(), steps)
  const redeemed = taken(booksOf(before, alice), "1200")
  const after = LotRules.fold(before, [
    { movement: movement(alice, null, "1200"), acquisition: null }
  ])

  it("opens a lot for each", () => {
    expect(left(booksOf(before, alice))).toEqual([
      ["L1", "1000.000000", "1000.00"],
      ["L2", "500.009708", "515.01"],
      ["L3", "250.000000", "261.25"]
    ])
  })

  it("relieves the first whole and 200 units of the second", () => {
    expect(texts(redeemed)).toEqual([
      ["L1", "1000.000000", "1000.00"],
      ["L2", "200.000000", "206.00"]
    ])
    expect(left(booksOf(after, alice))).toEqual([
      ["L2", "300.009708", "309.01"],
      ["L3", "250.000000", "261.25"]
    ])
    expect(Decimal.format(LotRules.remainingOf(booksOf(after, alice)))).toBe("550.0097080000")
    expect(LotRules.costOf(booksOf(after, alice))).toBe(d("570.26"))
  })

  it("splits the proceeds over two disposals", () => {
    const { proceeds } = OrderRules.redeemUnits({
      units: d("1200"),
      price: d("1.0480"),
      feeRate: Decimal.zero,
      cashDecimals: 2
    })
    expect(Decimal.formatPlaces(proceeds, 2)).toBe("1257.60")
    expect(LotRules.proceedsOf(redeemed.parts, { proceeds, currency: "USD" })).toEqual([
      d("1048.00"),
      d("209.60")
    ])
  })

  it("leaves an equalisation of 9.25, from the lots acquired since the last record date", () => {
    const lots = LotRules.equalisationLots(booksOf(after, alice), {
      paidUntil: Instant.of("2026-07-01T00:00:00Z"),
      incomeEnds: []
    })
    expect(lots).toEqual([
      { lotId: "L2", remaining: d("300.009708"), basePrice: d("1.0300") },
      { lotId: "L3", remaining: d("250"), basePrice: d("1.0450") }
    ])
    // Both bases lie between p0 1.0200 and p1 1.0500.
    const exact = lots.map(
      ({ remaining, basePrice }) =>
        Decimal.atoms(remaining) * Decimal.atoms(Decimal.subtract(basePrice, d("1.0200")))
    )
    const atoms = exact.reduce((sum, product) => sum + product, 0n) / 10n ** 10n
    const floored = Decimal.round(Decimal.fromAtoms(atoms), { places: 2, rounding: "floor" })
    expect(Decimal.formatPlaces(floored, 2)).toBe("9.25")
  })
})

describe("G44: lots of a rebasing instrument", () => {
  it("count base units, and the last redemption relieves what is left of the cost", () => {
    const cost = AcquisitionRules.ofSubscription({
      subscriptionId: "L1",
      pointPrice: d("1"),
      cash: d("1000.00"),
      refund: Decimal.zero,
      currency: "USD"
    })
    const base = OrderRules.rebaseTake({ units: d("995.000000"), index: d("1.7") })
    if (base === undefined) throw new Error("no base units")
    expect(Decimal.formatPlain(base)).toBe("585.2941176471")
    const opened = LotRules.fold(new Map(), [
      {
        movement: movement(null, alice, Decimal.formatPlain(base)),
        acquisition: cost
      }
    ])
    const first = taken(booksOf(opened, alice), "288.7836432944")
    expect(first.parts.map(({ units, cost }) => [units, cost])).toEqual([
      [d("288.7836432944"), d("493.40")]
    ])
    const rest = first.parts.map(LotRules.leftOf)
    expect(rest.map(({ remaining, costLeft }) => [remaining, costLeft])).toEqual([
      [d("296.5104743527"), d("506.60")]
    ])
    expect(taken(rest, "296.5104743527").parts.map((part) => LotRules.leftOf(part))).toEqual(
      rest.map((lot) => ({ ...lot, remaining: Decimal.zero, costLeft: Decimal.zero }))
    )
  })
})

describe("a movement", () => {
  it.each<[string, string, ReadonlyArray<string>]>([
    [
      "three equal parts of 100.00 cost 33.33, 33.34 and 33.33",
      "1 1 1",
      ["33.33", "33.34", "33.33"]
    ],
    ["parts of half a cent round up, and the last has what is left", "99 101", ["49.50", "50.50"]],
    ["a part too small to cost a cent costs nothing", "1 29999", ["0.00", "100.00"]]
  ])("relieves cost half up: %s", (_, counts, costs) => {
    const parts = counts.split(" ").map(d)
    let rest = lot({ units: Decimal.sum(parts), remaining: Decimal.sum(parts) })
    const relieved = parts.map((units) => {
      const [part] = taken([rest], Decimal.formatPlain(units)).parts
      if (part === undefined) throw new Error("nothing was relieved")
      rest = LotRules.leftOf(part)
      return part.cost === null ? null : Decimal.formatPlaces(part.cost, 2)
    })
    expect(relieved).toEqual(costs)
    expect(rest.costLeft).toBe(Decimal.zero)
  })

  it("rounds cost at the places of its currency", () => {
    const half = (currency: string) =>
      taken([lot({ currency, costLeft: d("101"), remaining: d("2") })], "1").parts[0]?.cost
    expect([half("JPY"), half("USD"), half("KWD")]).toEqual([d("51"), d("50.50"), d("50.500")])
  })

  it("of a lock changes no lot", () => {
    const changes = LotRules.changesOf(movement(alice, alice, "40"), {
      lots: [lot({})],
      acquisition: null
    })
    expect(changes).toEqual({ parts: [], opened: [], missing: Decimal.zero })
  })

  it("of a mint without a reference opens a lot without base price and cost", () => {
    const changes = LotRules.changesOf(movement(null, alice, "40"), { lots: [], acquisition: null })
    expect(changes.opened).toMatchObject([
      { basePrice: null, cost: null, costLeft: null, currency: null, origin: null, units: d("40") }
    ])
    expect(LotRules.costOf([lot({}), ...changes.opened])).toBeNull()
  })

  it("to another holder moves the oldest lots with date, base price, origin and cost", () => {
    const origin = { resourceKind: "subscription", id: "sub-1" } as const
    const lots = [
      lot({ origin }),
      lot({
        lotId: "L2",
        acquiredAt: day("2026-07-02"),
        cost: null,
        costLeft: null,
        currency: null,
        basePrice: null
      })
    ]
    const transfer = movement(alice, bob, "130", "2026-07-30")
    const { parts, opened, missing } = LotRules.changesOf(transfer, { lots, acquisition: null })
    const numbered = (place: string) =>
      `${Offset.sortable(Offset.of(transfer.seq))}/000000000000000${place}`
    expect(missing).toBe(Decimal.zero)
    expect(opened).toEqual([
      lot({ party: bob, lotId: numbered("0"), origin, receivedAt: transfer.ledgerTime }),
      {
        ...lots[1],
        ...{ party: bob, receivedAt: transfer.ledgerTime },
        lotId: numbered("1"),
        units: d("30"),
        remaining: d("30")
      }
    ])
    const recovery = { ...transfer, kind: "recovery" } as const
    const recovered = LotRules.changesOf(recovery, { lots: opened, acquisition: null }).opened
    expect(recovered.map(({ receivedAt }) => receivedAt)).toEqual(
      opened.map(({ receivedAt }) => receivedAt)
    )
    expect(left(parts.map(LotRules.leftOf))).toEqual([
      ["L1", "0.000000", "0.00"],
      ["L2", "70.000000", null]
    ])
  })

  it("of more units than the giver's lots hold takes what they hold and says what is missing", () => {
    const changes = LotRules.changesOf(movement(alice, bob, "130"), {
      lots: [lot({})],
      acquisition: null
    })
    expect(changes.missing).toBe(d("30"))
    expect(changes.opened.map(({ units }) => units)).toEqual([d("100")])
  })
})

describe("an acquisition", () => {
  it("of a subscription costs the cash, fee included, less the refund, and has the unswung price", () => {
    expect(
      AcquisitionRules.ofSubscription({
        subscriptionId: "sub-1",
        pointPrice: d("1.0437"),
        cash: d("100000.00"),
        refund: d("0.37"),
        currency: "USD"
      })
    ).toEqual({
      lotId: "sub-1",
      origin: { resourceKind: "subscription", id: "sub-1" },
      basePrice: d("1.0437"),
      cost: d("99999.63"),
      currency: "USD"
    } satisfies Acquisition)
  })

  it("of a distribution costs its units at the payout price, half up", () => {
    expect(
      AcquisitionRules.ofDistribution({
        distributionId: "fund-2026-07",
        payoutUnits: d("44.236849"),
        payoutPrice: d("1.0437"),
        currency: "USD"
      })
    ).toMatchObject({ lotId: null, basePrice: d("1.0437"), cost: d("46.17") })
  })

  it("of a mint order costs its deposit at the asset's price, half up", () => {
    expect(
      AcquisitionRules.ofMint({
        mintId: "mint-1",
        sharePrice: d("1"),
        deposit: d("10.005"),
        assetPrice: d("0.9"),
        currency: "USD"
      })
    ).toMatchObject({ lotId: null, basePrice: d("1"), cost: d("9.00") })
  })
})

it("a snapshot begins with one lot for each party that holds units, without base price and cost", () => {
  const lots = LotRules.ofSnapshot(
    [
      { ...asset, party: alice, units: d("7") },
      { ...asset, party: bob, units: Decimal.zero }
    ],
    day("2026-07-01")
  )
  expect(lots).toEqual([
    lot({
      lotId: `${"0".repeat(16)}/${alice}`,
      ...{ units: d("7"), remaining: d("7"), basePrice: null, currency: null },
      ...{ cost: null, costLeft: null }
    })
  ])
})

it("lots of one instant are relieved by id, and an older one before them", () => {
  const lots = [
    lot({ lotId: "b" }),
    lot({ lotId: "c", acquiredAt: day("2026-06-30") }),
    lot({ lotId: "a" })
  ]
  expect(lots.toSorted(LotRules.compare).map(({ lotId }) => lotId)).toEqual(["c", "a", "b"])
  expect(LotRules.compare(lot({}), lot({}))).toBe(0)
})

it("equalisation counts lots acquired at the record date's end, and every lot of a first line", () => {
  const end = Instant.of("2026-08-01T00:00:00Z")
  const lots = [
    lot({ lotId: "before", acquiredAt: Instant.fromNanos(end - 1n) }),
    lot({ lotId: "at the end", acquiredAt: end }),
    lot({ lotId: "no base", acquiredAt: end, basePrice: null })
  ]
  const ids = (paidUntil: Instant.Instant | null) =>
    LotRules.equalisationLots(lots, { paidUntil, incomeEnds: [end] }).map(({ lotId }) => lotId)
  expect(ids(end)).toEqual(["at the end"])
  expect(ids(null)).toEqual(["before", "at the end"])
})

it("equalisation counts no lot whose income another holder was entitled to", () => {
  const end = Instant.of("2026-08-01T00:00:00Z")
  const before = Instant.fromNanos(end - 1n)
  const lots = [
    lot({ lotId: "received in time", acquiredAt: day("2026-07-10"), receivedAt: before }),
    lot({ lotId: "received at the end", acquiredAt: before, receivedAt: end }),
    lot({ lotId: "received later", acquiredAt: before, receivedAt: day("2026-08-20") }),
    lot({ lotId: "bought after it", acquiredAt: end, receivedAt: day("2026-08-20") })
  ]
  const ids = (incomeEnds: ReadonlyArray<Instant.Instant>) =>
    LotRules.equalisationLots(lots, { paidUntil: null, incomeEnds }).map(({ lotId }) => lotId)
  expect(ids([day("2026-09-01"), end])).toEqual(["received in time", "bought after it"])
  expect(ids([day("2026-09-01")])).toEqual(lots.map(({ lotId }) => lotId))
})

describe("a basis of a lot's figures", () => {
  const source = (name: string) => ({ resourceKind: "subscription", id: name, offset: null })
  const bases = [
    ...Basis.of(LotFormulas.lotPart, {
      values: { amount: d("515.01"), part: d("200"), units: d("500.009708"), cashDecimals: 2 },
      fields: { "disposal.share": "share" },
      source
    }),
    ...Basis.of(LotFormulas.lotCost, {
      values: { units: d("44.236849"), price: d("1.0437"), cashDecimals: 2 },
      fields: { cost: "cost" },
      source
    })
  ]

  it("gives them again", () => {
    expect(bases.map((basis) => Result.getOrThrow(verify(basis)))).toEqual(["206.00", "46.17"])
  })

  it("never verifies once an input, a place or a rounding is changed", () => {
    const broken = bases.flatMap((basis) => [
      ...basis.inputs.map((input) => ({
        ...basis,
        inputs: basis.inputs.map((other) =>
          other === input ? { ...input, value: input.name === "cashDecimals" ? "3" : "7" } : other
        )
      })),
      { ...basis, steps: basis.steps.map((step) => ({ ...step, places: 3 })) },
      { ...basis, steps: basis.steps.map((step) => ({ ...step, rounding: "floor" as const })) }
    ])
    expect(broken.map((basis) => Result.isFailure(verify(basis)))).toEqual(broken.map(() => true))
  })
})
