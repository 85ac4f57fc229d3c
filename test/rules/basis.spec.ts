/** Basis of a figure: the figure can be computed again from its basis alone, and from no other. */
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import { verify } from "@bursar/engine-core"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import * as Basis from "#core/kernel/Basis.ts"
import * as Formulas from "#core/orders/order/OrderFormulas.ts"
import * as Rules from "#core/orders/order/OrderRules.ts"
import { changed } from "./changed-basis.ts"

const d = Decimal.of
const items = (...amounts: ReadonlyArray<string>) =>
  amounts.map((amount, index) => ({ id: `order-${index + 1}`, amount: d(amount) }))

const source = (name: string, id: string | null): Basis.Source => ({
  resourceKind: "subscription",
  id: id ?? name,
  offset: null
})

const p = d("1.0437")
const none = Decimal.zero
const places = { unitDecimals: 6, cashDecimals: 2 } as const
const byAmount = (amount: string, feeRate: string, price = p) =>
  Basis.of(Formulas.subscribeAmount, {
    values: { amount: d(amount), feeRate: d(feeRate), price, ...places, residualRule: "refund" },
    fields: { fee: "fee", units: "units", residual: "residual", refund: "refund" },
    source
  })
const redeemAmount = (feeRate: string) =>
  Basis.of(Formulas.redeemAmount, {
    values: { amount: d("25000"), feeRate: d(feeRate), price: p, ...places },
    fields: { units: "units", fee: "fee" },
    source
  })
const redeemUnits = (units: string, feeRate: string) =>
  Basis.of(Formulas.redeemUnits, {
    values: { units: d(units), feeRate: d(feeRate), price: p, cashDecimals: 2 },
    fields: { proceeds: "proceeds", fee: "fee" },
    source
  })
const swung = (flow: "subscribedCash" | "redeemedUnits") =>
  Basis.of(Formulas.swing, {
    values: {
      price: p,
      subscribedCash: none,
      subscribedUnits: none,
      redeemedCash: none,
      redeemedUnits: none,
      outstanding: d("1000000"),
      threshold: d("0.01"),
      up: d("0.0015"),
      down: d("0.001"),
      [flow]: d("20000")
    },
    fields: { netFlow: "netFlow", swungPrice: "swungPrice" },
    source
  })
const gate = (capacity: string, amounts: ReadonlyArray<string>, unitDecimals: number) =>
  Basis.of(Formulas.gateFill, {
    values: { capacity: d(capacity), order: items(...amounts), unitDecimals },
    fields: { "gate.factor": "factor", filled: "filled" },
    source
  })
const split = (pot: string) =>
  Basis.of(Formulas.potSplit, {
    values: { pot: d(pot), weight: items("1", "1", "1"), places: 2 },
    fields: { share: "share" },
    source
  })
const nets = () =>
  [...Rules.legsByAccount(nineLegs).values()].flatMap(
    ({ account, asset, receivedItems, paidItems }) =>
      Basis.of(Formulas.netLegs, {
        values: { received: receivedItems, paid: paidItems, places: 2 },
        fields: { [`${asset} ${account}.net`]: "net" },
        source
      })
  )
const nineLegs = [
  ["alice", "bob", "X", "1"],
  ["bob", "carol", "X", "1"],
  ["carol", "alice", "X", "1"],
  ["bob", "alice", "USD", "10"],
  ["carol", "bob", "USD", "11"],
  ["alice", "carol", "USD", "12"],
  ["alice", "app", "USD", "0.10"],
  ["bob", "app", "USD", "0.11"],
  ["carol", "app", "USD", "0.12"]
].map(([from = "", to = "", asset = "", amount = ""]) => ({ from, to, asset, amount: d(amount) }))

/**
 * Each golden vector of orders: its bases, and the texts that docs/domain/figures.md#golden-vectors
 * gives for their fields.
 */
const vectors: ReadonlyArray<
  readonly [
    name: string,
    bases: ReadonlyArray<Basis.Basis>,
    texts: Readonly<Record<string, string>>
  ]
