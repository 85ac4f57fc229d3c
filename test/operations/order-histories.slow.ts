/** Random histories of orders, by wire and on the ledger: units and cash are what a ledger of the test's own adds up to. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { assert, test } from "vitest"
import { assetKeyOf } from "#core/instruments/register/Holding.ts"
import { supplies } from "#core/instruments/register/Supply.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

/** The test's own arithmetic: cents, millionths of a unit, and a price and a fee in ten-thousandths. */
const price = 10_437n
const fee = 50n
const whole = 10_000n
const up = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
const centsOf = (micros: bigint): bigint => micros * price
const perCent = 1_000_000n * 100n

const bought = (cents: bigint): bigint => {
  const invested = cents - up(cents * fee, whole)
  return (invested * 1_000_000n * whole) / (100n * price)
}
/** Cash for so many millionths: the price and the fee on it, each rounded up. */
const cost = (micros: bigint): bigint =>
  up(centsOf(micros), perCent) + up(centsOf(micros) * fee, perCent * whole)
const paidOut = (micros: bigint): bigint => (centsOf(micros) * (whole - fee)) / (perCent * whole)

const cash = (cents: bigint): string => Decimal.formatPlain(Decimal.fromAtoms(cents * 10n ** 8n))
const units = (micros: bigint): string => Decimal.formatPlain(Decimal.fromAtoms(micros * 10n ** 4n))

interface Step {
  readonly kind: "subscription" | "redemption"
  readonly payment: "wire" | "ledger"
  /** Cents or millionths: what is ordered. */
  readonly by: "amount" | "units"
  readonly size: bigint
  readonly end: "withdrawn" | "released" | "settled"
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("subscription", "redemption"),
  payment: fc.constantFrom("wire", "ledger"),
  by: fc.constantFrom("amount", "units"),
  size: fc.bigInt({ min: 5_000_000n, max: 50_000_000n }),
  end: fc.constantFrom("withdrawn", "released", "settled", "settled", "settled")
})

/** Balances of all parties, as the test computes them from the requests. */
interface Books {
  units: bigint
  cash: bigint
  fund: bigint
  readonly ends: Array<string>
}

const number = (text: string): number => Number(text)

const story = (steps: ReadonlyArray<Step>, reached: Set<string>) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Cycles.opened(["h1"], {
      pricing: "historic",
      fees: { subscription: 0.005, redemption: 0.005 }
    })
    const [holder] = holders
    if (holder === undefined) throw new Error("one holder")
    yield* Fund.publishes(stage, "1.0437", "2026-07-31T11:00:00Z")
    yield* Cycles.paysIn(stage, stage.fund, "1000000")
    yield* Cycles.paysIn(stage, holder, "5000000")
    const books: Books = { units: 0n, cash: 500_000_000n, fund: 100_000_000n, ends: [] }
    for (const [index, one] of steps.entries()) {
      const id = `${one.kind.slice(0, 3)}-${index}`
      yield* one.kind === "subscription"
        ? subscribed(stage, holder, { ...one, id }, books)
        : redeemed(stage, holder, { ...one, id }, books)
      reached.add(`${one.kind} ${one.payment} ${books.ends.at(-1)}`)
    }
    const records = yield* Records
    const { registrar } = stage
    const supply = yield* records.find(
      supplies,
      assetKeyOf({ registrar: registrar.party, instrumentId: "fund-a" })
    )
    assert.deepStrictEqual(
      {
        units: yield* Cycles.holds(holder, "fund-a"),
        cash: yield* Cycles.holds(holder, "USD"),
        fund: yield* Cycles.holds(stage.fund, "USD"),
        supply: Decimal.formatPlain(
          Option.match(supply, { onNone: () => Decimal.zero, onSome: (found) => found.units })
        ),
        locked: yield* Fund.countActive(Templates.Allocation),
        intents: yield* Fund.countActive(Templates.SettlementIntent),
        surprises: yield* Fund.surprises
      },
      {
        units: units(books.units),
        cash: cash(books.cash),
        fund: cash(books.fund),
        supply: units(books.units),
        locked: 0,
        intents: 0,
        surprises: []
      }
    )
  }).pipe(Effect.provide(world()))

interface Placed extends Step {
  readonly id: string
}

