/** Subscriptions through their operations and the wallets of outside parties, from claim to close. */
import { type Caller, EventQueries, Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Offset, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { orderStateAt, subscriptions } from "#core/orders/subscription/Subscription.ts"
import { fromLedger as mintReadings } from "#core/orders/subscription/SubscriptionFromLedger.ts"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())
const order = (id = "s1") => Effect.flatMap(Records, (records) => records.get(subscriptions, id))

const claims = (members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "subscription.claim",
    {},
    {
      subscriptionId: "s1",
      instrumentId: "fund-a",
      holderId: "h1",
      payment: "wire",
      amount: 100000,
      ...members
    }
  )
const acts = (verb: string, body: Calls.Json = {}, id = "s1") =>
  Calls.write(`subscription.${verb}`, { subscriptionId: id }, body)
const paid = (amount = 100000, line = 1, statementId = Bank.credits) => ({
  cash: [{ statementId, line, amount }]
})
/** A statement of two credits that each pay one order and no more. */
const exact = Bank.states({ id: "exact", entries: [{ amount: "100000" }, { amount: "100000" }] })
const exactly = (line = 1, amount = 100000) => paid(amount, line, "exact")

const includes = (self: object, members: object) => assert.deepInclude(self, members)

const cutOff = "2026-07-31T20:00:00Z"
/** The oracle's point at the cut-off, and the attestor's word for it. */
const prices = (stage: Fund.Parties, units = "95812.973076") =>
  Effect.gen(function* () {
    yield* Fund.publishesInTime(stage, "1.0437", cutOff)
    yield* Fund.attests(stage.attestor, units)
  })

/** Market agreed and holder admitted, ready for a claim. */
const withMarket = (change: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(change)
    yield* Fund.market(stage)
    yield* Fund.admitted(stage)
    return stage
  })

const eventTypesOf = (resourceId: string) =>
  Effect.gen(function* () {
    const feed = yield* EventQueries.EventQueries
    const page = yield* feed.page({
      caller: Calls.operator,
      params: { resourceKind: ["subscription"], resourceId },
      limit: 100
    })
    return page.value.filter(({ type }) => !type.startsWith("operation.")).map(({ type }) => type)
  })

