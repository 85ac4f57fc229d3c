/** Redemptions through their operations and the wallets of outside parties, from claim to settlement. */
import { EventQueries, Records, Workers } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { holders } from "#core/holders/holder/Holder.ts"
import { orderStateAt, redemptions } from "#core/orders/redemption/Redemption.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import * as Reports from "./reports.ts"

const engine = () => Effect.provide(world())
const order = (id = "r1") => Effect.flatMap(Records, (records) => records.get(redemptions, id))
const stateAt = (instant: string) =>
  Effect.map(order(), (self) => orderStateAt(self, Instant.of(instant)))
const cutOff = "2026-07-31T20:00:00Z"
const valued = "2026-07-31T20:30:00Z"
const includes = (self: object, members: object) => assert.deepInclude(self, members)

const claims = (members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "redemption.claim",
    {},
    { redemptionId: "r1", instrumentId: "fund-a", holderId: "h1", ...members }
  )
const acts = (verb: string, body: Calls.Json = {}, id = "r1") =>
  Calls.write(`redemption.${verb}`, { redemptionId: id }, body)
const paid = (amount: number, line = 1) => ({ cash: [{ statementId: "stmt-2", line, amount }] })

/** A market, an admitted holder, and units in its hands. */
const held = (units = "1000", change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(change)
    yield* Fund.market(stage)
    yield* Fund.admitted(stage)
    const credential = yield* Fund.newestContract(Templates.Credential)
    yield* stage.registrar.act(
      Templates.exercise(Templates.Credential, credential.cid, "Receive", {
        amount: Decimal.of(units),
        reference: { kind: "opening", id: "o1" },
        configurationCid: null
      })
    )
    return stage
  })

const prices = (
  stage: Fund.Parties,
  figures: { readonly units: string; readonly proceeds: string; readonly price?: string }
) =>
  Effect.gen(function* () {
    const claim = yield* Fund.newestContract(Templates.RedemptionClaim)
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    yield* stage.oracle.act(
      Templates.exercise(Templates.RedemptionClaim, claim.cid, "Price", {
        pointCid: point.cid,
        price: Decimal.of(figures.price ?? point.payload.value ?? ""),
        units: Decimal.of(figures.units),
        proceeds: Decimal.of(figures.proceeds)
      })
    )
  })

const requestsBurn = (stage: Fund.Parties, units: string) =>
  Effect.gen(function* () {
    const { cid } = yield* Fund.freeHolding(stage.holder.party)
    yield* stage.holder.act(
      Templates.exercise(Templates.Holding, cid, "RequestBurn", {
        amount: Decimal.of(units),
        reference: { kind: "redemption", id: "r1" },
        custodian: null,
        executeBefore: Instant.of("2026-09-01T00:00:00Z")
      })
    )
  })

const answersBurn = (stage: Fund.Parties, choice: "Accept" | "Reject") =>
  Effect.flatMap(Fund.newestContract(Templates.BurnRequest), ({ cid }) =>
    stage.registrar.act(Templates.exercise(Templates.BurnRequest, cid, choice, {}))
  )

/** Plants a screening of the holder. */
const screened = (state: "review") =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "request" as const, requestId: "r" }, now }
    const screening = { state, screenedAt: now, listVersion: "1", validUntil: null }
    yield* records.transact(
      Effect.flatMap(records.get(holders, "h1"), (holder) =>
        records.append(holders, holder, { on: "screen", screening }, act)
      )
    )
  })

const orderEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["redemption"], resourceId: "r1" },
    limit: 100
  })
  return page.value.filter(({ type }) => !type.startsWith("operation.")).map(({ type }) => type)
})