const claims = (kind: Step["kind"], holderId: string, { id, payment, by, size }: Placed) =>
  Calls.write(
    `${kind}.claim`,
    {},
    {
      [`${kind}Id`]: id,
      instrumentId: "fund-a",
      holderId,
      payment,
      ...(payment === "ledger"
        ? { orderId: `order-${id}` }
        : by === "amount"
          ? { amount: number(cash(size)) }
          : { units: number(units(size)) })
    }
  )

const acts = (kind: Step["kind"], verb: string, id: string, body: Calls.Json = {}) =>
  Calls.write(`${kind}.${verb}`, { [`${kind}Id`]: id }, body)

const succeeds = (ended: Calls.Ended, what: string): void =>
  assert.strictEqual(`${ended.state} ${ended.why}`, "succeeded ", what)

/** The holder's order as its wallet signs it. */
const signed = (stage: Fund.Parties, by: Cycles.Holder, { id, by: as, size }: Placed) => ({
  venue: stage.venue,
  fund: stage.fund.party,
  holder: by.party,
  orderId: `order-${id}`,
  instrument: stage.asset,
  paymentAsset: Cycles.cash(stage),
  amount: as === "amount" ? Decimal.of(cash(size)) : null,
  units: as === "units" ? Decimal.of(units(size)) : null,
  expiresAt: null
})

const subscribed = (stage: Fund.Parties, holder: Cycles.Holder, claim: Placed, books: Books) =>
  Effect.gen(function* () {
    const { id, end, payment } = claim
    const due = claim.by === "amount" ? claim.size : cost(claim.size)
    const micros = claim.by === "amount" ? bought(claim.size) : claim.size
    if (payment === "ledger") {
      const order = signed(stage, holder, claim)
      yield* holder.act(Templates.create(Templates.SubscriptionOrder, order))
    }
    succeeds(yield* claims("subscription", holder.holderId, claim), id)
    books.ends.push(end)
    if (end === "withdrawn") return succeeds(yield* acts("subscription", "withdraw", id), id)
    yield* Cycles.attests(stage, { id, units: units(micros), price: "1.0437" })
    if (payment === "ledger") {
      yield* locked(stage, holder, { assetId: "USD", amount: cash(due), to: stage.fund, id })
    }
    if (end === "released") return succeeds(yield* acts("subscription", "release", id), id)
    if (payment === "wire") {
      const lines = {
        cash: [{ statementId: "stmt-1", line: lineOf(id), amount: number(cash(due)) }]
      }
      succeeds(yield* acts("subscription", "deliver", id, lines), id)
    } else {
      books.cash -= due
      books.fund += due
    }
    succeeds(yield* acts("subscription", "settle", id), id)
    books.units += micros
  })

/** Each order has a bank line of its own. */
const lineOf = (id: string): number => Number(id.split("-")[1]) + 1

const redeemed = (stage: Fund.Parties, holder: Cycles.Holder, order: Placed, books: Books) =>
  Effect.gen(function* () {
    const { id, end, payment, size } = order
    const micros = order.by === "amount" ? takenFor(size) : size
    const proceeds = order.by === "amount" ? size : paidOut(size)
    if (payment === "ledger") {
      yield* holder.act(
        Templates.create(Templates.RedemptionOrder, {
          ...signed(stage, holder, order),
          custodian: null
        })
      )
    }
    const claimed = yield* claims("redemption", holder.holderId, order)
    if (micros > books.units) {
      assert.strictEqual(claimed.why, "rule-refused units units-free", id)
      books.ends.push("refused")
      return
    }
    succeeds(claimed, id)
    books.ends.push(end)
    const unpriced = end === "withdrawn" && size % 2n === 0n
    if (!unpriced) {
      yield* Cycles.pays(stage, {
        id,
        units: units(micros),
        price: "1.0437",
        proceeds: cash(proceeds)
      })
    }
    if (payment === "ledger" && !unpriced) {
      yield* locked(stage, holder, {
        assetId: "fund-a",
        amount: units(micros),
        to: stage.fund,
        id
      })
      yield* locked(stage, stage.fund, { assetId: "USD", amount: cash(proceeds), to: holder, id })
    }
    if (end !== "settled") {
      const verb = end === "withdrawn" ? "withdraw" : "release"
      return succeeds(yield* acts("redemption", verb, id), id)
    }
    if (payment === "wire") {
      yield* burned(stage, holder, { id, amount: units(micros) })
      const amount = number(cash(proceeds))
      const lines = { cash: [{ statementId: "stmt-2", line: lineOf(id), amount }] }
      succeeds(yield* acts("redemption", "settle", id, lines), id)
    } else {
      succeeds(yield* acts("redemption", "settle", id), id)
      books.cash += proceeds
      books.fund -= proceeds
    }
    books.units -= micros
  })