describe("an order paid by wire, with a market", () => {
  it.effect("goes from claim to close: priced, minted, paid, closed", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      const claimed = yield* claims()
      assert.strictEqual(claimed.why, "")
      includes(yield* order(), {
        state: "claimed",
        payment: "wire",
        orderedAs: "amount",
        amount: Decimal.of("100000"),
        fee: Decimal.zero,
        cutOffAt: Instant.of(cutOff),
        dealingDate: "2026-07-31",
        policyVersion: 1,
        settleBy: null,
        party: stage.holder.party
      })
      assert.strictEqual(claimed.result.orderState, "awaiting-price")

      yield* prices(stage)
      const priced = yield* order()
      includes(priced, {
        state: "priced",
        price: Decimal.of("1.0437"),
        units: Decimal.of("95812.973076"),
        residual: Decimal.of("0.0000005788"),
        refund: Decimal.zero
      })
      assert.deepStrictEqual(
        priced.attestors.map(({ party }) => party),
        [stage.attestor.party]
      )

      const delivered = yield* acts("deliver", paid())
      assert.strictEqual(delivered.why, "")
      includes(yield* order(), { state: "delivered", valueDate: "2026-07-31" })
      const { payload } = yield* Fund.newestContract(Templates.Holding)
      assert.strictEqual(payload.owner, stage.holder.party)
      assert.strictEqual(payload.amount, "95812.9730760000")
      assert.strictEqual(String(payload.restricted), "false")

      const closed = yield* acts("settle")
      assert.strictEqual(closed.why, "")
      assert.strictEqual(closed.result.orderState, "settled")
      includes(yield* order(), { state: "closed", endedAs: "closed" })
      assert.deepStrictEqual((yield* order()).cash, {
        expected: Decimal.of("100000"),
        matched: Decimal.of("100000"),
        lines: [{ statementId: "stmt-1" as never, line: 1, amount: Decimal.of("100000") }]
      })
      assert.deepStrictEqual(yield* eventTypesOf("s1"), [
        "subscription.created",
        "subscription.priced",
        "subscription.delivered",
        "subscription.ended"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("tells the ledger the digest of its bank lines, in canonical form", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* prices(stage)
      yield* acts("deliver", paid())
      const settled = yield* acts("settle")
      const canonical = '[{"amount":100000,"line":1,"statementId":"stmt-1"}]'
      const digest = createHash("sha256").update(canonical).digest("hex")
      assert.strictEqual(settled.state, "succeeded")
      const sent = yield* Fund.lastCommands("subscription.settle")
      assert.include(sent, `"evidence":"${digest}"`)
    }).pipe(engine())
  )

  it.effect("of units: costs units times price, and the fee on top", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket({ fees: { subscription: 0.005, redemption: 0 } })
      yield* claims({ amount: null, units: 1.000001 })
      includes(yield* order(), { orderedAs: "units", amount: null, fee: null })
      yield* prices(stage, "1.000001")
      const { cash, fee } = yield* order()
      assert.strictEqual(cash.expected, Decimal.of("1.06"))
      assert.strictEqual(fee, Decimal.of("0.01"))
      assert.strictEqual((yield* acts("deliver", paid(1.06))).why, "")
      assert.strictEqual((yield* acts("settle")).result.state, "closed")
    }).pipe(engine())
  )

  it.effect("may be matched in parts, and closes only when all is there", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* prices(stage)
      assert.strictEqual((yield* acts("deliver")).why, "rule-refused cash cash-matched")
      assert.strictEqual(
        (yield* acts("deliver", paid(99999.99))).why,
        "rule-refused cash cash-matched"
      )
      assert.strictEqual(
        (yield* acts("deliver", paid(100000.01))).why,
        "rule-refused cash cash-over"
      )
      const twice = { cash: [...paid(50000).cash, ...paid(50000).cash] }
      assert.strictEqual(
        (yield* acts("deliver", twice)).why,
        "rule-refused cash cash-line-repeated"
      )
      const parts = { cash: [...paid(60000, 1).cash, ...paid(40000, 2).cash] }
      assert.strictEqual((yield* acts("deliver", parts)).why, "")
      assert.strictEqual((yield* order()).cash.lines.length, 2)
    }).pipe(engine())
  )

  it.effect("never counts cash of a line that paid another order", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* exact
      yield* claims()
      yield* prices(stage)
      yield* acts("deliver", exactly())
      yield* claims({ subscriptionId: "s2" })
      yield* Fund.attests(stage.attestor, "95812.973076")
      const taken = yield* acts("deliver", exactly(), "s2")
      assert.strictEqual(taken.why, "rule-refused cash line-left")
      assert.strictEqual((yield* acts("deliver", exactly(2), "s2")).why, "")
    }).pipe(engine())
  )

  it.effect(
    "may take a line that an order was to be paid by, once that order ended without it",
    () =>
      Effect.gen(function* () {
        const stage = yield* withMarket()
        yield* claims()
        yield* claims({ subscriptionId: "s2" })
        yield* Fund.publishesInTime(stage, "1.0437", cutOff)
        yield* Fund.attests(stage.attestor, "95812.973076")
        yield* Fund.attests(stage.attestor, "95812.973076")
        // A delivery that was planned and then refused by the ledger leaves its line taken.
        yield* exact
        const order = { kind: "subscription", orderId: "s1" } as const
        const named = { statementId: "exact", line: 1, amount: "100000" }
        yield* Bank.reserves({ order, named })
        assert.strictEqual(
          (yield* acts("deliver", exactly(), "s2")).why,
          "rule-refused cash line-left"
        )
        yield* acts("release")
        assert.strictEqual((yield* acts("deliver", exactly(), "s2")).why, "")
      }).pipe(engine())
  )

  it.effect("asks the registrar though it was claimed while the market was agreed", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* prices(stage)
      const { cid } = yield* Fund.newestContract(Templates.PrimaryMarket)
      yield* stage.fund.act(Templates.exercise(Templates.PrimaryMarket, cid, "End", {}))
      assert.strictEqual((yield* acts("deliver", paid())).why, "")
      includes(yield* order(), { state: "delivered", mintRequestCid: null })
    }).pipe(engine())
  )

  it.effect("asks the registrar where the market's attestors are not who priced it", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", cutOff)
      yield* Fund.attests(stage.oracle, "95812.973076")
      yield* Fund.market(stage)
      assert.strictEqual((yield* acts("deliver", paid())).why, "")
      assert.isNotNull((yield* order()).mintRequestCid)
    }).pipe(engine())
  )

  it.effect("is withdrawn before it is priced, and released after", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      assert.strictEqual((yield* acts("release")).why, "state-conflict SubscriptionState")
      assert.strictEqual((yield* acts("withdraw")).result.state, "withdrawn")
      assert.deepStrictEqual(yield* eventTypesOf("s1"), ["subscription.ended"])
      yield* claims({ subscriptionId: "s2" })
      yield* prices(stage)
      assert.strictEqual(
        (yield* acts("withdraw", {}, "s2")).why,
        "state-conflict SubscriptionState"
      )
      assert.strictEqual((yield* acts("release", {}, "s2")).result.state, "released")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("needs as many attestors as the claim says, each counted once", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* Calls.write(
        "primary-market.propose",
        { instrumentId: "fund-a" },
        {
          fund: stage.fund.party,
          paymentAsset: { admin: stage.bank.party, id: "USD" },
          terms: { attestors: [stage.attestor.party, stage.bank.party], required: 2 }
        }
      )
      for (const side of [stage.fund, stage.registrar]) {
        const { cid } = yield* Fund.newestContract(Templates.PrimaryMarketProposal)
        yield* side.act(
          Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", { party: side.party })
        )
      }
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", cutOff, [stage.attestor.party, stage.bank.party])
      yield* Fund.attests(stage.attestor, "95812.973076")
      const half = yield* order()
      assert.strictEqual(half.state, "claimed")
      assert.deepStrictEqual(
        subscriptions.waitingOn(half).map(({ party }) => party),
        [stage.bank.party]
      )
      yield* Fund.attests(stage.bank, "95812.973076")
      const both = yield* order()
      assert.strictEqual(both.state, "priced")
      assert.strictEqual(both.attestors.length, 2)
      assert.strictEqual((yield* acts("deliver", paid())).result.state, "delivered")
    }).pipe(engine())
  )
})