> = [
  ["G1", byAmount("100000", "0"), { units: "95812.973076", residual: "0.0000005788" }],
  ["G1, redeemed", redeemUnits("95812.973076", "0"), { proceeds: "99999.99" }],
  [
    "G2",
    byAmount("12345.67", "0.0075"),
    { fee: "92.60", units: "11740.030660", residual: "0.0000001580" }
  ],
  ["G3", byAmount("100000", "0.005"), { fee: "500.00", units: "95333.908211" }],
  [
    "G4",
    Basis.of(Formulas.subscribeUnits, {
      values: { units: d("95000"), price: p, feeRate: none, cashDecimals: 2 },
      fields: { "cash.expected": "expected", fee: "fee", residual: "residual" },
      source
    }),
    { "cash.expected": "99151.50", fee: "0.00" }
  ],
  ["G5", redeemAmount("0"), { units: "23953.243270" }],
  ["G5 with a fee", redeemAmount("0.005"), { units: "24073.611326" }],
  ["G6", redeemUnits("1234.567891", "0.005"), { proceeds: "1282.07" }],
  ...["500", "200"].map(
    (units) =>
      [
        `G7, ${units}`,
        Basis.of(Formulas.rebaseTake, {
          values: { units: d(units), index: d("1.7") },
          fields: { baseUnits: "baseUnits" },
          source
        }),
        { baseUnits: units === "500" ? "294.1176470588" : "117.6470588235" }
      ] as const
  ),
  [
    "G7, left",
    Basis.of(Formulas.rebaseShow, {
      values: { baseUnits: d("176.4705882353"), index: d("1.7"), unitDecimals: 6 },
      fields: { units: "units" },
      source
    }),
    { units: "300.000000" }
  ],
  ["G10, in", swung("subscribedCash"), { swungPrice: "1.0452655500" }],
  ["G10, out", swung("redeemedUnits"), { swungPrice: "1.0426563000" }],
  ["G10, dealt", byAmount("100000", "0", d("1.04526555")), { units: "95669.468873" }],
  [
    "G11",
    Basis.of(Formulas.fundNet, {
      values: {
        subscribed: items("100000", "50000"),
        refunded: [],
        redeemed: items("31311"),
        minted: items("95812.973076", "47906.486538"),
        burned: items("30000"),
        ...places
      },
      fields: { "fundNet.cash": "cash", "fundNet.units": "units" },
      source
    }),
    { "fundNet.cash": "118689.00", "fundNet.units": "113719.459614" }
  ],
  [
    "G12",
    gate("1500", ["1000.000001", "333.333333", "666.666666"], 6),
    { "gate.factor": "0.7500000000", filled: "499.999999" }
  ],
  ["G13, of 10", gate("10", ["30", "31", "39"], 0), { filled: "4" }],
  ["G13, of 11", gate("11", ["49", "51"], 0), { filled: "6" }],
  ["G14, 100", split("100"), { share: "33.33" }],
  ["G14, 200", split("200"), { share: "66.66" }],
  [
    "G15",
    nets(),
    {
      "USD alice.net": "-2.10",
      "USD bob.net": "0.89",
      "USD carol.net": "0.88",
      "USD app.net": "0.33",
      "X alice.net": "0.00"
    }
  ]
]

const all = vectors.flatMap(([, bases]) => bases)

describe("a figure's basis", () => {
  test.each(vectors)("%s: the basis alone gives another text", (_, bases, texts) => {
    const found = bases.map((basis) => [basis.field, Result.getOrThrow(verify(basis))])
    expect(Object.fromEntries(found)).toMatchObject(texts)
  })

  test("every share is in the basis of the shares, not the last one alone", () => {
    const shares = (basis: Basis.Basis | undefined) =>
      basis?.steps
        .filter(({ rounding }) => rounding === "largest-remainder")
        .map(({ value }) => value)
    expect(shares(gate("10", ["30", "31", "39"], 0)[1])).toEqual(["3", "3", "4"])
    expect(shares(split("100")[0])).toEqual(["33.34", "33.33", "33.33"])
  })

  test("it is not what an outsider reads: a step says the sum in names and in numbers", () => {
    const units = byAmount("12345.67", "0.0075")[1]
    expect(units?.steps).toEqual([
      {
        op: "fee = amount * feeRate = 12345.67 * 0.0075",
        places: 2,
        rounding: "ceiling",
        value: "92.60"
      },
      {
        op: "units = (amount - fee) / price = (12345.67 - 92.60) / 1.0437",
        places: 6,
        rounding: "floor",
        value: "11740.030660"
      }
    ])
    expect(units?.inputs.map(({ name }) => name)).toEqual([
      "amount",
      "price",
      "feeRate",
      "unitDecimals",
      "cashDecimals"
    ])
  })

  test("it does not survive the wire", () => {
    for (const basis of all) {
      const text = PlainJson.stringify(Schema.encodeSync(Basis.Basis)(basis))
      const read = Schema.decodeUnknownSync(Basis.Basis)(Result.getOrThrow(PlainJson.parse(text)))
      expect(read).toEqual(basis)
    }
  })
})