/** Millionths that have to go for so many cents: rounded up. */
const takenFor = (cents: bigint): bigint => up(cents * perCent * whole, price * (whole - fee))

/** Merges the unlocked holdings that a party has of an asset. */
const together = (by: Fund.Outsider, assetId: string) =>
  Effect.gen(function* () {
    const free = (yield* Cycles.active(Templates.Holding))
      .filter(
        ({ payload }) =>
          payload.owner === by.party && payload.instrument.id === assetId && payload.lock === null
      )
      .map(({ cid }) => cid)
    const [first, ...others] = free
    if (first === undefined) throw new Error(`${by.party} has nothing free of ${assetId}`)
    if (others.length === 0) return first
    yield* by.act(Templates.exercise(Templates.Holding, first, "Merge", { holdingCids: others }))
    return yield* freeOf(by, assetId)
  })

const freeOf = (by: Fund.Outsider, assetId: string) =>
  Effect.map(Cycles.active(Templates.Holding), (found) => {
    const one = found.find(
      ({ payload }) =>
        payload.owner === by.party && payload.instrument.id === assetId && payload.lock === null
    )
    if (one === undefined) throw new Error(`${by.party} has nothing free of ${assetId}`)
    return one.cid
  })

const locked = (
  stage: Fund.Parties,
  by: Fund.Outsider,
  payment: {
    readonly assetId: string
    readonly amount: string
    readonly to: Fund.Outsider
    readonly id: string
  }
) =>
  Effect.gen(function* () {
    yield* together(by, payment.assetId)
    const { assetId, amount, to, id: reference } = payment
    yield* Cycles.allocates(stage, by, { assetId, amount, to, reference })
  })

const burned = (
  stage: Fund.Parties,
  by: Fund.Outsider,
  claim: { readonly id: string; readonly amount: string }
) =>
  Effect.gen(function* () {
    const cid = yield* together(by, "fund-a")
    yield* by.act(
      Templates.exercise(Templates.Holding, cid, "RequestBurn", {
        amount: Decimal.of(claim.amount),
        reference: { kind: "redemption", id: claim.id },
        custodian: null,
        executeBefore: Instant.of("2026-08-20T00:00:00Z")
      })
    )
    const request = yield* Fund.newestContract(Templates.BurnRequest)
    yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {}))
  })

/** An order by which the holder buys units to redeem later. */
const first: Step = {
  kind: "subscription",
  payment: "wire",
  by: "units",
  size: 60_000_000n,
  end: "settled"
}
/** Every way to an end is walked at least once, with any seed. */
const every: ReadonlyArray<Step> = [
  { ...first, payment: "ledger", by: "amount" },
  { ...first, payment: "ledger", size: 7_000_001n },
  { ...first, kind: "redemption", size: 5_000_001n },
  { ...first, kind: "redemption", by: "amount", payment: "ledger", size: 1_001n },
  { ...first, kind: "redemption", payment: "ledger", size: 900_000_000_000n },
  { ...first, kind: "redemption", payment: "ledger", end: "withdrawn", size: 5_000_001n },
  { ...first, kind: "redemption", payment: "ledger", end: "released", size: 5_000_001n }
]

test("units and cash are neither lost nor made nor left locked, and are what the orders asked for", async () => {
  const reached = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 8 }), (steps) =>
      Calls.runCase(story([first, ...steps], reached))
    ),
    { numRuns: 10, examples: [[[...every]]] }
  )
  assert.includeMembers(
    [...reached],
    [
      "subscription wire settled",
      "subscription ledger settled",
      "redemption wire settled",
      "redemption ledger settled",
      "redemption ledger refused",
      "redemption ledger withdrawn",
      "redemption ledger released"
    ]
  )
})
