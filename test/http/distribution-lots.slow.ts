/** Golden vectors of lots over HTTP: units that were bought at different prices, redeemed in part, and the lines they earn. */
import { Catalogue } from "@bursar/engine-core"
import { type Basis, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { OracleBot, Orders, RegistrarBot } from "#adapters/ledger/wallets/index.ts"
import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Bank from "../operations/bank.ts"
import * as Csv from "./csv-reader.ts"
import * as Distributing from "./distributing.ts"
import * as Http from "./venue.ts"

const { verify } = Catalogue

interface TaxStatement {
  readonly currencies: ReadonlyArray<{ readonly rows: ReadonlyArray<Distributing.Json> }>
  readonly disposals: ReadonlyArray<Distributing.Json>
  readonly basis: ReadonlyArray<Basis.Basis>
}

const { accumulating } = Distributing
const inCash = {
  ...accumulating,
  pricing: "historic",
  distribution: { ...accumulating.distribution, payout: "cash" }
} as const
const taxedByFifth = { ...inCash, distribution: { ...inCash.distribution, withholding: 0.2 } }

const rebasedTerms = {
  instrumentId: "rebased",
  unitDecimals: 6,
  pricing: "historic",
  feeRate: Decimal.of("0.005"),
  redemptionFeeRate: Decimal.of("0.005")
} as const

let fund: Distributing.Fund

beforeAll(async () => {
  fund = await Distributing.open({
    instruments: {
      equalised: taxedByFifth,
      "gone-ex": taxedByFifth,
      lots: { ...inCash, distribution: { ...inCash.distribution, incomeCode: "06" } },
      rebased: {
        ...{ ...inCash, ...Distributing.rebasing },
        fees: { subscription: 0.005, redemption: 0.005 }
      }
    },
    holders: ["a", "b", "c"],
    admissions: { b: ["equalised"], c: ["equalised"] },
    priced: [
      ...["equalised", "gone-ex", "lots"].map((instrumentId) => ({
        instrumentId,
        unitDecimals: 6,
        pricing: "historic" as const
      })),
      rebasedTerms
    ]
  })
})
afterAll(() => fund.close())

const publishes = (
  instrumentId: string,
  date: string,
  value: string,
  metric: "price" | "index" = "price"
) => fund.publishes({ instrumentId, metric, value, valuationTime: `${date}T11:00:00Z` })

let line = 0
/** The bank states a line of its own for each order, on a statement of the instrument's account. */
const cashOf = async (
  instrumentId: string,
  amount: number,
  direction: "credit" | "debit" = "credit"
) => {
  const id = `stmt-${++line}`
  // A reference of its own: without one, equal entries of a day are copies of one.
  const entries = [{ amount: String(amount), direction, reference: id }]
  await fund.venue.run(Bank.states({ id, instrumentId, entries }))
  return { cash: [{ statementId: id, line: 1, amount }] }
}

/** A holder buys by wire at the newest price. */
const buys = async (instrumentId: string, holderId: string, amount: number) => {
  const claimed = await fund.writes("/v1/subscriptions", { instrumentId, holderId, amount })
  const path = `/v1/subscriptions/${String(claimed["subscriptionId"])}`
  await fund.work()
  await fund.writes(`${path}:deliver`, await cashOf(instrumentId, amount))
  await fund.work()
  return fund.reads(path)
}

/**
 * Claims a redemption of the rebasing fund, which oracle, holder and registrar price and burn: each acts
 * once, since a holder's program repeats its request until the order is settled.
 */
const redeems = async (units: number) => {
  const { policy } = Distributing
  const order = { instrumentId: "rebased", holderId: "a", units }
  const { redemptionId } = await fund.writes("/v1/redemptions", order)
  const instruments = [rebasedTerms]
  await fund.wallet("oracle").does(OracleBot.redemptions({ policy, instruments }))
  await fund.wallet("a").does(Orders.burns(policy, () => true))
  await fund.registrar.does(RegistrarBot.plan({ policy, instruments: [] }))
  return `/v1/redemptions/${String(redemptionId)}`
}

const shortened = (figure: string) => figure.replace(/\.?0+$/u, "")

/** Members of an answer as they are written, without trailing zeros. */
const textsOf = async (path: string, names: ReadonlyArray<string>) => {
  const { text } = await fund.venue.read(path)
  return names.map((name) =>
    shortened(new RegExp(`"${name}":([0-9.]+)`, "u").exec(text)?.[1] ?? "no figure")
  )
}

const tableOf = async (path: string) => {
  const as = await Http.bearer(["auditor"])
  return Csv.records(await (await Http.send(fund.venue, { path: `${path}?format=csv`, as })).text())
}

/** Units of the register's first line: in its JSON, and in its table. */
const registerOf = async (instrumentId: string) => {
  const path = `/v1/instruments/${instrumentId}/register`
  const [units] = await textsOf(path, ["units"])
  return [units, ...(await tableOf(path)).map((line) => shortened(line["units"] ?? ""))]
}

const unitsOf = async (name: string, instrumentId: string) =>
  Decimal.formatPlain(
    Decimal.sum(
      (await fund.wallet(name).sees(Templates.Holding))
        .filter(({ payload }) => payload.instrument.id === instrumentId)
        .map(({ payload }) => payload.amount)
    )
  )

describe("vectors of lots over HTTP", () => {
  it("G43: opens a lot for each subscription, and redeems the oldest first", async () => {
    await publishes("lots", "2026-06-28", "1.0000")
    await buys("lots", "a", 1000)
    await publishes("lots", "2026-06-29", "1.0200")
    for (const id of ["equalised", "gone-ex"]) await publishes(id, "2026-06-29", "500")
    await publishes("rebased", "2026-06-29", "1.7", "index")
    const bought = { instrumentId: "rebased", holderId: "a", amount: 1000 }
    const { subscriptionId } = await fund.writes("/v1/subscriptions", bought)
    await fund.work()
    const order = `/v1/subscriptions/${String(subscriptionId)}`
    expect(await textsOf(order, ["fee", "units", "baseUnits", "index"])).toEqual([
      ...["5", "995", "585.2941176471", "1.7"]
    ])
    await fund.writes(`${order}:deliver`, await cashOf("rebased", 1000))
    await fund.work()
    expect(await registerOf("rebased")).toEqual(["995", "995"])
    await fund.at("2026-07-01T12:00:00Z")
    for (const holderId of ["a", "b"]) await buys("equalised", holderId, 500)
    await fund.mints("a", "1", "gone-ex")
    await fund.at("2026-07-10T12:00:00Z")
    await publishes("lots", "2026-07-10", "1.0300")
    await buys("lots", "a", 515.01)
    await fund.at("2026-07-20T12:00:00Z")
    await publishes("lots", "2026-07-20", "1.0450")
    await publishes("equalised", "2026-07-20", "510")
    await buys("lots", "a", 261.25)
    await buys("equalised", "c", 510)
    expect(await unitsOf("a", "lots")).toBe("1750.009708")
    await fund.at("2026-07-24T12:00:00Z")
    await publishes("lots", "2026-07-24", "1.0480")
    const redemptionOrder = { instrumentId: "lots", holderId: "a", units: 1200 }
    const redeemed = await fund.writes("/v1/redemptions", redemptionOrder)
    const path = `/v1/redemptions/${String(redeemed["redemptionId"])}`
    await fund.work()
    expect(await fund.reads(path)).toMatchObject({ units: 1200, proceeds: 1257.6 })
    await fund.writes(`${path}:settle`, await cashOf("lots", 1257.6, "debit"))
    await fund.work()
    expect(await unitsOf("a", "lots")).toBe("550.009708")
  })

  it("G43: gives back the income that the lots paid for, and withholds on the rest", async () => {
    await fund.at("2026-07-31T12:00:00Z")
    await publishes("lots", "2026-07-31", "1.0500")
    await publishes("rebased", "2026-07-31", "1.7314", "index")
    for (const id of ["equalised", "gone-ex"]) await publishes(id, "2026-07-31", "520")
    await fund.at("2026-08-01T00:02:00Z")
    for (const instrumentId of ["lots", "equalised", "gone-ex", "rebased"]) {
      await fund.writes("/v1/distributions", { instrumentId, month: "2026-07" })
    }
    expect((await fund.lines("lots.2026-07"))["a"]).toMatchObject({
      units: "550.009708",
      entitlement: "16.50029124",
      gross: "16.5",
      equalisation: "9.25",
      withheld: "1.09",
      net: "15.41"
    })
    const [exported] = await tableOf("/v1/distributions/lots.2026-07/export")
    expect(exported).toMatchObject({
      units: "550.0097080000",
      entitlement: "16.5002912400",
      gross: "16.5000000000",
      equalisation: "9.2500000000",
      withheld: "1.0900000000",
      net: "15.4100000000"
    })
    expect(await registerOf("lots")).toEqual(["550.009708", "550.009708"])
  })

  it("G42, HMRC CTM48430: three units get the same, of which one gets back what it paid for", async () => {
    const figures = Object.entries(await fund.lines("equalised.2026-07")).map(([payee, line]) =>
      [payee, line["gross"], line["equalisation"], line["withheld"], line["net"]].join(" ")
    )
    expect(figures).toEqual(["a 20 0 4 16", "b 20 0 4 16", "c 20 10 2 18"])
  })

  it("G44: a rebasing fund reports the income of its base units, and withholds nothing", async () => {
    expect((await fund.lines("rebased.2026-07"))["a"]).toMatchObject({
      entitlement: "18.3782352941",
      gross: "18.37",
      withheld: "0",
      payoutUnits: "null"
    })
    const [exported] = await tableOf("/v1/distributions/rebased.2026-07/export")
    expect(exported).toMatchObject({ entitlement: "18.3782352941", gross: "18.3700000000" })
  })

  it("G44: redemptions of a rebasing fund burn base units, the last of them all that is left", async () => {
    const figures = ["units", "baseUnits", "proceeds"]
    expect(await registerOf("rebased")).toEqual(["1013.378235", "1013.378235"])
    const part = await redeems(500)
    expect(await textsOf(part, figures)).toEqual(["500", "288.7836432944", "497.5"])
    await fund.writes(`${part}:settle`, await cashOf("rebased", 497.5, "debit"))
    expect(await registerOf("rebased")).toEqual(["513.378235", "513.378235"])
    const rest = await redeems(513.378235)
    expect(await textsOf(rest, figures)).toEqual(["513.378235", "296.5104743527", "510.81"])
    await fund.writes(`${rest}:settle`, await cashOf("rebased", 510.81, "debit"))
    expect(await tableOf("/v1/instruments/rebased/register")).toEqual([])
    const moved = await tableOf("/v1/instruments/rebased/movements")
    expect(
      moved.flatMap(({ kind, units }) =>
        kind === "lock" || kind === "unlock" ? [] : [`${kind} ${units}`]
      )
    ).toEqual([
      "subscription 585.2941176471",
      "redemption 288.7836432944",
      "redemption 296.5104743527"
    ])
  })

  it("G42: the next month is refused at 519.9, and passes at 500.4", async () => {
    await fund.at("2026-08-03T12:00:00Z")
    await publishes("equalised", "2026-08-03", "519.9")
    await publishes("gone-ex", "2026-08-03", "500.4")
    await fund.at("2026-09-01T00:02:00Z")
    const august = (instrumentId: string) =>
      fund.calls("/v1/distributions", { instrumentId, month: "2026-08" })
    expect((await august("equalised")).value).toMatchObject({ gate: "policy", check: "went-ex" })
    expect((await august("gone-ex")).status).toBe(202)
  })

  it("G43, G44: a tax statement says what was paid, withheld and given back, and what each lot cost", async () => {
    const year = await fund.reads<TaxStatement>("/v1/holders/a/tax-statements/2026")
    const [usd] = year.currencies
    expect(year.currencies).toHaveLength(1)
    const rowOf = (instrumentId: string) =>
      usd?.rows.find((row) => row["instrumentId"] === instrumentId)
    expect(rowOf("lots")).toMatchObject({
      ...{ gross: 16.5, equalisation: 9.25, withheld: 1.09, net: 15.41, repaid: 0 },
      ...{ incomeCode: "06", exemptionCode: null, chapter: null, rate: 0.15 }
    })
    expect(rowOf("rebased")).toMatchObject({ gross: 18.37, withheld: 0, rate: 0 })
    const disposals = year.disposals.filter((row) => row["instrumentId"] === "lots")
    expect(disposals).toEqual([
      expect.objectContaining({
        ...{ acquiredOn: "2026-06-30", disposedOn: "2026-07-24", units: 1000, cost: 1000 },
        ...{ proceeds: 1048, currency: "USD" }
      }),
      expect.objectContaining({
        ...{ acquiredOn: "2026-07-10", disposedOn: "2026-07-24", units: 200, cost: 206 },
        ...{ proceeds: 209.6, currency: "USD" }
      })
    ])
    const figures = year.basis.map((basis) => [basis.field, Result.isSuccess(verify(basis))])
    expect(figures).toContainEqual(["disposals.0.cost.share", true])
    expect(figures).toContainEqual(["currencies.0.totals.net", true])
    expect(figures.filter(([, isRight]) => isRight !== true)).toEqual([])
  })

  it("pays nothing for units that were burned in the name of another holder's redemption", async () => {
    const [order] = await fund.reads<ReadonlyArray<Distributing.Json>>("/v1/redemptions")
    const id = String(order?.["redemptionId"])
    const b = fund.wallet("b")
    const held = (await b.sees(Templates.Holding)).find(
      ({ payload }) => payload.instrument.id === "equalised" && payload.lock === null
    )
    await b.acts(
      Templates.exercise(Templates.Holding, held!.contractId, "RequestBurn", {
        amount: Decimal.of("0.5"),
        reference: { kind: "redemption", id },
        custodian: null,
        executeBefore: Instant.of("2030-01-01T00:00:00Z")
      })
    )
    const [request] = await fund.registrar.sees(Templates.BurnRequest)
    await fund.registrar.acts(
      Templates.exercise(Templates.BurnRequest, request!.contractId, "Accept", {})
    )
    const { disposals } = await fund.reads<TaxStatement>("/v1/holders/b/tax-statements/2026")
    expect(disposals).toEqual([
      expect.objectContaining({
        units: 0.5,
        cost: 250,
        proceeds: null,
        reference: expect.anything()
      })
    ])
  })
})