describe("an order paid by wire, without a market", () => {
  const requested = Effect.gen(function* () {
    const stage = yield* Fund.opened()
    yield* Fund.admitted(stage)
    yield* claims()
    yield* Fund.publishesInTime(stage, "1.0437", cutOff)
    yield* Fund.attests(stage.oracle, "95812.973076")
    yield* exact
    const delivering = yield* acts("deliver", exactly())
    assert.strictEqual(delivering.why, "")
    assert.strictEqual(delivering.result.state, "priced")
    return stage
  })

  const answers = (stage: Fund.Parties, answer: "Accept" | "Reject") =>
    Effect.gen(function* () {
      const { cid } = yield* Fund.newestContract(Templates.MintRequest)
      const credential = yield* Fund.newestContract(Templates.Credential)
      yield* stage.registrar.act(
        answer === "Reject"
          ? Templates.exercise(Templates.MintRequest, cid, "Reject", {})
          : Templates.exercise(Templates.MintRequest, cid, "Accept", {
              credentialCid: credential.cid,
              configurationCid: null
            })
      )
    })

  it.effect("is attested by the oracle and minted by the registrar, and only then delivered", () =>
    Effect.gen(function* () {
      const stage = yield* requested
      assert.strictEqual((yield* acts("deliver")).why, "rule-refused units mint-requested")
      assert.strictEqual((yield* acts("settle")).why, "state-conflict SubscriptionState")
      yield* answers(stage, "Accept")
      assert.strictEqual((yield* order()).state, "delivered")
      assert.strictEqual((yield* acts("settle")).result.state, "closed")
      assert.deepStrictEqual(yield* eventTypesOf("s1"), [
        "subscription.created",
        "subscription.priced",
        "subscription.delivered",
        "subscription.ended"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is delivered again after the registrar rejected it, and minted once", () =>
    Effect.gen(function* () {
      const stage = yield* requested
      yield* answers(stage, "Reject")
      assert.isNull((yield* order()).mintRequestCid)
      assert.strictEqual((yield* acts("deliver")).why, "")
      yield* answers(stage, "Accept")
      assert.strictEqual((yield* order()).state, "delivered")
      assert.strictEqual(yield* Fund.countActive(Templates.Holding), 1)
    }).pipe(engine())
  )

  for (const answer of ["has not answered", "rejected it"]) {
    it.effect(`is let go where the registrar ${answer}: no units, its bank lines free again`, () =>
      Effect.gen(function* () {
        const stage = yield* requested
        if (answer === "rejected it") yield* answers(stage, "Reject")
        assert.strictEqual((yield* acts("release")).result.state, "released")
        for (const template of [Templates.MintRequest, Templates.DeliveredLot, Templates.Holding]) {
          assert.strictEqual(yield* Fund.countActive(template), 0)
        }
        const { cash, mintRequestCid } = yield* order()
        assert.deepEqual([cash.lines, cash.matched, mintRequestCid], [[], Decimal.zero, null])
        yield* claims({ subscriptionId: "s2" })
        yield* Fund.publishesInTime(stage, "1.0437", "2026-08-03T20:00:00Z")
        yield* Fund.attests(stage.oracle, "95812.973076")
        assert.strictEqual((yield* acts("deliver", exactly(), "s2")).why, "")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
    )
  }

  it.effect("is not mixed up with a mint that somebody else asks for in its name", () =>
    Effect.gen(function* () {
      const stage = yield* requested
      yield* stage.bank.act(
        Templates.create(Templates.MintRequest, {
          requester: stage.bank.party,
          holder: stage.venue,
          instrument: { admin: stage.registrar.party, id: "fund-a" },
          amount: Decimal.one,
          reference: { kind: "subscription", id: "s1" },
          executeBefore: null
        })
      )
      const { cid } = yield* Fund.newestContract(Templates.MintRequest)
      yield* stage.registrar.act(Templates.exercise(Templates.MintRequest, cid, "Reject", {}))
      assert.isNotNull((yield* order()).mintRequestCid)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("a mint that an order does not wait for", () => {
  it.effect("neither moves it nor is lost", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", cutOff)
      yield* Fund.attests(stage.oracle, "95812.973076")
      yield* acts("deliver", paid())
      const { payload, cid } = yield* Fund.newestContract(Templates.MintRequest)
      const records = yield* Records
      const offset = 1_000_000 as Offset.Offset
      const effectiveAt = Instant.of(Fund.start)
      const cause = { by: "update", updateId: "1220ff", offset, effectiveAt } as const
      const reading = mintReadings.find(({ template }) => template.entity === "MintRequest")
      const contractId = "00".repeat(33)
      yield* records.transact(
        reading?.exercised?.(
          "Reject",
          payload,
          {
            act: { cause, now: effectiveAt },
            venue: stage.venue,
            offset,
            updateId: "1220ff",
            operationId: null,
            nodeId: 0,
            effectiveAt,
            ledgerTime: effectiveAt,
            contractId
          },
          {
            _tag: "Exercised",
            nodeId: 0,
            lastDescendant: 0,
            contractId,
            template: Templates.MintRequest.typeRef,
            iface: Option.none(),
            choice: "Reject",
            arg: {},
            result: {},
            actors: [],
            consuming: true,
            witnesses: [],
            inAcs: true
          }
        ) ?? Effect.die("no reading")
      )
      assert.strictEqual((yield* order()).mintRequestCid, cid)
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription mint: The subscription does not wait for this mint request."
      ])
    }).pipe(engine())
  )
})

describe("an order paid on the ledger", () => {
  const asset = (stage: Fund.Parties) => ({ admin: stage.bank.party, id: "USD" })
  interface Signing {
    readonly amount?: string
    readonly orderId?: string
    readonly fund?: Party.Party
    readonly instrumentId?: string
    readonly currency?: string
    readonly expiresAt?: Instant.Instant
  }
  /** The bank gives the holder cash, and the holder signs an order. */
  const signed = (signing: Signing = {}) =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* stage.bank.act(
        Templates.create(Templates.Holding, {
          registrar: stage.bank.party,
          owner: stage.bank.party,
          provider: stage.venue,
          instrument: asset(stage),
          amount: Decimal.of("250000"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
      const cash = yield* Fund.newestContract(Templates.Holding)
      yield* stage.bank.act(
        Templates.exercise(Templates.Holding, cash.cid, "OfferTransfer", {
          receiver: stage.holder.party,
          amount: Decimal.of("250000"),
          executeBefore: Instant.of("2026-08-30T00:00:00Z")
        })
      )
      const offer = yield* Fund.newestContract(Templates.TransferOffer)
      yield* stage.holder.act(
        Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", { credentialCid: null })
      )
      yield* signs(stage, signing)
      return stage
    })

  const signs = (stage: Fund.Parties, signing: Signing = {}) =>
    stage.holder.act(
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: signing.fund ?? stage.fund.party,
        holder: stage.holder.party,
        orderId: signing.orderId ?? "mine-1",
        instrument: { ...stage.asset, id: signing.instrumentId ?? stage.asset.id },
        paymentAsset: { ...asset(stage), id: signing.currency ?? "USD" },
        amount: Decimal.of(signing.amount ?? "100000"),
        units: null,
        expiresAt: signing.expiresAt ?? null
      })
    )
  const claimsOnLedger = (members: Readonly<Record<string, Calls.Json>> = {}) =>
    claims({ payment: "ledger", amount: null, orderId: "mine-1", ...members })

  const allocates = (
    stage: Fund.Parties,
    amount: string,
    reference: string,
    receiver: Party.Party = stage.fund.party,
    by: Fund.Outsider = stage.holder,
    executor: Party.Party = stage.venue
  ) =>
    Effect.gen(function* () {
      const cash = yield* Fund.freeHolding(by.party)
      yield* by.act(
        Templates.exercise(Templates.Holding, cash.cid, "Allocate", {
          allocationId: reference,
          executor,
          receiver,
          amount: Decimal.of(amount),
          settleBefore: Instant.of("2026-08-05T20:00:00Z")
        })
      )
    })

  it.effect("is paid, minted and closed in one transaction", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      const claimed = yield* claimsOnLedger()
      assert.strictEqual(claimed.why, "")
      includes(yield* order(), {
        state: "claimed",
        payment: "ledger",
        amount: Decimal.of("100000"),
        settleBy: Instant.of("2026-08-05T20:00:00Z"),
        orderId: "mine-1"
      })
      assert.isNotNull((yield* order()).intentCid)
      yield* prices(stage)
      assert.strictEqual((yield* acts("deliver")).why, "rule-refused policy paid-by-wire")
      assert.strictEqual((yield* acts("settle")).why, "rule-refused cash cash-allocated")
      yield* allocates(stage, "100000", "s1")
      assert.strictEqual((yield* acts("settle", paid())).why, "rule-refused cash cash-on-ledger")
      const ready = yield* order()
      assert.strictEqual(orderStateAt(ready, Instant.of(Fund.start)), "ready")
      const settled = yield* acts("settle")
      assert.strictEqual(settled.why, "")
      includes(yield* order(), {
        state: "closed",
        valueDate: "2026-07-31",
        allocation: null,
        intentCid: null
      })
      assert.deepStrictEqual(yield* eventTypesOf("s1"), [
        "subscription.created",
        "subscription.priced",
        "subscription.delivered",
        "subscription.ended"
      ])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("takes an allocation that names the holder's own id for the order", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* claimsOnLedger()
      yield* allocates(stage, "100000", "mine-1")
      assert.isNotNull((yield* order()).allocation)
    }).pipe(engine())
  )

  it.effect("takes no allocation of another amount, and keeps that it came", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* claimsOnLedger()
      yield* allocates(stage, "99999.99", "s1")
      assert.isNull((yield* order()).allocation)
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription allocate: It is of another amount."
      ])
    }).pipe(engine())
  )

  it.effect(
    "takes no allocation in another's favour, twice, or for an order that is not open",
    () =>
      Effect.gen(function* () {
        const stage = yield* signed()
        yield* claimsOnLedger()
        yield* allocates(stage, "100000", "s1", stage.registrar.party)
        assert.isNull((yield* order()).allocation)
        yield* allocates(stage, "100000", "s1")
        const { allocation } = yield* order()
        yield* allocates(stage, "25000", "s1")
        assert.deepStrictEqual((yield* order()).allocation, allocation)
        assert.deepStrictEqual(yield* Fund.surprises, [
          "subscription allocate: It does not go to the fund.",
          "subscription allocate: The order's cash is allocated already."
        ])
        // An allocation that the venue receives and another party executes belongs to no order.
        yield* allocates(stage, "5", "s1", stage.venue, stage.holder, stage.bank.party)
        assert.strictEqual((yield* Fund.surprises).length, 2)
        yield* acts("withdraw")
        yield* allocates(stage, "20000", "s1")
        assert.include(yield* Fund.surprises, "subscription allocate: The order is withdrawn.")
      }).pipe(engine())
  )

  it.effect("is never paid by cash for an order by wire, or by another party's", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* claims()
      yield* allocates(stage, "100000", "s1")
      assert.isNull((yield* order()).allocation)
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription allocate: The order is paid by wire."
      ])
      yield* claimsOnLedger({ subscriptionId: "s2" })
      yield* stage.bank.act(
        Templates.create(Templates.Holding, {
          registrar: stage.bank.party,
          owner: stage.bank.party,
          provider: stage.venue,
          instrument: asset(stage),
          amount: Decimal.of("100000"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
      yield* allocates(stage, "100000", "s2", stage.fund.party, stage.bank)
      assert.isNull((yield* order("s2")).allocation)
    }).pipe(engine())
  )

  it.effect("forgets cash that the holder took back", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* claimsOnLedger()
      yield* allocates(stage, "100000", "s1")
      const { cid } = yield* Fund.newestContract(Templates.Allocation)
      yield* stage.holder.act(
        Templates.exercise(Templates.Allocation, cid, "Allocation_Withdraw", {})
      )
      assert.isNull((yield* order()).allocation)
    }).pipe(engine())
  )

  it.effect("gives the cash back when it is withdrawn or released", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* claimsOnLedger()
      yield* allocates(stage, "100000", "s1")
      assert.strictEqual((yield* acts("withdraw")).result.state, "withdrawn")
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.SettlementIntent), 0)
      yield* signs(stage, { orderId: "mine-2" })
      yield* claimsOnLedger({ subscriptionId: "s2", orderId: "mine-2" })
      yield* prices(stage)
      yield* allocates(stage, "100000", "s2")
      assert.strictEqual((yield* acts("release", {}, "s2")).result.state, "released")
      assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("needs the holder's own order, for what is asked, while it stands", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      const unsigned = yield* claimsOnLedger({ orderId: "other" })
      assert.strictEqual(unsigned.why, "rule-refused consent order-signed")
      const more = yield* claimsOnLedger({ amount: 100001 })
      assert.strictEqual(more.why, "rule-refused consent order-fits")
      const { cid } = yield* Fund.newestContract(Templates.SubscriptionOrder)
      yield* stage.holder.act(Templates.exercise(Templates.SubscriptionOrder, cid, "Withdraw", {}))
      assert.strictEqual((yield* claimsOnLedger()).why, "rule-refused consent order-signed")
      yield* signs(stage)
      assert.strictEqual((yield* claimsOnLedger({ amount: 100000 })).why, "")
      const again = yield* claimsOnLedger({ subscriptionId: "s2" })
      assert.strictEqual(again.why, "rule-refused consent order-signed")
    }).pipe(engine())
  )

  it.effect("needs an order to this market, for this instrument, that has not run out", () =>
    Effect.gen(function* () {
      const stage = yield* signed({ instrumentId: "other" })
      yield* signs(stage, { orderId: "to-another-fund", fund: stage.registrar.party })
      yield* signs(stage, { orderId: "in-another-asset", currency: "EUR" })
      yield* signs(stage, { orderId: "past", expiresAt: Instant.of(Fund.start) })
      for (const orderId of ["mine-1", "to-another-fund", "in-another-asset", "past"]) {
        const refused = yield* claimsOnLedger({ orderId })
        assert.deepStrictEqual([orderId, refused.why], [orderId, "rule-refused consent order-fits"])
      }
    }).pipe(engine())
  )

  it.effect("never takes a second order under an id that stands, nor forgets the first", () =>
    Effect.gen(function* () {
      const stage = yield* signed()
      yield* signs(stage, { amount: "5" })
      const second = yield* Fund.newestContract(Templates.SubscriptionOrder)
      yield* stage.holder.act(
        Templates.exercise(Templates.SubscriptionOrder, second.cid, "Withdraw", {})
      )
      assert.strictEqual((yield* claimsOnLedger({ amount: 100000 })).why, "")
      yield* signs(stage, { orderId: "x".repeat(129) })
      assert.deepStrictEqual(
        (yield* Fund.surprises).map((text) => text.replace(/^.*: (.*)$/, "$1")).toSorted(),
        ["Its id is too long.", "The holder has an order of this id."]
      )
    }).pipe(engine())
  )

  it.effect("needs a market that is agreed", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* signs(stage)
      assert.strictEqual((yield* claimsOnLedger()).why, "rule-refused policy primary-market")
    }).pipe(engine())
  )
})