describe("a redemption paid by wire", () => {
  it.effect("goes from claim to settlement: priced, burned on request, paid, closed", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      const claimed = yield* claims({ units: 600 })
      assert.strictEqual(claimed.why, "")
      includes(yield* order(), {
        state: "claimed",
        payment: "wire",
        orderedAs: "units",
        units: Decimal.of("600"),
        proceeds: null,
        settleBy: null,
        cutOffAt: Instant.of(cutOff),
        dealingDate: "2026-07-31"
      })
      assert.strictEqual(yield* stateAt(valued), "awaiting-price")
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.22" })
      includes(yield* order(), {
        state: "priced",
        price: Decimal.of("1.0437"),
        proceeds: Decimal.of("626.22"),
        fee: Decimal.zero
      })
      assert.strictEqual(yield* stateAt(valued), "awaiting-units")
      yield* requestsBurn(stage, "600")
      assert.strictEqual((yield* order()).state, "funded")
      assert.strictEqual(yield* stateAt(valued), "awaiting-registrar")
      yield* answersBurn(stage, "Accept")
      assert.strictEqual((yield* order()).state, "burned")
      assert.strictEqual(yield* stateAt(valued), "awaiting-payment")
      const unpaid = yield* acts("settle")
      assert.strictEqual(unpaid.why, "rule-refused cash cash-matched")
      const settled = yield* acts("settle", paid(626.22))
      assert.strictEqual(settled.why, "")
      includes(yield* order(), {
        state: "settled",
        endedAs: "settled",
        valueDate: "2026-07-31"
      })
      assert.deepStrictEqual(yield* orderEvents, [
        "redemption.priced",
        "redemption.funded",
        "redemption.burned",
        "redemption.settled"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never pays for other units that its holder burns in its name", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 600 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.22" })
      yield* requestsBurn(stage, "600")
      yield* answersBurn(stage, "Accept")
      yield* TestClock.adjust("1 minute")
      yield* requestsBurn(stage, "100")
      yield* answersBurn(stage, "Accept")
      const { disposals } = yield* Reports.taxOf("h1", 2026)
      assert.deepStrictEqual(
        disposals.map(({ proceeds, reference, units }) => [units, proceeds, reference?.id]),
        [
          [Decimal.of("600"), Decimal.of("626.22"), "r1"],
          [Decimal.of("100"), null, "r1"]
        ]
      )
    }).pipe(engine())
  )

  it.effect("once burned nothing takes it back", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 600 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.22" })
      yield* requestsBurn(stage, "600")
      const withdrawal = yield* acts("withdraw")
      assert.strictEqual(withdrawal.why, "rule-refused units burn-requested")
      yield* answersBurn(stage, "Accept")
      for (const verb of ["withdraw", "release"]) {
        assert.strictEqual((yield* acts(verb)).why, "state-conflict RedemptionState")
      }
      yield* TestClock.adjust("400 days")
      assert.strictEqual(yield* stateAt("2027-12-01T00:00:00Z"), "awaiting-payment")
    }).pipe(engine())
  )

  it.effect(
    "a rejected burn leaves it with the holder's custodian, and it may then be let go",
    () =>
      Effect.gen(function* () {
        const stage = yield* held()
        yield* claims({ units: 600 })
        yield* Fund.publishesInTime(stage, "1.0437", valued)
        yield* prices(stage, { units: "600", proceeds: "626.22" })
        yield* requestsBurn(stage, "600")
        yield* answersBurn(stage, "Reject")
        includes(yield* order(), { state: "funded", burnRequestCid: null })
        const released = yield* acts("release")
        assert.strictEqual(released.why, "")
        includes(yield* order(), { state: "released", endedAs: "released" })
        assert.deepStrictEqual((yield* orderEvents).at(-1), "redemption.withdrawn")
      }).pipe(engine())
  )

  it.effect("once burned it is paid, whatever its holder's screening says by then", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 600 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.22" })
      yield* requestsBurn(stage, "600")
      yield* answersBurn(stage, "Accept")
      yield* screened("review")
      assert.strictEqual((yield* acts("settle", paid(626.22))).why, "")
      const next = yield* claims({ units: 10, redemptionId: "r2" })
      assert.strictEqual(next.why, "rule-refused screening screening-clear")
    }).pipe(engine())
  )

  it.effect("withdrawn unpriced or priced it ends as withdrawn", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 10 })
      assert.strictEqual((yield* acts("withdraw")).why, "")
      includes(yield* order(), { state: "withdrawn", endedAs: "withdrawn" })
      yield* claims({ units: 10, redemptionId: "r2" })
      yield* Fund.publishesInTime(stage, "1", valued)
      yield* prices(stage, { units: "10", proceeds: "10" })
      assert.strictEqual((yield* acts("withdraw", {}, "r2")).why, "")
      includes(yield* order("r2"), { state: "withdrawn", endedAs: "withdrawn" })
    }).pipe(engine())
  )

  it.effect("by amount it pays exactly that, and takes the units its price says", () =>
    Effect.gen(function* () {
      const stage = yield* held("30000", { fees: { subscription: 0, redemption: 0.005 } })
      yield* claims({ amount: 25000 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "24073.611326", proceeds: "25000" })
      includes(yield* order(), {
        state: "priced",
        units: Decimal.of("24073.611326"),
        proceeds: Decimal.of("25000")
      })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("keeps a request to burn other units than its own as a surprise, and still waits", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 600 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.22" })
      yield* requestsBurn(stage, "500")
      includes(yield* order(), { state: "priced", burnRequestCid: null })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "redemption fund: The request to burn is for another holder, instrument or number of units."
      ])
    }).pipe(engine())
  )

  it.effect("keeps a price that is not what the rules say as a surprise", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* claims({ units: 600 })
      yield* Fund.publishesInTime(stage, "1.0437", valued)
      yield* prices(stage, { units: "600", proceeds: "626.21" })
      assert.strictEqual((yield* order()).state, "priced")
      assert.deepStrictEqual(yield* Fund.surprises, [
        "redemption price: 626.21 is not what the order pays."
      ])
    }).pipe(engine())
  )
})