describe("a basis in which one thing was changed is refused", () => {
  test("of the golden vectors, one thing after another", () => {
    let seen = 0
    for (const basis of all) {
      for (const [what, other] of changed(basis)) {
        const context = `${basis.formula} ${basis.field}: ${what}`
        expect(Result.isFailure(verify(other)), context).toBe(true)
        seen += 1
      }
    }
    expect(seen).toBeGreaterThan(500)
  })

  test("of any order: an input by any amount, however little the figure moves", () => {
    const figure = fc.bigInt(1n, 10n ** 16n).map(Decimal.fromAtoms)
    const anyOrder = fc.record({
      amount: figure,
      price: figure,
      feeRate: fc.oneof(fc.constant(none), fc.bigInt(0n, 10n ** 10n).map(Decimal.fromAtoms)),
      unitDecimals: fc.integer({ min: 0, max: 10 }),
      cashDecimals: fc.integer({ min: 0, max: 10 }),
      residualRule: fc.constantFrom("refund", "fund")
    })
    fc.assert(
      fc.property(anyOrder, fc.nat(), fc.bigInt(1n, 10n ** 12n), (values, at, by) => {
        const fields = {
          fee: "fee",
          units: "units",
          residual: "residual"
        } as const
        for (const basis of Basis.of(Formulas.subscribeAmount, { values, fields, source })) {
          expect(Result.isSuccess(verify(basis))).toBe(true)
          const amounts = basis.inputs.filter(({ name }) => /amount|price|feeRate/u.test(name))
          const input = amounts[at % amounts.length]
          if (input === undefined) throw new Error("a figure stands on no amount")
          const value = Decimal.formatPlain(Decimal.fromAtoms(Decimal.atoms(d(input.value)) + by))
          const inputs = basis.inputs.map((one) => (one === input ? { ...one, value } : one))
          expect(Result.isFailure(verify({ ...basis, inputs }))).toBe(true)
        }
      }),
      { numRuns: 300 }
    )
  })

  const [fee, units] = byAmount("12345.67", "0.0075")
  if (fee === undefined || units === undefined) throw new Error("an order has no basis")
  const extra = (name: string, value: string): Basis.Basis => ({
    ...fee,
    inputs: [...fee.inputs, { name, value, ...source(name, null) }]
  })

  test.each([
    ["of a formula nobody knows", { ...fee, formula: "guess" }, "There is no formula guess."],
    [
      "of a figure it does not come to",
      { ...fee, field: "proceeds" },
      "subscribe-amount does not come to proceeds."
    ],
    ["told as another figure", { ...fee, field: "units" }, "units cannot be computed"],
    ["with an input too many", extra("price", "1"), "The input price is not used."],
    ["with an input of no formula", extra("mood", "1"), "subscribe-amount has no input mood."],
    ["with an input twice", extra("amount", "1"), "The input amount is given twice."],
    ["with a property of objects for an input", extra("constructor", "1"), "no input constructor"],
    ["with an amount that is none", extra("price", "1e3"), "The input price is not readable."],
    ["with an amount in other digits", extra("price", "1.0"), "The input price is not readable."],
    ["with places beyond ten", extra("unitDecimals", "11"), "unitDecimals is not readable."],
    ["with a step too many", { ...fee, steps: units.steps }, "fee takes 1 steps."],
    [
      "that divides by zero",
      {
        ...units,
        inputs: units.inputs.map((one) => (one.name === "price" ? { ...one, value: "0" } : one))
      },
      "units cannot be computed"
    ],
    [
      "whose figure has more digits than there are",
      {
        ...units,
        inputs: units.inputs.map((one) => {
          if (one.name === "amount") return { ...one, value: "9".repeat(28) }
          return one.name === "price" ? { ...one, value: "0.0000000001" } : one
        })
      },
      "units cannot be computed"
    ],
    [
      "that shares out less than nothing",
      {
        ...(split("100")[0] ?? fee),
        inputs: (split("100")[0] ?? fee).inputs.map((one) =>
          one.name === "pot" ? { ...one, value: "-100" } : one
        )
      },
      "share cannot be computed"
    ]
  ])("%s, or it throws", (_, basis, detail) => {
    const verified = verify(basis)
    expect(Result.isFailure(verified) ? verified.failure : "verified").toContain(detail)
  })
})