describe("the gates of a claim", () => {
  it.effect("never let through what is not a plain order", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket({ minimumSubscription: 1000 })
      const why = (members: Readonly<Record<string, Calls.Json>>) =>
        Effect.map(claims(members), (ended) => ended.why)
      assert.strictEqual(yield* why({ amount: null }), "invalid-request")
      assert.strictEqual(yield* why({ units: 5 }), "invalid-request")
      assert.strictEqual(yield* why({ amount: 0 }), "invalid-request")
      assert.strictEqual(yield* why({ amount: -5 }), "invalid-request")
      assert.strictEqual(yield* why({ orderId: "x" }), "invalid-request")
      assert.strictEqual(yield* why({ payment: "ledger" }), "invalid-request")
      assert.strictEqual(yield* why({ holderId: "h9" }), "not-found")
      assert.strictEqual(yield* why({ instrumentId: "none" }), "not-found")
      assert.strictEqual(yield* why({ amount: 999.99 }), "rule-refused policy minimum-subscription")
      assert.strictEqual(yield* why({ amount: 1000.001 }), "rule-refused cash currency-decimals")
      assert.strictEqual(
        yield* why({ amount: null, units: 1.0000001 }),
        "rule-refused units unit-decimals"
      )
      assert.strictEqual(yield* why({}), "")
      assert.strictEqual(yield* why({}), "already-exists")
      assert.isString(stage.venue)
    }).pipe(engine())
  )

  it.effect.each(["forward", "historic"])(
    "refuse an amount that buys no atom of units at the price it will get, priced %s",
    (pricing) =>
      Effect.gen(function* () {
        const fees = { subscription: 0.01, redemption: 0 }
        const stage = yield* withMarket({ unitDecimals: 0, fees, pricing })
        const why = (subscriptionId: string, amount: number) =>
          Effect.map(claims({ subscriptionId, amount }), (ended) => ended.why)
        // A cent is its own fee, rounded up: it buys nothing at any price.
        assert.strictEqual(yield* why("s1", 0.01), "rule-refused units too-small")
        // Before any price the units that two cents buy are unknown.
        assert.strictEqual(yield* why("s1", 0.02), "")
        yield* Fund.publishesInTime(stage, "13.37", Fund.start)
        yield* TestClock.adjust(1_000)
        yield* Calls.settle
        // 13.50 less a fee of 0.14 is one cent short of a unit; 13.51 buys one.
        assert.strictEqual(yield* why("s2", 13.5), "rule-refused units too-small")
        assert.strictEqual(yield* why("s2", 13.51), "")
        const signed = (orderId: string, amount: string) =>
          stage.holder.act(
            Templates.create(Templates.SubscriptionOrder, {
              venue: stage.venue,
              fund: stage.fund.party,
              holder: stage.holder.party,
              orderId,
              instrument: stage.asset,
              paymentAsset: { admin: stage.bank.party, id: "USD" },
              amount: Decimal.of(amount),
              units: null,
              expiresAt: null
            })
          )
        yield* signed("o1", "13.5")
        const onLedger = { payment: "ledger", amount: null, orderId: "o1" }
        assert.strictEqual(
          (yield* claims({ subscriptionId: "s3", ...onLedger })).why,
          "rule-refused units too-small"
        )
        const queries = yield* Queries
        const precheckOf = (amount: string) =>
          queries.one(PrecheckQueries.get, {
            caller: Calls.operator,
            params: {
              instrumentId: "fund-a" as never,
              act: "subscription.claim",
              holderId: "h1" as never,
              amount: Decimal.of(amount)
            },
            point: {}
          })
        const refusing = (answer: Effect.Success<ReturnType<typeof precheckOf>>) =>
          answer.value.gates.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate} ${check}`)
        assert.deepStrictEqual(refusing(yield* precheckOf("13.5")), ["units too-small"])
        assert.deepStrictEqual(refusing(yield* precheckOf("13.51")), [])
      }).pipe(engine())
  )

  it.effect("never let an unregistered, unadmitted or unconfigured order through", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.onboards(stage)
      assert.strictEqual((yield* claims()).why, "rule-refused admission holder-active")
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage)
      yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual((yield* claims()).why, "rule-refused admission admitted")
      const offer = yield* Fund.newestContract(Templates.AdmissionOffer)
      yield* stage.holder.act(Templates.exercise(Templates.AdmissionOffer, offer.cid, "Accept", {}))
      const { cid } = yield* Fund.newestContract(Templates.InstrumentConfiguration)
      yield* stage.registrar.act(
        Templates.exercise(Templates.InstrumentConfiguration, cid, "Retire", {})
      )
      assert.strictEqual((yield* claims()).why, "rule-refused ledger on-registry")
      // Two faults at once: the earlier gate answers.
      assert.strictEqual(
        (yield* claims({ amount: 0.001 })).why,
        "rule-refused cash currency-decimals"
      )
    }).pipe(engine())
  )

  it.effect("never let an order through that nobody could price, or that rebases", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ oracle: null })
      yield* Fund.admitted(stage)
      assert.strictEqual((yield* claims()).why, "rule-refused policy attestor-named")
    }).pipe(engine())
  )

  it.effect("are judged again at delivery: an admission that ended stops it", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* prices(stage)
      const { cid } = yield* Fund.newestContract(Templates.Credential)
      yield* stage.holder.act(Templates.exercise(Templates.Credential, cid, "Renounce", {}))
      assert.strictEqual((yield* acts("deliver")).why, "rule-refused admission admitted")
    }).pipe(engine())
  )
})

describe("what attestors do against the rules", () => {
  it.effect("other units than the amount buys are kept, and the order moves", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* prices(stage, "95812.973075")
      includes(yield* order(), { state: "priced", units: Decimal.of("95812.973075") })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: 95812.973075 units are not what the order buys."
      ])
    }).pipe(engine())
  )

  it.effect("a point before the cut-off, or another price than its point's, is kept", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", "2026-07-31T11:00:00Z")
      yield* Fund.attests(stage.attestor, "96153.846153", "1.04")
      assert.strictEqual((yield* order()).state, "priced")
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: No point prices the order yet. The price is not its day's."
      ])
    }).pipe(engine())
  )

  it.effect("a point whose time is still to come prices nothing, and is kept", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* Fund.publishes(stage, "1.0437", cutOff)
      yield* Fund.attests(stage.attestor, "95812.973076")
      assert.deepStrictEqual(yield* Fund.surprises, [
        "subscription price: No point prices the order yet."
      ])
    }).pipe(engine())
  )

  it.effect("a later point than the first after the cut-off is kept", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", cutOff)
      yield* Fund.publishesInTime(stage, "1.05", "2026-08-01T20:00:00Z")
      yield* Fund.attests(stage.attestor, "95238.095238")
      assert.match(
        (yield* Fund.surprises).join(),
        /^subscription price: The point 00[0-9a-f]+ prices the order\.$/
      )
    }).pipe(engine())
  )
})

describe("what is shown of subscriptions", () => {
  const listed = (
    caller: Caller.Caller,
    params: Parameters<typeof SubscriptionQueries.list.where>[0] = {},
    point: { readonly at?: Offset.Offset } = {}
  ) =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const page = yield* queries.page(SubscriptionQueries.list, {
        caller,
        params,
        point,
        page: { limit: 10 }
      })
      return page
    })
  const ids = (page: { readonly value: ReadonlyArray<{ readonly subscriptionId: string }> }) =>
    page.value.map(({ subscriptionId }) => subscriptionId)

  it.effect(
    "an investor and a registrar see theirs alone, and a filter lets nothing else pass",
    () =>
      Effect.gen(function* () {
        const stage = yield* withMarket()
        yield* claims()
        yield* claims({ subscriptionId: "s0" })
        yield* acts("withdraw", {}, "s0")
        const investor = (holderId: string) => ({ ...Calls.person("ivy", "investor"), holderId })
        const registrar = (party: string) => ({ ...Calls.person("rob", "registrar"), party })
        // In the order they were recorded, not of their ids.
        assert.deepStrictEqual(ids(yield* listed(Calls.operator)), ["s1", "s0"])
        assert.deepStrictEqual(ids(yield* listed(investor("h1"))), ["s1", "s0"])
        assert.deepStrictEqual(ids(yield* listed(investor("h2"))), [])
        assert.deepStrictEqual(ids(yield* listed(registrar(stage.registrar.party))), ["s1", "s0"])
        assert.deepStrictEqual(ids(yield* listed(registrar(stage.bank.party))), [])
        assert.deepStrictEqual(ids(yield* listed(Calls.operator, { state: ["withdrawn"] })), ["s0"])
        assert.deepStrictEqual(
          ids(yield* listed(Calls.operator, { instrumentId: "other" as never })),
          []
        )
        const queries = yield* Queries
        const one = (caller: Caller.Caller, subscriptionId: string) =>
          Effect.result(
            queries.one(SubscriptionQueries.get, {
              caller,
              params: { subscriptionId: subscriptionId as never },
              point: {}
            })
          )
        assert.isTrue(Result.isSuccess(yield* one(investor("h1"), "s1")))
        // The answer for another holder's order is that for an absent one.
        assert.deepStrictEqual(
          yield* one(investor("h2"), "s1"),
          yield* one(investor("h2"), "absent")
        )
        assert.isTrue(Result.isFailure(yield* one(registrar(stage.bank.party), "s1")))
      }).pipe(engine())
  )

  it.effect("a pinned read shows nothing of what came after it", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket()
      yield* claims()
      const before = yield* listed(Calls.operator)
      yield* prices(stage)
      yield* acts("deliver", paid())
      yield* TestClock.adjust("1 day")
      const pinned = yield* listed(Calls.operator, {}, { at: before.offset })
      assert.deepStrictEqual(pinned.value, before.value)
      assert.strictEqual(pinned.value[0]?.orderState, "awaiting-price")
      assert.strictEqual((yield* listed(Calls.operator)).value[0]?.state, "delivered")
    }).pipe(engine())
  )
})