/** Checks that refuse a claim, one row each. */
const refusals: ReadonlyArray<
  readonly [check: string, claim: Readonly<Record<string, Calls.Json>>, change?: Calls.Json]
> = [
  ["units units-free", { units: 1000.5 }],
  ["units unit-decimals", { units: 1.1234567 }],
  ["cash currency-decimals", { amount: 1.001 }],
  ["policy minimum-holding", { units: 950 }, { minimumHolding: 100 }],
  ["consent order-signed", { payment: "ledger", orderId: "o1" }]
]

describe("a claim to redeem", () => {
  for (const [check, claim, change] of refusals) {
    it.effect(`is refused at ${check}`, () =>
      Effect.gen(function* () {
        yield* held("1000", change as Readonly<Record<string, Calls.Json>>)
        assert.strictEqual((yield* claims(claim)).why, `rule-refused ${check}`)
      }).pipe(engine())
    )
  }

  it.effect("counts what other orders take of the same units", () =>
    Effect.gen(function* () {
      yield* held()
      assert.strictEqual((yield* claims({ units: 700 })).why, "")
      const second = yield* claims({ units: 301, redemptionId: "r2" })
      assert.strictEqual(second.why, "rule-refused units units-free")
      assert.strictEqual((yield* claims({ units: 300, redemptionId: "r3" })).why, "")
    }).pipe(engine())
  )

  it.effect("counts what other orders by amount take, at the last price", () =>
    Effect.gen(function* () {
      const stage = yield* held()
      yield* Fund.publishesInTime(stage, "2", valued)
      assert.strictEqual((yield* claims({ amount: 1400 })).why, "")
      const second = yield* claims({ amount: 602, redemptionId: "r2" })
      assert.strictEqual(second.why, "rule-refused units units-free")
      assert.strictEqual(
        (yield* claims({ units: 301, redemptionId: "r3" })).why,
        "rule-refused units units-free"
      )
      assert.strictEqual((yield* claims({ amount: 600, redemptionId: "r4" })).why, "")
    }).pipe(engine())
  )

  it.effect("leaves no less than the minimum in two steps either", () =>
    Effect.gen(function* () {
      yield* held("1000", { minimumHolding: 100 })
      assert.strictEqual((yield* claims({ units: 500 })).why, "")
      const second = yield* claims({ units: 450, redemptionId: "r2" })
      assert.strictEqual(second.why, "rule-refused policy minimum-holding")
      assert.strictEqual((yield* claims({ units: 500, redemptionId: "r3" })).why, "")
    }).pipe(engine())
  )
})

/** The holder signs an order in its wallet, and the fund has cash. */
const signed = (
  stage: Fund.Parties,
  options: { readonly units?: string; readonly amount?: string }
) =>
  stage.holder.act(
    Templates.create(Templates.RedemptionOrder, {
      venue: stage.venue,
      fund: stage.fund.party,
      holder: stage.holder.party,
      orderId: "o1",
      instrument: stage.asset,
      paymentAsset: { admin: stage.bank.party, id: "USD" },
      amount: options.amount === undefined ? null : Decimal.of(options.amount),
      units: options.units === undefined ? null : Decimal.of(options.units),
      custodian: null,
      expiresAt: null
    })
  )

const allocates = (
  by: Fund.Outsider,
  to: Fund.Outsider,
  allocation: { readonly cid: string; readonly amount: string }
) =>
  by.act(
    Templates.exercise(Templates.Holding, allocation.cid, "Allocate", {
      allocationId: "r1",
      executor: venueOf,
      receiver: to.party,
      amount: Decimal.of(allocation.amount),
      settleBefore: Instant.of("2026-09-01T00:00:00Z")
    })
  )
let venueOf: Fund.Parties["venue"]

/** The bank's cash in the fund's hands. */
const funded = (stage: Fund.Parties, amount: string) =>
  Effect.gen(function* () {
    venueOf = stage.venue
    yield* stage.bank.act(
      Templates.createAndExercise(
        Templates.Holding,
        {
          registrar: stage.bank.party,
          owner: stage.bank.party,
          provider: stage.venue,
          instrument: { admin: stage.bank.party, id: "USD" },
          amount: Decimal.of(amount),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        },
        "OfferTransfer",
        {
          receiver: stage.fund.party,
          amount: Decimal.of(amount),
          executeBefore: Instant.of("2026-09-01T00:00:00Z")
        }
      )
    )
    const { cid } = yield* Fund.newestContract(Templates.TransferOffer)
    yield* stage.fund.act(
      Templates.exercise(Templates.TransferOffer, cid, "Accept", { credentialCid: null })
    )
  })

/** The tasks that are due have a turn. */
const turns = Workers.runOnce("schedules")

describe("a redemption paid on the ledger", () => {
  it.effect(
    "asks the fund for an amount's cash in an event that names its instrument and holder",
    () =>
      Effect.gen(function* () {
        const stage = yield* held()
        yield* signed(stage, { amount: "100" })
        assert.strictEqual((yield* claims({ payment: "ledger", orderId: "o1" })).why, "")
        const feed = yield* EventQueries.EventQueries
        const page = yield* feed.page({
          caller: Calls.operator,
          params: { type: ["settlement.proposed"], holderId: "h1" },
          limit: 10
        })
        assert.deepStrictEqual(
          page.value.map(({ instrumentId, party }) => ({ instrumentId, party })),
          [{ instrumentId: "fund-a", party: stage.holder.party }]
        )
      }).pipe(engine())
  )

  const ready = Effect.gen(function* () {
    const stage = yield* held()
    yield* funded(stage, "5000")
    yield* signed(stage, { units: "600" })
    assert.strictEqual((yield* claims({ payment: "ledger", orderId: "o1" })).why, "")
    yield* Fund.publishesInTime(stage, "1.0437", valued)
    yield* prices(stage, { units: "600", proceeds: "626.22" })
    assert.strictEqual(yield* stateAt(valued), "awaiting-units")
    const units = yield* Fund.freeHolding(stage.holder.party)
    yield* allocates(stage.holder, stage.fund, { cid: units.cid, amount: "600" })
    assert.strictEqual(yield* stateAt(valued), "awaiting-payment")
    return stage
  })

  it.effect("burns and pays in one transaction", () =>
    Effect.gen(function* () {
      const stage = yield* ready
      const early = yield* acts("settle")
      assert.strictEqual(early.why, "rule-refused cash cash-allocated")
      const cash = yield* Fund.freeHolding(stage.fund.party)
      yield* allocates(stage.fund, stage.holder, { cid: cash.cid, amount: "626.22" })
      assert.strictEqual(yield* stateAt(valued), "ready")
      const settled = yield* acts("settle")
      assert.strictEqual(settled.why, "")
      includes(yield* order(), {
        state: "settled",
        valueDate: "2026-07-31",
        units: Decimal.of("600"),
        proceeds: Decimal.of("626.22")
      })
      assert.deepStrictEqual(yield* orderEvents, [
        "redemption.priced",
        "redemption.burned",
        "redemption.settled"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect(
    "is let go by the engine itself once its time passed, and its units are free again",
    () =>
      Effect.gen(function* () {
        yield* ready
        const { settleBy } = yield* order()
        assert.isNotNull(settleBy)
        yield* turns
        yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-06T00:00:00Z")))
        yield* turns
        yield* Calls.settle
        includes(yield* order(), { state: "released", unitsAllocation: null })
      }).pipe(engine())
  )

  it.effect("an allocation of another amount is kept, and moves nothing", () =>
    Effect.gen(function* () {
      const stage = yield* ready
      const cash = yield* Fund.freeHolding(stage.fund.party)
      yield* allocates(stage.fund, stage.holder, { cid: cash.cid, amount: "626.21" })
      assert.isNull((yield* order()).allocation)
      assert.deepStrictEqual(yield* Fund.surprises, [
        "redemption allocate-cash: It is of another amount."
      ])
    }).pipe(engine())
  )
})
